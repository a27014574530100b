#!/usr/bin/env bats
# lawn absent in event time.

# lawn and code are set, and words are read, by filter.bash.
# shellcheck disable=SC2034,SC2154
bats_require_minimum_version 1.5.0
load filter.bash

# [F10]
@test "a key that was silent is reported absent, and back" {
    given 'a 0' 'b 1' 'a 4' 'a 8' 'b 10' 'a 12'
    # b is absent from 6 to 10, and is due again at 15, a at 17.
    gives absent 5s -k 1 --time-field 2 <<END
absent	b	1	5
back	b	1	9
absent	b	10	5
absent	a	12	5
END
    counts in=6 out=0 merged=6 dropped=6 made=4 keys=2
    # Reported once, however long it is silent.
    given 'a 0' 'b 30'
    gives absent 5s -k 1 --time-field 2 --on-eof drop <<END
absent	a	0	5
END
}

# [F2 F10]
@test "a key seen at exactly DURATION was absent, and is back" {
    given 'a 0' 'a 5' 'a 9.999999999'
    gives absent 5s -k 1 --time-field 2 --on-eof drop <<END
absent	a	0	5
back	a	0	5
END
}

@test "reports as JSON" {
    given '{"id":"a","t":0.25}' '{"id":"b","t":10.5}' '{"id":"a","t":11}'
    gives absent 1500ms -k .id --time-field .t <<'END'
{"event":"absent","key":"a","last":0.25,"silent":1.5}
{"event":"back","key":"a","last":0.25,"silent":10.75}
{"event":"absent","key":"b","last":10.5,"silent":1.5}
{"event":"absent","key":"a","last":11,"silent":1.5}
END
    given '{"id":[1, "x"],"t":"2026-11-15T10:00:00+01:00"}'
    gives absent 1m -k .id --time-field .t <<'END'
{"event":"absent","key":"[1, \"x\"]","last":"2026-11-15T09:00:00Z","silent":60}
END
}

@test "times are printed as they were read" {
    given '2026-11-15T10:00:00.50Z a' '1794736802 b'
    gives absent 5m -k 2 --time-field 1 <<END
absent	a	2026-11-15T10:00:00.5Z	300
absent	b	2026-11-15T10:00:02Z	300
END
    given '1794736802000 b' '2026-11-15T10:00:00.5Z a'
    gives absent 5m -k 2 --time-field 1 --time-unit ms <<END
absent	b	1794736802000	300
absent	a	1794736802000	300
END
    counts late=1
}

@test "--repeat: again each DURATION, until the end of the input" {
    given 'a 0' 'b 12' 'c 25'
    gives absent 5s -k 1 --time-field 2 --repeat <<END
absent	a	0	5
absent	a	0	10
absent	a	0	15
absent	b	12	5
absent	a	0	20
absent	b	12	10
absent	a	0	25
absent	c	25	5
END
    counts made=8
}

@test "--expect: keys are watched from the start" {
    printf 'x\na\r\nx\ny' >keys
    given 'a 100' 'b 103' 'y 106'
    gives absent 5s -k 1 --time-field 2 --expect keys --on-eof drop <<END
absent	x	never	5
absent	y	never	5
absent	a	100	5
back	y	never	6
END
    counts in=3 keys=4
    given '{"id":"y","t":1}' '{"id":"a","t":2}'
    gives absent 5s -k .id --time-field .t --expect keys <<END
{"event":"absent","key":"x","last":null,"silent":5}
{"event":"absent","key":"y","last":1,"silent":5}
{"event":"absent","key":"a","last":2,"silent":5}
END
}

@test "a file of expected keys that cannot be read, or is too long, is reported" {
    given
    words=("lawn absent: cannot use --expect" missing "No such file")
    refuses 3 absent 5s -k 1 --time-field 2 --expect missing
    given 'a 0'
    refuses 3 absent 5s -k 1 --time-field 2 --expect missing
    printf '%s\n' x y z >keys
    words=("--max-keys")
    refuses 3 absent 5s -k 1 --time-field 2 --expect keys --max-keys 2
    : >keys
    gives absent 5s -k 1 --time-field 2 --expect keys <<END
absent	a	0	5
END
}

@test "--exit-on-absent ends it after the first report" {
    given 'a 0' 'b 1' 'c 100' 'd 101'
    runs absent 5s -k 1 --time-field 2 --exit-on-absent
    [ $code -eq 1 ]
    [ "$(cat out)" = "absent	a	0	5" ]
    given 'a 0' 'b 1'
    runs absent 5s -k 1 --time-field 2 --exit-on-absent
    [ $code -eq 1 ]
    [ "$(cat out)" = "absent	a	0	5" ]
    gives_nothing absent 5s -k 1 --time-field 2 --exit-on-absent --on-eof drop
}

