#!/usr/bin/env bats
# lawn join in event time.

# lawn and code are set, and words are read, by filter.bash.
# shellcheck disable=SC2034,SC2154
bats_require_minimum_version 1.5.0
load filter.bash

# The left lines are before "--", the right lines after it.
sides() {
    : >left
    : >right
    : >in
    local file=left line
    for line in "$@"; do
        if [ "$line" = -- ]; then
            file=right
        else
            printf '%s\n' "$line" >>$file
        fi
    done
}

# [F12]
@test "lines that share a key within DURATION are paired" {
    sides 'a 0 L' 'b 1 L' 'c 2 L' 'd 20 L' -- 'b 0 R' 'a 3 R' 'c 7 R' 'e 8 R'
    # c is alone at 7, and so is its partner, which arrives exactly then.
    gives join 5s -k 1 --time-field 2 left right <<END
both	b 1 L	b 0 R
both	a 0 L	a 3 R
left	c 2 L
right	c 7 R
right	e 8 R
left	d 20 L
END
    counts in=8 out=8 made=6 dropped=0
}

@test "pairs as JSON" {
    sides '{"id":"a","t":0}' '{"id":"b","t":1}' -- '{"id":"a","t":2}' '{"id":"c","t":3}'
    gives join 5s -k .id --time-field .t left right <<END
{"join":"both","key":"a","left":{"id":"a","t":0},"right":{"id":"a","t":2}}
{"join":"left","key":"b","left":{"id":"b","t":1},"right":null}
{"join":"right","key":"c","left":null,"right":{"id":"c","t":3}}
END
}

# [F12]
@test "a line pairs with the oldest that waits, once" {
    sides 'a 0 1' 'a 1 2' 'a 2 3' -- 'a 3 x' 'a 4 y'
    gives join 50s -k 1 --time-field 2 left right <<END
both	a 0 1	a 3 x
both	a 1 2	a 4 y
left	a 2 3
END
    counts in=5 out=5 made=3
}

@test "at equal times the left line comes first" {
    sides 'a 1 L' 'b 2 L' -- 'b 1 R' 'a 1 R'
    gives join 5s -k 1 --time-field 2 left right <<END
both	a 1 L	a 1 R
both	b 2 L	b 1 R
END
    # A left line that arrives at the due time of a right one.
    sides 'b 5 L' -- 'b 0 R' 'b 5 S'
    gives join 5s -k 1 --time-field 2 left right <<END
right	b 0 R
both	b 5 L	b 5 S
END
}

@test "the right input may have its key and time elsewhere" {
    sides 'a 0 L' 'b 1 L' -- '2 x a' '3 x c'
    gives join 5s -k 1 --time-field 2 --right-key 3 --right-time-field 1 \
        left right <<END
both	a 0 L	2 x a
left	b 1 L
right	3 x c
END
}

@test "the unit of each side's time is its own name's" {
    sides '{"id":"a","t":1}' -- '{"id":"a","t_ms":2000}' '{"id":"b","t_ms":9000}'
    gives join 5s -k .id --time-field .t --right-time-field .t_ms left right <<END
{"join":"both","key":"a","left":{"id":"a","t":1},"right":{"id":"a","t_ms":2000}}
{"join":"right","key":"b","left":null,"right":{"id":"b","t_ms":9000}}
END
}

@test "one input may be standard input" {
    sides 'a 0 L' -- 'a 1 R'
    cp left in
    gives join 5s -k 1 --time-field 2 - right <<END
both	a 0 L	a 1 R
END
    cp right in
    gives join 5s -k 1 --time-field 2 left - <<END
both	a 0 L	a 1 R
END
}

# [F12]
@test "at the end: drain, flush and drop" {
    sides 'a 0 L' 'b 1 L' -- 'a 2 R' 'c 3 R'
    for eof in drain flush; do
        gives join 5s -k 1 --time-field 2 --on-eof $eof left right <<END
both	a 0 L	a 2 R
left	b 1 L
right	c 3 R
END
        counts in=4 out=4
    done
    gives join 5s -k 1 --time-field 2 --on-eof drop left right <<END
both	a 0 L	a 2 R
END
    counts in=4 out=2 discarded=2
}

# [F3 F12]
@test "--max-keys: the key due first makes room with all of its lines" {
    sides 'a 0 1' 'b 1 1' 'a 2 2' 'c 3 1' -- 'b 4 R'
    gives join 50s -k 1 --time-field 2 --max-keys 2 left right <<END
left	a 0 1
left	a 2 2
both	b 1 1	b 4 R
left	c 3 1
END
    counts in=5 out=5 evicted=1
    gives join 50s -k 1 --time-field 2 --max-keys 2 --overflow pass \
        left right <<END
left	c 3 1
both	b 1 1	b 4 R
left	a 0 1
left	a 2 2
END
    counts in=5 out=5 evicted=0
    words=("--max-keys" 2 "'c'")
    refuses 3 join 50s -k 1 --time-field 2 --max-keys 2 --overflow fail left right
}

