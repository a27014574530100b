#!/usr/bin/env bats
# lawn trace from a user's view. LAWN names the tool, by default build/lawn.

bats_require_minimum_version 1.5.0

setup() {
    lawn="$(realpath "${LAWN:-$BATS_TEST_DIRNAME/../../build/lawn}")"
    traces="$BATS_TEST_DIRNAME/traces"
    cd "$BATS_TEST_TMPDIR" || return
}

# Runs lawn trace with the arguments; it must exit with $1 and print each of the words in
# the array $words on stderr.
fails() {
    local code=$1
    shift
    run --separate-stderr "$lawn" trace "$@"
    [ "$status" -eq "$code" ]
    local word
    for word in "${words[@]}"; do
        [[ "$stderr" == *"$word"* ]]
    done
}

# Writes a trace of the given lines, formatted by printf, to the file "trace".
trace() {
    printf '# lawn trace 1\n' >trace
    printf "$@" >>trace
}

# A trace whose line 2 is $1 must be refused: $2 was expected and $3 was found.
refuses_line() {
    trace "$1"
    words=("lawn trace stats: trace:2: expected $2, found $3")
    fails 3 stats trace
    [ "$(wc -l <<<"$stderr")" -eq 1 ]
}

# Prints the value at a path of the JSON of "lawn trace stats" of a file.
figure() {
    "$lawn" trace stats --json "$1" | python3 -c '
import json, sys
value = json.load(sys.stdin)
for key in sys.argv[1].split("."):
    value = value[key]
print(value)' "$2"
}

@test "the figures of a small trace as text" {
    diff -u "$traces/small.txt" <("$lawn" trace stats "$traces/small.trace")
}

@test "the figures of a small trace as JSON" {
    diff -u "$traces/small.json" \
        <("$lawn" trace stats --json "$traces/small.trace")
    python3 -m json.tool "$traces/small.json" >/dev/null
}

@test "figures of random traces are those of a plain count" {
    python3 "$BATS_TEST_DIRNAME/trace_reference.py" "$lawn" 1 2 3 4 5 6 7 8 9 10
}

@test "standard input, CRLF, tabs and a missing final newline are read" {
    expected="$("$lawn" trace stats "$traces/small.trace")"
    for arguments in "" "-" "-- -"; do
        [ "$("$lawn" trace stats $arguments <"$traces/small.trace")" = \
            "$expected" ]
    done
    sed 's/$/\r/' "$traces/small.trace" >crlf
    [ "$("$lawn" trace stats crlf)" = "$expected" ]
    sed '/^[0-9]/s/ /  \t/g' "$traces/small.trace" >tabbed
    [ "$("$lawn" trace stats tabbed)" = "$expected" ]
    head -c -1 "$traces/small.trace" >short
    [ "$("$lawn" trace stats short)" = "$expected" ]
}

@test "several files are one trace" {
    head -n 6 "$traces/small.trace" >one
    { printf '# lawn trace 1\n'; tail -n +7 "$traces/small.trace"; } >two
    [ "$("$lawn" trace stats one two)" = "$(cat "$traces/small.txt")" ]
    words=("one:4: expected a TIME not before that of the previous event, found '1000'")
    fails 3 stats two one
    printf '# lawn trace 1\n# unit us\n' >three
    words=("three:2: expected the same unit as in the previous file, found 'us'")
    fails 3 stats one three
}

@test "a trace without events is fine" {
    trace ''
    run --separate-stderr "$lawn" trace stats --html page trace
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    [[ "$output" == *"0 events"*"choose nothing"* ]]
    grep -q '</html>' page
}

@test "the ticks are those of the unit" {
    for unit in "s 90" "ms 90000" "us 90000000" "ns 90000000000"; do
        trace "# unit ${unit% *}\n0 start a ${unit#* }\n"
        run "$lawn" trace stats trace
        [[ "$output" == *"min 1m30s, p50 1m30s"* ]]
    done
}

@test "extremes of times, TTLs and ids" {
    local last=18446744073709551615 id
    id="$(printf 'x%.0s' {1..255})"
    trace "0 start a 0\n1 start b $last\n$last start $id $last\n$last stop b\n"
    [ "$(figure trace fired)" -eq 2 ]
    [ "$(figure trace running)" -eq 1 ]
    [ "$(figure trace ttls.min)" -eq 1 ]
    [ "$(figure trace ttls.max)" = $last ]
    "$lawn" trace stats --html page trace
}

