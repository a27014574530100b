#!/usr/bin/env bats
# The recipes of docs/RECIPES.md and the examples of lawn-filters(1), run unchanged:
# see tests/cli/recipes.py. LAWN names the tool, by default build/lawn.

bats_require_minimum_version 1.5.0

setup() {
    top="$(realpath "$BATS_TEST_DIRNAME/../..")"
    LAWN="$(realpath "${LAWN:-$top/build/lawn}")"
    export LAWN
    page=docs/RECIPES.md
    cd "$top" || return
}

recipes() {
    timeout -k 10 900 tests/cli/recipes.py "$@"
}

# The recipe with the title $1 prints the documented output.
recipe() {
    recipes run "$page" "$1"
}

@test "the recipe 'A sensor falls silent' works" {
    recipe 'A sensor falls silent'
}

@test "the recipe 'Is every host alive? A job for cron' works" {
    recipe 'Is every host alive? A job for cron'
}

@test "the recipe 'A burst of log lines becomes one' works" {
    recipe 'A burst of log lines becomes one'
}

@test "the recipe 'A click stream becomes sessions' works" {
    recipe 'A click stream becomes sessions'
}

@test "the recipe 'Two notifications at once, then one each half hour' works" {
    recipe 'Two notifications at once, then one each half hour'
}

@test "the recipe 'An API that takes ten calls a second' works" {
    recipe 'An API that takes ten calls a second'
}

@test "the recipe 'Requests and their answers' works" {
    recipe 'Requests and their answers'
}

@test "the recipe 'Two formats' works" {
    recipe 'Two formats'
}

@test "the recipe 'Each alert once in ten minutes' works" {
    recipe 'Each alert once in ten minutes'
}

@test "the recipe 'A Kafka topic, later' works" {
    command -v kcat >/dev/null || skip "kcat is missing"
    recipe 'A Kafka topic, later'
}

@test "the recipe 'A Redis stream, later' works" {
    command -v redis-server >/dev/null || skip "redis-server is missing"
    command -v redis-cli >/dev/null || skip "redis-cli is missing"
    recipe 'A Redis stream, later'
}

@test "the recipe 'Jobs with their own delay' works" {
    recipe 'Jobs with their own delay'
}

@test "the recipe 'Lines that are out of order' works" {
    recipe 'Lines that are out of order'
}

@test "the recipe 'Lines that survive a restart' works" {
    recipe 'Lines that survive a restart'
}

@test "the recipe 'As a service of systemd' works" {
    recipe 'As a service of systemd'
}

@test "the recipe 'What became of my lines?' works" {
    recipe 'What became of my lines?'
}

@test "there is a test of every recipe" {
    recipes titles "$page" >"$BATS_TEST_TMPDIR/titles"
    sed -n "s/^    recipe '\(.*\)'$/\1/p" "$BATS_TEST_FILENAME" |
        diff "$BATS_TEST_TMPDIR/titles" -
}

@test "every example of lawn-filters(1) prints the documented output" {
    recipes run man/lawn-filters.1
}

@test "what README.md shows of the command line works" {
    recipes run README.md 'From the command line'
}

@test "every display of examples in lawn-filters(1) is run" {
    displays="$(sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE/p' man/lawn-filters.1 |
        grep -c '^\.Bd ')"
    marks="$(grep -c '^\.\\" no C \(shell\|output\)$' man/lawn-filters.1)"
    [ "$displays" -eq "$marks" ]
    [ "$(recipes titles man/lawn-filters.1 | wc -l)" -eq \
        "$(grep -c '^\.\\" no C shell$' man/lawn-filters.1)" ]
}

@test "lawn-filters(1) goes by the name of each filter" {
    sed -n '/^\.Sh SYN/,/^\.Sh DES/s/^\.Cm //p' man/lawn-filters.1 |
        sed 's/.*/lawn-& lawn-filters.1/' >"$BATS_TEST_TMPDIR/verbs"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/verbs")" -eq 7 ]
    tools/manlinks | grep ' lawn-filters\.1$' | diff "$BATS_TEST_TMPDIR/verbs" -
}

@test "a recipe that prints something else is noticed" {
    printf '%s\n' '## One' '```sh' 'echo a' '```' '```output' b '```' \
        >"$BATS_TEST_TMPDIR/page.md"
    run recipes run "$BATS_TEST_TMPDIR/page.md"
    [ "$status" -ne 0 ]
    [[ "$output" == *"-b"*"+a"* ]]
}

@test "a recipe that prints something the page does not show is noticed" {
    printf '%s\n' '## One' '```sh' 'echo a >&2' '```' \
        >"$BATS_TEST_TMPDIR/page.md"
    run recipes run "$BATS_TEST_TMPDIR/page.md"
    [ "$status" -ne 0 ]
}

@test "a recipe that fails is noticed" {
    printf '%s\n' '## One' '```sh' 'exit 3' '```' >"$BATS_TEST_TMPDIR/page.md"
    run recipes run "$BATS_TEST_TMPDIR/page.md"
    [ "$status" -ne 0 ]
    [[ "$output" == *"status 3"* ]]
}

@test "a block of a kind that is not known is noticed" {
    printf '%s\n' '## One' '```bash' true '```' >"$BATS_TEST_TMPDIR/page.md"
    run recipes run "$BATS_TEST_TMPDIR/page.md"
    [ "$status" -ne 0 ]
    [[ "$output" == *"page.md:2: what is this block?"* ]]
}

@test "a service that systemd would not start is noticed" {
    command -v systemd-analyze >/dev/null || skip "systemd is missing"
    printf '%s\n' '## One' '```ini' '# /etc/systemd/system/one.service' \
        '[Service]' 'ExecStart=/usr/bin/lawn absent 5m' 'StandardInputs=socket' \
        '```' >"$BATS_TEST_TMPDIR/page.md"
    run recipes run "$BATS_TEST_TMPDIR/page.md"
    [ "$status" -ne 0 ]
    [[ "$output" == *"StandardInputs"* ]]
}
