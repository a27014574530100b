#!/bin/sh
# lib.sh - read first by the scripts of this folder. They run from the top folder, after
# `make`, and print results like the other test programs.
set -u
passed=0
failed=0
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
: "${CC:=cc}"
# shellcheck disable=SC2034 # for the scripts
strict='-Wall -Wextra -Wpedantic -Werror'

# check NAME COMMAND... - a test: passes if the command succeeds.
check()
{
    check_name=$1
    shift
    if "$@" >"$scratch/log" 2>&1; then
        passed=$((passed + 1))
        echo "ok $check_name"
    else
        failed=$((failed + 1))
        sed 's/^/  /' "$scratch/log"
        echo "FAILED $check_name"
    fi
}

# runs_as_documented TEST NAME SOURCE - tests that the program $scratch/NAME runs, and prints
# the output that its source documents, if any.
runs_as_documented()
{
    check "$1_runs" sh -c "timeout 300 '$scratch/$2' >'$scratch/printed'"
    sed -n '/^\/\* prints:$/,/^ \*\/$/s/^ \* //p' "$3" >"$scratch/expected"
    if [ -s "$scratch/expected" ]; then
        check "$1_prints_the_documented_output" \
            diff "$scratch/expected" "$scratch/printed"
    fi
}

clean()
{
    # shellcheck disable=SC2046 # a list
    $CC -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -Iinclude \
        -o "$scratch/clean" "$@" \
        $(for file in src/core/*.c src/store/*.c src/workers/*.c src/loop/*.c; do
            echo "build/asan/${file%.c}.o"
        done) && timeout 300 "$scratch/clean"
}

# is_clean TEST SOURCE [OPTION...] - tests that the sanitizers report no leak and no
# other error; uses the objects that `make test` has built, if there are any.
is_clean()
{
    is_clean_test=$1
    shift
    if [ -f build/asan/unit ]; then
        check "${is_clean_test}_is_clean_under_the_sanitizers" clean "$@"
    fi
}

finish()
{
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
    exit
}
