#!/usr/bin/env bats
# Tests of all filters: keys, times, files, counts, errors.

# lawn and code are set, and words are read, by filter.bash.
# shellcheck disable=SC2034,SC2154
bats_require_minimum_version 1.5.0
load filter.bash

# The time of a line, $1, must be printed as $2.
time_is() {
    given "$1" 9000000000
    gives session 1s -d '|' -k 1 --time-field 1 --max-events 1 <<END
$1	1	$2	$2	0	max-events
9000000000	1	9000000000	9000000000	0	max-events
END
}

@test "columns are separated by blanks and tabs, as in awk" {
    printf '1 a  x\n2\t\ta\n  3 a\n\t 4   b  \n5 a\r\n' >in
    gives session 1h -k 2 --time-field 1 --on-eof flush <<END
b	1	4	4	0	eof
a	4	1	5	4	eof
END
    printf '1 a \n2\n3 \t\n' >in
    gives session 1h -k 2 --time-field 1 <<END
a	1	1	1	0	gap
END
    counts in=3 bad=2
}

@test "-d: each delimiter separates, and columns may be empty" {
    given '1,a b,x' '2,,x' '3,' '4' '5, a b' '6,a b'
    gives session 1h -k 2 -d , --time-field 1 --on-eof flush <<END
	2	2	3	1	eof
 a b	1	5	5	0	eof
a b	2	1	6	5	eof
END
    counts bad=1
    printf '1\ta b\n2\t\tx\n' >in
    gives session 1h -k 2 -d '\t' --time-field 1 <<END
a b	1	1	1	0	gap
	1	2	2	0	gap
END
    gives session 1h -k 2 --delimiter '	' --time-field 1 <out
    gives session 1h -k2 '-d	' --time-field=1 <out
}

@test "-k 0 is the whole line" {
    printf '1 a\n1 a\r\n1 b\n' >in
    gives dedupe 1h -k 0 --time-field 1 <<END
1 a
1 b
END
}

@test "JSON paths: members, elements, odd names" {
    given '{"t":1,"user":{"id":"u"},"items":[{"id":"i0"},{"id":"i1"}],"odd name":"o","a.b":"d"}'
    local path
    for path in .user.id=u '.items[0].id=i0' '.items[1].id=i1' \
        '."odd name"=o' '.["odd name"]=o' '.["user"]["id"]=u' '."a.b"=d' \
        '.["user"].id=u' '.items[1]={\"id\":\"i1\"}'; do
        gives session 1h -k "${path%%=*}" --time-field .t <<END
{"key":"${path#*=}","events":1,"first":1,"last":1,"duration":0,"end":"gap"}
END
    done
    for path in .user.x .items[2].id .user[0] .items.id .t.x; do
        words=("lawn session: line 1: no $path")
        refuses 3 session 1h -k $path --time-field .t
        counts bad=1
    done
}

@test "a JSON value is a key as its content, or as it stands" {
    given '{"t":1,"k":"a"}' '{"t":2,"k":"\u0061"}' '{"t":3,"k":1.50}' \
        '{"t":4,"k":[1, {"x":2}]}' '{"t":5,"k":true}' '{"t":6,"k":"true"}' \
        '{"t":7,"k":""}' '{"t":8,"k":"\ud83d\ude00\/"}' '{"t":9,"k":"\ud83d"}' \
        '{"t":10,"k":"x","k":"y"}' '{"t":11,"k":null}' '{"t":12}' \
        '{"t":13,"k":"x","k":null}'
    gives session 1h -k .k --time-field .t --on-eof flush <<'END'
{"key":"a","events":2,"first":1,"last":2,"duration":1,"end":"eof"}
{"key":"1.50","events":1,"first":3,"last":3,"duration":0,"end":"eof"}
{"key":"[1, {\"x\":2}]","events":1,"first":4,"last":4,"duration":0,"end":"eof"}
{"key":"true","events":2,"first":5,"last":6,"duration":1,"end":"eof"}
{"key":"","events":1,"first":7,"last":7,"duration":0,"end":"eof"}
{"key":"😀/","events":1,"first":8,"last":8,"duration":0,"end":"eof"}
{"key":"\ud83d","events":1,"first":9,"last":9,"duration":0,"end":"eof"}
{"key":"y","events":1,"first":10,"last":10,"duration":0,"end":"eof"}
END
    counts in=13 bad=3
}

@test "lone surrogates are keys that differ from each other" {
    given '{"t":1,"k":"\ud800"}' '{"t":2,"k":"\ud801"}' '{"t":3,"k":"\ufffd"}' \
        '{"t":4,"k":"\uD800"}' '{"t":5,"k":"\udc00\ud800"}' '{"t":6,"k":"�"}'
    gives dedupe 1h -k .k --time-field .t <<'END'
{"t":1,"k":"\ud800"}
{"t":2,"k":"\ud801"}
{"t":3,"k":"\ufffd"}
{"t":5,"k":"\udc00\ud800"}
END
    gives session 1h -k .k --time-field .t --on-eof flush <<'END'
{"key":"\ud801","events":1,"first":2,"last":2,"duration":0,"end":"eof"}
{"key":"\ud800","events":2,"first":1,"last":4,"duration":3,"end":"eof"}
{"key":"\udc00\ud800","events":1,"first":5,"last":5,"duration":0,"end":"eof"}
{"key":"�","events":2,"first":3,"last":6,"duration":3,"end":"eof"}
END
}

