#!/usr/bin/env bats
# lawn dedupe in event time.

# lawn and code are set, and words are read, by filter.bash.
# shellcheck disable=SC2034,SC2154
bats_require_minimum_version 1.5.0
load filter.bash

# [F1]
@test "the first line of a key is written, others are not until DURATION later" {
    given 'a 0 1' 'b 1 2' 'a 2 3' 'a 4.999999999 4' 'a 5 5' 'a 9 6' 'b 6 late'
    # The window begins with the first line and is not extended.
    gives dedupe 5s -k 1 --time-field 2 <<END
a 0 1
b 1 2
a 5 5
b 6 late
END
    counts in=7 out=4 merged=3 dropped=3 held=0 late=1
}

@test "without a key the whole line is the key, but for a carriage return" {
    given_bytes '1 x\n1 x\r\n1 y\n1  x\n1 y\r\n7 x\n'
    gives dedupe 5s --time-field 1 <<END
1 x
1 y
1  x
7 x
END
    given_bytes 'x\r\n\nx\n\r\nx'
    printf 'x\r\n\n' >expected
    gives dedupe 1h <expected
    counts in=5 out=2 merged=3
    gives dedupe 1h -k 0 <expected
}

@test "there is nothing to wait for at the end" {
    given 'a 0' 'b 1' 'a 2'
    for eof in drain flush drop; do
        gives dedupe 1h -k 1 --time-field 2 --on-eof $eof <<END
a 0
b 1
END
        counts keys=2 held=0 discarded=0
        gives dedupe 1h -k 1 --on-eof $eof <out
    done
}

@test "a key is forgotten after its window" {
    given 'a 0' 'b 1' 'c 5'
    gives dedupe 5s -k 1 --time-field 2 <in
    counts keys=2
}

# [F3]
@test "--max-keys: the oldest key makes room" {
    given 'a 0' 'b 1' 'a 2' 'c 3' 'b 4' 'a 5'
    gives dedupe 1h -k 1 --time-field 2 --max-keys 2 <<END
a 0
b 1
c 3
a 5
END
    counts evicted=2 merged=2 keys=2
    gives dedupe 1h -k 1 --time-field 2 --max-keys 2 --overflow pass <<END
a 0
b 1
c 3
END
    counts evicted=0 merged=3 keys=2
    runs dedupe 1h -k 1 --time-field 2 --max-keys 2 --overflow fail
    [ $code -eq 3 ]
    diff -u <(printf '%s\n' 'a 0' 'b 1') out
    words=("--max-keys" 2 "'c'")
    reports
}

@test "a JSON key behind 100 MB is found" {
    { printf '{"pad":"'; head -c 100000000 /dev/zero | tr '\0' x
        printf '","id":"a","t":1}\n'; } >in
    cp in both
    printf '{"id":"b","t":2}\n{"id":"a","t":3}\n' >>both
    printf '{"id":"b","t":2}\n' >>in
    timeout 120 "$lawn" dedupe 1h -k .id --time-field .t both | cmp - in
}

@test "the same number as a string and as a number is the same key" {
    given '{"id":7,"t":1}' '{"id":"7","t":2}' '{"id":7.0,"t":3}'
    gives dedupe 1h -k .id --time-field .t <<END
{"id":7,"t":1}
{"id":7.0,"t":3}
END
}
