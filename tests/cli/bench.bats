#!/usr/bin/env bats
# lawn bench from a user's view, in cells so small that the measurements mean nothing.
# LAWN names the tool, by default build/lawn.

bats_require_minimum_version 1.5.0

setup() {
    lawn="$(realpath "${LAWN:-$BATS_TEST_DIRNAME/../../build/lawn}")"
    top="$(realpath "$BATS_TEST_DIRNAME/../..")"
    few=(--contender 'lawn,heap4,wheel,floor' --n 1k --t '1,20' --runs 1)
    cd "$BATS_TEST_TMPDIR" || return
}

# Runs lawn bench with the arguments; it must exit with $1 and print each of the words
# in the array $words on stderr.
fails() {
    local code=$1
    shift
    run --separate-stderr "$lawn" bench "$@"
    [ "$status" -eq "$code" ]
    local word
    for word in "${words[@]}"; do
        [[ "$stderr" == *"$word"* ]]
    done
}

# The JSON in $output has the form that bench/README.md documents, has three runs, and is
# consistent.
is_whole() {
    python3 - "$top/bench/README.md" "$output" <<'END'
import json, re, sys
text = open(sys.argv[1]).read()
start = text.index('    {"program"')
form = json.loads(text[start:text.index("\n\n", start)].replace(
    '"ours|paper|peer|floor"', '"ours"'))
run = json.loads(sys.argv[2])

def alike(form, value, where):
    if isinstance(form, dict) and value is not None:
        assert list(form) == list(value), (where, list(form), list(value))
        for key in form:
            alike(form[key], value[key], where + "." + key)
    elif isinstance(form, list) and form:
        for i, item in enumerate(value):
            alike(form[0], item, f"{where}[{i}]")
    elif form is not None and value is not None:
        number = isinstance(form, (int, float))
        assert number == isinstance(value, (int, float)), (where, value)

alike(form, run, "run")
assert run["complete"] is True and run["seed"] == 1 and run["runs"] == 3
names = [c["name"] for c in run["contenders"]]
exact = {c["name"] for c in run["contenders"] if c["exact"]}
assert {c["workload"] for c in run["cells"]} == {
    w["name"] for w in run["workloads"]}
for cell in run["cells"]:
    assert [row["contender"] for row in cell["rows"]] == names
    for row in cell["rows"]:
        assert row["ns"] == sorted(row["ns"])
        assert (row["why"] is None) == (len(row["ns"]) == 3), row
        if row["why"] is None:
            assert row["median"] == row["ns"][1] > 0
            assert row["ops"] > 0 and row["bytes"] >= 8
            tail = row["tail"]
            if cell["workload"] == "S7": # two calls with much time in between
                assert tail is None
                continue
            assert tail["p50"] <= tail["p99"] <= tail["p9999"] <= tail["max"]
    sums = {r["checksum"] for r in cell["rows"] if r["contender"] in exact
            and r["checksum"] is not None}
    assert len(sums) == 1 and re.fullmatch("[0-9a-f]{16}", sums.pop())
END
}

# The output of the gate of stores if there is no table to compare with.
is_not_measured() {
    [ "$status" -eq 1 ]
    [ -z "$stderr" ]
    [[ "$output" == *"B7  start and stop over"*": not measured  FAILS"* ]]
    [[ "$output" == *"uplain and gplain are not available; to build them, run: tools/deps bench; make"* ]]
    [[ "$output" == *"not met:"*"B7 start and stop: not measured"* ]]
    [ "${lines[-2]}" = "1 of 2 performance limits met" ]
    [ "${lines[-1]}" = "some limits were not measured" ]
}

# Copies the tools to the folder "copy", without plug-ins next to them.
copy_tool() {
    [ ! -e /usr/local/lib/lawn/peers ] || skip "peers are installed"
    mkdir copy
    cp "$lawn" "$lawn-bench" copy
}

@test "the help names all options and an example" {
    run --separate-stderr "$lawn" bench --help
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    for option in quick gate store workers adapters tails workload contender n t threads budget trace \
        runs limit seed instructions json csv report from svg list loop help; do
        grep -qE "^  --$option( |$)" <<<"$output"
    done
    [[ "$output" == *"example:"*"lawn bench --"* ]]
    run ! grep -E '.{80}' <<<"$output"
}

@test "the list names every contender and workload" {
    run --separate-stderr "$lawn" bench --list
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    for name in lawn lawn-class list tree heap2 heap4 hashed growing wheel calendar paper \
        heads uv event common ev glib dpdk floor uthash ghash sqlite uplain \
        gplain mutex adaptive shards uvloops alone W1 W2 W3 W4 W5 W6 W7 W8 W9 W10u W10l W10b W11 W12 S1 S2 S3 S4 S5 \
        S6 S7 T1 T2 T3 T4 T5 T6 uv.lawn event.lawn ev.lawn uring uring.lawn \
        glib.lawn sdevent sdevent.lawn A1 A2 A3; do
        case $name in
        lawn) many=4 ;;
        uv | event | common | ev | glib) many=2 ;;
        *) many=1 ;;
        esac
        [ "$(grep -cE "^  $name +[^ ]" <<<"$output")" -eq $many ]
    done
}

@test "peers that were not built are in the list with a reason, and are no contenders" {
    copy_tool
    run copy/lawn bench --list
    [ "$status" -eq 0 ]
    [[ "$output" == *"not available in this build:"*"uv "*"libuv1-dev"* ]]
    run copy/lawn bench --contender uv
    [ "$status" -eq 2 ]
    run --separate-stderr copy/lawn bench "${few[@]}" --workload W1 --json
    [ "$status" -eq 0 ]
    python3 -c '
import json, sys
missing = {m["name"]: m["why"] for m in json.load(sys.stdin)["missing"]}
assert set(missing) == {"uv", "event", "common", "ev", "glib", "dpdk"}
assert "libev-dev" in missing["ev"]' <<<"$output"
}

@test "unknown names are refused, and the known ones listed" {
    words=("unknown contender 'heap5'; valid names are: lawn lawn-class list" " heap4 " "--list")
    fails 2 --contender lawn,heap5
    words=("unknown workload 'W13'; valid names are: W1 W2" " W10u " "valid titles are: start" " churn " "--list")
    fails 2 --workload W1,W13
    words=("unknown option '--workloads'" "did you mean --workload?" "--help")
    fails 2 --workloads W1
    words=("--loop: 'lawn/fly' is not CONTENDER/OPERATION"
        "operations are: start stop restart idle fire, and last with --trace;"
        "--list")
    fails 2 --loop lawn/fly
    words=("--loop: 'lwan/start' is not CONTENDER/OPERATION" "--list")
    fails 2 --loop lwan/start
    words=("--n: '999' is not a number of timers from 1k to 100M")
    fails 2 --loop lawn/start --n 999
}

@test "the last events of a trace are played for a profiler" {
    printf '%s\n' '# lawn trace 1' '0 start a 5' '1 start b 9' '7 stop b' >trace
    for n in 1 3; do
        run --separate-stderr "$lawn" bench --loop list/last --trace trace --n $n
        [ "$status" -eq 0 ]
        [ "$output" = $n ]
    done
    run "$lawn" bench --loop lawn/last --trace trace
    [ "$output" = 1 ]
    words=("--n: '4' is not a number from 1 to 3, the number of events in the trace")
    fails 2 --loop list/last --trace trace --n 4
    words=("--loop CONTENDER/last requires --trace FILE")
    fails 2 --loop list/last
    words=("none: ")
    fails 3 --loop list/last --trace none
    words=("--loop: 'list/start' is not CONTENDER/OPERATION")
    fails 2 --loop list/start --trace trace
}

