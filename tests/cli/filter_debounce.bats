#!/usr/bin/env bats
# lawn debounce in event time.

# lawn and code are set, and words are read, by filter.bash.
# shellcheck disable=SC2034,SC2154
bats_require_minimum_version 1.5.0
load filter.bash

# Two bursts of a and one of b.
two_keys() {
    given 'a 0 1st' 'b 1 2nd' 'a 2 3rd' 'a 4 4th' 'a 10 5th' 'b 2 late'
}

# [F1 F11]
@test "after DURATION without a line of the key its last line is written" {
    two_keys
    # b is due at 6, a at 9, again at 15; the late b counts as of 10.
    gives debounce 5s -k 1 --time-field 2 <<END
b 1 2nd
a 4 4th
a 10 5th
b 2 late
END
    counts in=6 out=4 merged=2 dropped=2 late=1 made=0 keys=0
}

@test "--emit first, all" {
    two_keys
    gives debounce 5s -k 1 --time-field 2 --emit first <<END
b 1 2nd
a 0 1st
a 10 5th
b 2 late
END
    counts in=6 out=4 merged=2
    gives debounce 5s -k 1 --time-field 2 --emit all <<END
b 1 2nd
a 0 1st
a 2 3rd
a 4 4th
a 10 5th
b 2 late
END
    counts in=6 out=6 merged=0
}

@test "--emit count: the number of lines and the last one" {
    two_keys
    gives debounce 5s -k 1 --time-field 2 --emit count <<END
1	b 1 2nd
3	a 4 4th
1	a 10 5th
1	b 2 late
END
    counts in=6 out=0 made=4 merged=6 dropped=6
}

@test "--emit count as JSON" {
    given '{"id":"a","t":1.5}' '{"id":"b\u00e9\"","t":1.5}' ' {"id":"a", "t":3} '
    gives debounce 5s -k .id --time-field .t --emit count <<'END'
{"count":1,"key":"bé\"","first":1.5,"last":1.5,"line":{"id":"b\u00e9\"","t":1.5}}
{"count":2,"key":"a","first":1.5,"last":3,"line": {"id":"a", "t":3} }
END
    given_bytes '{"id":7,"t":"2026-11-15T10:00:00.50Z"}\r\n'
    gives debounce 5s -k .id --time-field .t --emit count <<'END'
{"count":1,"key":"7","first":"2026-11-15T10:00:00.5Z","last":"2026-11-15T10:00:00.5Z","line":{"id":7,"t":"2026-11-15T10:00:00.50Z"}}
END
}

# [F2 F11]
@test "a line at exactly DURATION after the last begins a new burst" {
    given 'a 0' 'a 5' 'a 9.999999999' 'b 20'
    gives debounce 5s -k 1 --time-field 2 --emit count <<END
1	a 0
2	a 9.999999999
1	b 20
END
}

@test "without a key all lines are of one burst" {
    given 'a 0' 'b 1' 'c 2' 'd 20'
    gives debounce 5s --time-field 2 <<END
c 2
d 20
END
}

@test "--max-wait ends a burst though lines continue" {
    given 'a 0' 'a 2' 'a 4' 'a 6' 'a 7' 'a 8' 'a 20'
    # Written at 7, before the line of 7, which begins the next burst; that is quiet at
    # 11.
    gives debounce 3s -k 1 --time-field 2 --max-wait 7s --emit count <<END
4	a 6
2	a 8
1	a 20
END
    gives debounce 3s -k 1 --time-field 2 --max-wait 7s <<END
a 6
a 8
a 20
END
}

@test "a --max-wait shorter than DURATION is when bursts end" {
    given 'a 0' 'b 1' 'a 2' 'a 3' 'b 3.5'
    gives debounce 1h -k 1 --time-field 2 --max-wait 3s --emit all <<END
a 0
a 2
b 1
b 3.5
a 3
END
}