@test "a due timer fires before the event of that time" {
    trace '0 start a 10\n10 stop a\n10 start a 10\n20 start a 10\n'
    [ "$(figure trace fired)" -eq 2 ]
    [ "$(figure trace restarted)" -eq 0 ]
    [ "$(figure trace ignored_stops)" -eq 1 ]
}

@test "bad lines are named with what was expected" {
    local time="a TIME, a whole number up to 18446744073709551615"
    local ttl="a TTL, a whole number up to 18446744073709551615"
    refuses_line 'x start a 1\n' "$time" "'x'"
    refuses_line '1.5 start a 1\n' "$time" "'1.5'"
    refuses_line '18446744073709551616 stop a\n' "$time" \
        "'18446744073709551616'"
    refuses_line '99999999999999999999999 stop a\n' "$time" \
        "'99999999999999999999999'"
    refuses_line '  \n' "$time" nothing
    refuses_line '1\n' "start or stop" nothing
    refuses_line '1 begin a 1\n' "start or stop" "'begin'"
    refuses_line '1 start\n' "an ID of 1 to 255 bytes" nothing
    refuses_line "1 stop $(printf 'x%.0s' {1..256})\n" \
        "an ID of 1 to 255 bytes" "'$(printf 'x%.0s' {1..60})...'"
    refuses_line '1 start a\n' "$ttl" nothing
    refuses_line '1 start a 1s\n' "$ttl" "'1s'"
    refuses_line '1 start a 18446744073709551616\n' "$ttl" \
        "'18446744073709551616'"
    refuses_line '1 start a 1 2\n' "the end of the line" "'2'"
    refuses_line '1 stop a 1\n' "the end of the line" "'1'"
    refuses_line '1 stop a\0b\n' "the end of the line" "'\\x00b'"
    refuses_line '\001\n' "$time" "'\\x01'"
    refuses_line '\302\2332J\303\251\n' "$time" "'\\xc2\\x9b2Jé'"
    refuses_line '# unit h\n' "a unit: s, ms, us or ns" "'h'"
    refuses_line '# unit\n' "a unit: s, ms, us or ns" nothing
}

@test "time does not run back, and the unit comes first" {
    trace '5 stop a\n4 stop a\n'
    words=("trace:3: expected a TIME not before that of the previous event, found '4'")
    fails 3 stats trace
    trace '5 stop a\n# unit s\n'
    words=("trace:3: expected no unit after an event, found 's'")
    fails 3 stats trace
}

@test "long lines are refused, and not repeated" {
    { printf '# lawn trace 1\n# '; head -c 65533 /dev/zero | tr '\0' x; } >trace
    run "$lawn" trace stats trace
    [ "$status" -eq 0 ]
    for bytes in 65534 300000 3000000; do
        { printf '# lawn trace 1\n# '; head -c $bytes /dev/zero | tr '\0' x
        } >trace
        words=("trace:2: expected a line of at most 65535 bytes, found '# xxx")
        fails 3 stats trace
        [ "${#stderr}" -lt 200 ]
    done
}

@test "a file that is not a trace is rejected" {
    : >empty
    words=("empty:1: expected '# lawn trace 1', found nothing")
    fails 3 stats empty
    echo '# lawn trace 2' >newer
    words=("newer:1: expected '# lawn trace 1', found '# lawn trace 2'")
    fails 3 stats newer
    head -c 100000 /dev/zero >zeros
    words=("zeros:1: expected a line of at most 65535 bytes")
    fails 3 stats zeros
    words=("cannot open missing: No such file or directory")
    fails 3 stats missing
    words=("cannot read .: Is a directory")
    fails 3 stats .
}

@test "Twitter's traces are converted" {
    run --separate-stderr "$lawn" trace convert --from twitter \
        "$traces/twitter.csv"
    [ "$status" -eq 0 ]
    diff -u - <(echo "$output") <<'TRACE'
# lawn trace 1
# unit s
0 start nz:u:eeW511W3dcH3de3d15ec 3600
1 start key,with,commas 60
1 start key%20with%20blanks 60
3 stop nz:u:eeW511W3dcH3de3d15ec
4 start counter 86400
TRACE
    [ "$stderr" = "lawn trace convert: 8 requests: 4 starts, 1 stops; \
skipped: 2 reads, 1 writes without a TTL, 0 others" ]
}