@test "lines that are no JSON are bad where JSON is asked for" {
    given '{"t":1}' 'x' '{"t":2' '{"t":3}}' '{"t":04}' '{"t":5,}' "{'t':6}" '' \
        '{"t":"7"}' ' {"t" : 8 } '
    gives delay 1h --time-field .t <<'END'
{"t":1}
{"t":"7"}
 {"t" : 8 } 
END
    counts in=10 bad=7
    given '1' 'a' '"b"' '[1' '2'
    gives delay 0 --json <<'END'
1
"b"
2
END
}

@test "a regex takes its first group, or the whole match" {
    given '1 id=ab x' '2 id=cd' '3 xid=ab' '4 id=' '5 no'
    gives session 1h -k '/id=([a-z]*)/' --time-field 1 --on-eof flush <<END
cd	1	2	2	0	eof
ab	2	1	3	2	eof
	1	4	4	0	eof
END
    counts bad=1
    gives session 1h -k '/[a-z]+=[ac]/' --time-field '/^[0-9]+/' --on-eof flush <<END
id=a	1	1	1	0	eof
id=c	1	2	2	0	eof
xid=a	1	3	3	0	eof
END
    gives session 1h -k '/(i|x)(d|i)/' --time-field 1 --on-eof flush <<END
x	1	3	3	0	eof
i	3	1	4	3	eof
END
    words=("lawn session: line 5: no match of /(i|x)(d|i)/")
    reports
}

@test "a key may have 65,000 bytes, and no more" {
    { printf '1 '; head -c 65000 /dev/zero | tr '\0' x
        printf '\n2 '; head -c 65001 /dev/zero | tr '\0' x; echo; } >in
    head -n 1 in >expected
    gives dedupe 1h -k 2 --time-field 1 <expected
    counts in=2 out=1 bad=1
}

@test "NUL bytes are part of keys" {
    printf '1 a\0b\n2 a\0c\n3 a\0b\n' >in
    printf '1 a\0b\n2 a\0c\n' >expected
    gives dedupe 1h -k 2 --time-field 1 <expected
}

@test "times are decimal numbers, or RFC 3339" {
    time_is 1 1
    time_is 0 0
    time_is 1.50 1.5
    time_is 0.1234567899 0.123456789
    time_is 1e3 1000
    time_is 12.5E-1 1.25
    time_is 1700000000000e-3 1700000000
    time_is 00012 12
}

# Times in RFC 3339 format: the input, and the output.
rfc3339_is() {
    given "$1"
    gives session 1s -d '|' -k 1 --time-field 1 <<END
$1	1	$2	$2	0	gap
END
}

@test "RFC 3339 with fractions, offsets, small letters, blanks, leap seconds" {
    rfc3339_is 2026-11-15T10:00:00Z 2026-11-15T10:00:00Z
    rfc3339_is 2026-11-15T10:00:00.5Z 2026-11-15T10:00:00.5Z
    rfc3339_is 2026-11-15T10:00:00.1234567899Z 2026-11-15T10:00:00.123456789Z
    rfc3339_is 2026-11-15t10:00:00.000z 2026-11-15T10:00:00Z
    rfc3339_is '2026-11-15 10:00:00Z' 2026-11-15T10:00:00Z
    rfc3339_is 2026-11-15T10:00:00+01:30 2026-11-15T08:30:00Z
    rfc3339_is 2026-11-15T23:00:00-02:00 2026-11-16T01:00:00Z
    rfc3339_is 2016-12-31T23:59:60Z 2017-01-01T00:00:00Z
    rfc3339_is 2024-02-29T12:00:00Z 2024-02-29T12:00:00Z
    rfc3339_is 1970-01-01T00:00:00Z 1970-01-01T00:00:00Z
}

# [F4]
@test "a line without a readable time is bad" {
    given x -1 1s 1e 1.2.3 0x10 inf nan '' 1e30 2026-11-15 2026-13-01T00:00:00Z \
        2026-02-29T00:00:00Z 2026-11-15T24:00:00Z 2026-11-15T10:60:00Z \
        2026-11-15T10:00:61Z 2026-11-15T10:00:00 1969-12-31T23:59:59Z
    words=("line 1: 'x' is neither an RFC 3339 time nor a number of seconds" "all lines were bad")
    refuses 3 delay 1s -d '|' --time-field 1
    counts in=18 bad=18
    given 2026-11-15T10:00:00 2026-11-15
    words=("line 1: '2026-11-15T10:00:00' is not a time since 1970 with a time zone, such as"
        "line 2: '2026-11-15' is not a time since 1970 with a time zone")
    refuses 3 delay 1s --time-field 1
}