@test "bad numbers are refused with what is accepted" {
    for bad in 0 99 x 1k,x 100.5 101M -1 1k,,10k; do
        words=("--n: '$bad' is not a list of numbers from 100 to 100M")
        fails 2 --n "$bad"
    done
    for bad in 0 x 1,n 1.5; do
        words=("--t: '$bad' is not a list of numbers from 1 to 100M" ",N")
        fails 2 --t "$bad"
    done
    words=("--runs: '32' is not a number from 0 to 31")
    fails 2 --runs 32
    words=("--limit: 'soon' is not a time")
    fails 2 --limit soon
    words=("--t is larger than --n")
    fails 2 --workload W1 --n 1k --t 2k
}

@test "the text has a row for each contender, the best first" {
    run --separate-stderr "$lawn" bench "${few[@]}" --workload W1,idle
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    [[ "$output" == *"W1 start, 1,000 timers, 1 TTL, seed 1: start of"* ]]
    [[ "$output" == *"W1 start, 1,000 timers, 20 TTLs, seed 1: start of"* ]]
    [[ "$output" == *"W8 idle, 1,000 timers, seed 1: mow"* ]]
    [ "$(grep -cE '^  (lawn|heap4|wheel) +[0-9.]+ ' <<<"$output")" -eq 9 ]
    [ "$(grep -c '^  floor *made for one TTL only$' <<<"$output")" -eq 2 ]
    [ "$(grep -cE '^  [a-z0-9]+ .* 1\.00 ' <<<"$output")" -ge 3 ]
    # Not a terminal: no progress is drawn.
    [[ "$output$stderr" != *$'\033'* ]]
}

@test "the CSV has a line for each cell and contender" {
    run --separate-stderr "$lawn" bench "${few[@]}" --workload W1,W6 --csv
    [ "$status" -eq 0 ]
    python3 -c '
import csv, sys
rows = list(csv.DictReader(sys.stdin))
assert len(rows) == 3 * 4, len(rows)
for row in rows:
    assert None not in row and None not in row.values()
    measured = row["why"] == ""
    assert measured == (row["runs"] == "1") == (row["ns_median"] != "")
assert [r["t"] for r in rows] == ["1"] * 4 + ["20"] * 4 + [""] * 4' \
        <<<"$output"
}

@test "the JSON has the form that bench/README.md documents, and is consistent" {
    run --separate-stderr "$lawn" bench "${few[@]}" --runs 3 --json
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    is_whole
    python3 -c '
import json, sys
run = json.load(sys.stdin)
names = [c["name"] for c in run["contenders"]]
assert names == ["lawn", "heap4", "wheel", "floor"], names
cells = [(c["workload"], c["n"], c["t"]) for c in run["cells"]]
assert len(set(cells)) == len(cells) == 5 * 2 + 9
' <<<"$output"
}

@test "the same seed fires the same timers, another one others" {
    for seed in 1 1 2; do
        "$lawn" bench "${few[@]}" --workload W4 --t 20 --csv --seed $seed |
            cut -d , -f 11 | sed -n 2p >>sums
    done
    [ "$(sort -u sums | wc -l)" -eq 2 ]
    [ "$(sed -n 1p sums)" = "$(sed -n 2p sums)" ]
}

@test "every contender that there is runs every workload with few operations" {
    run --separate-stderr "$lawn" bench --quick --n 1k --t 20 --runs 1 --csv
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    run ! grep -v -e '^workload' -e ',$' -e ',made for one TTL only$' \
        -e ',given up: too slow$' <<<"$output"
}

@test "the report and the picture are files of their own, with the data" {
    run --separate-stderr "$lawn" bench "${few[@]}" --workload W1,W3 --json \
        --report page.html --svg picture.svg
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    python3 - "$output" <<'END'
import json, re, sys
import xml.dom.minidom
page = open("page.html").read()
found = re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>',
                  page, re.S)
first, second = json.loads(sys.argv[1]), json.loads(found.group(1))
first["date"] = second["date"] = None
assert first == second
picture = open("picture.svg").read()
assert xml.dom.minidom.parseString(picture).documentElement.tagName == "svg"
for text in (page, picture):
    assert "lawn" in text
    assert not re.search(r'(src|href)="(?!#|data:)', text)
    assert not re.search(r'@import|url\((?!#|data:)|\bfetch\(', text)
END
}

@test "a picture of one number of timers and TTLs is a bar chart with its source" {
    run --separate-stderr "$lawn" bench --workload W3,W4 --n 1k --t 20 --runs 1 \
        --contender lawn,heap4,floor --json --svg bars.svg
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    python3 - "$output" <<'END'
import json, sys
import xml.dom.minidom
run = json.loads(sys.argv[1])
picture = xml.dom.minidom.parse("bars.svg").documentElement
texts = [t.firstChild.data for t in picture.getElementsByTagName("text")]
assert "Time per operation, 1,000 timers, 20 TTLs" in texts, texts
assert "W3: restart of a running timer" in texts, texts
assert len(picture.getElementsByTagName("rect")) == 1 + 2 * 2
for cell in run["cells"]:
    for row in cell["rows"]:
        if row["contender"] != "floor":
            assert any(abs(float(t[:-3]) - row["median"]) < 0.51
                       for t in texts if t.endswith(" ns")), (row, texts)
machine, command = texts[-2:]
assert run["machine"]["cpu"] in machine and run["commit"] in machine, machine
assert command.startswith("Command: lawn bench --workload W3,W4 --n 1k "), command
END
}

@test "a report is made again from saved JSON, and of nothing else" {
    "$lawn" bench "${few[@]}" --workload W1 --json >run.json
    run --separate-stderr "$lawn" bench --from run.json --report again.html
    [ "$status" -eq 0 ]
    [ -z "$output$stderr" ]
    grep -qF "$(sed -n 2p run.json)" again.html
    head -c -100 run.json >short.json
    echo '{"program": "other"}' >other.json
    : >empty.json
    for bad in short.json other.json empty.json; do
        words=("lawn-bench: $bad: expected the output of 'lawn-bench --json'")
        fails 3 --from "$bad" --report none.html
    done
    words=("lawn-bench: cannot read none.json: No such file")
    fails 3 --from none.json --report none.html
    [ ! -e none.html ]
    words=("--from requires --report FILE")
    fails 2 --from run.json
    words=("lawn-bench: cannot write none/page.html: No such file")
    fails 4 --from run.json --report none/page.html
}

@test "files that cannot be written are named before anything is measured" {
    for option in report svg; do
        words=("lawn-bench: cannot write none/file: No such file")
        fails 4 --workload W1 --n 10M "--$option" none/file
        [ -z "$output" ]
    done
    [ -w /dev/full ] || skip "/dev/full is missing"
    words=("lawn-bench: cannot write /dev/full: No space left")
    fails 4 "${few[@]}" --workload W1 --report /dev/full
    words=("lawn-bench: cannot write the output: No space left")
    run bash -c '"$@" >/dev/full' - "$lawn" bench "${few[@]}" --workload W1
    [ "$status" -eq 4 ]
}

@test "a trace is replayed" {
    trace="$BATS_TEST_DIRNAME/traces/small.trace"
    run --separate-stderr "$lawn" bench --contender lawn,heap4 --runs 1 \
        --trace "$trace" --json
    [ "$status" -eq 0 ]
    python3 -c '
import json, sys
cell, = json.load(sys.stdin)["cells"]
assert cell["workload"] == "trace" and cell["t"] is None
assert len({row["checksum"] for row in cell["rows"]}) == 1' <<<"$output"
    printf '# lawn trace 1\n1 start a 5\n2 begin b 5\n' >bad.trace
    words=("lawn-bench: bad.trace:3: expected")
    fails 3 --trace bad.trace
    words=("lawn-bench: " "none.trace" "No such file")
    fails 3 --trace none.trace
}