@test "Meta's traces are converted by the names of their columns" {
    run --separate-stderr "$lawn" trace convert --from meta-kv \
        "$traces/meta-kv.csv"
    [ "$status" -eq 0 ]
    diff -u - <(echo "$output") <<'TRACE'
# lawn trace 1
# unit s
604038473 start 828769c1e1ce3a29 7200
604038473 start 5a0b33fd12bc7d10 300
604038475 stop 828769c1e1ce3a29
TRACE
    [ "$stderr" = "lawn trace convert: 6 requests: 2 starts, 1 stops; \
skipped: 1 reads, 1 writes without a TTL, 1 others" ]
    expected="$output"
    printf 'ttl,op,x,key,op_time\r\n5,SET,,k,604038480\r\n' >other
    [ "$("$lawn" trace convert --from meta-kv "$traces/meta-kv.csv" other)" = \
        "$expected"$'\n604038480 start k 5' ]
}

@test "a converted trace can be read" {
    for from in twitter meta-kv; do
        "$lawn" trace convert --from $from "$traces/$from.csv" >trace
        run "$lawn" trace stats trace
        [ "$status" -eq 0 ]
        [[ "$output" == *"stopped "*" 1 "* ]]
    done
}

# A line of Twitter's format that must be refused.
refuses_request() {
    printf '7,k,1,1,1,get,0\n%b\n' "$1" >requests
    words=("lawn trace convert: requests:2: expected $2, found $3")
    fails 3 convert --from twitter requests
}

@test "bad requests are named with what was expected" {
    refuses_request 'x,k,1,1,1,get,0' "a timestamp in seconds" "'x'"
    refuses_request ',k,1,1,1,get,0' "a timestamp in seconds" nothing
    refuses_request '6,k,1,1,1,get,0' \
        "a timestamp not before the previous one (sort the file)" "'6'"
    refuses_request '7,k,1,1,1,got,0' \
        "get, gets, set, add, replace, cas, append, prepend, delete, incr or \
decr" "'got'"
    refuses_request '7,k,1,1,1,set,x' "a TTL in seconds" "'x'"
    refuses_request '7,,1,1,1,set,1' "a key of 1 to 255 encoded bytes" nothing
    refuses_request "7,$(printf 'k%.0s' {1..256}),1,1,1,set,1" \
        "a key of 1 to 255 encoded bytes" "'$(printf 'k%.0s' {1..60})...'"
    refuses_request '7,k,1,1,get,0' \
        "seven columns: timestamp, key, key size, value size, client, \
operation, TTL" "'7,k,1,1,get,0'"
    words=(":1: expected a header with the columns op_time, key, op and ttl,")
    fails 3 convert --from meta-kv "$traces/meta-kv-2022.csv"
    printf 'op_time,key,op,ttl\n1,k,SET\n' >short
    words=("short:2: expected the same number of columns as the header, found '1,k,SET'")
    fails 3 convert --from meta-kv short
    words=("cannot open missing")
    fails 3 convert --from twitter missing
}

@test "bad usage is named with what is known" {
    words=("unknown verb 'stat'; verbs are stats, convert"
        "did you mean stats?" "lawn trace --help")
    fails 2 stat
    words=("unknown option '--json'; verbs are stats, convert")
    fails 2 --json
    words=("usage: lawn trace VERB" stats convert)
    fails 2
    words=("--from is required: twitter or meta-kv")
    fails 2 convert
    words=("--from: 'redis' is not one of twitter, meta-kv")
    fails 2 convert --from redis
    words=("--from needs a value: one of twitter, meta-kv")
    fails 2 convert --from
    words=("unknown option '--jsn'" "did you mean --json?")
    fails 2 stats --jsn
    words=("--html needs a value")
    fails 2 stats --html
    words=("--html: '' is not a file name")
    fails 2 stats --html=
}

@test "every verb has help in 80 columns" {
    for verb in "" stats convert; do
        run --separate-stderr "$lawn" trace $verb --help
        [ "$status" -eq 0 ]
        [ -z "$stderr" ]
        [[ "$output" == "usage: lawn trace"*"example:"* ]]
        run ! grep -E '.{80}' <<<"$output"
    done
}

@test "the examples in the help work as they stand" {
    cp "$traces/small.trace" timers.trace
    cp "$traces/twitter.csv" cluster52
    mkdir bin
    ln -s "$lawn" bin/lawn
    for verb in "" stats convert; do
        example="$("$lawn" trace $verb --help | sed -n '/^example:/{n;p}')"
        PATH="$PWD/bin:$PATH" run bash -euc "set -o pipefail; $example"
        [ "$status" -eq 0 ]
    done
    [ -s timers.html ]
}

