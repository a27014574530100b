#!/usr/bin/env bats
# Shell completion for lawn. LAWN names the tool, by default build/lawn.

bats_require_minimum_version 1.5.0

setup() {
    lawn="$(realpath "${LAWN:-$BATS_TEST_DIRNAME/../../build/lawn}")"
    cd "$BATS_TEST_TMPDIR" || return
    mkdir bin
    ln -s "$lawn" bin/lawn
    PATH="$PWD/bin:$PATH"
    mkdir folder
    touch one.file 'two words.file'
}

need() {
    command -v "$1" >/dev/null || skip "$1 is missing"
}

# The completions of a shell at the end of the last word, sorted, one per line:
# "bash_offers lawn trace ''". Bash only learns that files are expected. The script of
# lawn loads that of lawn-bench.
bash_offers() {
    "$lawn" completion bash >lawn.bash
    bash --noprofile --norc -euc '
        source ./lawn.bash
        [ "$1" = lawn ] || source <(lawn bench --completion bash)
        compopt() { [ "$*" = "-o default" ] && echo FILES; }
        COMP_WORDS=("$@")
        COMP_CWORD=$(($# - 1))
        complete -p "$1" | grep -q -e "-F _${1/-/_} $1"
        _${1/-/_}
        [ "${#COMPREPLY[@]}" -eq 0 ] || printf "%s\n" "${COMPREPLY[@]}"
        ' bash "$@" | sort
}

# The same for zsh and fish; after a tab, the description of each.
zsh_tells() {
    "$lawn" completion zsh >folder/_lawn
    "$lawn" bench --completion zsh >folder/_lawn-bench
    timeout 300 "$BATS_TEST_DIRNAME/complete.zsh" "$PWD/folder" "$*" | sort
}

fish_tells() {
    "$lawn" completion fish >lawn.fish
    "$lawn" bench --completion fish >lawn-bench.fish
    HOME="$PWD" XDG_CONFIG_HOME="$PWD" fish --no-config -c \
        'source lawn.fish; source lawn-bench.fish; complete -C "$argv"' -- "$*" | sort
}

zsh_offers() {
    zsh_tells "$@" | cut -f 1
}

fish_offers() {
    fish_tells "$@" | cut -f 1
}

# All verbs from the help, one per line: "trace stats".
all_verbs() {
    local verb
    for verb in $("$lawn" --help | listed_verbs); do
        echo "$verb"
        "$lawn" "$verb" --help | sed -n '/^verbs:$/,/^$/p' | listed_verbs |
            sed "s/^/$verb /"
    done
}

listed_verbs() {
    sed -n '/^options/,$d; s/^  \([a-z]\{1,\}\) .*/\1/p'
}

# The words that begin with two dashes in the help of a verb.
options_of() {
    "$lawn" $1 --help |
        sed -n 's/^  \(-., \|    \)\{0,1\}\(--[a-z-]*\).*/\2/p' | sort
}

# $1 offers, after each verb, the options of its help.
offers_all() {
    local verb count=0
    while read -r verb; do
        diff <(options_of "$verb") \
            <("$1" lawn $verb -- | grep '^--')
        count=$((count + 1))
    done < <(all_verbs)
    [ "$count" -ge 10 ]
    diff <(all_verbs | grep -v ' ' | sort) <("$1" lawn '')
    diff <("$lawn" trace --help | sed -n '/^verbs:$/,/^$/p' | listed_verbs |
        sort) <("$1" lawn trace '')
}

# $1 offers words for a word, nothing for a number, and files for a file: $2 if it does
# not know their names.
offers_values() {
    local files="${2:-$(printf 'folder\none.file\ntwo words.file')}"
    [ "$("$1" lawn de | grep demo)" = demo ]
    [ "$("$1" lawn trace convert --from t)" = twitter ]
    [ "$("$1" lawn trace convert --from '')" = $'meta-kv\ntwitter' ]
    [ -z "$("$1" lawn demo --timers '')" ]
    [ -z "$("$1" lawn demo --timers o)" ]
    [ -z "$("$1" lawn demo o)" ]
    [ -z "$("$1" lawn nonsense o)" ]
    [[ "$("$1" lawn trace stats --html o)" == @(one.file|"$files") ]]
    [[ "$("$1" lawn trace stats o)" == @(one.file|"$files") ]]
    [[ "$("$1" lawn trace convert --from twitter o)" == \
        @(one.file|"$files") ]]
    [[ "$("$1" lawn trace stats -- o)" == @(one.file|"$files") ]]
    # An operand that is not a file, then files; options anywhere.
    [ -z "$("$1" lawn debounce o)" ]
    [ -z "$("$1" lawn debounce -k 2 --stats o)" ]
    [[ "$("$1" lawn debounce -k 2 1s o)" == @(one.file|"$files") ]]
    [[ "$("$1" lawn debounce 1s a --stats o)" == @(one.file|"$files") ]]
    [[ "$("$1" lawn join 1s --key 2 a o)" == @(one.file|"$files") ]]
    [ -z "$("$1" lawn join 1s --key 2 a b o)" ]
    [ -z "$("$1" lawn debounce 1s -k o)" ]
    [[ "$("$1" lawn debounce 1s --state o)" == @(one.file|"$files") ]]
    [ "$("$1" lawn debounce --emit c)" = count ]
    [ "$("$1" lawn debounce - | grep '^-[a-z]$' | sort)" = $'-d\n-k' ]
}

@test "the scripts are sound, and the same each time" {
    need zsh
    need fish
    for shell in bash zsh fish; do
        "$lawn" completion $shell >script
        "$shell" -n script
        "$lawn" completion $shell | cmp - script
        [[ "$(cat script)" == *"$shell completion of lawn(1)"* ]]
        "$lawn-bench" --completion $shell >script
        "$shell" -n script
        [[ "$(cat script)" == *"$shell completion of lawn-bench(1)"* ]]
    done
}

# $1 offers the options in the help of lawn-bench, and the same after lawn bench.
offers_bench() {
    diff <(options_of bench) <("$1" lawn-bench --)
    local files="${2:-one.file}" command
    for command in lawn-bench "lawn bench"; do
        [ "$("$1" $command --re)" = $'--record\n--report' ]
        [ "$("$1" $command --completion f)" = fish ]
        [ "$("$1" $command --report o)" = "$files" ]
        [ "$("$1" $command --json --trace o)" = "$files" ]
        [ -z "$("$1" $command --n '')" ]
        [ -z "$("$1" $command o)" ]
    done
}

@test "bash completes lawn-bench, and after lawn bench the same" {
    offers_bench bash_offers FILES
    rm bin/lawn # so it cannot be asked for its script
    [ -z "$(bash_offers lawn bench --re)" ]
}

@test "zsh completes lawn-bench, and after lawn bench the same" {
    need zsh
    offers_bench zsh_offers
}

@test "fish completes lawn-bench, and after lawn bench the same" {
    need fish
    rmdir folder # fish adds a slash
    offers_bench fish_offers
}

@test "bash offers every verb and every option" {
    offers_all bash_offers
}

@test "bash offers words and files as values" {
    offers_values bash_offers FILES
}

@test "bash offers a value after an equals sign, cut off or not" {
    [ "$(bash_offers lawn trace convert --from = t)" = twitter ]
    [ "$(bash_offers lawn trace convert --from =)" = $'meta-kv\ntwitter' ]
    [ "$(bash_offers lawn trace convert --from=t)" = --from=twitter ]
    [ "$(bash_offers lawn trace stats --html = o)" = FILES ]
    [ "$(bash_offers lawn trace convert --from = twitter --h)" = --help ]
    [ -z "$(bash_offers lawn demo --timers = 1)" ]
}

@test "zsh offers every verb and every option" {
    need zsh
    offers_all zsh_offers
}

@test "zsh offers words and files as values" {
    need zsh
    offers_values zsh_offers
    [ "$(zsh_offers lawn trace convert --from=t)" = twitter ]
}

@test "zsh shows a description of each suggestion" {
    need zsh
    [[ "$(zsh_tells lawn tr)" == trace$'\t'*" -- analyze recorded timers"* ]]
    [[ "$(zsh_tells lawn trace convert --f)" == *" -- format of the input"* ]]
}

@test "zsh takes the script with source as well" {
    need zsh
    "$lawn" completion zsh >script
    run zsh -fc 'autoload -Uz compinit && compinit -u -D && source ./script &&
        print $_comps[lawn]'
    [ "$output" = _lawn ]
}

@test "fish offers every verb and every option" {
    need fish
    offers_all fish_offers
}

@test "fish offers words and files as values" {
    need fish
    rmdir folder # fish adds a slash
    offers_values fish_offers "$(printf 'one.file\ntwo words.file')"
    [ "$(fish_offers lawn trace convert --from=t)" = --from=twitter ]
}

@test "fish shows a description of each suggestion" {
    need fish
    [[ "$(fish_tells lawn tr)" == trace$'\t'"analyze recorded timers"* ]]
    [[ "$(fish_tells lawn trace convert --f)" == *$'\t'"format of the input"* ]]
}

@test "the table has a line for each option, with all that there is" {
    "$lawn" completion table >table
    "$lawn" bench --completion table >>table
    [ -z "$(awk -F '\t' 'NF != 9' table)" ]
    grep -qxF $'demo\town\t\ttimers\tN\t1M\t\t\tnumber of timers' table
    grep -q $'^trace convert\town\t\tfrom\tFORMAT\t\t\ttwitter meta-kv\t' table
    while read -r verb; do
        diff <(options_of "$verb" | grep -vx -e --help) \
            <(awk -F '\t' -v verb="$verb" '$1 == verb { print "--" $4 }' \
                table | sort)
    done < <(all_verbs)
}

@test "a shell that is not known gets a hint" {
    run --separate-stderr "$lawn" completion bahs
    [ "$status" -eq 2 ]
    # shellcheck disable=SC2154 # run sets it
    [[ "$stderr" == *"unknown verb 'bahs'"*"did you mean bash?"* ]]
    run --separate-stderr "$lawn" completion
    [ "$status" -eq 2 ]
    run --separate-stderr "$lawn" completion bash now
    [ "$status" -eq 2 ]
    [[ "$stderr" == *"unexpected argument 'now'"* ]]
}
