#!/usr/bin/env zsh
# complete.zsh FOLDER LINE - what zsh offers where the line ends: a line
# "MATCH<TAB>DESCRIPTION" each. FOLDER has the function _lawn, and is written to.
#
# A shell on a terminal of its own types the line, and a tab; it notes what its
# completion would add, and exits.
zmodload zsh/zpty || exit
export COMPLETE_FOLDER=$1 COMPLETE_FOUND=$1/found
: >$COMPLETE_FOUND || exit

zpty shell zsh -f -i
zpty -w shell '
fpath=($COMPLETE_FOLDER $fpath)
autoload -Uz compinit && compinit -u -D
# A match and its description stand in arrays side by side.
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
# The end of the output is the end of the shell.
while zpty -r shell line; do :; done >/dev/null
cat $COMPLETE_FOUND
