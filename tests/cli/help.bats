#!/usr/bin/env bats
# The help of lawn, and that it accepts the documented options. LAWN names the tool, by
# default build/lawn.

bats_require_minimum_version 1.5.0

setup() {
    lawn="$(realpath "${LAWN:-$BATS_TEST_DIRNAME/../../build/lawn}")"
    traces="$BATS_TEST_DIRNAME/traces"
    mkdir "$BATS_TEST_TMPDIR/bin" "$BATS_TEST_TMPDIR/empty"
    ln -s "$lawn" "$BATS_TEST_TMPDIR/bin/lawn"
    PATH="$BATS_TEST_TMPDIR/bin:$PATH"
    cd "$BATS_TEST_TMPDIR/empty" || return
}

# The verbs that a help lists, one per line.
listed_verbs() {
    sed -n '/^options/,$d; s/^  \([a-z]\{1,\}\) .*/\1/p'
}

# All verbs, one per line, and an empty line for none: "trace stats".
all_verbs() {
    local verb
    echo
    for verb in $(lawn --help | listed_verbs); do
        echo "$verb"
        lawn "$verb" --help | sed -n '/^verbs:$/,/^$/p' | listed_verbs |
            sed "s/^/$verb /"
    done
}

# The examples in the help of a verb, as a script.
example() {
    lawn $1 --help | sed -n '/^examples\{0,1\}:$/,$s/^  //p'
}

# Runs a script as a user would type it, with a time limit.
types() {
    run --separate-stderr timeout 300 bash -euo pipefail -c "$1" </dev/null
}

@test "the help lists the documented verbs" {
    [ "$(all_verbs | wc -l)" -eq "$(all_verbs | sort -u | wc -l)" ]
    for verb in "" delay debounce throttle dedupe absent session join demo \
        bench trace "trace stats" "trace convert" top completion \
        "completion bash" "completion zsh" "completion fish"; do
        all_verbs | grep -qxF "$verb"
    done
}

@test "every help has a usage, an example, and 79 columns at most" {
    while read -r verb; do
        for option in --help -h; do
            run --separate-stderr lawn $verb $option
            [ "$status" -eq 0 ]
            [ -z "$stderr" ]
            [[ "$verb" == bench || "$output" == "usage: lawn ${verb:+$verb }"* ]]
            [[ "$verb" != bench || "$output" == "usage: lawn-bench "* ]]
            [[ "$output" == *$'\n\noptions:\n'*$'\n\nexample'?(s)$':\n  '* ]]
            [[ "$output" != *[[:blank:]]$'\n'* ]]
            run ! grep -E '.{80}' <<<"$output"
        done
    done < <(all_verbs)
}

@test "the first help is a page of 60 lines, each verb a line of it" {
    run lawn --help
    [ "${#lines[@]}" -gt 40 ]
    [ "$(lawn --help | wc -l)" -le 60 ]
    run --separate-stderr lawn
    [ "$status" -eq 2 ]
    [ "$stderr" = "$(lawn --help)" ]
    for verb in $(lawn --help | listed_verbs); do
        summary="$(lawn --help | sed -n "s/^  $verb .* \{2,\}//p")"
        [ -n "$summary" ]
        next="$(lawn --help | grep -A 1 "^  $verb " | tail -n 1)"
        [[ "$next" == "" || "$next" == "  "[a-z]* ]]
    done
}

@test "the first help lists only existing options" {
    lawn completion table | cut -f 4 | sort -u >options
    printf 'help\nversion\n' >>options
    while read -r option; do
        grep -qxF -e "${option#--}" options
    done < <(lawn --help | grep -oE -e '--[a-z][a-z-]*' | sort -u)
    while read -r option; do
        lawn completion table | cut -f 3 | grep -qxF -e "${option: -1}"
    done < <(lawn --help | grep -oE -e ' -[a-z] ' -e ' -[a-z]$' | tr -d ' ' |
        grep -vx -e -F | sort -u)
}

@test "long texts of options are wrapped and aligned" {
    lawn debounce --help >help
    line="$(grep -n -m 1 -e '--on-eof WHAT' help)"
    column="${line#*:}"
    column="${column%%at the end*}"
    next="$(sed -n "$((${line%%:*} + 1))p" help)"
    [[ "$next" =~ ^\ +[a-z] ]]
    [ "${next:0:${#column}}" = "${column//?/ }" ]
    [ "${next:${#column}:1}" != " " ]
    # The text of a long name is on the next line.
    run grep -A 1 -e '--right-time-field FIELD$' <(lawn join --help)
    [[ "${lines[1]}" =~ ^\ {20,30}[a-z] ]]
}

@test "the help has letters, values that may be left out, common options" {
    run lawn debounce --help
    [[ "$output" == *$'\n  -k, --key KEY  '*$'\ncommon options:\n'* ]]
    [[ "$output" == *$'\ncommon options:\n'*$'\n      --stats[=SEC]  '* ]]
    [[ "$output" == *$'\n      --help  '*"print this help and exit"* ]]
    # A list without letters reserves no space for them.
    run lawn demo --help
    [[ "$output" == *$'\n  --timers N  '*$'\n  --help '* ]]
    [[ "$output" != *"common options"* ]]
}