# Prints a figure of the trace $1.
figure() {
    "$lawn" trace stats --json "$1" | python3 -c '
import json, sys
value = json.load(sys.stdin)
for key in sys.argv[1].split("."):
    value = value[key]
print(value)' "$2"
}

# Prints the trace of a workload.
record() {
    "$lawn" bench --record - "$@"
}

@test "a workload is recorded as a trace: its timers, the same each time" {
    for workload in W1 W2 W3 W4 W5 W6 W7 W8 W9 W10u W10l W10b W11 W12; do
        record --workload $workload --n 1k --t 7 --seed 5 >one
        "$lawn" bench --workload $workload --n 1k --t 7 --seed 5 --record two
        cmp one two
        [ "$(figure one events)" -eq "$(grep -c '^[0-9]' one)" ]
        [ "$(figure one starts)" -eq "$(grep -c ' start ' one)" ]
        [ "$(figure one stopped)" -eq "$(grep -c ' stop ' one)" ]
        [ "$(figure one ignored_stops)" -eq 0 ]
        [ "$(figure one timers.max)" -le 1000 ]
        "$lawn" trace stats --html page one >/dev/null
    done
    record --workload churn --n 1k --t 7 >one
    [ "$(figure one ttls.distinct)" -eq 7 ]
    [ "$(figure one running)" -eq 1000 ]
    ! cmp -s one <(record --workload churn --n 1k --t 7 --seed 2)
}

@test "a recorded trace has its unit, and how to make it again" {
    run record --workload w11 --n 1k --t 7
    [ "${lines[1]}" = "# unit s" ]
    [ "${lines[2]}" = "# workload W11 cache, n 1000, seed 1" ]
    [[ "${lines[3]}" == "# a cache: "* ]]
    [[ "${lines[4]}" == "# TTLs from 5 s to 92.6 d in seconds, "* ]]
    [[ "${lines[5]}" == [0-9]* ]]
    run "$lawn" trace stats <(printf '%s\n' "${lines[@]}")
    [[ "$output" == *"p50 3h, p99 13d"* ]]
    run record --workload churn --n 1k --t N --seed 5
    [ "${lines[1]}" = "# unit ms" ]
    [ "${lines[2]}" = "# workload W4 churn, n 1000, t 1000, seed 5" ]
    run record
    [ "${lines[2]}" = "# workload W5 deadlines, n 10000, t 20, seed 1" ]
}

@test "a workload that cannot be recorded is named" {
    words=("unknown workload 'W13'; valid names are: W1 ")
    fails 2 --record - --workload W13
    words=("--record: more than one cell; select one workload, one --n and one --t")
    fails 2 --record - --workload W1,W2
    fails 2 --record - --n 1k,10k
    fails 2 --record - --t 1,20
    words=("no cells to measure: --t is larger than --n")
    fails 2 --record - --n 1k --t 2k
    for other in "--trace x" --gate --store --workers --adapters --quick "--from x" \
        "--loop lawn/start" "--contender lawn" --json --csv "--report x" "--svg x" \
        --instructions; do
        words=("--record cannot be combined with " "${other%% *}")
        # shellcheck disable=SC2086 # an option and its value
        fails 2 --record - $other
    done
    words=("lawn-bench: cannot write none/trace: No such file")
    fails 4 --record none/trace
    # The exit status is written to a file: head may close its input before it prints.
    run bash -c '{ "$0" bench --record - --n 1M; echo $? >code; } | head -n 1' "$lawn"
    [ "$output" = "# lawn trace 1" ]
    [ "$(cat code)" = 4 ]
    [ -w /dev/full ] || skip "/dev/full is missing"
    words=("lawn-bench: cannot write the output: No space left")
    fails 4 --record /dev/full --n 1k
}

@test "lawn bench runs lawn-bench next to it, or else that of PATH" {
    mkdir alone path
    cp "$lawn" alone
    printf '#!/bin/sh\necho "path: $*"\n' >path/lawn-bench
    chmod +x path/lawn-bench
    run "$lawn" bench --version
    [ "$output" = "$("$lawn-bench" --version)" ]
    [[ "$output" == "lawn-bench "[0-9]* ]]
    PATH="$PWD/path:$PATH" run "$lawn" bench --version
    [[ "$output" == "lawn-bench "[0-9]* ]]
    PATH="$PWD/path:$PATH" run alone/lawn bench --n 1k
    [ "$status" -eq 0 ]
    [ "$output" = "path: --n 1k" ]
    PATH="$PWD/path:$PATH" run alone/lawn help bench
    [ "$output" = "path: --help" ]
}

@test "lawn bench runs that of PATH if the one next to it cannot be run" {
    mkdir alone path
    cp "$lawn" alone
    printf '#!/bin/sh\necho "path: $*"\n' >path/lawn-bench
    chmod +x path/lawn-bench
    touch alone/lawn-bench # not executable
    PATH="$PWD/path:$PATH" run alone/lawn bench --n 1k
    [ "$status" -eq 0 ]
    [ "$output" = "path: --n 1k" ]
    rm alone/lawn-bench
    mkdir alone/lawn-bench
    PATH="$PWD/path:$PATH" run alone/lawn bench --n 1k
    [ "$status" -eq 0 ]
    [ "$output" = "path: --n 1k" ]
    run --separate-stderr env PATH=/nowhere alone/lawn bench
    [ "$status" -eq 1 ]
    [ "$stderr" = "lawn bench: cannot run $(realpath alone)/lawn-bench: Permission denied" ]
}

@test "lawn bench of PATH has a plain name" {
    [ -r /proc/self/cmdline ] || skip "/proc is missing"
    mkdir alone path
    cp "$lawn" alone
    # A script gets its path from the system; a program gets what lawn passes.
    cp "$(command -v cat)" path/lawn-bench
    PATH="$PWD/path:$PATH" alone/lawn bench /proc/self/cmdline | tr '\0' ' ' >words
    [ "$(cat words)" = "lawn-bench /proc/self/cmdline " ]
}

@test "lawn bench without lawn-bench prints what to install" {
    mkdir alone
    cp "$lawn" alone
    for words in "bench --quick" "help bench" "bench --help" bench; do
        # shellcheck disable=SC2086 # words
        run -127 --separate-stderr env PATH=/nowhere alone/lawn $words
        [ -z "$output" ]
        [ "$stderr" = "lawn bench: lawn-bench is not installed; install the \
package lawn-bench or run make" ]
    done
    run env PATH=/nowhere alone/lawn --help
    [ "$status" -eq 0 ]
    touch alone/lawn-bench
    run --separate-stderr env PATH=/nowhere alone/lawn bench
    [ "$status" -eq 1 ]
    [ "$stderr" = "lawn bench: cannot run $(realpath alone)/lawn-bench: Permission denied" ]
}

@test "an interrupt ends the measurement; the results so far are written" {
    # On a busy machine nothing may be measured yet after these seconds.
    for seconds in 4 15 60; do
        run --separate-stderr timeout --foreground --preserve-status \
            -s INT $seconds "$lawn" bench --contender lawn,heap4 --n 1k,1M \
            --t 20 --runs 31 --workload W1,W4 --json --report page.html
        [ "$status" -eq 130 ]
        [ -s page.html ]
        ! grep -qE '"ns": \[ *[0-9]' <<<"$output" || break
    done
    python3 -c '
import json, sys
run = json.load(sys.stdin)
assert run["complete"] is False
assert len(run["cells"][0]["rows"][0]["ns"]) > 0
for row in (row for cell in run["cells"] for row in cell["rows"]):
    assert row["ns"] or row["why"] == "interrupted", row' <<<"$output"
}

