#!/usr/bin/env bats
# lawn top with test servers whose replies are valid, odd, late or missing; for real
# servers see tests/module/live/top.py. LAWN names the tool, by default build/lawn.

bats_require_minimum_version 1.5.0

setup() {
    command -v python3 >/dev/null || skip "python3 is missing"
    lawn="$(realpath "${LAWN:-$BATS_TEST_DIRNAME/../../build/lawn}")"
    unset LAWN_PASSWORD
    cd "$BATS_TEST_TMPDIR" || return
    servers=()
}

teardown() {
    [ "${#servers[@]}" -eq 0 ] || kill "${servers[@]}"
}

# Waits until a command succeeds.
until_true() {
    local i
    for ((i = 0; i < 6000; i++)); do
        if "$@" >/dev/null 2>&1; then
            return
        fi
        sleep 0.01
    done
    echo "never: $*"
    return 1
}

# Starts a server with this kind of replies; its URL is in $url, its socket in $path.
serve() {
    local folder
    folder="$(mktemp -d "$BATS_TEST_TMPDIR/XXXXXX")"
    "$BATS_TEST_DIRNAME/top_server.py" "$folder" "$1" 3>&- &
    servers+=($!)
    until_true test -s "$folder/port"
    port="$(cat "$folder/port")"
    url="redis://127.0.0.1:$port"
    path="$folder/socket"
    commands="$folder/commands"
}

# With a long timeout, because the machine may be busy.
top() {
    timeout 100 "$lawn" top --timeout "${patience:-60}" "$@"
}

# Ends the tool in the background, which must exit with 0.
ends() {
    kill -INT $!
    wait $!
}

# Prints one table of a server with this kind of replies.
table_of() {
    serve "$1"
    run --separate-stderr top --once "$url"
}

# A server fails, and the message contains all the words.
fails() {
    local mode="$1" word
    shift
    serve "$mode"
    run --separate-stderr top --once "$url"
    [ "$status" -eq 3 ]
    [ -z "$output" ]
    [[ "$stderr" == "lawn top: 127.0.0.1:$port: "* ]]
    for word in "$@"; do
        [[ "$stderr" == *"$word"* ]]
    done
}

# The cell of a column in the row of a key without spaces.
cell() {
    awk -v column="$1" -v key="$2" '
        $NF == "KEY" { for (i = 1; i <= NF; i++) if ($i == column) at = i }
        at && $NF == key { print $at; exit }' <<<"$output"
}

# Checks a Python expression about $output, parsed as JSON in j.
json() {
    python3 -c 'import json, sys
j = json.load(sys.stdin)
assert eval(sys.argv[1]), j' "$1" <<<"$output"
}

@test "the table has a row for each queue, and all its figures" {
    table_of plain
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    [ "${lines[0]}" = "127.0.0.1:$port  valkey 8.0.1 master: 3 queues, 1000 events" ]
    [ "${lines[1]}" = "all  3 queues, 1000 events, 12 leased; per second: pushed - fired - acked -" ]
    [ "${lines[2]}" = "late  p50 1ms, p99 22ms, max 333ms; wake-ups p99 450 us" ]
    while read -r column value; do
        [ "$(cell "$column" three)" = "$value" ]
    done <<'END'
LEN 15
WAITING 9
DUE 3
LEASED 2
DEAD 1
OLDEST 1.5s
PUSH/S -
ACK/S -
P50 1ms
P99 20ms
MAX 300ms
SINK stream
ERRORS 5
END
    [[ "$(cell NEXT three)" == *d ]]
    [ "$(cell LEN one)" = 13 ]
    [[ "$output" == *"three: sink error: WRONGTYPE"* ]]
    [[ "$output" != *$'\033'* && "$output" != *[[:blank:]]$'\n'* ]]
}

@test "a queue that is paused is shown as such" {
    table_of paused
    [ "$(cell NEXT one)" = paused ]
    [[ "$(cell NEXT three)" == *d ]]
}

@test "dead letters that are refused are not taken for a sink" {
    table_of dead-letters
    [[ "$output" == *"one: dead letter stream error: WRONGTYPE"* ]]
    [[ "$output" == *"three: dead letter stream error: WRONGTYPE"* ]]
}

