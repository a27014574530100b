#!/usr/bin/env zsh
# complete.zsh FOLDER LINE - prints the completions of zsh at the end of the line, as
# lines "MATCH<TAB>DESCRIPTION". FOLDER has the function _lawn, and is written to.
#
# A shell on a new terminal types the line and a tab, records the completions, and exits.
zmodload zsh/zpty || exit
export COMPLETE_FOLDER=$1 COMPLETE_FOUND=$1/found
: >$COMPLETE_FOUND || exit

zpty shell zsh -f -i
zpty -w shell '
fpath=($COMPLETE_FOLDER $fpath)
autoload -Uz compinit && compinit -u -D
# Matches and their descriptions are in parallel arrays.
compadd()
{
    if [[ " ${@[1,(i)(-|--)]} " == *" -"[OAD]" "* ]]; then
        builtin compadd "$@"
        return
    fi
    local -a found texts; local -i i at=${@[(i)-d]}
    (( at < $# )) && texts=("${(@P)@[at+1]}")
    builtin compadd -A found -D texts "$@"
    for (( i = 1; i <= $#found; i++ )); do
        print -r -- "$found[i]"$'"'\t'"'"$texts[i]" >>$COMPLETE_FOUND
    done
    builtin compadd "$@"
}
finish() { zle complete-word; exit }
zle -N finish
bindkey "^I" finish
'
zpty -w -n shell "$2"$'\t'
# The output ends with the shell.
while zpty -r shell line; do :; done >/dev/null
cat $COMPLETE_FOUND