@test "a cell without memory is marked, and the others are measured" {
    [ -z "${ASAN_OPTIONS:-}" ] || skip "the sanitizer needs all addresses"
    run --separate-stderr bash -c 'ulimit -v 3000000 && exec "$@"' - "$lawn" \
        bench --contender lawn,heap4 --workload W1 --n 50M,1k --t 20 --runs 1 \
        --csv
    [ "$status" -eq 0 ]
    [ "$(grep -c '^W1,50000000,.*,out of memory$' <<<"$output")" -eq 2 ]
    [ "$(grep -c '^W1,1000,.*,$' <<<"$output")" -eq 2 ]
}

@test "a contender that fires early stops everything" {
    copy_tool
    mkdir copy/peers
    "${CC:-cc}" -std=c11 -shared -fPIC -I"$top/bench" -o copy/peers/uv.so \
        "$BATS_TEST_DIRNAME/broken_peer.c"
    lawn=copy/lawn
    words=("lawn-bench: uv disagrees" "fired before it was due" "contenders disagree; nothing was measured")
    fails 1 --workload W1 --n 1k
    [ -z "$output" ]
    fails 1 --gate --workload W1 --n 1k
    [ -z "$output" ]
    run "$lawn" bench "${few[@]}" --workload W1
    [ "$status" -eq 0 ]
}

@test "the gate prints limits and sums up, and fails where nothing is measured" {
    last='^[0-9]+ of [0-9]+ cells meet B1; geometric mean [0-9.-]+ x the best '
    last+='other contender, [0-9.-]+ x the floor$'
    run --separate-stderr "$lawn" bench --gate "${few[@]}" --workload W1,W3
    [ "$status" -le 1 ]
    [ -z "$stderr" ]
    [ "$(grep -cE '^B1  W[13] .* x  <= 1\.10  (ok|FAILS)$' <<<"$output")" -eq 4 ]
    [ "$(grep -cE '^B1  geometric mean .* x +<= 0\.9 +(ok|FAILS)$' <<<"$output")" -eq 1 ]
    [ "$(grep -cE '^B4  .* ok$' <<<"$output")" -eq 3 ]
    grep -qE '^[34] of 4 performance limits met, the cells of B1 aside$' <<<"$output"
    [[ "${lines[-1]}" =~ $last ]]
    [ "$status" -eq "$(grep -c '^not met:$' <<<"$output")" ]
    run --separate-stderr "$lawn" bench --gate "${few[@]}" --workload W1 \
        --limit 1ns
    [ "$status" -eq 1 ]
    [ "$(grep -cE '^B1  W1 .* not measured: .*FAILS$' <<<"$output")" -eq 2 ]
    [[ "$output" == *"not met:"* ]]
    [[ "${lines[-1]}" == "0 of 2 cells meet B1; "* ]]
}

@test "the gate reports a geometric mean above its limit" {
    copy_tool
    mkdir copy/peers
    "${CC:-cc}" -std=c11 -shared -fPIC -I"$top/bench" -o copy/peers/uv.so "$BATS_TEST_DIRNAME/idle_peer.c"
    slower=(--contender 'lawn,heap4,uv' --n 10k --t 20 --workload 'W1,W2')
    run --separate-stderr copy/lawn bench --gate "${slower[@]}"
    [ "$status" -eq 1 ]
    [ -z "$stderr" ]
    grep -qE '^B1  geometric mean over the best other contenders .* x +<= 0\.9 +FAILS$' <<<"$output"
    [[ "$output" == *"not met:"*"B1 geometric mean over the best other contenders: "* ]]
    run --separate-stderr copy/lawn bench --gate --quick "${slower[@]}"
    [ "$status" -eq 1 ]
    [ -z "$stderr" ]
    grep -qE '^B10 geometric mean over uv, 2 cells .* x +<= 1 +FAILS$' <<<"$output"
    [[ "$output" == *"not met:"*"B10 geometric mean over uv, 2 cells: "* ]]
    [ "${lines[-1]}" = "0 of 1 performance limits met" ]
}

@test "the gate of the quick grid compares with one contender that finished all cells" {
    run --separate-stderr "$lawn" bench --gate --quick --n 1k --t 1,20 --workload W1,W3 --runs 1 --limit 1m \
        --contender lawn,heap4,tree,wheel,floor --report page.html
    [ "$status" -le 1 ]
    [ -z "$stderr" ]
    python3 - "$status" "${lines[0]}" <<'END'
import json, math, re, sys
page = open("page.html").read()
run = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S).group(1))
times = [{row["contender"]: row["median"] for row in cell["rows"]} for cell in run["cells"]]
def mean(name):
    return math.exp(sum(math.log(each["lawn"] / each[name]) for each in times) / len(times))
value = max(mean(name) for name in ("heap4", "tree", "wheel"))
assert len(times) == 4 and times[2]["floor"] is None
found = re.fullmatch(r"B10 geometric mean over (\w+), 4 cells +([\d.]+) x +<= 1 +(ok|FAILS)", sys.argv[2])
assert mean(found.group(1)) > value - 0.01 and abs(float(found.group(2)) - value) < 0.01, (found, value)
assert (found.group(3) == "FAILS") == (sys.argv[1] == "1")
assert (found.group(3) == "FAILS") == (value > 1) or abs(value - 1) < 0.01
END
    run --separate-stderr "$lawn" bench --gate --quick --n 1k --t 1,20 --workload W1 --runs 1 --limit 1m \
        --contender lawn,floor
    [ "$status" -eq 1 ]
    grep -qE '^B10 .* -1\.00 x +<= 1 +FAILS$' <<<"$output"
}

@test "options that the gate does not support are named" {
    words=("--gate and --trace cannot be combined")
    fails 2 --gate --trace x
    words=("--gate --quick cannot be combined with --store or --workers")
    fails 2 --gate --quick --store
    fails 2 --gate --quick --workers
}

# Runs --tails on few timers, as JSON.
measure_tails() {
    run --separate-stderr "$lawn" bench --tails --json --n 1k --runs 3 --limit 1m \
        --contender lawn,heap4,wheel,floor "$@"
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
}

@test "the slowest calls are printed for each contender, with those of a spinner" {
    run --separate-stderr "$lawn" bench --tails --n 1k --t N --runs 1 --limit 1m \
        --contender lawn,heap4,floor
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    for cell in "W4 churn, 1,000 timers, 1,000 TTLs" "W9 expiry, 1,000 timers" \
        "W12 storm, 1,000 timers"; do
        grep -q "^$cell, seed 1$" <<<"$output"
    done
    four='( +[0-9,]+){4}'
    [ "$(grep -cE "^  (lawn|heap4) +cycles$four +[0-9,]+ +[0-9,]+\$" <<<"$output")" -eq 6 ]
    [ "$(grep -cE "^ +any run$four\$" <<<"$output")" -eq 6 ]
    [ "$(grep -cE "^ +spinner$four\$" <<<"$output")" -eq 6 ]
    [ "$(grep -cE "^ +entries$four\$" <<<"$output")" -eq 3 ]
    [ "$(grep -cE '^ +entries( +-){4}$' <<<"$output")" -eq 3 ]
    [ "$(grep -c '^  floor *made for one TTL only$' <<<"$output")" -eq 3 ]
    grep -qE '^cycles .* the median of 1 runs; [0-9]+ for reading the clock are$' <<<"$output"
}