@test "flush and drop report nothing at the end" {
    given 'a 0' 'b 1' 'b 6'
    for eof in flush drop; do
        gives absent 5s -k 1 --time-field 2 --on-eof $eof <<END
absent	a	0	5
absent	b	1	5
back	b	1	5
END
        counts in=3 merged=3 discarded=0
    done
}

@test "without a key it is the input that falls silent" {
    given 'a 0' 'b 1' 'c 20'
    gives absent 5s --time-field 2 <<END
absent		1	5
back		1	19
absent		20	5
END
}

# [F3]
@test "--max-keys: absent keys are forgotten first, the oldest first" {
    given 'a 0' 'b 1' 'c 6' 'd 7' 'a 8' 'b 9' 'c 10'
    # a and b are absent at 6: c displaces a, then d displaces b; a and b are new, and
    # displace c and d; c displaces a.
    gives absent 5s -k 1 --time-field 2 --max-keys 2 --on-eof drop <<END
absent	a	0	5
absent	b	1	5
END
    counts evicted=5 keys=2 merged=7
}

@test "--overflow pass ignores a key beyond --max-keys; fail ends the filter" {
    given 'a 0' 'b 1' 'c 2' 'a 3'
    gives absent 5s -k 1 --time-field 2 --max-keys 2 --overflow pass <<END
absent	b	1	5
absent	a	3	5
END
    counts in=4 merged=3 refused=1 dropped=4
    words=("--max-keys" 2 "'c'")
    refuses 3 absent 5s -k 1 --time-field 2 --max-keys 2 --overflow fail
}

@test "--repeat with --lateness: keys repeat until the last line is treated" {
    given 'b 8' 'a 0'
    gives absent 3s -k 1 --time-field 2 --repeat --lateness 8s <<END
absent	a	0	3
absent	a	0	6
absent	b	8	3
END
}

@test "absent keys stay known after the end of the input" {
    given 'a 1' 'b 9'
    gives absent 3s -k 1 --time-field 2 --repeat --state kept <<END
absent	a	1	3
absent	a	1	6
absent	b	9	3
END
    counts keys=2
    given 'a 13' 'b 14'
    gives absent 3s -k 1 --time-field 2 --state kept --on-eof drop <<END
back	a	1	12
back	b	9	5
END
}

@test "--expect: blank lines are no keys, and it needs a key" {
    printf '\nx\n\r\n\n' >keys
    given 'a 0'
    gives absent 5s -k 1 --time-field 2 --expect keys <<END
absent	x	never	5
absent	a	0	5
END
    words=("--expect needs --key")
    refuses 2 absent 5s --time-field 2 --expect keys
}

@test "--expect may be a pipe" {
    given 'a 0'
    gives absent 5s -k 1 --time-field 2 --expect <(printf 'x\ny\n') <<END
absent	x	never	5
absent	y	never	5
absent	a	0	5
END
    mkfifo pipe
    printf 'z\n' >pipe &
    gives absent 5s -k 1 --time-field 2 --expect pipe <<END
absent	z	never	5
absent	a	0	5
END
    wait
}

@test "--expect: each run reads it, at its first line" {
    printf '%s\n' x a >keys
    given 'a 0'
    gives_nothing absent 5s -k 1 --time-field 2 --expect keys --state kept --on-eof save
    printf '%s\n' a x y >keys
    given 'a 3'
    # x is watched from 0, y from 3, before the line.
    gives absent 5s -k 1 --time-field 2 --expect keys --state kept --on-eof save </dev/null
    given 'a 20'
    gives absent 5s -k 1 --time-field 2 --expect keys --state kept --on-eof drop <<END
absent	x	never	5
absent	y	never	5
absent	a	3	5
back	a	3	17
END
}

# [F10]
@test "--repeat: after the end of the input nothing is reported twice" {
    given 'a 0' 'b 7'
    # a at 5; then the end, when b is still watched until 12.
    gives absent 5s -k 1 --time-field 2 --repeat --state kept <<END
absent	a	0	5
absent	b	7	5
END
    given
    gives_nothing absent 5s -k 1 --time-field 2 --repeat --state kept
    given 'c 12'
    gives absent 5s -k 1 --time-field 2 --repeat --state kept <<END
absent	c	12	5
END
}