@test "--time-unit, and names that end with a unit" {
    given '1500 a' '2499 b' '2500 c'
    gives delay 1s --time-field 1 --time-unit ms --on-eof drop <<END
1500 a
END
    gives session 1s --time-field 1 --time-unit us --on-eof flush <<END
	3	1500	2500	0.001	eof
END
    gives session 1s --time-field 1 --time-unit=ns --on-eof flush <<END
	3	1500	2500	0.000001	eof
END
    given '{"t_ms":1500.25}' '{"t_ms":2000}'
    gives session 1s --time-field .t_ms <<END
{"key":"","events":2,"first":1500.25,"last":2000,"duration":0.49975,"end":"gap"}
END
    gives session 1h --time-field .t_ms --time-unit s <<END
{"key":"","events":2,"first":1500.25,"last":2000,"duration":499.75,"end":"gap"}
END
    given '{"a":{"t_us":1}}' '{"a":{"t_us":2}}'
    gives session 1s --time-field '.a["t_us"]' <<END
{"key":"","events":2,"first":1,"last":2,"duration":0.000001,"end":"gap"}
END
}

@test "a late line counts as of the clock, and is counted" {
    given 'a 10' 'b 3' 'c 12' 'd 11.9'
    gives delay 2s --time-field 2 --on-eof drop <<END
a 10
b 3
END
    counts late=2 discarded=2
}

# [F7]
@test "--lateness: lines are treated in the order of their times" {
    given 'c 3' 'a 1' 'b 2' 'd 3' 'g 9' 'f 6' 'e 5'
    gives delay 0 --time-field 2 --lateness 4s <<END
a 1
b 2
c 3
d 3
e 5
f 6
g 9
END
    counts late=0
    # The clock is at 5 when e arrives: with 3 s it is late, and counts as of 6.
    gives delay 0 --time-field 2 --lateness 3s <<END
a 1
b 2
c 3
d 3
f 6
e 5
g 9
END
    counts late=1
}

@test "lines kept for --lateness are treated at the end of the input" {
    given 'a 10' 'b 5' 'a 7'
    gives debounce 2s -k 1 --time-field 2 --lateness 1h --on-eof drop <<END
b 5
a 7
END
    counts in=3 out=2 discarded=1 held=0 late=0
    gives dedupe 1h -k 1 --time-field 2 --lateness 1h --max-keys 1 <<END
b 5
a 7
END
}

@test "several files are read one after the other, - is standard input" {
    printf '1 a\n2 b' >one
    printf '3 c\n' >two
    : >empty
    given '2.5 x'
    gives delay 1h --time-field 1 one - two <<END
1 a
2 b
2.5 x
3 c
END
    counts in=4 out=4
    gives delay 1h one --time-field 1 empty two <<END
1 a
2 b
3 c
END
    gives delay 1h --time-field 1 -- one <<END
1 a
2 b
END
}

@test "bad lines are reported with their number and the file's name" {
    given '1 a' '2' '' '4 d'
    gives debounce 1h -k 2 --time-field 1 <<END
1 a
4 d
END
    words=("lawn debounce: line 2: no column 2" "lawn debounce: line 3: no column")
    reports
    [ "$(wc -l <err)" -eq 3 ]
    cp in one
    cp in two
    gives dedupe 1h -k 2 --time-field 1 one two <<END
1 a
4 d
END
    words=("lawn dedupe: one:2: no column 2" "lawn dedupe: two:2: no column 2"
        "lawn dedupe: two:3: no column")
    reports
    counts bad=4 merged=2
}

# [F4]
@test "the first ten bad lines are reported, and their number" {
    yes x | head -n 10 >in
    words=("all lines were bad")
    refuses 3 delay 1h --time-field 1
    [ "$(grep -c ': line ' err)" -eq 10 ]
    run ! grep 'bad lines' err
    seq -f 'x%g' 3211 >in
    words=("lawn debounce: 3211 bad lines; the first 10 are listed above")
    refuses 3 debounce 1h --time-field 1
    [ "$(grep -c ': line ' err)" -eq 10 ]
    counts in=3211 bad=3211
}

# [F4]
@test "--strict stops at the first bad line" {
    given '1 a' '5 b' 'x' '6 c'
    runs delay 2s --time-field 1 --strict
    [ $code -eq 3 ]
    # Due lines are written; pending lines are dropped and reported.
    [ "$(cat out)" = '1 a' ]
    # So are the lines behind it that were already read.
    counts out=1 bad=1 held=0
    words=("lawn delay: line 3: " "1 held line dropped")
    reports
    given '1 a' '2 b'
    gives delay 2s --time-field 1 --strict <in
}

@test "a file that cannot be read is reported, and earlier lines are not lost" {
    given
    printf '1 a\n' >one
    words=("lawn delay: " missing "No such file")
    runs delay 1h --time-field 1 missing
    [ $code -eq 3 ]
    reports
    words=("lawn delay: " "Is a directory")
    mkdir -p folder
    runs delay 1h --time-field 1 folder
    [ $code -eq 3 ]
    reports
    runs delay 0 --time-field 1 one missing
    [ $code -eq 3 ]
    counts held=0
}