@test "the JSON of the slowest calls has the form that bench/README.md documents" {
    measure_tails
    python3 - "$top/bench/README.md" "$output" <<'END'
import json, sys
text = open(sys.argv[1]).read()
start = text.index('    {"contender": "lawn", "calls"')
form = json.loads(text[start:text.index("\n\n", start)])
run = json.loads(sys.argv[2])
assert run["program"] == "lawn bench --tails" and run["complete"] is True
assert run["budget"] == 8 and run["runs"] == 3
assert run["cycle"] > 0 and run["cost"] > 0
cells = [(c["workload"], c["n"], c["t"]) for c in run["cells"]]
assert cells == [("W4", 1000, 20), ("W4", 1000, 1000), ("W9", 1000, None),
                 ("W12", 1000, None)], cells
for cell in run["cells"]:
    rows = {row["contender"]: row for row in cell["rows"]}
    for row in rows.values():
        assert list(row) == list(form), row
    assert rows.pop("floor")["why"] == "made for one TTL only"
    for row in rows.values():
        counts = row["contender"] != "heap4"
        assert (row["entries"] is not None) == (row["idle"] is not None) == counts
        for key in ("cycles", "any", "spinner") + (("entries",) if counts else ()):
            assert list(row[key]) == list(form["cycles"]), row
            assert list(row[key].values()) == sorted(row[key].values()), row
        assert row["cycles"]["max"] <= row["any"]["max"]
        assert (row["late"] > 0) == (cell["workload"] == "W9")
        # All of them have budgets, and make the same calls. A mow of a lawn that reaches
        # its limit of work fires nothing and is repeated.
        assert row["calls"] > 1000
        assert 0 <= rows["lawn"]["calls"] - row["calls"] < 10, rows
        assert row["checksum"] == rows["lawn"]["checksum"]
    assert rows["lawn"]["idle"] <= rows["lawn"]["entries"]["max"] <= 512
END
}

@test "entries touched and what fires in a storm depend on the seed alone" {
    for seed in 1 1 2; do
        measure_tails --workload storm --seed $seed
        python3 -c '
import json, sys
cell, = json.load(sys.stdin)["cells"]
print([[row[key] for key in ("calls", "checksum", "late", "entries", "idle")]
       for row in cell["rows"]])' <<<"$output" >>seeds
    done
    [ "$(sort -u seeds | wc -l)" -eq 2 ]
    [ "$(sed -n 1p seeds)" = "$(sed -n 2p seeds)" ]
}

@test "all contenders that there are fire the same timers in a storm, on time" {
    run --separate-stderr "$lawn" bench --tails --workload W12 --n 100 --runs 1 \
        --limit 1m --json
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    python3 -c '
import json, sys
cell, = json.load(sys.stdin)["cells"]
assert len({row["checksum"] for row in cell["rows"]}) == 1
assert all(row["why"] is None and row["late"] == 0 for row in cell["rows"])
' <<<"$output"
}

@test "without a budget, a mow is one call" {
    measure_tails --workload W9 --budget 0 --contender lawn,heap4
    python3 -c '
import json, sys
run = json.load(sys.stdin)
assert run["budget"] is None
# 100 times a thousand timers with a budget of 1000, and a mow that fires none
assert [row["calls"] for row in run["cells"][0]["rows"]] == [200, 200]
assert run["cells"][0]["rows"][0]["entries"]["max"] >= 1000' <<<"$output"
}

@test "the gate of the slowest calls has limits of entries and of cycles" {
    run --separate-stderr "$lawn" bench --gate --tails --n 1k --runs 1 --limit 1m
    [ "$status" -le 1 ]
    [ -z "$stderr" ]
    [ "$(grep -cE '^B6  .* entries +<= 512 +ok$' <<<"$output")" -eq 5 ]
    [ "$(grep -cE '^B9  W(4 churn|12 storm), .* x +<= 4 +(ok|FAILS)$' <<<"$output")" -eq 2 ]
    [ "$(grep -cE '^B9  the greatest lateness .* 0.00 ticks +<= 0 +ok$' <<<"$output")" -eq 2 ]
    [[ "${lines[-1]}" =~ ^[789]\ of\ 9\ performance\ limits\ met$ ]]
    [ "$status" -eq "$(grep -c '^not met:$' <<<"$output")" ]
}

@test "the gate reports a call that processes too many entries" {
    run --separate-stderr "$lawn" bench --gate --tails --n 10k --runs 1 --limit 1m \
        --budget 100
    [ "$status" -eq 1 ]
    grep -qE '^B6  .* in one far slot +1148.00 entries +<= 512 +FAILS$' <<<"$output"
    [[ "$output" == *"not met:"*"B6 the same, 10,000 timers in one far slot"* ]]
}

@test "the gate of the slowest calls fails if nothing is measured" {
    run --separate-stderr "$lawn" bench --gate --tails --n 1k --runs 1 --limit 1ns
    [ "$status" -eq 1 ]
    [ "$(grep -cE '^B9  .* -1.00 (x|ticks) .* FAILS$' <<<"$output")" -eq 4 ]
    [ "${lines[-1]}" = "some limits were not measured" ]
}

@test "options that the slowest calls do not support are named" {
    for other in --store --workers --adapters --quick "--record -" \
        "--loop lawn/start" --csv --instructions "--report x" "--svg x"; do
        words=("--tails cannot be combined with " "${other%% *}")
        # shellcheck disable=SC2086 # an option and its value
        fails 2 --tails $other
    done
    for other in "--workload W4" "--contender lawn" "--t 1"; do
        words=("--tails --gate cannot be combined with " "${other%% *}")
        # shellcheck disable=SC2086 # an option and its value
        fails 2 --tails --gate $other
    done
    words=("--budget requires --tails")
    fails 2 --budget 7
}

@test "stores are played S1 to S7, and agree" {
    run --separate-stderr "$lawn" bench --store --quick --n 1k --limit 1m --json
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    is_whole
    python3 -c '
import json, sys
run = json.load(sys.stdin)
assert run["program"] == "lawn bench --store"
kinds = {c["name"]: c["kind"] for c in run["contenders"]}
assert kinds.pop("lawn") == "ours"
missing = {m["name"] for m in run["missing"]}
assert missing | set(kinds) == {"uthash", "ghash", "sqlite", "uplain", "gplain"}
for cell in run["cells"]:
    assert cell["n"] == 1000 and cell["t"] is None
    for row in cell["rows"]:
        timers = kinds.get(row["contender"]) != "floor"
        if not timers and cell["workload"] in ("S4", "S6"):
            assert row["why"] == "has no timers"
        else:
            assert row["why"] is None
' <<<"$output"
    run --separate-stderr "$lawn" bench --store --n 1k --runs 1 \
        --contender lawn --workload S1,churn
    [ "$status" -eq 0 ]
    [[ "$output" == *"S1 start, 1,000 timers, seed 1: start of a timer with"* ]]
    [ "$(grep -cE '^  lawn +[0-9.]+ ' <<<"$output")" -eq 2 ]
    [[ "$output" == *" ns for reading the clock are subtracted from single calls" ]]
    run --separate-stderr "$lawn" bench --store --n 1k --runs 1 --csv \
        --contender lawn
    [ "$status" -eq 0 ]
    [ "$(grep -cE '^S[1-7],1000,,1,lawn,1,.*,$' <<<"$output")" -eq 7 ]
}

@test "stores have contenders, workloads and options of their own" {
    words=("unknown contender 'heap4'; valid names are: lawn" "--list")
    fails 2 --store --contender heap4
    words=("unknown contender 'uplain'; valid names are: lawn lawn-class list")
    fails 2 --contender uplain
    words=("unknown workload 'W1'; valid names are: S1 S2" "--list")
    fails 2 --store --workload W1
    words=("unknown workload 'S1'; valid names are: W1 W2" "--list")
    fails 2 --workload S1
    words=("--store cannot be combined with --trace, --t, --report, --svg or --loop")
    fails 2 --store --t 20
    fails 2 --store --report page.html
    fails 2 --store --svg page.svg
    fails 2 --store --trace x
    fails 2 --store --loop lawn/start
    words=("--store --gate cannot be combined with --workload or several numbers of timers")
    fails 2 --store --gate --workload S1
    fails 2 --store --gate --n 1k,2k
    "$lawn" bench --store --contender lawn --n 1k --runs 1 --json >run.json
    words=("lawn-bench: run.json: it was saved by 'lawn-bench --store'" "reports of stores are not supported")
    fails 3 --from run.json --report none.html
    [[ "$stderr" != *expected* ]]
    [ ! -e none.html ]
}

