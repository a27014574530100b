#!/usr/bin/env bats
# lawn delay in event time.

# lawn and code are set, and words are read, by filter.bash.
# shellcheck disable=SC2034,SC2154
bats_require_minimum_version 1.5.0
load filter.bash

# [F1]
@test "a line leaves at its time plus DURATION, not before" {
    given 'a 1' 'b 2' 'c 3' 'd 4'
    # The clock ends at 4. b is due exactly then.
    gives delay 2s --time-field 2 --on-eof drop <<END
a 1
b 2
END
    counts in=4 out=2 dropped=2 discarded=2 held=0 made=0
    # The clock ends a nanosecond before b is due.
    given 'a 1' 'b 2' 'c 3.999999999'
    gives delay 2s --time-field 2 --on-eof drop <<END
a 1
END
}

@test "at the end of the input all that is held leaves" {
    given 'a 1' 'b 2' 'c 3'
    gives delay 1h --time-field 2 <<END
a 1
b 2
c 3
END
    counts in=3 out=3 dropped=0
    gives delay 1h --time-field 2 --on-eof drain <in
    gives delay 1h --time-field 2 --on-eof flush <in
    gives_nothing delay 1h --time-field 2 --on-eof drop
    counts discarded=3
}

@test "a DURATION may be a plain number of seconds, or several units" {
    given 1 2.5 3.999999999 4
    gives delay 1.5 --time-field 1 --on-eof drop <<END
1
2.5
END
    given 0 90 5399.999999999 5490
    gives delay 1h30m --time-field 1 --on-eof drop <<END
0
90
END
}

@test "a DURATION of 0 delays nothing" {
    given 'a 1' 'b 2'
    gives delay 0 --time-field 2 --on-eof drop <in
    gives delay 0s <in
}

# [F2]
@test "--ttl-field: each line has its own delay" {
    given '0 30 a' '1 5 b' '2 2.5 c' '3 1 d' '40 1 e'
    # a is due at 30, b at 6, c at 4.5, d at 4, e at 41.
    gives delay --ttl-field 2 --time-field 1 --on-eof drop <<END
3 1 d
2 2.5 c
1 5 b
0 30 a
END
    counts in=5 out=4 discarded=1
}

@test "a line with a TTL of 0 leaves at once" {
    given '0 10 a' '1 0 b' '2 0s c' '10 0 d'
    gives delay --ttl-field 2 --time-field 1 --on-eof drop <<END
1 0 b
2 0s c
0 10 a
10 0 d
END
}

@test "a ttl field holds durations, or numbers in --ttl-unit" {
    given '0 1m30s a' '0 20 b' '0.005 0 c' '0.02 0 d' '90 0 e'
    gives delay --ttl-field 2 --ttl-unit ms --time-field 1 <<END
0.005 0 c
0 20 b
0.02 0 d
0 1m30s a
90 0 e
END
    given '0 20 b' '19.999 0 c' '20 0 d'
    gives delay --ttl-field=2 --ttl-unit=s --time-field=1 <<END
19.999 0 c
0 20 b
20 0 d
END
}

@test "the unit of a ttl field is what its name ends with" {
    given '{"t":0,"wait_ms":250}' '{"t":0.2,"wait_ms":0}' '{"t":0.25,"wait_ms":0}'
    gives delay --ttl-field .wait_ms --time-field .t <<END
{"t":0.2,"wait_ms":0}
{"t":0,"wait_ms":250}
{"t":0.25,"wait_ms":0}
END
    gives delay --ttl-field .wait_ms --ttl-unit s --time-field .t <<END
{"t":0.2,"wait_ms":0}
{"t":0.25,"wait_ms":0}
{"t":0,"wait_ms":250}
END
    given '{"t":0,"wait_us":250,"wait_ns":7}' '{"t":0.00025,"wait_us":0,"wait_ns":0}'
    gives delay --ttl-field '.["wait_us"]' --time-field .t <in
    gives delay --ttl-field '."wait_ns"' --time-field .t <in
}

@test "a line whose TTL cannot be read is bad" {
    given '0 5 a' '1 x b' '2 -1 c' '3' '4 2 e'
    gives delay --ttl-field 2 --time-field 1 <<END
0 5 a
4 2 e
END
    counts in=5 out=2 bad=3 dropped=3
    words=("lawn delay: line 2: 'x' is not a delay, or too large" "lawn delay: line 3: " "lawn delay: line 4: no column 2")
    reports
}