@test "examples work unchanged" {
    cp "$traces/small.trace" timers.trace
    cp "$traces/twitter.csv" cluster52
    count=0
    while read -r verb; do
        script="$(example "$verb")"
        [ -n "$script" ]
        case $verb in
        demo) script="$script --seconds 0.05" ;;
        bench) script="$script --quick" ;;
        top) # with a test server
            command -v python3 >/dev/null || skip "python3 is missing"
            mkdir server
            "$BATS_TEST_DIRNAME/top_server.py" "$PWD/server" plain 3>&- &
            until [ -s server/port ]; do sleep 0.01; done
            script="${script/127.0.0.1:6379/127.0.0.1:$(cat server/port)}"
            ;;
        esac
        types "$script"
        echo "lawn $verb --help: $script: $status $stderr"
        [ "$status" -eq 0 ]
        [ "$verb" != top ] || kill $!
        [ -z "$stderr" ] || [[ "$verb" == @(bench|"trace convert") ]]
        count=$((count + 1))
    done < <(all_verbs)
    [ "$count" -eq "$(all_verbs | wc -l)" ]
}

@test "the examples of the first help do what they document" {
    types "$(example "")"
    [[ "${lines[0]}" == absent$'\t'attic$'\t'*$'\t'1 ]]
    [[ "${lines[1]}" == absent$'\t'cellar$'\t'*$'\t'1 ]]
    [ "${lines[2]}" = $'2\tweb1 hot' ]
    [ "${lines[3]}" = $'1\tdb2 up' ]
    [ "${lines[4]}" = '{"user":"ann"}' ]
    [ "${lines[5]}" = '{"user":"bob"}' ]
    [ "${lines[6]}" = $'both\t0 GET id=7\t2 OK id=7' ]
    [ "${lines[7]}" = $'left\t1 GET id=8' ]
    [ "${#lines[@]}" -eq 8 ]
}

# The output of "lawn debounce 1s" for three lines, with further arguments.
bursts() {
    printf 'a,1 x\nb,1 x\na,1 y\n' | timeout 300 lawn debounce 1s \
        --on-eof flush "$@"
}

@test "a letter, a name and an equals sign are equivalent" {
    expected=$'b,1 x\na,1 y'
    for arguments in "-k 1 -d ," "-k1 -d," "--key 1 --delimiter ," \
        "--key=1 --delimiter=," "--delimiter , -k 1" "-d, --key=1 -"; do
        [ "$(bursts $arguments | sort)" = "$(sort <<<"$expected")" ]
    done
    [ "$(bursts | wc -l)" -eq 1 ]
    # An equals sign after a letter is part of the value.
    run --separate-stderr bursts -k=1
    [ "$status" -eq 2 ]
    [[ "$stderr" == *"'=1'"* ]]
}

@test "of a value that is given twice the last one counts" {
    [ "$(bursts -k 7 -d ';' --key 1 -d ,)" = "$(bursts -k 1 -d ,)" ]
    [ "$(bursts --strict --strict -k 1 -d ,)" = "$(bursts -k 1 -d ,)" ]
}

@test "an optional value follows an equals sign only" {
    run --separate-stderr bursts --stats
    [ "$status" -eq 0 ]
    [[ "$stderr" == "lawn debounce: in=3 "* ]]
    run --separate-stderr bursts --stats=60
    [ "$status" -eq 0 ]
    [[ "$stderr" == "lawn debounce: in=3 "* ]]
    # The next word is an operand.
    run --separate-stderr bursts --stats 60
    [ "$status" -eq 3 ]
    [[ "$stderr" == *"60"*"No such file"* ]]
    run --separate-stderr bursts --stats=often
    [ "$status" -eq 2 ]
    [[ "$stderr" == *"--stats: 'often' is not "* ]]
}

@test "after two dashes there are only operands, and one dash is one" {
    printf 'x\n' >--json
    [ "$(lawn delay 0 -- --json)" = x ]
    [ "$(lawn delay 0 - <--json)" = x ]
    run --separate-stderr lawn delay 0 -- --jsno
    [ "$status" -eq 3 ]
    [[ "$stderr" == *"--jsno"*"No such file"* ]]
}

@test "what is not an option gets a hint" {
    while IFS=: read -r argument hint; do
        run --separate-stderr bursts $argument
        [ "$status" -eq 2 ]
        [ -z "$output" ]
        [[ "$stderr" == "lawn debounce: unknown option '${argument%% *}'"* ]]
        [[ "$stderr" == *"see 'lawn debounce --help'"* ]]
        if [ -n "$hint" ]; then
            [[ "$stderr" == *"did you mean $hint?"* ]]
        else
            [[ "$stderr" != *"did you mean"* ]]
        fi
    done <<'END_OF_TABLE'
-K 1:-k
-D ,:-d
-x:
-1:
-json:--json
--kye 1:--key
--emits last:--emit
--statt:--stats
--time_field 1:--time-field
--timers 1:
END_OF_TABLE
    run --separate-stderr bursts -k
    [ "$status" -eq 2 ]
    [[ "$stderr" == "lawn debounce: --key needs a value: "* ]]
    run --separate-stderr bursts --json=1
    [ "$status" -eq 2 ]
    [[ "$stderr" == "lawn debounce: --json takes no value"* ]]
    run --separate-stderr bursts --emit best
    [ "$status" -eq 2 ]
    [[ "$stderr" == *"--emit: 'best' is not one of last, first, all, count"* ]]
}

@test "lawn help VERB is lawn VERB --help" {
    while read -r verb; do
        [ -n "$verb" ] || continue
        # shellcheck disable=SC2086 # a verb may have two words
        [ "$("$lawn" help $verb)" = "$("$lawn" $verb --help)" ]
    done < <(all_verbs)
}