@test "a store that forgets timers stops everything" {
    copy_tool
    mkdir copy/peers
    cat >broken.c <<'END'
#include "store.h"
static void *make(const struct contender_setup *setup) { return (void *)setup; }
static void drop(void *self) { (void)self; }
static bool start(void *self, const void *id, uint64_t ttl, const void *payload)
{ return self && id && ttl && payload; }
static bool stop(void *self, const void *id) { (void)self, (void)id; return false; }
static bool get(void *self, const void *id, struct store_timer *out)
{ (void)self, (void)id, (void)out; return false; }
static uint64_t count(void *self) { (void)self; return 0; }
const struct store CONTENDER_PLUGIN = {
    .face = {.abi = CONTENDER_ABI, .name = "uthash", .title = "broken",
             .kind = CONTENDER_FLOOR, .flags = CONTENDER_STORE,
             .make = make, .free = drop},
    .start = start, .stop = stop, .get = get, .count = count};
END
    "${CC:-cc}" -std=c11 -shared -fPIC -I"$top/bench" -o copy/peers/uthash.so \
        broken.c
    lawn=copy/lawn
    words=("lawn-bench: uthash disagrees (seed 1, step " "contenders disagree; nothing was measured")
    fails 1 --store --n 1k
    [ -z "$output" ]
    fails 1 --store --gate --n 1k
    [[ "$output" != *ok* ]]
    run "$lawn" bench --store --contender lawn --n 1k --runs 1
    [ "$status" -eq 0 ]
}

@test "the gate of stores has two limits, and meets none that was not measured" {
    run --separate-stderr "$lawn" bench --gate --store --n 1k --runs 1
    [ "$status" -le 1 ]
    [ -z "$stderr" ]
    grep -qE '^B7  per timer beyond id and payload .* bytes +<= 64 +(ok|FAILS)$' \
        <<<"$output"
    if [[ "$output" != *"not measured"* ]]; then
        grep -qE '^B7  start and stop over [ug]plain, 1,000 timers .* x +<= 2 +(ok|FAILS)$' \
            <<<"$output"
        [[ "${lines[-1]}" =~ ^[012]\ of\ 2\ performance\ limits\ met$ ]]
    fi
    alone=(bench --gate --store --n 100k --runs 1)
    run --separate-stderr "$lawn" "${alone[@]}" --contender lawn
    is_not_measured
    copy_tool
    run --separate-stderr copy/lawn "${alone[@]}"
    is_not_measured
}

# Leaves one processor to the commands that follow.
one_processor() {
    taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')" "$@"
}

@test "workers are played T1 to T6, and agree" {
    run --separate-stderr "$lawn" bench --workers --quick --n 1k --threads 1,2 \
        --limit 60 --json
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    python3 -c '
import json, sys
run = json.load(sys.stdin)
assert run["program"] == "lawn bench --workers"
kinds = {c["name"]: c["kind"] for c in run["contenders"]}
assert kinds.pop("lawn") == "ours" and kinds["alone"] == "floor"
missing = {m["name"] for m in run["missing"]}
assert missing | set(kinds) == {"mutex", "adaptive", "shards", "uvloops",
                                 "alone"}
assert [w["name"] for w in run["workloads"]] == [
    "T1", "T2", "T3", "T4", "T5", "T6"]
cells = [(c["workload"], c["threads"]) for c in run["cells"]]
assert sorted(cells, key=str) == [("T1", 1), ("T1", 2), ("T2", 1), ("T2", 2),
                                  ("T3", 2), ("T4", None), ("T5", None),
                                  ("T6", 1), ("T6", 2)]
for cell in run["cells"]:
    assert cell["n"] == 1000
    rows = {row["contender"]: row for row in cell["rows"]}
    if cell["workload"] != "T1":
        assert rows.pop("alone")["why"] == "does not support other threads"
    for row in rows.values():
        assert row["why"] is None and len(row["ns"]) == 3, row
        assert row["ns"] == sorted(row["ns"]) and row["ns"][0] > 0
        if cell["workload"] in ("T4", "T5"):
            tail = row["tail"]
            assert list(tail) == ["p50", "p99", "p999", "max"]
            assert 0 < tail["p50"] <= tail["p99"] <= tail["p999"] <= tail["max"]
            assert row["ops"] == 200
        else:
            assert row["tail"] is None
            assert row["ops"] >= 10000 * cell["threads"]
    assert len({row["checksum"] for row in rows.values()}) == 1
' <<<"$output"
    run --separate-stderr "$lawn" bench --workers --quick --n 1k --runs 1 \
        --contender lawn,mutex --workload local,wake --threads 1
    [ "$status" -eq 0 ]
    [[ "$output" == *"T1 local, 1,000 timers per thread, 1 thread, seed 1: "* ]]
    [[ "$output" == *" x best      M/s"*" p99.9     max"* ]]
    [ "$(grep -cE '^  (lawn|mutex) +[0-9.]+ ' <<<"$output")" -eq 4 ]
    run --separate-stderr "$lawn" bench --workers --quick --n 1k --runs 1 --csv \
        --contender lawn --threads 2 --limit 1m
    [ "$status" -eq 0 ]
    [[ "${lines[0]}" == workload,n,threads,seed,*,p99,p999,max,why ]]
    [ "$(grep -cE '^T[1236],1000,2,1,lawn,1,.*,,,,,$' <<<"$output")" -eq 4 ]
    [ "$(grep -cE '^T[45],1000,,1,lawn,1,.*,[0-9]+,$' <<<"$output")" -eq 2 ]
}

@test "workers have contenders, workloads and options of their own" {
    words=("unknown contender 'heap4'; valid names are: lawn mutex" "--list")
    fails 2 --workers --contender heap4
    words=("unknown contender 'mutex'; valid names are: lawn lawn-class list")
    fails 2 --contender mutex
    words=("unknown workload 'W1'; valid names are: T1 T2" "--list")
    fails 2 --workers --workload W1
    words=("--threads: '1,65' is not a list of numbers from 1 to 64, such as 1,2,4")
    fails 2 --workers --threads 1,65
    words=("--workers and --store cannot be combined")
    fails 2 --workers --store
    words=("--workers cannot be combined with --trace, --t, --report, --svg, --loop or --instructions")
    fails 2 --workers --t 20
    fails 2 --workers --report page.html
    fails 2 --workers --instructions
    fails 2 --workers --loop lawn/start
    words=("--workers --gate cannot be combined with --workload or --threads")
    fails 2 --workers --gate --workload T1
    fails 2 --workers --gate --threads 2
    words=("--threads requires --workers")
    fails 2 --threads 2
    words=("more than one thread")
    fails 2 --workers --workload mixed --threads 1
    "$lawn" bench --workers --contender lawn --workload T1 --threads 1 --n 1k \
        --quick --runs 1 --json >run.json
    words=("lawn-bench: run.json: it was saved by 'lawn-bench --workers'")
    fails 3 --from run.json --report none.html
    [ ! -e none.html ]
}