@test "at the end: drain, flush and drop" {
    given 'a 0' 'b 1' 'a 2'
    for eof in drain flush; do
        gives debounce 5s -k 1 --time-field 2 --on-eof $eof <<END
b 1
a 2
END
        counts in=3 out=2 merged=1
    done
    gives_nothing debounce 5s -k 1 --time-field 2 --on-eof drop
    counts in=3 merged=1 discarded=2
    gives_nothing debounce 5s -k 1 --time-field 2 --on-eof drop --emit all
    counts in=3 merged=0 discarded=3
}

# [F3]
@test "--max-keys: the burst due first makes room" {
    given 'a 0' 'b 1' 'a 2' 'c 3' 'd 4' 'b 100'
    gives debounce 50s -k 1 --time-field 2 --max-keys 2 --emit count <<END
1	b 1
2	a 2
1	c 3
1	d 4
1	b 100
END
    counts evicted=2
}

@test "--max-keys with --overflow pass and fail" {
    given 'a 0' 'b 1' 'c 2' 'a 3'
    gives debounce 50s -k 1 --time-field 2 --max-keys 2 --overflow pass <<END
c 2
b 1
a 3
END
    counts in=4 out=3 merged=1 evicted=0
    gives debounce 50s -k 1 --time-field 2 --max-keys 2 --overflow pass \
        --emit count <<END
1	c 2
1	b 1
2	a 3
END
    words=("lawn debounce: " "--max-keys" 2 "'c'")
    refuses 3 debounce 50s -k 1 --time-field 2 --max-keys 2 --overflow fail
    counts out=0 refused=0
}

@test "--max-lines: the burst due first makes room" {
    given 'a 0' 'b 1' 'a 2' 'c 3' 'c 4'
    gives debounce 50s -k 1 --time-field 2 --max-lines 3 --emit all \
        --on-eof drop <<END
b 1
a 0
a 2
END
    counts in=5 out=3 discarded=2
    # A burst holds one line if one is written.
    gives_nothing debounce 50s -k 1 --time-field 2 --max-lines 3 --on-eof drop
    counts in=5 merged=2 discarded=3 evicted=0
}

# [F8]
@test "carriage returns are written with a line, and not in made ones" {
    given_bytes 'a 0\r\na 1\r\n'
    printf 'a 1\r\n' >expected
    gives debounce 5s -k 1 --time-field 2 <expected
    printf '2\ta 1\n' >expected
    gives debounce 5s -k 1 --time-field 2 --emit count <expected
}

@test "on the wall clock the quiet is waited for" {
    given 'a 1' 'b 1' 'a 2'
    local began=$EPOCHREALTIME
    gives debounce 200ms -k 1 <<END
b 1
a 2
END
    began=$(((${EPOCHREALTIME/./} - ${began/./}) / 1000))
    [ $began -ge 200 ]
}

# [F2]
@test "bursts that --max-wait ends at one nanosecond leave in the order of their last lines" {
    given 'b 0.000000001' 'a 0.000000001' 'b 3' 'a 4' 'c 5' 'b 6'
    gives debounce 8s -k 1 --time-field 2 --max-wait 10s <<END
a 4
b 6
c 5
END
    gives debounce 8s -k 1 --time-field 2 --max-wait 10s --emit count <<END
2	a 4
3	b 6
1	c 5
END
    # One of them ends because it is quiet, at the same nanosecond.
    given 'b 0' 'x 2' 'b 5' 'b 6'
    gives debounce 8s -k 1 --time-field 2 --max-wait 10s <<END
x 2
b 6
END
    # Their last lines had different remaining times: still the first one comes first.
    given 'c 1' 'b 1' 'c 2'
    gives debounce 8ns -k 1 --time-field 2 --time-unit ns --max-wait 7ns <<END
b 1
c 2
END
    gives debounce 8ns -k 1 --time-field 2 --time-unit ns --max-wait 7ns --emit all <<END
b 1
c 1
c 2
END
}