# [F4]
@test "output that cannot be written is reported" {
    given '1 a' '2 b'
    local verb
    for verb in "delay 0" "dedupe 1s" "session 1s" "throttle 1/s" "absent 1s" \
        "debounce 1s"; do
        code=0
        timeout 120 "$lawn" $verb --time-field 1 --stats <in >/dev/full 2>err ||
            code=$?
        [ $code -eq 4 ]
        words=("lawn ${verb% *}: " "No space left on device")
        reports
        counts held=0
    done
}

@test "a closed pipe is not reported" {
    seq 300000 >in
    code="$( { timeout 120 "$lawn" delay 0 --time-field 1 in 2>err || echo $? >code; } | head -n 1)"
    [ "$code" = 1 ]
    [ "$(cat code)" = 4 ]
    [ ! -s err ]
    timeout 120 "$lawn" delay 0 --time-field 1 in 2>err | true
    [ "${PIPESTATUS[0]}" -eq 4 ]
    [ ! -s err ]
}

@test "counts are printed on stderr in one line, and only on request" {
    given 'a 1' 'b 2'
    timeout 120 "$lawn" delay 1s --time-field 2 in >out 2>err
    [ ! -s err ]
    gives delay 1s --time-field 2 --stats=3600 <in
    gives delay 1s --time-field 2 <in
    [ "$(cat err)" = "lawn delay: in=2 out=2 dropped=0 held=0 made=0 merged=0 refused=0 bad=0 discarded=0 late=0 evicted=0 keys=0 resumed=0" ]
}

# [F5]
@test "--on-eof save keeps pending lines for the next run" {
    given 'a 1' 'b 2' 'c 4'
    gives delay 2s --time-field 2 --on-eof save --state kept <<END
a 1
b 2
END
    counts in=3 out=2 held=1 resumed=0
    given 'd 5'
    gives delay 2s --time-field 2 --on-eof save --state kept --state-every 1h </dev/null
    counts in=2 out=0 held=2 resumed=1
    given 'e 6'
    gives delay 2s --time-field 2 --state kept <<END
c 4
d 5
e 6
END
    counts in=3 out=3 held=0 resumed=2
    given 'f 3'
    # The clock continues from its last value.
    gives session 2s --time-field 2 --on-eof save --state other </dev/null
    given 'g 1'
    gives session 2s --time-field 2 --state other <<END
	2	3	3	0	gap
END
    counts late=1
}

# [F2]
@test "due lines come before a line of that time, kept for --lateness or not" {
    given 'a 0' 'b 5' 'a 5' 'b 4' 'c 20'
    gives debounce 5s -k 1 --time-field 2 --lateness 2s --emit count <<END
1	a 0
2	b 5
1	a 5
1	c 20
END
    gives dedupe 5s -k 1 --time-field 2 --lateness 2s <<END
a 0
b 4
a 5
c 20
END
    counts late=0 merged=1
}

@test "lines kept for --lateness do not count toward --max-lines" {
    given 'a 1' 'b 2' 'c 2' 'd 2'
    gives delay 5 --time-field 2 --max-lines 2 --overflow pass --lateness 2s <<END
c 2
d 2
a 1
b 2
END
    given 'a 1' 'b 3' 'c 2'
    gives delay 1h --time-field 2 --max-lines 3 --lateness 1h --on-eof drop </dev/null
    counts evicted=0 discarded=3
}

# [F2]
@test "lines due at one time leave in the order of the lines" {
    given '0 9 a' '1 8 b' '2 7 c' '3 6 d' '0 9 late' '4 5 e'
    # The late line counts as of 3, and is due at 12.
    gives delay --ttl-field 2 --time-field 1 <<END
0 9 a
1 8 b
2 7 c
3 6 d
4 5 e
0 9 late
END
    given 'a 0' 'b 0' 'c 5' 'b 6' 'a 7'
    # The bursts of a and b are due at 10, b's last line was first, c is due at 13.
    gives debounce 8s -k 1 --time-field 2 --max-wait 10s <<END
b 6
a 7
c 5
END
    gives session 8s -k 1 --time-field 2 --max-duration 10s <<END
b	2	0	6	6	max-duration
a	2	0	7	7	max-duration
c	1	5	5	0	gap
END
    given 'a 0 1' 'b 0 1' 'b 0 2' 'a 0 2' 'c 5 1' 'c 5 2'
    gives throttle 1/10s -k 1 --time-field 2 <<END
a 0 1
b 0 1
c 5 1
b 0 2
a 0 2
c 5 2
END
}