@test "--max-lines: the line due first makes room" {
    sides 'a 0 1' 'b 1 1' 'a 2 2' -- 'a 4 R'
    gives join 50s -k 1 --time-field 2 --max-lines 2 left right <<END
left	a 0 1
both	a 2 2	a 4 R
left	b 1 1
END
    counts in=4 out=4 evicted=1
    gives join 50s -k 1 --time-field 2 --max-lines 2 --overflow pass \
        left right <<END
left	a 2 2
both	a 0 1	a 4 R
left	b 1 1
END
}

@test "carriage returns do not belong to pairs" {
    : >in
    printf 'a 0\r\nb 1\r\n' >left
    printf 'a 2\r\n' >right
    gives join 5s -k 1 --time-field 2 left right <<END
both	a 0	a 2
left	b 1
END
}

@test "empty inputs, and one that ends before the other" {
    sides -- 'a 1' 'a 2'
    gives join 5s -k 1 --time-field 2 left right <<END
right	a 1
right	a 2
END
    sides --
    gives_nothing join 5s -k 1 --time-field 2 left right
    counts in=0
}

@test "bad lines are reported with their file" {
    sides 'a 0 L' 'b' -- 'a x R' 'a 1 R'
    gives join 5s -k 1 --time-field 2 left right <<END
both	a 0 L	a 1 R
END
    counts in=4 out=2 bad=2
    words=("lawn join: left:2: no column 2" "lawn join: right:1: ")
    reports
}

# [F7]
@test "--lateness sorts both inputs" {
    sides 'a 3 L' 'b 0 L' 'c 9 L' -- 'b 2 R' 'a 1 R' 'c 8 R'
    gives join 5s -k 1 --time-field 2 --lateness 3s left right <<END
both	b 0 L	b 2 R
both	a 3 L	a 1 R
both	c 9 L	c 8 R
END
    counts late=0
}

@test "a bad line does not hold up the merge" {
    sides 'a 5 L' -- 'a 6 R'
    { head -c 65001 /dev/zero | tr '\0' x; printf ' 100\n'; cat right; } >bad
    gives join 10s -k 1 --time-field 2 left bad <<END
both	a 5 L	a 6 R
END
    counts bad=1 late=0
}

@test "one input may be text, and the other JSON" {
    sides 'a 0 "L"' 'b 1 L' -- '{"id":"a","t":2}' '{"id":"c","t":3}'
    gives join 5s -k 1 --time-field 2 --right-key .id --right-time-field .t left right <<'END'
{"join":"both","key":"a","left":"a 0 \"L\"","right":{"id":"a","t":2}}
{"join":"left","key":"b","left":"b 1 L","right":null}
{"join":"right","key":"c","left":null,"right":{"id":"c","t":3}}
END
    counts bad=0
    sides '{"id":"a","t":2}' -- 'a 0 R'
    gives join 5s -k .id --time-field .t --right-key 1 --right-time-field 2 left right <<'END'
{"join":"both","key":"a","left":{"id":"a","t":2},"right":"a 0 R"}
END
    sides 'a 0' 'b 1' -- '{"id":"a","t":2}' 'no JSON'
    gives join 5s -k 1 --time-field 2 --right-key .id --right-time-field .t left right <<'END'
{"join":"both","key":"a","left":"a 0","right":{"id":"a","t":2}}
{"join":"left","key":"b","left":"b 1","right":null}
END
    counts bad=1
}

# [F12]
@test "a shorter DURATION in the next run keeps the order of a key's lines" {
    sides 'k 0 1' 'k 1 2' --
    gives_nothing join 100s -k 1 --time-field 2 --state kept --on-eof save left right
    sides 'k 2 3' 'k 3 4' -- 'k 4 x' 'k 4 y' 'k 4 z'
    gives join 10s -k 1 --time-field 2 --state kept left right <<END
both	k 0 1	k 4 x
both	k 1 2	k 4 y
both	k 2 3	k 4 z
left	k 3 4
END
    counts in=7 out=7 resumed=2
    # Lines with a shorter wait leave no earlier than earlier lines.
    sides 'k 0 1' --
    gives_nothing join 100s -k 1 --time-field 2 --state other --on-eof save left right
    sides 'k 2 2' 'k 3 3' 'z 60' -- 'k 50 x'
    gives join 10s -k 1 --time-field 2 --state other left right <<END
both	k 0 1	k 50 x
left	z 60
left	k 2 2
left	k 3 3
END
    counts in=5 out=5
}

@test "a state of another --right-key or --right-time-field is refused" {
    sides 'k 0 0' --
    gives_nothing join 100s -k 1 --time-field 2 --state kept --on-eof save left right
    cp kept before
    words=("lawn join: " kept "--right-key 3")
    refuses 3 join 100s -k 1 --time-field 2 --right-key 3 --state kept left right
    words=("lawn join: " kept "--right-time-field 3")
    refuses 3 join 100s -k 1 --time-field 2 --right-time-field 3 --state kept left right
    cmp kept before
}