# An unexpected key has taken the place of h1 in the first run. [F3]
@test "--expect: keys of a state that are not expected are evicted, expected ones stay" {
    printf '%s\n' h1 h2 h3 h1 >keys
    given 'h1 0' 'h2 1' 'h3 2' 'x1 3' 'x2 4'
    gives_nothing absent 10s -k 1 --time-field 2 --expect keys --max-keys 4 --state kept --on-eof save
    counts keys=4 evicted=1
    given 'x2 5'
    gives absent 10s -k 1 --time-field 2 --expect keys --max-keys 4 --state kept <<END
absent	h2	1	10
absent	h3	2	10
absent	h1	never	10
absent	x2	5	10
END
    counts keys=4 evicted=1
    # Reported keys are remembered as such, and come back.
    given 'h2 20'
    gives absent 10s -k 1 --time-field 2 --expect keys --max-keys 3 --state kept --on-eof drop <<END
back	h2	1	19
END
    counts keys=4 evicted=0
    printf '%s\n' h4 >>keys
    given 'h4 21'
    words=("--expect keys: it contains more keys than --max-keys allows")
    refuses 3 absent 10s -k 1 --time-field 2 --expect keys --max-keys 3 --state kept
    refuses 3 absent 10s -k 1 --time-field 2 --expect keys --max-keys 3 --overflow pass --state kept
    words=("--expect keys: no room for its keys; increase --max-keys")
    refuses 3 absent 10s -k 1 --time-field 2 --expect keys --max-keys 4 --overflow pass --state kept
}

# [F2]
@test "--expect: the remaining keys are reported in the order of their lines" {
    printf '%s\n' h1 h2 h3 h4 >keys
    given 'x1 0' 'x2 1' 'h3 3' 'h2 3' 'x3 3' 'h1 3'
    gives_nothing absent 10s -k 1 --time-field 2 --state kept --on-eof save
    given 'x4 5'
    gives absent 10s -k 1 --time-field 2 --expect keys --max-keys 6 --state kept <<END
absent	h3	3	10
absent	h2	3	10
absent	x3	3	10
absent	h1	3	10
absent	h4	never	10
absent	x4	5	10
END
    counts keys=6 evicted=2
}

# [F10]
@test "a key that --repeat has reported is not again by a run without it" {
    given 'a 0' 'b 7'
    gives absent 5s -k 1 --time-field 2 --repeat --state kept --on-eof save <<END
absent	a	0	5
END
    given 'b 11' 'b 15' 'a 17'
    gives absent 5s -k 1 --time-field 2 --state kept --on-eof drop <<END
back	a	0	17
END
}

# [F5]
@test "keys that are due with the report of --exit-on-absent are reported by the next run" {
    given 'a 0' 'b 0' 'c 0' 'd 1' 'z 100'
    local key
    for key in a b c d; do
        runs absent 5s -k 1 --time-field 2 --exit-on-absent --state kept
        [ $code -eq 1 ]
        given
        [ $key != d ] || break
        [ "$(cat out)" = "absent	$key	0	5" ]
    done
    [ "$(cat out)" = "absent	d	1	5" ]
}

# [F5]
@test "a repeat that is due with the report of --exit-on-absent is not lost" {
    local expected
    given 'a 0' 'b 5' 'z 100'
    for expected in 'a	0	5' 'b	5	5' 'a	0	10' 'b	5	10' 'a	0	15'; do
        runs absent 5s -k 1 --time-field 2 --repeat --exit-on-absent --state kept
        [ $code -eq 1 ]
        diff -u - out <<END
absent	$expected
END
        given
    done
}

@test "[F7] --expect counts from the earliest line, not from the first one read" {
    echo y >keys
    given '1 a' '0.9 b'
    gives absent 100ms -k 2 --time-field 1 --expect keys --lateness 300ms --repeat --on-eof drain <<END
absent	y	never	0.1
absent	b	0.9	0.1
absent	a	1	0.1
END
    # As if the lines had been in order.
    given '0.9 b' '1 a'
    gives absent 100ms -k 2 --time-field 1 --expect keys --repeat --on-eof drain <out
    # Without --lateness the second line is late, and counts as of 1.
    given '1 a' '0.9 b'
    gives absent 100ms -k 2 --time-field 1 --expect keys --repeat --on-eof drain <<END
absent	y	never	0.1
absent	a	1	0.1
absent	b	1	0.1
END
}

@test "[F2] an expected key that comes at the end of its window is absent, and back" {
    echo y >keys
    given '1 a' '2 y' '1.5 a' '4 b'
    gives absent 1s -k 2 --time-field 1 --expect keys --lateness 1s --on-eof drop <<END
absent	y	never	1
back	y	never	1
absent	a	1.5	1
absent	y	2	1
END
    # A late line counts as of the current event time.
    given '5 a' '1 b' '4.5 c'
    gives absent 1s -k 2 --time-field 1 --expect keys --lateness 1s --on-eof drop <<END
absent	y	never	1
absent	b	4	1
END
    counts late=1
}

@test "without a good line no expected key is reported in event time" {
    echo y >keys
    given
    gives_nothing absent 1s -k 2 --time-field 1 --expect keys
    given 'x y'
    words=("line 1: 'x' is neither an RFC 3339 time nor a number of seconds")
    refuses 3 absent 1s -k 2 --time-field 1 --expect keys
}