# A trace of $1 timers, one a tick, of which timer i has the TTL $2, in awk.
timers() {
    awk "BEGIN { print \"# lawn trace 1\"
        for (i = 0; i < $1; i++) print i, \"start\", i, $2 }" >trace
}

@test "the advice follows the rules" {
    timers 499 100000
    [ "$(figure trace advice.choose)" = any ]
    timers 500 100000
    [ "$(figure trace advice.choose)" = lawn ]
    [[ "$(figure trace advice.reasons)" != *"timers per TTL"* ]]
    timers 5000 '100000 + i % 1024'
    [ "$(figure trace advice.choose)" = lawn ]
    [[ "$(figure trace advice.reasons)" == *"There were 4.9 timers per TTL"* ]]
    timers 524799 '1000000 + i % 1025'
    [ "$(figure trace advice.choose)" = quantize ]
    [ "$(figure trace advice.quantum)" = 2 ]
    timers 524800 '1000000 + i % 1025'
    [ "$(figure trace advice.choose)" = blades ]
    [ "$(figure trace advice.blades)" = 2048 ]
    timers 40000 '1000000 + i % 16385'
    [ "$(figure trace advice.choose)" = quantize ]
    [ "$(figure trace advice.quantum)" = 20 ]
    timers 5000 '1000000 + i'
    [ "$(figure trace advice.choose)" = quantize ]
    [ "$(figure trace advice.quantum)" = 5 ]
    timers 5000 '5000 + 100 * i'
    [ "$(figure trace advice.choose)" = wheel ]
}

@test "the text has 80 columns at most" {
    trace '# unit ns\n1 start a 123456789012\n1234567890123 start b 2345678901\n'
    run "$lawn" trace stats trace
    [[ "$output" == *"in 1235 s"*"min 2.3 s, p50 2.3 s, p99 123 s"* ]]
    run ! grep -E '.{80}' <<<"$output"
    for choice in any lawn blades quantize wheel; do
        case $choice in
        any) timers 10 5 ;;
        lawn) timers 600 50000 ;;
        blades) timers 524800 '1000000 + i % 1025' ;;
        quantize) timers 5000 '1000000 + i' ;;
        wheel) timers 5000 '5000 + 100 * i' ;;
        esac
        run "$lawn" trace stats trace
        run ! grep -E '.{80}' <<<"$output"
    done
}

@test "the page needs nothing else, and has what was asked for" {
    "$lawn" trace stats --html page.html "$traces/small.trace" >/dev/null
    run ! grep -E 'https?://|<link|src=' page.html
    for part in "Timers over time" "How 5 starts ended" "Starts by TTL" \
        "Most used TTLs" "Choose anything" "prefers-color-scheme:dark"; do
        grep -qF "$part" page.html
    done
    sed -n '/^<script/,/^<\/script/{/^{/p}' page.html |
        cmp - "$traces/small.json"
    python3 - page.html <<'PYTHON'
import html.parser, sys
class Parser(html.parser.HTMLParser):
    stack = []
    def handle_starttag(self, tag, attributes):
        if tag != "meta":
            self.stack.append(tag)
    def handle_startendtag(self, tag, attributes):
        pass
    def handle_endtag(self, tag):
        top = self.stack.pop()
        assert top == tag or top == "p", (top, tag)
parser = Parser()
text = open(sys.argv[1]).read()
assert "nan" not in text and "inf" not in text.replace("info", "")
parser.feed(text)
assert parser.stack == []
PYTHON
}

@test "output that cannot be written is named and exits 4" {
    [ -w /dev/full ] || skip "/dev/full is missing"
    for arguments in "stats $traces/small.trace" \
        "convert --from twitter $traces/twitter.csv"; do
        run bash -c '"$0" trace $1 2>&1 >/dev/full' "$lawn" "$arguments"
        [ "$status" -eq 4 ]
        [[ "$output" == *"lawn: cannot write the output: No space left"* ]]
    done
    words=("cannot write none/page: No such file")
    fails 4 stats --html none/page "$traces/small.trace"
    words=("cannot write /dev/full: No space left")
    fails 4 stats --html /dev/full "$traces/small.trace"
}

@test "a closed pipe ends it without a word" {
    # The exit status is written to a file: head may close its input before it prints.
    run bash -c '{ yes 1,k,1,1,1,set,9 | "$0" trace convert --from twitter
        echo $? >code; } | head -n 1' "$lawn"
    [ "$output" = "# lawn trace 1" ]
    [ "$(cat code)" = 4 ]
}