# Lines pending from an earlier run have a longer TTL, or other TTLs. [F2]
@test "lines due at one time leave in order after a resume with another DURATION" {
    local verb
    for verb in 'delay' 'debounce -k 1' 'debounce -k 1 --emit all'; do
        rm -f kept
        given 'x 0' 'a 3' 'b 3'
        gives_nothing $verb 10s --time-field 2 --state kept --on-eof save
        given 'c 8' 'd 8'
        gives $verb 5s --time-field 2 --state kept <<END
x 0
a 3
b 3
c 8
d 8
END
    done
    rm kept
    given 'a 0 10' 'b 1 9' 'c 2 8'
    gives_nothing delay --ttl-field 3 --time-field 2 --state kept --on-eof save
    given 'd 5'
    gives delay 5s --time-field 2 --state kept <<END
a 0 10
b 1 9
c 2 8
d 5
END
    rm kept
    given 'x 0' 'a 3'
    gives_nothing session 10s -k 1 --time-field 2 --state kept --on-eof save
    given 'b 8'
    gives session 5s -k 1 --time-field 2 --state kept <<END
x	1	0	0	0	gap
a	1	3	3	0	gap
b	1	8	8	0	gap
END
    rm kept
    given 'x 0' 'a 3'
    gives_nothing absent 10s -k 1 --time-field 2 --state kept --on-eof save
    given 'b 8'
    gives absent 5s -k 1 --time-field 2 --state kept <<END
absent	x	0	10
absent	a	3	10
absent	b	8	5
END
    rm kept
    printf 'x 0\na 3\n' >left
    gives_nothing join 10s -k 1 --time-field 2 --state kept --on-eof save left /dev/null
    printf 'b 8\n' >right
    gives join 5s -k 1 --time-field 2 --state kept /dev/null right <<END
left	x 0
left	a 3
right	b 8
END
}

@test "a flush does not move the clock" {
    given 'a 0' 'a 1'
    gives throttle 1/1h -k 1 --time-field 2 --on-eof flush --state kept <in
    given 'b 5' 'a 6'
    gives throttle 1/1h -k 1 --time-field 2 --on-eof drop --state kept <<END
b 5
END
    counts late=0 keys=2 discarded=1
}

# [F1]
@test "a changed DURATION applies to later lines only" {
    given 'a 0'
    gives_nothing session 5s -k 1 --time-field 2 --state kept --on-eof save
    given 'b 6'
    gives session 10s -k 1 --time-field 2 --state kept <<END
a	1	0	0	0	gap
b	1	6	6	0	gap
END
    given 'a 0'
    gives_nothing delay 5s --time-field 2 --state other --on-eof save
    given 'b 1' 'c 4.9' 'd 5'
    gives delay 1s --time-field 2 --state other --on-eof drop <<END
b 1
a 0
END
}

# The state of another command is refused.
refuses_state() {
    cp kept before
    words=("lawn ${1%% *}: " kept)
    refuses 3 $1 --state kept
    cmp kept before
}

@test "a state of another command is refused, and left alone" {
    given 'a 1'
    runs debounce 5s -k 1 --time-field 2 --state kept --on-eof save
    [ $code -eq 0 ]
    refuses_state "delay 5s --time-field 2"
    refuses_state "debounce 5s -k 2 --time-field 2"
    refuses_state "debounce 5s --time-field 2"
    refuses_state "debounce 5s -k 1"
    refuses_state "debounce 5s -k 1 --time-field 2 --emit all"
    refuses_state "debounce 5s -k 1 --time-field 2 --json"
    refuses_state "debounce 5s -k 1 --time-field 2 --time-unit ms"
    gives debounce 5s -k 1 --time-field 2 --state kept --on-eof drain <<END
a 1
END
    counts resumed=1 in=2 out=1 merged=1
}

