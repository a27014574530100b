#!/usr/bin/env bats
# lawn throttle in event time.

# lawn and code are set, and words are read, by filter.bash.
# shellcheck disable=SC2034,SC2154
bats_require_minimum_version 1.5.0
load filter.bash

@test "a line that finds no token waits for its own" {
    # m to q advance the clock: a's second line leaves at 10, its third at 20, before
    # the lines of those times.
    given 'a 0' 'a 1' 'a 2' 'm 9.999999999' 'n 10' 'o 11' 'p 20' 'q 29' 'a 30'
    gives throttle 1/10s -k 1 --time-field 2 <<END
a 0
m 9.999999999
a 1
n 10
o 11
a 2
p 20
q 29
a 30
END
    counts in=9 out=9 dropped=0 held=0
}

# [F9]
@test "a bucket holds N tokens, and gets one each DURATION/N" {
    given 'a 0' 'a 0' 'a 0' 'a 0' 'a 0' 'm 4.9' 'n 5' 'o 9.9' 'p 10'
    gives throttle 2/10s -k 1 --time-field 2 <<END
a 0
a 0
m 4.9
a 0
n 5
o 9.9
a 0
p 10
a 0
END
}

# [F9]
@test "--burst 1 spaces lines evenly, a larger one lets more through" {
    given 'a 0' 'a 0' 'a 0' 'm 4.9' 'n 5' 'o 10'
    gives throttle 2/10s -k 1 --time-field 2 --burst 1 <<END
a 0
m 4.9
a 0
n 5
a 0
o 10
END
    gives throttle 2/10s -k 1 --time-field 2 --burst 3 <in
}

# [F1 F9]
@test "a third of a second is exact, and never early" {
    given 'a 0' 'a 0' 'a 0' 'm 0.333333333' 'n 0.333333334' 'o 0.666666666' \
        'p 0.666666667'
    gives throttle 3/s -k 1 --time-field 2 --burst 1 <<END
a 0
m 0.333333333
a 0
n 0.333333334
o 0.666666666
a 0
p 0.666666667
END
    # 3,000 lines at a third of a second each: the last one leaves at 999.666...
    { yes 'a 0' | head -n 3000; echo m 999.666666666; echo n 999.666666667; } >in
    runs throttle 3/1s -k 1 --time-field 2 --burst 1
    [ $code -eq 0 ]
    diff -u <(printf '%s\n' 'm 999.666666666' 'a 0' 'n 999.666666667') \
        <(tail -n 3 out)
}

@test "--drop drops lines that find no token" {
    given 'a 0' 'a 1' 'b 1' 'a 4.999999999' 'a 5' 'a 9' 'a 10'
    gives throttle 1/5s -k 1 --time-field 2 --drop <<END
a 0
b 1
a 5
a 10
END
    counts in=7 out=4 refused=3 dropped=3
    gives throttle 1/5s -k 1 --time-field 2 --queue 0 <out
}

@test "--queue: N lines of a key wait, further ones are refused" {
    given 'a 0 1' 'a 0 2' 'a 0 3' 'a 0 4' 'b 0 1' 'a 5 5' 'a 7 6'
    # At 5 the second leaves, and the fifth takes its place.
    gives throttle 1/5s -k 1 --time-field 2 --queue 2 <<END
a 0 1
b 0 1
a 0 2
a 0 3
a 5 5
END
    counts in=7 out=5 refused=2 dropped=2
}

@test "a token that comes at the time of a line is there for it" {
    given 'a 0' 'a 5' 'a 10'
    gives throttle 1/5s -k 1 --time-field 2 --drop <in
}

@test "a RATE may leave out the 1, and have any unit" {
    given 'a 0' 'a 0.5' 'a 1'
    for rate in 1/s 1/1s 1/1000ms 60/m; do
        gives throttle $rate -k 1 --time-field 2 --drop --burst 1 <<END
a 0
a 1
END
    done
    given 'a 0' 'a 3599' 'a 3600'
    gives throttle 1/h -k 1 --time-field 2 --drop <<END
a 0
a 3600
END
}

@test "without a key all lines share one bucket" {
    given 'a 0' 'b 1' 'c 5'
    gives throttle 1/5s --time-field 2 --drop <<END
a 0
c 5
END
}

@test "at the end: drain, flush and drop" {
    given 'a 0 1' 'a 0 2' 'b 1 1' 'b 1 2' 'a 2 3'
    for eof in drain flush; do
        gives throttle 1/5s -k 1 --time-field 2 --on-eof $eof <<END
a 0 1
b 1 1
a 0 2
b 1 2
a 2 3
END
        counts in=5 out=5
    done
    gives throttle 1/5s -k 1 --time-field 2 --on-eof drop <<END
a 0 1
b 1 1
END
    counts in=5 out=2 discarded=3
}

@test "a key is forgotten when its bucket is full" {
    given 'a 0' 'b 1' 'c 5'
    gives throttle 1/5s -k 1 --time-field 2 --on-eof drop <in
    counts keys=2
}

# [F3]
@test "--max-keys: a bucket makes room" {
    given 'a 0' 'b 1' 'c 2' 'a 3' 'c 4'
    # c displaces a, and a gets a new bucket that displaces b.
    gives throttle 1/5s -k 1 --time-field 2 --drop --max-keys 2 <<END
a 0
b 1
c 2
a 3
END
    counts evicted=2 refused=1
    gives throttle 1/5s -k 1 --time-field 2 --drop --max-keys 2 \
        --overflow pass <<END
a 0
b 1
c 2
c 4
END
    counts evicted=0 refused=1
    runs throttle 1/5s -k 1 --time-field 2 --drop --max-keys 2 --overflow fail
    [ $code -eq 3 ]
    words=("--max-keys" 2 "'c'")
    reports
}

@test "--max-lines: the line due first makes room" {
    given 'a 0 1' 'a 0 2' 'b 1 1' 'b 1 2' 'a 2 3' 'a 2 4'
    gives throttle 1/5s -k 1 --time-field 2 --max-lines 2 <<END
a 0 1
b 1 1
a 0 2
b 1 2
a 2 3
a 2 4
END
    counts in=6 out=6 evicted=2
    gives throttle 1/5s -k 1 --time-field 2 --max-lines 1 --overflow pass <<END
a 0 1
b 1 1
b 1 2
a 2 3
a 2 4
a 0 2
END
    counts evicted=0
}

# [F3]
@test "--max-lines: the oldest line makes room, of whatever key" {
    # When the last line arrives, b's line is due at 11, a's at 20, but a's came first.
    given 'a 0 1' 'a 0 2' 'a 0 3' 'b 1 1' 'b 1 2' 'b 1 3'
    gives throttle 1/10s -k 1 --time-field 2 --max-lines 2 <<END
a 0 1
b 1 1
a 0 2
a 0 3
b 1 2
b 1 3
END
    counts evicted=2
}

@test "a RATE whose duration begins with a point is refused" {
    given
    words=("lawn throttle: " "'1/.5s'")
    refuses 2 throttle 1/.5s
}
