#!/bin/sh
# lib.sh - for the scripts here, which read it first. They run from the top
# folder, after `make`, and print what the other test programs print.
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

finish()
{
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
    exit
}
