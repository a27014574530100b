#!/usr/bin/env bats
# lawn(1) from a user's view. LAWN names the tool, by default build/lawn.

bats_require_minimum_version 1.5.0

setup() {
    lawn="${LAWN:-$BATS_TEST_DIRNAME/../../build/lawn}"
}

# Runs lawn with the arguments; it must refuse them and print each of the words in the
# array $words, on stderr only.
refuses() {
    run --separate-stderr "$lawn" "$@"
    [ "$status" -eq 2 ]
    [ -z "$output" ]
    local word
    for word in "${words[@]}"; do
        [[ "$stderr" == *"$word"* ]]
    done
}

# Runs a command on a terminal of $1 columns and $2 rows; $output is what it wrote there.
on_terminal() {
    local size="stty cols $1 rows $2"
    shift 2
    command -v script >/dev/null || skip "script(1) is missing"
    script -qec true /dev/null </dev/null >/dev/null 2>&1 ||
        skip "no pseudo-terminal: is /dev/pts mounted?"
    run script -qec "$size; $*" /dev/null </dev/null
}

# Sends a process a signal some time after it has begun to catch SIGINT and SIGTERM.
signal_to() {
    local caught=0
    until [ $((16#$caught & 16#4002)) -eq $((16#4002)) ]; do
        sleep 0.01
        caught="$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$1/status")"
        [ -n "$caught" ] || return
    done
    sleep 0.2
    kill -s "$2" "$1"
}

@test "without a verb it prints the help on stderr and exits 2" {
    words=("usage: lawn VERB" "demo")
    refuses
}

@test "help is printed on stdout with an example" {
    run --separate-stderr "$lawn" demo --help
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    [[ "$output" == "usage: lawn demo"* ]]
    [[ "$output" == *"example:"*"lawn demo --timers"* ]]
}

@test "the help lists every option with its default in 80 columns" {
    run "$lawn" demo --help
    for option in "--timers N" "--seconds S" "--ttls LIST" "--seed N" --json \
        "(default 1M)" "(default 10)" "(default 100ms,"; do
        [[ "$output" == *"$option"* ]]
    done
    run ! grep -E '.{80}' <<<"$output"
}

@test "the example in the help works" {
    example="$("$lawn" demo --help | sed -n 's/^  lawn demo/demo/p')"
    run "$lawn" $example --seconds 0.05
    [ "$status" -eq 0 ]
}

@test "the version is one line" {
    run "$lawn" --version
    [ "$status" -eq 0 ]
    [[ "$output" =~ ^lawn\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
}

@test "an unknown verb gets a hint" {
    words=("unknown verb 'dmeo'" "did you mean demo?" "lawn --help")
    refuses dmeo
    words=("unknown option '--quick'" "lawn --help")
    refuses --quick
}

@test "an unknown option gets a hint" {
    words=("unknown option '--timer'" "did you mean --timers?"
        "lawn demo --help")
    refuses demo --timer 5
    words=("unexpected argument '5s'" "lawn demo --help")
    refuses demo 5s
}

@test "bad counts are refused with what is accepted" {
    for bad in "" 0 -1 +1 x 1x 1.5 1kk 1e 1e-3 0x10 inf 5G 1e20 ' 1' \
        99999999999999999999; do
        words=("lawn demo: --timers: '$bad' is not a count" "250k, 1M or 1e6")
        refuses demo --timers "$bad"
        refuses demo "--timers=$bad"
    done
}

@test "bad times to run are refused with what is accepted" {
    for bad in "" 0 0.001 -5 ten 5x 86401 1.s 2d 1e2; do
        words=("lawn demo: --seconds: '$bad' is not a time" "0.5")
        refuses demo --seconds "$bad"
    done
}

@test "bad TTLs are refused with what is accepted" {
    for bad in "" 5 0s '5s,' ',5s' '5s,,6s' "5s 6s" 5S 30m1h 5s5s 1.5ns \
        36501d 999ns \
        99999999999999999999s "$(printf '1s,%.0s' {1..64})1s"; do
        words=("lawn demo: --ttls: '$bad' is not a list" "250ms,5s,1h30m")
        refuses demo --ttls "$bad"
    done
}

@test "bad seeds are refused with what is accepted" {
    for bad in "" x -1 1.0 1k 18446744073709551616; do
        words=("lawn demo: --seed: '$bad' is not a whole number")
        refuses demo --seed "$bad"
    done
}

@test "a missing value and a value too many are named" {
    words=("--timers needs a value")
    refuses demo --timers
    words=("--json takes no value")
    refuses demo --json=yes
}

@test "values are read exactly" {
    run --separate-stderr "$lawn" demo --timers 0.25k --seconds 50ms --json \
        --seed 18446744073709551615 --ttls 0.1s,1h30m,1d2h3m4s5ms6us7ns,1.5us
    [ "$status" -eq 0 ]
    [[ "$output" == *'"timers": 250,'* ]]
    [[ "$output" == *'"seed": 18446744073709551615,'* ]]
    ttls='100000000, 5400000000000, 93784005006007, 1500'
    [[ "$output" == *"\"ttls_ns\": [$ttls]"* ]]
}

@test "a short run fires timers, none early, none lost" {
    run --separate-stderr "$lawn" demo --timers 10000 --seconds 1.5
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    [[ "$output" =~ fired\ +[1-9] ]]
    grep -E '^  early +0$' <<<"$output"
    grep -E '^  lost +0$' <<<"$output"
    [[ "$output" =~ lateness\ +p50\ .*p99\ .*max ]]
    [[ "$output" =~ 'bytes per timer' ]]
    [ "${lines[-1]}" = '0 early, 0 lost: correct' ]
}

@test "the summary explains lateness by the share of the core" {
    run --separate-stderr nice -n 19 "$lawn" demo --timers 1000 --seconds 0.5
    [ "$status" -eq 0 ]
    used="$(sed -n 's/^  core  *used for \([0-9]*\) % of the time$/\1/p' <<<"$output")"
    [ -n "$used" ]
    if [ "$used" -lt 99 ]; then
        [[ "$output" == *"timers that became due in that time fired late"* ]]
        rest="$(sed -n 's/^ *for \([0-9]*\) % other processes.*/\1/p' <<<"$output")"
        [ $((used + rest)) -ge 99 ]
        [ $((used + rest)) -le 101 ]
    elif [ "$used" -gt 99 ]; then
        [[ "$output" != *"other processes"* ]]
    fi
}

@test "any number of timers and TTLs runs, one timer included" {
    for timers in 1 2 3 63 64 65; do
        for ttls in 1us 1ms,1ms 36500d "$(printf '2ms,%.0s' {1..63})9h"; do
            run "$lawn" demo --timers $timers --ttls "$ttls" --seconds 0.02
            [ "$status" -eq 0 ]
            grep -E '^  early +0$' <<<"$output"
            grep -E '^  lost +0$' <<<"$output"
        done
    done
}

@test "the JSON summary is one object and the only output" {
    run --separate-stderr "$lawn" demo --timers 10k --seconds 1.5 --json
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    [ "${#lines[@]}" -eq 1 ]
    [[ "$output" == *'"early": 0, "lost": 0, '* ]]
    command -v python3 >/dev/null || skip "python3 is missing"
    python3 - "$output" <<'END'
import json, sys
s = json.loads(sys.argv[1])
assert s["operations"] == (s["started"] + s["restarted"] + s["stopped"] +
                           s["fired"])
assert s["started"] == s["stopped"] + s["fired"] + s["running"]
assert 0 < s["fired"] and 0 < s["restarted"] and 0 < s["stopped"]
late = s["lateness_ns"]
assert late["p50"] <= late["p99"] <= late["max"]
share = s["lawn_bytes"] / s["timers"]
assert abs(s["bytes_per_timer"] - s["timer_bytes"] - share) < 0.01
END
}

# On a busy machine it may be too late for one of them, but not each time.
@test "without a terminal it prints a line a second" {
    for _ in {1..20}; do
        run "$lawn" demo --timers 1000 --seconds 2.2
        [ "$status" -eq 0 ]
        [[ "$output" != *$'\033'* ]]
        count="$(grep -cE '^ +[0-9]+ s .*running.*ops/s.*so far: p99 .* late, 0 early$' \
            <<<"$output" || true)"
        [ "$count" -ne 2 ] || break
    done
    [ "$count" -eq 2 ]
    [ "$(grep -cE '^ +[12] s ' <<<"$output")" -eq 2 ]
}

@test "SIGINT and SIGTERM end the run with the summary" {
    for signal in INT TERM; do
        "$lawn" demo --timers 1000 --seconds 600 >"$BATS_TEST_TMPDIR/out" 3>&- &
        signal_to $! $signal
        wait $!
        grep ' s, interrupted' "$BATS_TEST_TMPDIR/out"
        grep -E '^  early +0$' "$BATS_TEST_TMPDIR/out"
    done
}

@test "a full disk is named and exits 4" {
    [ -w /dev/full ] || skip "/dev/full is missing"
    for arguments in --help --version "demo --help" \
        "demo --timers 10 --seconds 30" \
        "demo --timers 10 --seconds 0.1 --json"; do
        run bash -c '"$0" $1 >/dev/full' "$lawn" "$arguments"
        [ "$status" -eq 4 ]
        [[ "$output" == "lawn: cannot write the output: No space left"* ]]
    done
}

@test "a closed pipe exits 4 without a word" {
    run bash -c '{ "$0" demo --timers 10 --seconds 30; echo $? >&2; } | true' \
        "$lawn"
    [ "$output" = 4 ]
}

@test "no memory for the timers is named and exits 1" {
    [ -z "${ASAN_OPTIONS:-}" ] || skip "the sanitizer needs all addresses"
    run bash -c 'ulimit -v 500000 && exec "$0" demo --timers 4G' "$lawn"
    [ "$status" -eq 1 ]
    [[ "$output" == *"out of memory for 4,000,000,000 timers"*"--timers"* ]]
}

@test "on a terminal it draws, and leaves the terminal as it was" {
    on_terminal 60 16 TERM=xterm "$lawn" demo --timers 1000 --seconds 0.5
    [ "$status" -eq 0 ]
    [[ "$output" == $'\033[?1049h\033[?25l'* ]]
    [[ "$output" == *" 100ms "*"/s "* ]]
    [[ "$output" == *$'\033[32m'* ]]
    [[ "$output" == *$'\033[?25h\033[?1049l''lawn demo: 1,000 timers'* ]]
}

@test "a signal during the drawing leaves the terminal as it was" {
    local pid="$BATS_TEST_TMPDIR/pid"
    {
        for _ in {1..9000}; do # the process is a shell at first
            ! grep -qs lawn "/proc/$(cat "$pid")/comm" || break
            sleep 0.01
        done
        signal_to "$(cat "$pid")" INT
    } 3>&- &
    on_terminal 80 24 "echo \$\$ >$pid; exec env TERM=xterm" "$lawn" demo \
        --timers 1000 --seconds 600
    [ "$status" -eq 0 ]
    [[ "$output" == *$'\033[?25h\033[?1049l''lawn demo: 1,000 timers'* ]]
    [[ "$output" == *"interrupted"* ]]
}

@test "no row is wider than the terminal" {
    local home=$'\033[H' rest=$'\033[J' line_end=$'\033[K\r'
    for size in "60 16" "80 24" "200 50"; do
        set -- $size
        on_terminal "$1" "$2" TERM=xterm NO_COLOR=1 LC_ALL=C \
            "$lawn" demo --timers 1000 --seconds 0.3
        [[ "$output" == *"$home"* ]]
        frame="${output##*"$home"}" # the last frame
        frame="${frame%%"$rest"*}"
        frame="${frame//"$line_end"/}"
        [ "$(wc -l <<<"${frame%$'\n'}")" -lt "$2" ]
        run ! grep -E ".{$1}" <<<"$frame"
    done
}

@test "NO_COLOR is respected" {
    on_terminal 80 24 TERM=xterm NO_COLOR=1 "$lawn" demo --timers 1000 \
        --seconds 0.3
    [[ "$output" == *$'\033[H'* ]]
    [[ "$output" != *$'\033['[0-9]*m* ]]
}

@test "a dumb or small terminal gets lines" {
    for terminal in "80 24 TERM=dumb" "59 16 TERM=xterm"; do
        on_terminal $terminal "$lawn" demo --timers 1000 --seconds 0.3
        [[ "$output" == *"lawn demo: 1,000 timers"* ]]
        [[ "$output" != *$'\033'* ]]
    done
}