@test "rates are differences, a second" {
    serve plain
    "$lawn" top --timeout 60 --every 0.2 "$url" >tables &
    rates() { awk '/ three$/ && $8 >= 100 && $8 < 800' tables | grep .; }
    until_true rates
    ends
    output="$(cat tables)"
    [ "$(cell PUSH/S one)" = - ]
    [[ "$output" == *"per second: pushed "[0-9]*" fired 0 acked 0"* ]]
}

@test "a count that becomes less has no rate" {
    serve restarts
    "$lawn" top --timeout 60 --every 0.05 --json "$url" >objects &
    three() { [ "$(wc -l <objects)" -ge 3 ]; }
    until_true three
    ends
    output="$(sed -n 3p objects)"
    json 'all("pushed" in q["per_second"] for q in j["queues"])'
    json 'all("fired" not in q["per_second"] for q in j["queues"])'
}

@test "an older module is shown with the fields that it reports" {
    table_of old
    [ "$status" -eq 0 ]
    [ "$(cell LEN three)" = 15 ]
    [ "$(cell WAITING three)" = 12 ]
    for column in LEASED DEAD SINK ERRORS; do
        [ "$(cell $column three)" = - ]
    done
    run top --prometheus "$url"
    [[ "$output" != *lawn_queue_leased* && "$output" == *lawn_queue_len* ]]
}

@test "queues are sorted by a column, and --keys are shown" {
    serve plain
    run top --once --sort key "$url"
    [[ "$output" == *one*three*two* ]]
    run top --once --sort len "$url"
    [[ "$output" == *three*one*two* ]]
    run top --once --keys 1 "$url"
    [[ "$output" == *three$'\n'"... and 2 more"* ]]
    [[ "$output" != *one* ]]
    run top --once --json --keys 2 "$url"
    json 'len(j["queues"]) == 2 and j["queues_left_out"] == 1'
    run --separate-stderr top --sort best "$url"
    [ "$status" -eq 2 ]
    [[ "$stderr" == *"'best' is not one of key, len, "* ]]
}

@test "replies in pieces of a byte are the same replies" {
    table_of plain
    expected="$(sed 1d <<<"$output")"
    table_of torn
    [ "$(sed 1d <<<"$output")" = "$expected" ]
}

@test "keys of any bytes are safe on a terminal" {
    table_of nasty
    [[ "$output" == *'  a b"\\\x1b[31m\n\xc3\xbc\xff'* ]]
    [[ "$output" == *'  \\x1b'* ]]
    [[ "$output" != *$'\033'* ]]
    fails escapes 'server error: ERR \x1b[31mred\x07'
    [[ "$stderr" != *$'\033'* ]]
}

@test "keys of any bytes are exact in JSON" {
    serve nasty
    run top --once --json --sort key "$url"
    [ "${#lines[@]}" -eq 1 ]
    json 'j["queues"][0]["key"] == "\\x1b"'
    json 'j["queues"][1]["key"] == "a b\"\\\x1b[31m\n\u00fc\ufffd"'
    json 'bytes.fromhex(j["queues"][1]["key_hex"]) == b"a b\"\\\x1b[31m\n\xc3\xbc\xff"'
    json '"key_hex" not in j["queues"][0]'
    [[ "$output" != *$'\033'* ]]
}

@test "keys of any bytes are good labels for Prometheus" {
    serve nasty
    run top --prometheus "$url"
    grep -qxF 'lawn_queue_len{key="a b\"\\\\\\x1b[31m\nü\\xff"} 24' <<<"$output"
    grep -qxF 'lawn_queue_len{key="\\\\x1b"} 14' <<<"$output"
}

