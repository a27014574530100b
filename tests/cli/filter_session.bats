#!/usr/bin/env bats
# lawn session in event time.

# lawn and code are set, and words are read, by filter.bash.
# shellcheck disable=SC2034,SC2154
bats_require_minimum_version 1.5.0
load filter.bash

# [F11]
@test "lines of a key are a session until DURATION passes without one" {
    given 'a 0' 'b 1' 'a 4' 'a 8.5' 'b 20' 'a 21'
    gives session 5s -k 1 --time-field 2 <<END
b	1	1	1	0	gap
a	3	0	8.5	8.5	gap
b	1	20	20	0	gap
a	1	21	21	0	gap
END
    counts in=6 out=0 merged=6 dropped=6 made=4 keys=0
}

# [F2 F11]
@test "a line at exactly DURATION after the last begins a new session" {
    given 'a 0' 'a 4.999999999' 'a 9.999999999'
    gives session 5s -k 1 --time-field 2 <<END
a	2	0	4.999999999	4.999999999	gap
a	1	9.999999999	9.999999999	0	gap
END
}

@test "summaries as JSON" {
    given '{"id":"a","t":1}' '{"id":"a","t":2.5}' '{"id":"b\t\u0001","t":3}'
    gives session 5s -k .id --time-field .t <<'END'
{"key":"a","events":2,"first":1,"last":2.5,"duration":1.5,"end":"gap"}
{"key":"b\u0009\u0001","events":1,"first":3,"last":3,"duration":0,"end":"gap"}
END
    given '{"id":"a","t":"2026-11-15T10:00:00.25Z"}' '{"id":"a","t":"2026-11-15t10:00:01z"}'
    gives session 5s -k .id --time-field .t <<'END'
{"key":"a","events":2,"first":"2026-11-15T10:00:00.25Z","last":"2026-11-15T10:00:01Z","duration":0.75,"end":"gap"}
END
    printf '{"id":"\377\303(\355\240\200","t":1}\n' >in
    gives session 5s -k .id --time-field .t <<'END'
{"key":"��(\ud800","events":1,"first":1,"last":1,"duration":0,"end":"gap"}
END
}

@test "--max-duration ends a session though lines continue" {
    given 'a 0' 'a 4' 'a 8' 'a 9.999999999' 'a 10' 'a 12' 'b 50'
    gives session 5s -k 1 --time-field 2 --max-duration 10s <<END
a	4	0	9.999999999	9.999999999	max-duration
a	2	10	12	2	gap
b	1	50	50	0	gap
END
}

@test "if gap and --max-duration end it at the same time, it is the gap" {
    given 'a 0' 'a 5' 'b 50'
    gives session 5s -k 1 --time-field 2 --max-duration 10s <<END
a	1	0	0	0	gap
a	1	5	5	0	gap
b	1	50	50	0	gap
END
    given 'a 0' 'a 4' 'b 50'
    gives session 6s -k 1 --time-field 2 --max-duration 10s <<END
a	2	0	4	4	gap
b	1	50	50	0	gap
END
}

@test "--max-events ends a session with its last line, at once" {
    given 'a 0' 'b 1' 'a 2' 'a 3' 'a 4' 'a 5'
    gives session 5s -k 1 --time-field 2 --max-events 2 <<END
a	2	0	2	2	max-events
a	2	3	4	1	max-events
b	1	1	1	0	gap
a	1	5	5	0	gap
END
    gives session 5s -k 1 --time-field 2 --max-events 1 --on-eof drop <<END
a	1	0	0	0	max-events
b	1	1	1	0	max-events
a	1	2	2	0	max-events
a	1	3	3	0	max-events
a	1	4	4	0	max-events
a	1	5	5	0	max-events
END
}

@test "at the end: flush ends sessions early, drop writes nothing" {
    given 'a 0' 'b 1' 'a 2'
    gives session 5s -k 1 --time-field 2 --on-eof flush <<END
b	1	1	1	0	eof
a	2	0	2	2	eof
END
    counts in=3 merged=3 made=2
    gives_nothing session 5s -k 1 --time-field 2 --on-eof drop
    counts in=3 merged=3 dropped=3 made=0
}

# [F3]
@test "--max-keys: the session that would end first makes room" {
    given 'a 0' 'b 1' 'a 2' 'c 3'
    gives session 50s -k 1 --time-field 2 --max-keys 2 <<END
b	1	1	1	0	evicted
a	2	0	2	2	gap
c	1	3	3	0	gap
END
    counts evicted=1
    gives session 50s -k 1 --time-field 2 --max-keys 2 --overflow pass <<END
b	1	1	1	0	gap
a	2	0	2	2	gap
END
    counts in=4 merged=3 refused=1 evicted=0
    words=("--max-keys" 2 "'c'")
    refuses 3 session 50s -k 1 --time-field 2 --max-keys 2 --overflow fail
}

@test "a carriage return does not belong to a key" {
    given_bytes '0 a\r\n1 a\n2 a\r\n'
    gives session 5s -k 2 --time-field 1 <<END
a	3	0	2	2	gap
END
}

@test "a late line counts as of the clock" {
    given 'a 10' 'a 3' 'b 2'
    gives session 5s -k 1 --time-field 2 <<END
a	2	10	10	0	gap
b	1	10	10	0	gap
END
    counts late=2
}

# [F2]
@test "sessions that --max-duration ends at one nanosecond end in the order of their last lines" {
    given 'b 0.000000001' 'a 0.000000001' 'b 3' 'a 4' 'c 5' 'b 6'
    # a and b both end at 10.000000001; a's last line came before b's.
    gives session 8s -k 1 --time-field 2 --max-duration 10s <<END
a	2	0.000000001	4	3.999999999	max-duration
b	3	0.000000001	6	5.999999999	max-duration
c	1	5	5	0	gap
END
    # One of them ends by its gap, at the same nanosecond.
    given 'b 0' 'x 2' 'b 5' 'b 6'
    gives session 8s -k 1 --time-field 2 --max-duration 10s <<END
x	1	2	2	0	gap
b	3	0	6	6	max-duration
END
    # Their last lines had different remaining times: still the first one comes first.
    given 'c 1' 'b 1' 'c 2'
    gives session 8ns -k 1 --time-field 2 --time-unit ns --max-duration 7ns <<END
b	1	1	1	0	max-duration
c	2	1	2	0.000000001	max-duration
END
}