@test "event loops are played A1 to A3, with their timers and with ours" {
    run --separate-stderr "$lawn" bench --adapters --quick --n 1k --runs 1 \
        --limit 60 --json
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    python3 -c '
import json, sys
run = json.load(sys.stdin)
assert run["program"] == "lawn bench --adapters"
kinds = {c["name"]: c["kind"] for c in run["contenders"]}
missing = {m["name"] for m in run["missing"]}
loops = {"uv", "event", "ev", "uring", "glib", "sdevent"}
assert missing | set(kinds) == loops | {l + "+lawn" for l in loops} | {
    "lawn", "lawn-coarse", "common"}
assert {n for n in kinds if kinds[n] == "ours"} == {
    n for n in kinds if "lawn" in n}
assert [w["name"] for w in run["workloads"]] == ["A1", "A2", "A3"]
assert [c["workload"] for c in run["cells"]] == ["A1", "A2", "A3"]
for cell in run["cells"]:
    assert cell["n"] == 1000 and cell["t"] is None
    for row in cell["rows"]:
        assert row["why"] is None and len(row["ns"]) == 1, row
        assert row["ns"][0] > 0 and row["bytes"] > 0
        if cell["workload"] == "A3":
            tail = row["tail"]
            assert list(tail) == ["p50", "p99", "p999", "max", "sampled",
                                  "early"]
            assert tail["p50"] <= tail["p99"] <= tail["p999"] <= tail["max"]
            assert row["ops"] == 1000 and tail["sampled"] == 63
            assert 0 <= tail["early"] <= tail["sampled"]
            assert kinds[row["contender"]] != "ours" or tail["early"] == 0
        else:
            assert row["tail"] is None and row["ops"] == 40000
' <<<"$output"
    cat >run.json <<<"$output"
    words=("lawn-bench: run.json: it was saved by 'lawn-bench --adapters'" "reports of event loops are not supported")
    fails 3 --from run.json --report none.html
    [ ! -e none.html ]
    run --separate-stderr "$lawn" bench --adapters --quick --n 1k --runs 1 \
        --contender lawn,uv,uv+lawn --workload pair,fire
    [ "$status" -eq 0 ]
    [[ "$output" == *"A2 pair, 1,000 timers, seed 1: "*" x ours   bytes"* ]]
    [ "$(grep -cE '^  (lawn|uv.lawn)( +[0-9.]+){3} +- ' <<<"$output")" -eq 4 ]
    [ "$(grep -cE '^  uv( +[0-9.]+){5}' <<<"$output")" -eq 2 ]
    [ "$(grep -cE '^  (lawn|uv.lawn) .*s +0\.0%$' <<<"$output")" -eq 2 ]
    [ "$(grep -cE '^  uv .* [0-9]+\.[0-9]%$' <<<"$output")" -eq 1 ]
    run --separate-stderr "$lawn" bench --adapters --quick --n 1k --runs 1 --csv \
        --contender lawn
    [ "$status" -eq 0 ]
    [[ "${lines[0]}" == workload,n,t,seed,*,p99,p999,max,sampled,early,why ]]
    [ "$(grep -cE '^A[12],1000,,1,lawn,1,.*,,,,,,,$' <<<"$output")" -eq 2 ]
    [ "$(grep -cE '^A3,1000,,1,lawn,1,.*,[0-9]+,63,0,$' <<<"$output")" -eq 1 ]
}

@test "event loops have contenders, workloads and options of their own" {
    words=("unknown contender 'heap4'; valid names are: lawn" "--list")
    fails 2 --adapters --contender heap4
    words=("unknown workload 'W1'; valid names are: A1 A2 A3" "--list")
    fails 2 --adapters --workload W1
    words=("--adapters cannot be combined with --store, --workers or --gate")
    fails 2 --adapters --store
    fails 2 --adapters --workers
    fails 2 --adapters --gate
    words=("--adapters cannot be combined with --trace, --t, --report, --svg, --loop or --instructions")
    fails 2 --adapters --t 20
    fails 2 --adapters --report page.html
    fails 2 --adapters --instructions
    words=("--threads requires --workers")
    fails 2 --adapters --threads 2
}

@test "an event loop that loses timers or fires early is found out" {
    copy_tool
    mkdir copy/peers
    cat >broken.c <<'END'
#include "hosts/all.h"
#include <stdlib.h>
static struct host broken;
const struct host *const HOST_PLUGIN[] = {&broken, NULL};
static unsigned calls;
static void start(void *self, struct object *object, uint64_t ttl)
{
    unsigned every = (unsigned)atoi(getenv("EVERY"));
    uint64_t early = (uint64_t)atoi(getenv("EARLY"));
    if (++calls % every != 0)
        lawn_host.face.start(self, object, ttl > early ? ttl - early : 0);
}
__attribute__((constructor)) static void begin(void)
{
    broken = lawn_host;
    broken.face.name = "uv";
    broken.face.start = start;
}
END
    "${CC:-cc}" -std=c11 -D_POSIX_C_SOURCE=200809L -shared -fPIC \
        -I"$top/bench" -I"$top/include" -Wl,-Bsymbolic \
        -o copy/peers/uvhost.so broken.c "$top/bench/hosts/lawn.c" \
        "$top/build/liblawn.a"
    lawn=copy/lawn
    export EVERY=10 EARLY=0
    words=("lawn-bench: uv disagrees: a " "nothing was measured")
    fails 1 --adapters --quick --n 1k --contender lawn,uv
    [ -z "$output" ]
    export EVERY=500
    words=("A2 n=1000" "uv fired other timers, or at other times, than lawn")
    fails 1 --adapters --quick --n 1k --runs 1 --contender lawn,uv \
        --workload pair
    run --separate-stderr "$lawn" bench --adapters --quick --n 1k --runs 1 \
        --contender lawn,uv --workload fire
    [ "$status" -eq 0 ]
    grep -qE '^  uv +given up: too slow$' <<<"$output"
    export EVERY=1000000 EARLY=1900000
    run --separate-stderr "$lawn" bench --adapters --quick --n 1k --runs 1 \
        --contender lawn,uv --workload fire
    [ "$status" -eq 0 ]
    grep -qE '^  lawn .* 0\.0%$' <<<"$output"
    grep -qE '^  uv .* [1-9][0-9.]+%$' <<<"$output"
}

@test "a crew that forgets timers stops everything" {
    copy_tool
    mkdir copy/peers
    cat >broken.c <<'END'
#include "crew.h"
static int it;
static void *make(const struct contender_setup *setup)
{ (void)setup; return &it; }
static void drop(void *self) { (void)self; }
static void *join(void *self, unsigned number, const struct crew_calls *calls)
{ (void)number; (void)calls; return self; }
static void start(void *worker, struct object *object, uint64_t ttl)
{ (void)worker; (void)object; (void)ttl; }
static bool stop(void *worker, struct object *object)
{ (void)worker; (void)object; return true; }
static uint64_t left(void *self, contender_fire_fn *tell, void *arg)
{ (void)self; (void)tell; (void)arg; return 0; }
const struct crew CONTENDER_PLUGIN = {
    .face = {.abi = CONTENDER_ABI, .name = "uvloops", .title = "broken",
             .flags = CONTENDER_CREW, .make = make, .free = drop},
    .join = join, .leave = drop, .turn = drop, .start = start, .stop = stop,
    .left = left};
END
    "${CC:-cc}" -std=c11 -D_POSIX_C_SOURCE=200809L -shared -fPIC \
        -I"$top/bench" -o copy/peers/uvloops.so broken.c
    lawn=copy/lawn
    words=("lawn-bench: uvloops disagrees (seed 1, in turn()): " "nothing was measured")
    fails 1 --workers --quick --n 1k
    [ -z "$output" ]
}