@test "the text for Prometheus has a HELP and a TYPE for each name, once" {
    serve plain
    run --separate-stderr top --prometheus "$url"
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    python3 - "$output" <<'END'
import re, sys
seen, name, kind = set(), None, None
for line in sys.argv[1].splitlines():
    if line.startswith('# HELP '):
        name = line.split()[2]
        assert name not in seen and len(line.split()) > 3, line
        seen.add(name)
    elif line.startswith('# TYPE '):
        assert line.split()[2] == name, line
        kind = line.split()[3]
        assert (kind == 'counter') == name.endswith('_total'), line
    else:
        assert re.fullmatch(
            re.escape(name) + r'(\{key="[^"\n]*"\})? -?[0-9]+', line), line
for name in ('lawn_up lawn_keys lawn_pushed_total lawn_queue_len '
             'lawn_queue_pushed_total lawn_queue_oldest_due_ms').split():
    assert name in seen, name
END
    [[ "$output" == *$'\nlawn_queue_acked_total{key="one"} 7\n'* ]]
    [[ "$output" != *lawn_words* && "$output" != *lawn_odd* ]]
}

@test "several servers are distinguished, and a missing one is reported" {
    serve plain
    one="$url" one_port="$port"
    serve plain
    run --separate-stderr top --prometheus "$one" "$path" unix:///nosuch
    [ "$status" -eq 3 ]
    [[ "$stderr" == "lawn top: /nosuch: No such file"* ]]
    grep -qxF "lawn_up{server=\"127.0.0.1:$one_port\"} 1" <<<"$output"
    grep -qxF "lawn_up{server=\"$path\"} 1" <<<"$output"
    grep -qxF 'lawn_up{server="/nosuch"} 0' <<<"$output"
    grep -qxF "lawn_queue_len{key=\"one\",server=\"$path\"} 13" <<<"$output"
    [ "$(grep -c '^# HELP lawn_keys ' <<<"$output")" -eq 1 ]
    run --separate-stderr top --once --json "$one" unix:///nosuch
    json '[s["up"] for s in j["servers"]] == [True, False]'
    json '"No such file" in j["servers"][1]["error"]'
    run top --once "$one" "unix://$path"
    [[ "$output" == *"all  6 queues, 2000 events"* ]]
    [ "$(grep -c "127.0.0.1:$one_port .* one$" <<<"$output")" -eq 1 ]
}

@test "errors state the cause, and what to do" {
    fails no-module "module lawn is not loaded" "MODULE LOAD"
    fails no-auth NOAUTH LAWN_PASSWORD
    fails loading "LOADING" "wait until the server has loaded"
    fails http "is not RESP" "Redis or Valkey" TLS
    fails closes "closed the connection"
    patience=0.3 fails silent "no answer within 0.3 s" --timeout
    run --separate-stderr top --once redis://127.0.0.1:1
    [ "$status" -eq 3 ]
    [[ "$stderr" == "lawn top: 127.0.0.1:1: Connection refused; is a server running"* ]]
    run --separate-stderr top --once redis://no.such.host.invalid
    [ "$status" -eq 3 ]
    [[ "$stderr" == *"no.such.host.invalid:6379: "*"check the host name"* ]]
}

@test "hostile replies are refused" {
    for mode in binary negative unended overflow; do
        fails $mode "is not RESP"
    done
    for mode in nested claims huge long-line; do
        fails $mode "the reply is too large"
    done
    fails endless "invalid reply to INFO" || fails endless "unexpected reply" ||
        fails endless "module lawn"
    fails odd-scan "invalid reply to SCAN"
    fails odd-info "invalid reply to LAWN.INFO"
    fails no-len "invalid reply to LAWN.INFO"
}

@test "a queue that went in the meantime is left out" {
    table_of gone
    [ "$status" -eq 0 ]
    [ "$(cell LEN here)" = 14 ]
    [ -z "$(cell LEN gone)" ]
}

@test "queues that may not be seen are counted" {
    table_of no-permission
    [ "$status" -eq 0 ]
    [[ "$output" == *"3 queues are not shown: NOPERM"* ]]
    [[ "$stderr" == *"3 queues are not shown: NOPERM"* ]]
}