@test "with --ttl-field every operand is a file" {
    printf '0 5 a\n' >5s
    printf '1 1 b\n' >two
    given
    gives delay --ttl-field 2 --time-field 1 5s two <<END
1 1 b
0 5 a
END
    words=("lawn delay: cannot read 9s: No such file" "; with --ttl-field, omit DURATION")
    refuses 3 delay --ttl-field 2 9s
    words=("lawn delay: cannot read none: No such file")
    refuses 3 delay --ttl-field 2 none
    run ! grep -F "omit DURATION" err
}

@test "flush writes pending lines in order of due time" {
    given '0 30 a' '1 5 b' '2 3600 c' '3 10 d'
    gives delay --ttl-field 2 --time-field 1 --on-eof flush <<END
1 5 b
3 10 d
0 30 a
2 3600 c
END
    counts in=4 out=4 discarded=0
}

# [F3]
@test "--max-lines: the line due first makes room" {
    given 'a 1' 'b 2' 'c 3' 'd 4'
    gives delay 1h --time-field 2 --max-lines 2 --on-eof drop <<END
a 1
b 2
END
    counts in=4 out=2 evicted=2 discarded=2
    gives delay 1h --time-field 2 --max-lines 2 --overflow evict <in
}

@test "--max-lines: lines that were emitted in time make room as well" {
    given 'a 1' 'b 2' 'c 11' 'd 12'
    gives delay 10s --time-field 2 --max-lines 2 --on-eof drop <<END
a 1
b 2
END
    counts evicted=0 discarded=2
}

@test "--overflow pass: a line too many is written at once" {
    given 'a 1' 'b 2' 'c 3'
    gives delay 1h --time-field 2 --max-lines 2 --overflow pass <<END
c 3
a 1
b 2
END
    counts in=3 out=3 evicted=0 refused=0
}

@test "--overflow fail: a line too many is an error" {
    given 'a 1' 'b 2' 'c 3'
    words=("lawn delay: " "--max-lines" 2)
    refuses 3 delay 1h --time-field 2 --max-lines 2 --overflow fail
    counts out=0 held=0 refused=0
}

# [F8]
@test "lines are written byte for byte, and all end with a newline" {
    given_bytes '1 \000\377\376 \303(\r\n1\t  a \n1\r\n1 last'
    printf '1 \000\377\376 \303(\r\n1\t  a \n1\r\n1 last\n' >expected
    gives delay 5s --time-field 1 <expected
    counts in=4 out=4
    gives delay 0 <expected
}

@test "empty lines are lines on the wall clock, and bad in event time" {
    given_bytes '\n\r\n\n'
    printf '\n\r\n\n' >expected
    gives delay 0 <expected
    counts in=3 out=3
    words=("all lines were bad")
    refuses 3 delay 0 --time-field 1
    counts in=3 bad=3
}

@test "an empty input has an empty output" {
    given
    gives_nothing delay 5s
    counts in=0 out=0 dropped=0 held=0
    gives_nothing delay 5s --time-field 1
    gives_nothing delay --ttl-field 1
}

@test "a line of 100 MB is a line" {
    { printf '1 '; head -c 100000000 /dev/zero | tr '\0' x; echo; echo 2 y; } >in
    timeout 120 "$lawn" delay 1h --time-field 1 <in | cmp - in
    head -c -1 in >short
    timeout 120 "$lawn" delay 0 short | cmp - in
}

@test "on the wall clock a line leaves after DURATION" {
    given a b
    local began=$EPOCHREALTIME
    gives delay 200ms <in
    began=$(((${EPOCHREALTIME/./} - ${began/./}) / 1000))
    [ $began -ge 200 ]
}

# [F3]
@test "--max-lines: of lines with times of their own the oldest makes room" {
    given '0 9 a' '1 1 b' '1 5 c' '1 5 d'
    # When c arrives, a is the oldest, though b is due first; then b has left.
    gives delay --ttl-field 2 --time-field 1 --max-lines 2 <<END
0 9 a
1 1 b
1 5 c
1 5 d
END
    counts evicted=2
    given '0 9 a' '0 1 b' '2 9 c' '3 9 d'
    gives delay --ttl-field 2 --time-field 1 --max-lines 2 --on-eof drop <<END
0 1 b
0 9 a
END
    counts evicted=1 discarded=2
}