@test "a crew that loses one timer in thousands is found out" {
    copy_tool
    mkdir copy/peers
    cat >broken.c <<'END'
#include "crews/all.h"
struct crew CONTENDER_PLUGIN;
static unsigned calls;
static void start(void *worker, struct object *object, uint64_t ttl)
{
    if (__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) % 5000 != 0)
        shards_crew.start(worker, object, ttl);
}
__attribute__((constructor)) static void begin(void)
{
    CONTENDER_PLUGIN = shards_crew;
    CONTENDER_PLUGIN.face.name = "uvloops";
    CONTENDER_PLUGIN.start = start;
}
END
    "${CC:-cc}" -std=c11 -D_POSIX_C_SOURCE=200809L -DNDEBUG -shared -fPIC \
        -I"$top/bench" -I"$top/include" -o copy/peers/uvloops.so broken.c \
        "$top/bench/crews/guarded.c" "$top"/src/core/*.c
    lawn=copy/lawn
    words=("T1, uvloops: " " starts, " " left: the counts do not match")
    fails 1 --workers --quick --n 1k --runs 1 --workload local --threads 1
    [[ "$output" == *"uvloops    fired other timers than the other contenders"* ]]
    run "$lawn" bench --workers --quick --n 1k --runs 1 --workload remote \
        --contender uvloops --threads 1
    [ "$status" -eq 0 ]
}

@test "the gate of workers has three limits, or two if there is one number" {
    [ "$(nproc)" -ge 2 ] || skip "two processors are needed"
    run --separate-stderr "$lawn" bench --gate --workers --n 1k --runs 1
    [ "$status" -le 1 ]
    [ -z "$stderr" ]
    grep -qE '^B8  local, 2 workers over 1, 1,000 timers each +[0-9.]+ x +>= 1.8 +(ok|FAILS)$' \
        <<<"$output"
    grep -qE '^B8  remote workers over one mutex, 1,000 timers each +[0-9.]+ x +>= 3 +(ok|FAILS)$' \
        <<<"$output"
    [ "$(grep -cE '^B8  .* [0-9.]+ M/s$' <<<"$output")" -eq 7 ]
    [ "$(grep -cE '^B8  .* [0-9.]+ x$' <<<"$output")" -eq 2 ]
    [[ "${lines[-1]}" =~ ^[012]\ of\ 2\ performance\ limits\ met$ ]]
    run --separate-stderr "$lawn" bench --gate --workers --n 1k --runs 1 \
        --contender lawn
    [ "$status" -eq 1 ]
    grep -qE '^B8  remote workers over one mutex, .* not measured  FAILS$' <<<"$output"
    [ "${lines[-1]}" = "some limits were not measured" ]
}

@test "the gate of workers measures nothing on one processor" {
    command -v taskset >/dev/null || skip "taskset is missing"
    run --separate-stderr one_processor "$lawn" bench --gate --workers --n 1k
    [ "$status" -eq 1 ]
    [ -z "$stderr" ]
    [[ "$output" == *"B8  workers: not measured  FAILS"*"two processors"* ]]
    [ "${lines[-2]}" = "0 of 1 performance limits met" ]
    [ "${lines[-1]}" = "some limits were not measured" ]
}

@test "instructions are counted where valgrind is, and else it is named" {
    here=(bench --contender lawn --workload W1 --n 1k --t 1 --runs 1
        --instructions)
    run --separate-stderr env PATH=/nowhere "$lawn" "${here[@]}"
    [ "$status" -eq 0 ]
    [[ "$stderr" == *"valgrind is not installed; apt-get install"* ]]
    [[ "$output" == *"W1 start"* ]]
    command -v valgrind >/dev/null || skip "valgrind is missing"
    run --separate-stderr "$lawn" "${here[@]}" --json
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    python3 -c '
import json, sys
count, = json.load(sys.stdin)["instructions"]
assert count["contender"] == "lawn"
assert all(5 < count[key] < 2000 for key in count if key != "contender")' \
        <<<"$output"
}

@test "empty, long and too many words of a list are refused" {
    for option in n t workload contender; do
        words=("--$option: '' is not a list")
        fails 2 "--$option" ""
        fails 2 "--$option="
        [ -z "$output" ]
    done
    for bad in "," "1k," ",1k" "1k,,2k"; do
        words=("--n: '$bad' is not a list of numbers from 100 to 100M")
        fails 2 --n "$bad"
        words=("--t: '$bad' is not a list of numbers from 1 to 100M")
        fails 2 --t "$bad"
    done
    for bad in "," "W1," ",W1" "W1,,W2"; do
        words=("--workload: empty name; valid names are: W1 W2" "--list")
        fails 2 --workload "$bad"
    done
    for bad in "," "lawn," ",lawn" "lawn,,heap4"; do
        words=("--contender: empty name; valid names are: lawn lawn-class list" "--list")
        fails 2 --contender "$bad"
    done
    local zeros long many
    zeros="$(printf '0%.0s' {1..59})"
    long="$(printf 'x%.0s' {1..100})"
    words=("unknown workload '${long:0:60}...'; valid names are: W1")
    fails 2 --workload "$long"
    words=("unknown contender '${long:0:60}...'; valid names are: lawn")
    fails 2 --contender "$long"
    words=("--n: '${zeros}1000x' is not a list of numbers")
    fails 2 --n "${zeros}1000x"
    many="$(seq -s, 100 163)"
    words=("lawn-bench: --n: more than 64 numbers")
    fails 2 --n "$many,164"
    words=("lawn-bench: --t: more than 64 numbers")
    fails 2 --t "$many,164"
    words=("--t is larger than --n")
    fails 2 --workload W1 --n 100 --t "${many#100,},1k"
}

@test "cells with more TTLs than timers are reported, if they were selected" {
    here=(bench --contender lawn --runs 1 --csv)
    run --separate-stderr "$lawn" "${here[@]}" --workload W1 --n 1k,2k \
        --t 1,1500,3k,N
    [ "$status" -eq 0 ]
    [ "$stderr" = "lawn-bench: skipped: t = 1500 for n = 1000, \
t = 3000 for n = 1000, t = 3000 for n = 2000" ]
    [ "$(grep -c '^W1,' <<<"$output")" -eq 5 ]
    run --separate-stderr "$lawn" "${here[@]}" --workload W1 --n 1k
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    run --separate-stderr "$lawn" "${here[@]}" --workload W8 --n 1k --t 2k
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
}

@test "JSON that is damaged in its middle makes no report" {
    "$lawn" bench "${few[@]}" --workload W1 --json >run.json
    grep -v '"cells"' run.json >line.json
    sed '0,/"cells": \[/s//"cells": /' run.json >bracket.json
    sed '0,/"title": "/s//"title": /' run.json >quote.json
    { cat run.json; echo '}'; } >more.json
    { cat run.json run.json; } >twice.json
    sed '0,/"cells": \[/s//"cells": {/' run.json >other.json
    { printf '{"program": "lawn bench", "a": '
        head -c 100000 /dev/zero | tr '\0' '['; echo '}'; } >deep.json
    for bad in line bracket quote more twice other deep; do
        words=("lawn-bench: $bad.json: expected the output of 'lawn-bench --json'")
        fails 3 --from $bad.json --report none.html
    done
    words=("lawn-bench: cannot read .: Is a directory")
    fails 3 --from . --report none.html
    [ ! -e none.html ]
    sed '0,/"title": "/s//"title": "\\"}]\\\\/' run.json >strange.json
    run "$lawn" bench --from strange.json --report page.html
    [ "$status" -eq 0 ]
}

@test "the profile goes to TMPDIR, and nothing stays there" {
    here=(bench --contender lawn --workload W1 --n 1k --t 1 --runs 1
        --instructions)
    run --separate-stderr env TMPDIR="$PWD/none" "$lawn" "${here[@]}"
    [ "$status" -eq 0 ]
    [[ "$stderr" == *"cannot create a temporary file in TMPDIR"* ]]
    command -v valgrind >/dev/null || skip "valgrind is missing"
    mkdir "a folder"
    run --separate-stderr env TMPDIR="$PWD/a folder" "$lawn" "${here[@]}"
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    [ -z "$(ls "a folder")" ]
}