@test "a state that is damaged or none is refused, and left alone" {
    given 'a 1'
    gives_nothing debounce 5s -k 1 --time-field 2 --state kept --on-eof save
    cp kept whole
    head -c 20 whole >kept
    refuses_state "debounce 5s -k 1 --time-field 2"
    head -c -1 whole >kept
    refuses_state "debounce 5s -k 1 --time-field 2"
    { cat whole; echo; } >kept
    refuses_state "debounce 5s -k 1 --time-field 2"
    echo nonsense >kept
    refuses_state "debounce 5s -k 1 --time-field 2"
    : >kept
    refuses_state "debounce 5s -k 1 --time-field 2"
    # Each flipped bit is detected.
    python3 -c '
import sys
data = bytearray(open("whole", "rb").read())
data[len(data) // 2] ^= 1
open("kept", "wb").write(data)'
    refuses_state "debounce 5s -k 1 --time-field 2"
}

@test "a DURATION or RATE that is missing or none is refused" {
    given
    local verb
    for verb in delay debounce dedupe absent session join; do
        words=("lawn $verb: " "a duration is missing")
        refuses 2 $verb
        words=("lawn $verb: " "'x' is not a duration from " " to 104166d, such as")
        refuses 2 $verb x
        words=("lawn $verb: " "'104167d' is not a duration from ")
        refuses 2 $verb 104167d
        words=("lawn $verb: " "'-1s'")
        refuses 2 $verb -- -1s
        words=("lawn $verb: " "'5 s'")
        refuses 2 $verb '5 s'
        [ $verb != delay ] || continue
        words=("lawn $verb: " "'0' is not a duration from 1ns to ")
        refuses 2 $verb 0
        words=("lawn $verb: " "'0ms'")
        refuses 2 $verb 0ms
    done
    words=("lawn throttle: " "a rate is missing")
    refuses 2 throttle
    local rate
    for rate in 10 10/ /1s 0/1s 10/0s x/1s 1.5/1s 10/x 10/1s/1s -1/1s; do
        words=("lawn throttle: " "'$rate'")
        refuses 2 throttle -- "$rate"
    done
}

@test "options that need another are refused without it" {
    given
    words=(--lateness --time-field)
    refuses 2 delay 1s --lateness 5s
    words=(--time-unit --time-field)
    refuses 2 dedupe 1s --time-unit ms
    words=(--ttl-unit --ttl-field)
    refuses 2 delay 1s --ttl-unit ms
    words=(--state-every --state)
    refuses 2 delay 1s --state-every 5s
    words=(--on-eof save --state)
    refuses 2 delay 1s --on-eof save
    words=(--overflow --max)
    refuses 2 delay 1s --overflow pass
    refuses 2 session 1s --overflow evict
    words=(--queue --drop)
    refuses 2 throttle 1/s --queue 5 --drop
}

@test "join wants a key and two inputs" {
    given
    words=("lawn join: " "-k")
    refuses 2 join 1s in in
    words=("lawn join: " LEFT RIGHT)
    refuses 2 join 1s -k 1
    refuses 2 join 1s -k 1 in
    refuses 2 join 1s -k 1 in in in
}

@test "keys and other fields that cannot be are refused" {
    given
    local key
    for key in x 1x -1 '/a(/' '/a' / '.a[' '.a..b' '.a[x]' '."a' '.[]' 1.5; do
        words=("'$key'")
        refuses 2 dedupe 1s -k "$key"
        refuses 2 dedupe 1s "--time-field=$key"
        refuses 2 delay "--ttl-field=$key"
    done
    words=("--key")
    refuses 2 dedupe 1s -k ''
    words=("--right-key" "'x'")
    refuses 2 join 1s -k 1 --right-key x in in
    words=("--right-time-field" "'x'")
    refuses 2 join 1s -k 1 --time-field 1 --right-time-field x in in
}

@test "values that are none of the choices are refused" {
    given
    words=(--delimiter "'ab'")
    refuses 2 dedupe 1s -d ab
    words=(--delimiter)
    refuses 2 dedupe 1s -d ''
    words=(--emit "'some'")
    refuses 2 debounce 1s --emit some
    words=(--on-eof "'x'")
    refuses 2 delay 1s --on-eof x
    words=(--overflow "'x'")
    refuses 2 delay 1s --max-lines 1 --overflow x
    words=(--time-unit "'h'")
    refuses 2 delay 1s --time-field 1 --time-unit h
    words=(--max-wait "'x'")
    refuses 2 debounce 1s --max-wait x
    words=(--lateness "'x'")
    refuses 2 delay 1s --time-field 1 --lateness x
    words=(--max-keys "'x'")
    refuses 2 dedupe 1s --max-keys x
    words=(--max-lines "'-1'")
    refuses 2 delay 1s --max-lines -1
    words=(--max-events "'x'")
    refuses 2 session 1s --max-events x
    words=(--max-duration "'x'")
    refuses 2 session 1s --max-duration x
    words=(--burst "'x'")
    refuses 2 throttle 1/s --burst x
    words=(--queue "'x'")
    refuses 2 throttle 1/s --queue x
    words=(--stats "'x'")
    code=0
    timeout 120 "$lawn" delay 1s --stats=x <in >out 2>err || code=$?
    [ $code -eq 2 ]
    reports
}

@test "an option of another verb is refused" {
    given
    words=(--key)
    refuses 2 delay 1s --key 1
    words=(--max-keys)
    refuses 2 delay 1s --max-keys 1
    words=(--max-lines)
    refuses 2 dedupe 1s --max-lines 1
    refuses 2 session 1s --max-lines 1
    refuses 2 absent 1s --max-lines 1
    words=(--emit)
    refuses 2 session 1s --emit all
    words=(--ttl-field)
    refuses 2 debounce 1s --ttl-field 1
    words=(--nonsense)
    refuses 2 debounce 1s --nonsense
}

@test "each verb has a help that names its options" {
    local verb option
    for verb in delay debounce throttle dedupe absent session join; do
        timeout 120 "$lawn" $verb --help >out
        for option in --time-field --time-unit --lateness --on-eof --overflow \
            --state --state-every --stats --strict --json --delimiter; do
            grep -q -e "$option" out
        done
    done
    "$lawn" debounce --help | grep -q -e --max-wait
    "$lawn" throttle --help | grep -q -e --queue
    "$lawn" absent --help | grep -q -e --exit-on-absent
    "$lawn" session --help | grep -q -e --max-events
    "$lawn" join --help | grep -q -e --right-time-field
    "$lawn" delay --help | grep -q -e --ttl-field
}

@test "without one good line it ends with 3, whatever else there is" {
    given 'x' 'y'
    words=("lawn dedupe: line 1: 'x' is neither an RFC 3339 time nor a number of milliseconds" "lawn dedupe: all lines were bad")
    refuses 3 dedupe 1s --time-field 1 --time-unit ms
    counts in=2 bad=2
    # One good line is enough, also one that is pending, refused or resumed.
    given 'x' '1'
    gives dedupe 1s --time-field 1 <<END
1
END
    run ! grep 'no good line' err
    given '1 a'
    gives_nothing delay 1s --time-field 1 --state kept --on-eof save
    given 'x'
    gives delay 1s --time-field 1 --state kept <<END
1 a
END
    counts in=2 bad=1 resumed=1
    given
    gives_nothing delay 1s --time-field 1
}

# [F4]
@test "a time that is out of range is called so" {
    given '2600-01-01T00:00:00Z' '1969-12-31T23:59:59Z' '1700000000000'
    words=("line 1: '2600-01-01T00:00:00Z' is out of range: times are from 1970 to 2554-07-21"
        "line 2: '1969-12-31T23:59:59Z' is out of range: "
        "line 3: '1700000000000' is out of range: times are from 1970 to 2554-07-21; see --time-unit")
    refuses 3 delay 1s --time-field 1
    given '2554-07-21T23:34:33.7Z'
    gives delay 0 --time-field 1 <<END
2554-07-21T23:34:33.7Z
END
}

@test "a leap second ends a month of UTC" {
    given '2016-02-29T23:59:60Z' '2016-12-31T23:59:60Z' '2017-01-01T00:59:60+01:00'
    gives delay 0 --time-field 1 <in
    given '2016-12-31T23:58:60Z' '2016-12-31T23:59:60+01:00' '2016-12-31T10:00:60Z'
    only="is not a time: a leap second is only possible at 23:59:60 UTC on the last day of a month"
    words=("line 1: '2016-12-31T23:58:60Z' $only"
        "line 2: '2016-12-31T23:59:60+01:00' $only" "line 3: '2016-12-31T10:00:60Z' $only")
    refuses 3 delay 1s --time-field 1
    given '2016-12-15T23:59:60Z' '2016-02-28T23:59:60Z' '2016-12-31T00:59:60+01:00'
    words=("line 1: '2016-12-15T23:59:60Z' $only"
        "line 2: '2016-02-28T23:59:60Z' $only" "line 3: '2016-12-31T00:59:60+01:00' $only")
    refuses 3 delay 1s --time-field 1
    given '2016-12-31T23:58:61Z' '2016-12-31T23:58:60' '2016-13-31T23:58:60Z'
    words=("line 1: '2016-12-31T23:58:61Z' is not a time since 1970" "line 2: " "line 3: ")
    refuses 3 delay 1s --time-field 1
    [ "$(grep -c 'leap second' err)" -eq 0 ]
}

@test "late lines are reported at the end" {
    given 'a 10' 'b 3'
    gives delay 0 --time-field 2 <in
    words=("lawn delay: 1 late line was treated as arriving at the current event time; see --lateness")
    reports
    given 'a 10' 'b 3' 'c 4'
    gives delay 0 --time-field 2 <in
    words=("lawn delay: 2 late lines were treated as arriving at the current event time; see --lateness")
    reports
    given 'b 3' 'a 10'
    gives delay 0 --time-field 2 <in
    run ! grep 'late, and' err
}

@test "--lateness 0 is as if there was none" {
    given 'a 10' 'b 3' 'c 12'
    gives delay 0 --time-field 2 --lateness 0 <in
    counts late=1
}

# [F5]
@test "--overflow fail gives the line back: it is the next run's" {
    given 'a 1' 'b 2' 'c 3' 'd 4'
    words=(--max-lines 2 "no room")
    refuses 3 delay 10s --time-field 2 --max-lines 2 --overflow fail --state kept
    counts in=2 held=2 refused=0 discarded=0
    given 'e 5'
    gives delay 10s --time-field 2 --state kept <<END
a 1
b 2
c 3
d 4
e 5
END
    given 'a 1' 'b 2' 'c 3'
    words=(--max-keys 1 "key 'b'")
    runs dedupe 10s -k 1 --time-field 2 --max-keys 1 --overflow fail --state other
    [ $code -eq 3 ]
    reports
    [ "$(cat out)" = 'a 1' ]
    given
    gives dedupe 10s -k 1 --time-field 2 --state other <<END
b 2
c 3
END
}

# [F5]
@test "lines kept for --lateness are all there after --overflow fail" {
    # All lines are processed at the end, and the third does not fit.
    given 'd 4' 'b 2' 'e 5' 'a 1' 'c 3' 'c2 3'
    refuses_fail() { words=("no room"); refuses 3 "$@"; }
    refuses_fail delay 100s --time-field 2 --lateness 10s --max-lines 2 --overflow fail --state kept
    counts in=6 held=6 refused=0 discarded=0
    given
    gives delay 100s --time-field 2 --lateness 10s --state kept <<END
a 1
b 2
c 3
c2 3
d 4
e 5
END
    counts resumed=6 out=6 late=0
    # The same if the clock has advanced in the middle of them.
    given 'd 4' 'b 2' 'a 1' 'z 13' 'c 5'
    refuses_fail delay 100s --time-field 2 --lateness 10s --max-lines 1 --overflow fail --state more
    given
    gives delay 100s --time-field 2 --lateness 10s --state more <<END
a 1
b 2
d 4
c 5
z 13
END
    counts out=5
    # No line overtakes the one that does not fit.
    given 'a 1' 'b 1.5' 'a 1.5' 'c 1.5'
    runs throttle 10/s -k 1 --time-field 2 --lateness 10s --max-keys 1 --overflow fail --state third
    [ $code -eq 3 ]
    [ "$(cat out)" = 'a 1' ]
    [ "$(grep -c 'no room' err)" -eq 1 ]
    given 'd 9'
    gives throttle 10/s -k 1 --time-field 2 --lateness 10s --state third <<END
b 1.5
a 1.5
c 1.5
d 9
END
}

# [F3]
@test "after a resume with smaller limits keys and lines are evicted down to them" {
    given 'a 1' 'b 2' 'c 3' 'd 4'
    gives_nothing delay 10s --time-field 2 --state kept --on-eof save
    given 'e 5'
    gives delay 10s --time-field 2 --max-lines 2 --state kept --on-eof save <<END
a 1
b 2
c 3
END
    counts held=2 evicted=3
    given 'a 1' 'b 2' 'c 3' 'd 4'
    gives_nothing session 10s -k 1 --time-field 2 --state other --on-eof save
    given 'e 5'
    gives session 10s -k 1 --time-field 2 --max-keys 2 --state other --on-eof save <<END
a	1	1	1	0	evicted
b	1	2	2	0	evicted
c	1	3	3	0	evicted
END
    counts keys=2 evicted=3
    given 'a 1' 'b 2' 'c 3'
    runs absent 1s -k 1 --time-field 2 --state third --on-eof save
    [ $code -eq 0 ]
    given 'd 3'
    runs absent 1s -k 1 --time-field 2 --max-keys 1 --state third --on-eof save
    [ $code -eq 0 ]
    counts keys=1 evicted=3
}

@test "regexes: \\d and back-references are refused, and texts that are too long" {
    given
    words=("--key" "use [0-9]")
    refuses 2 dedupe 1s -k '/\d+/'
    refuses 2 dedupe 1s -k '/a\D/'
    words=("--key" "back-reference")
    refuses 2 dedupe 1s -k '/(a)\1/'
    refuses 2 dedupe 1s -k '/(a)(b)\9/'
    words=("lawn dedupe: --key: '/abc': missing final slash in the regex; append a slash")
    refuses 2 dedupe 1s -k /abc
    words=(--key)
    refuses 2 dedupe 1s -k "/$(printf '%01000d' 0)/"
    refuses 2 dedupe 1s -k ".$(printf '%01000d' 0)"
    gives_nothing dedupe 1s -k "/$(printf '%0998d' 0)/"
    # A literal backslash may be before any character.
    given 'a\1' 'a\1' 'a\d'
    gives dedupe 1s -k '/a\\[1d]/' <<'END'
a\1
a\d
END
}

@test "a time is printed in the format of the first, also by the next run" {
    given '2026-11-15T10:00:00Z a'
    gives_nothing session 1h -k 2 --time-field 1 --state kept --on-eof save
    given
    gives session 1h -k 2 --time-field 1 --state kept <<END
a	1	2026-11-15T10:00:00Z	2026-11-15T10:00:00Z	0	gap
END
    # The first time of all was in RFC 3339 format, not the first of this run.
    given '1794744000 b'
    gives session 1h -k 2 --time-field 1 --state kept --on-eof flush <<END
b	1	2026-11-15T12:00:00Z	2026-11-15T12:00:00Z	0	eof
END
    given '1 a'
    gives_nothing session 1h -k 2 --time-field 1 --state other --on-eof save
    given '1970-01-01T00:00:05Z a'
    gives session 1h -k 2 --time-field 1 --state other <<END
a	2	1	5	4	gap
END
    # A state without any time does not determine the format.
    given
    gives_nothing session 1h -k 2 --time-field 1 --state third --on-eof save
    given '1970-01-01T00:00:05Z a'
    gives session 1h -k 2 --time-field 1 --state third <<END
a	1	1970-01-01T00:00:05Z	1970-01-01T00:00:05Z	0	gap
END
}

@test "[F5] lines of one time that are given back to the state keep it" {
    given 'b 1001' 'a 1001'
    runs session 10s -k 1 --time-field 2 --lateness 5s --max-keys 1 \
        --overflow fail --state s
    [ $code -eq 3 ]
    given
    gives session 10s -k 1 --time-field 2 --lateness 5s --state s \
        --on-eof flush <<END
b	1	1001	1001	0	eof
a	1	1001	1001	0	eof
END
    counts held=0
}

@test "[F5] a last line without a newline is in the state of an early end" {
    code=0
    printf 'a 1\nb 2\nc 3' | timeout 120 "$lawn" debounce 5s -k 1 \
        --time-field 2 --max-keys 1 --overflow fail --state s || code=$?
    [ $code -eq 3 ]
    given
    gives debounce 5s -k 1 --time-field 2 --state s --on-eof flush <<END
a 1
b 2
c 3
END
}

@test "a user's files next to a state are left alone" {
    echo precious >s.tmp
    given 'a 1'
    gives_nothing delay 5s --time-field 2 --state s --on-eof save
    [ "$(cat s.tmp)" = precious ]
    mkdir q.lawn-tmp
    words=("cannot use the state q: cannot create q.lawn-tmp: " "irectory")
    refuses 3 delay 5s --time-field 2 --state q --on-eof save
}
