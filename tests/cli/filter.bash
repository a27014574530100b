# filter.bash - functions for the tests of lawn's filters.
#
# A test has an input, a command and its expected output, worked out by hand:
#
#     given 'a 1' 'b 2'
#     gives delay 5s --time-field 2 <<END
#
# LAWN names the tool, by default build/lawn.

setup() {
    lawn="$(realpath "${LAWN:-$BATS_TEST_DIRNAME/../../build/lawn}")"
    cd "$BATS_TEST_TMPDIR" || return
}

# The arguments are the lines of the input.
given() {
    [ $# -eq 0 ] || printf '%s\n' "$@" >in
    [ $# -gt 0 ] || : >in
}

# The input is the output of printf.
given_bytes() {
    printf "$1" >in
}

# Runs lawn with the arguments on the input; writes its output to "out" and "err" and
# sets $code to its exit code.
runs() {
    code=0
    timeout 120 "$lawn" "$1" --stats "${@:2}" <in >out 2>err || code=$?
}

# Runs lawn: it must print the text on standard input, and exit with 0.
gives() {
    runs "$@"
    if [ $code -ne 0 ]; then
        echo "exit code $code"
        cat err
        return 1
    fi
    diff -u - out
}

# Runs lawn: it must print nothing, and exit with 0.
gives_nothing() {
    gives "$@" </dev/null
}

# Checks counts of the last run, such as in=3, and that all lines are accounted for.
counts() {
    local word n
    if ! grep -q '^lawn [a-z]*: in=' err; then
        echo "there are no counts:"
        cat err
        return 1
    fi
    for word in "$@"; do
        if ! grep -q "^lawn [a-z]*: in=.* $word\( \|$\)\|: $word " err; then
            echo "not $word:"
            cat err
            return 1
        fi
    done
    n="$(sed -n '/: in=/s/[^ 0-9]*=\([0-9]*\)/\1/gp' err |
        awk '{ print $3 - $4 - $5 - $6 }')"
    [ "$n" = 0 ]
}

# stderr must contain each of the words in the array $words.
reports() {
    local word
    # shellcheck disable=SC2154 # the test sets it
    if [ "${#words[@]}" -eq 0 ]; then
        echo "no words are given"
        return 1
    fi
    for word in "${words[@]}"; do
        if ! grep -qF -e "$word" err; then
            echo "'$word' is not printed:"
            cat err
            return 1
        fi
    done
}

# Runs lawn; it must exit with $1, print $words and write no output.
refuses() {
    local expected=$1
    shift
    runs "$@"
    if [ $code -ne "$expected" ]; then
        echo "lawn $*: exit code $code, not $expected"
        cat err
        return 1
    fi
    reports
    [ ! -s out ]
}