@test "a password is sent, from the URL or the environment, and not shown" {
    serve plain
    run top --once "redis://ann:s%40cret@127.0.0.1:$port/3"
    [ "$status" -eq 0 ]
    [[ "$output" != *cret* ]]
    grep -qxF 'AUTH ann s@cret' "$commands"
    grep -qxF 'SELECT 3' "$commands"
    LAWN_PASSWORD='p@ss' run top --once "$url"
    grep -qxF 'AUTH p@ss' "$commands"
    LAWN_PASSWORD='p@ss' run top --once "unix://bob@$path"
    grep -qxF 'AUTH bob p@ss' "$commands"
    LAWN_PASSWORD=no run top --once "unix://:other@$path"
    grep -qxF 'AUTH other' "$commands"
    : >"$commands"
    run top --once "$url"
    run ! grep -E 'AUTH|SELECT' "$commands"
    serve wrong-password
    run --separate-stderr top --once "redis://ann:secret@127.0.0.1:$port"
    [ "$status" -eq 3 ]
    [[ "$stderr" == *"WRONGPASS"*"LAWN_PASSWORD"* ]]
    [[ "$stderr" != *secret* ]]
}

@test "a list of processes does not show the password" {
    serve silent
    "$lawn" top --timeout 60 "redis://ann:secret@127.0.0.1:$port" &
    until_true grep -q AUTH "$commands"
    grep -qaF 'ann:******@' "/proc/$!/cmdline"
    ends
}

@test "invalid URLs are refused with the reason, but without the password" {
    while IFS='|' read -r bad words; do
        run --separate-stderr top --once "$bad"
        [ "$status" -eq 2 ]
        [ -z "$output" ]
        [[ "$stderr" == "lawn top: invalid server URL '"*"': "*"$words"* ]]
        [[ "$stderr" != *secret* ]]
    done <<'END'
localhost:x|the port
http://localhost|redis://
rediss://:secret@host|TLS
redis://:secret@host:0x1|the port
redis://host:70000|the port
redis://host:|the port
redis://host/one|the database
redis://[::1|]
redis://u:secret%zz@host|%25
redis://u:x@secret:a/b@host|%40
redis://u:x@a/secret@host:1|%40
redis://u:x@a/secret@host:1/2|%40
unix://|path
redis:/:secret@host|redis://
END
    run --separate-stderr top --json --prometheus redis://
    [ "$status" -eq 2 ]
}

@test "a host and a port are a URL" {
    serve plain
    run -0 top --once "127.0.0.1:$port"
    [[ "$output" == *"127.0.0.1:$port"* ]]
}

@test "the work for a refresh is bounded" {
    serve many
    "$lawn" top --timeout 60 --every 0.1 --json "$url" >objects &
    some() { [ "$(grep -c '^INFO server' "$commands")" -ge 4 ]; }
    until_true some
    ends
    python3 - "$commands" <<'END'
import sys
rounds = open(sys.argv[1]).read().split('INFO server\n')[1:]
for text in rounds:
    lines = text.splitlines()
    assert sum(line.startswith('SCAN') for line in lines) <= 16
    asked = [line for line in lines if line.startswith('LAWN.INFO')]
    assert len(asked) <= 1000 and len(asked) == len(set(asked))
# It continues where it was, so each round shows more.
assert 'SCAN 150 ' in rounds[0] and 'SCAN 160 ' in rounds[1]
END
    output="$(sed -n 1p objects)"
    json 'j["queues_left_out"] == 60 and not j["servers"][0]["all_keys_seen"]'
}

@test "--once asks all queues" {
    serve many
    run top --once --json --keys 100k --timeout 1m "$url"
    json 'len(j["queues"]) == 5000 and j["servers"][0]["all_keys_seen"]'
    # An endless list is never seen completely, but the walk ends.
    serve never-ends
    run top --once "$url"
    [ "$status" -eq 0 ]
    [[ "$output" == *"still scanning for keys"* ]]
}

@test "more queues than are asked in a refresh come in turn" {
    serve many
    "$lawn" top --timeout 60 --every 0.05 --json --keys 3 "$url" >objects &
    # All pages were seen after 32 rounds, and all queues some five later.
    all() {
        [ "$(grep -o '^LAWN.INFO .*' "$commands" | sort -u | wc -l)" -eq 5000 ]
    }
    until_true all
    ends
    awk '/^INFO server/ { asked = 0 }
        /^LAWN.INFO/ && ++asked > 1000 { exit 1 }' "$commands"
}

@test "shown queues are asked in turn if there are too many" {
    serve many
    "$lawn" top --timeout 60 --every 0.05 --json --keys 1000 "$url" >objects &
    # All pages were seen after 32 rounds.
    rounds() { [ "$(grep -c '^INFO server' "$commands")" -ge 60 ]; }
    until_true rounds
    ends
    # Of the last 20 rounds, each queries 500 shown queues and 500 others.
    [ "$(awk '/^INFO server/ { rounds++ } rounds > 40 && /^LAWN.INFO/' "$commands" |
        sort -u | wc -l)" -eq 5000 ]
}

@test "a server that disconnects is reported, and asked again" {
    serve leaves
    "$lawn" top --timeout 60 --every 0.05 "$url" >tables &
    back() { sed '1,/closed the connection/d' tables | grep ' three$'; }
    until_true back
    ends
}

@test "a server that falls silent holds up no other" {
    serve plain
    one="$url"
    serve stops
    "$lawn" top --every 0.05 --timeout 60 --json "$one" "$url" >objects &
    many() { [ "$(wc -l <objects)" -ge 8 ]; }
    until_true many
    ends
}

@test "if no server answers at first, it gives up" {
    run --separate-stderr top redis://127.0.0.1:1
    [ "$status" -eq 3 ]
    [ -z "$output" ]
}

@test "SIGINT and SIGTERM end it well, at any time" {
    for signal in INT TERM; do
        for mode in plain silent; do
            serve $mode
            "$lawn" top --timeout 60 "$url" >tables &
            until_true grep -q INFO "$commands"
            kill -$signal $!
            wait $!
        done
    done
}

@test "a full disk is named and exits 4; a closed pipe ends it" {
    [ -w /dev/full ] || skip "/dev/full is missing"
    serve plain
    for option in --once --json --prometheus; do
        run bash -c '"$0" top "$1" "$2" >/dev/full' "$lawn" "$option" "$url"
        [ "$status" -eq 4 ]
        [[ "$output" == *"No space left"* ]]
    done
    run bash -c '{ timeout 60 "$0" top --every 0.05 "$1"; echo $? >code; } | head -n 1' \
        "$lawn" "$url"
    [ "$(cat code)" = 4 ]
}

# Runs it on a terminal of $1 columns, $2 rows and kind $3 until that shows $4, ends it by
# SIGINT, and sets $output to what the terminal received.
on_terminal() {
    command -v script >/dev/null || skip "script(1) is missing"
    script -qec true /dev/null </dev/null >/dev/null 2>&1 ||
        skip "no pseudo-terminal: is /dev/pts mounted?"
    cat >on_terminal.sh <<END
stty cols $1 rows $2
sh -c 'echo \$\$ >pid; TERM=$3 exec "$lawn" top --timeout 60 --every 0.1 $url'
echo "ended \$?"
stty -a
END
    rm -f screen pid # left by an earlier run
    script -qec "sh on_terminal.sh" /dev/null </dev/null >screen 2>&1 &
    until_true grep -q "$4" screen
    kill -INT "$(cat pid)"
    wait $!
    output="$(cat screen)"
}

@test "on a terminal it draws, and Ctrl-C leaves that as it was" {
    serve plain
    on_terminal 100 24 xterm three
    [[ "$output" == $'\033[?1049h\033[?25l\033[H'* ]]
    [[ "$output" == *$'\033[?25h\033[?1049lended 0'*" echo "* ]]
}

@test "no row is wider than the terminal, and no more than it has" {
    serve many
    for size in "40 10" "80 24" "200 50"; do
        set -- $size
        on_terminal "$1" "$2" xterm q0
        frame="${output#*$'\033[H'}" # the first frame
        frame="${frame%%$'\033[J'*}"
        frame="${frame//$'\033[K\r'/}"
        [[ "$frame" == *" q0"* ]] # a key with its first letters, in its row
        [ "$(wc -l <<<"${frame%$'\n'}")" -lt "$2" ]
        run ! grep -E ".{$1}" <<<"$frame"
    done
}

@test "a dumb terminal gets tables" {
    serve plain
    on_terminal 80 24 dumb three
    [[ "$output" != *$'\033'* ]]
}
