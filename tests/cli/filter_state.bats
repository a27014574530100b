# The file of --state: its name, its lock, its format.
load filter.bash

@test "[F5] a symbolic link to a state leads to its lock" {
    given 'a 1'
    gives_nothing delay 5s --time-field 2 --state s --on-eof save
    mkdir deep
    ln -s s link
    ln -s "$PWD/link" deep/link
    ln -s none dangling
    words=("is in use by another lawn; stop that process, or use another file")
    for name in s link deep/link; do
        code=0
        flock s.lock "$lawn" delay 5s --time-field 2 --state $name <in >out 2>err || code=$?
        [ $code -eq 3 ]
        reports
        [ ! -s out ]
    done
    code=0
    flock none.lock "$lawn" delay 5s --time-field 2 --state dangling <in >out 2>err || code=$?
    [ $code -eq 3 ]
    reports
}

@test "[F5] a state is saved to the file that a symbolic link leads to" {
    given 'a 1'
    ln -s kept link
    gives_nothing delay 5s --time-field 2 --state link --on-eof save
    [ -L link ]
    [ -f kept ]
    given 'b 2'
    gives_nothing delay 5s --time-field 2 --state link --on-eof save
    [ -L link ]
    given
    gives delay 5s --time-field 2 --state kept <<END
a 1
b 2
END
}

@test "symbolic links in a circle are no state" {
    ln -s two one
    ln -s one two
    given 'a 1'
    words=("cannot use the state one: " "symbolic links")
    refuses 3 delay 5s --time-field 2 --state one
}

@test "[F4] lines that were read ahead count as resumed" {
    given 'a 1' 'b 2' 'c 3' 'd 4'
    words=("--max-lines 1")
    refuses 3 delay 5s --time-field 2 --max-lines 1 --overflow fail --state s
    given 'e 5'
    gives delay 5s --time-field 2 --state s <<END
a 1
b 2
c 3
d 4
e 5
END
    counts in=5 out=5 resumed=4
}

@test "[F4] lines that were resumed and are lost count as resumed" {
    given 'a 1' 'b 2' 'c 3' 'd 4'
    words=("--max-lines 1")
    refuses 3 delay 5s --time-field 2 --max-lines 1 --overflow fail --state s
    code=0
    (
        ulimit -f 0 # the state cannot be saved
        "$lawn" delay 5s --time-field 2 --max-lines 1 --overflow fail --stats --state s \
            <in 2>&1 >/dev/null || echo "code $?"
    ) | cat >err
    grep -q 'code 4' err
    counts in=4 discarded=4 resumed=4
}

@test "a state that is not a regular file is refused, and nothing waits for it" {
    mkfifo s
    given 'a 1'
    code=0
    timeout 20 "$lawn" delay 5s --time-field 2 --state s <in >out 2>err || code=$?
    [ $code -eq 3 ]
    words=("cannot use the state s: not a regular file")
    reports
    ln -s s link
    code=0
    timeout 20 "$lawn" delay 5s --time-field 2 --state link <in >out 2>err || code=$?
    [ $code -eq 3 ]
    [ -p s ]
    words=("cannot use the state /dev/null: not a regular file")
    refuses 3 delay 5s --time-field 2 --state /dev/null
}

@test "a name that is too long to be saved to is refused at the start" {
    given 'a 1'
    name="$(printf '%0248d' 0)"
    words=("file name too long")
    refuses 3 delay 5s --time-field 2 --state "$name"
    name="$(printf '%0246d' 0)"
    gives_nothing delay 5s --time-field 2 --state "$name" --on-eof save
}

@test "a folder that cannot be written to is refused at the start" {
    given 'a 1'
    words=("cannot lock the state none/s" "No such file or directory")
    refuses 3 delay 5s --time-field 2 --state none/s
    # The lock exists, but nothing else can be created.
    [ "$(id -u)" -eq 0 ] || skip "needs root to become another user"
    mkdir closed
    : >closed/s.lock
    chmod 666 closed/s.lock
    chmod 755 . closed
    chmod a+x "$BATS_TEST_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_RUN_TMPDIR" 2>/dev/null || true
    cp "$lawn" tool
    setpriv --reuid 65534 --regid 65534 --clear-groups test -x tool || skip "the folder of the tests is private"
    code=0
    setpriv --reuid 65534 --regid 65534 --clear-groups ./tool delay 5s --time-field 2 --state closed/s \
        <in >out 2>err || code=$?
    [ $code -eq 3 ]
    words=("cannot use the state closed/s: cannot create closed/s.lawn-tmp: Permission denied")
    reports
}

@test "a state keeps its owner and group" {
    [ "$(id -u)" -eq 0 ] || skip "needs root to give files away"
    given 'a 1'
    gives_nothing delay 5s --time-field 2 --state s --on-eof save
    chown 12345:54321 s
    chmod 640 s
    given 'b 2'
    gives_nothing delay 5s --time-field 2 --state s --on-eof save
    [ "$(stat -c '%u %g %a' s)" = "12345 54321 640" ]
}

# Writes a state of each kind, to the file of that name.
save_all() {
    given 'a 1' 'b 2' 'a 3'
    printf 'a 1\nb 2\n' >left
    printf 'c 2\n' >right
    gives_nothing delay 5s --time-field 2 --state delay --on-eof save
    gives_nothing debounce 5s -k 1 --time-field 2 --state debounce --on-eof save --emit count
    gives throttle 1/5s -k 1 --time-field 2 --state throttle --on-eof save <<END
a 1
b 2
END
    gives dedupe 5s -k 1 --time-field 2 --state dedupe --on-eof save <<END
a 1
b 2
END
    gives_nothing absent 5s -k 1 --time-field 2 --state absent --on-eof save
    gives_nothing session 5s -k 1 --time-field 2 --state session --on-eof save
    gives_nothing join 5s -k 1 --time-field 2 --state join --on-eof save left right
    # The next two runs stop before the end of the input, so their states contain lines
    # that are ahead of the clock. At the end of the input these would be processed.
    words=("--max-lines 1")
    refuses 3 join 5s -k 1 --time-field 2 --max-lines 1 --overflow fail --state ahead left right
    given 'a 1' 'a 3' 'b 2' 'd 4'
    refuses 3 delay 5s --time-field 2 --max-lines 1 --overflow fail --lateness 2s --state early
    counts in=3 held=3
}

states="delay debounce throttle dedupe absent session join ahead early"

@test "a state is the same on every machine" {
    save_all
    for name in $states; do
        od -An -v -tx1 $name | diff "$BATS_TEST_DIRNAME/states/$name.hex" -
    done
}

# Writes a stored state of the tests to the file of that name.
kept_state() {
    # shellcheck disable=SC2059 # the format is the bytes
    printf "$(sed 's/ /\\x/g' "$BATS_TEST_DIRNAME/states/$1.hex" | tr -d '\n')" >"$1"
}

@test "[F5] states that were saved before are resumed" {
    for name in $states; do
        kept_state $name
        od -An -v -tx1 $name | diff "$BATS_TEST_DIRNAME/states/$name.hex" -
    done
    given 'z 7'
    gives delay 5s --time-field 2 --state delay --on-eof save <<END
a 1
b 2
END
    gives debounce 5s -k 1 --time-field 2 --state debounce --on-eof save --emit count <<<$'1\tb 2'
    gives absent 5s -k 1 --time-field 2 --state absent --on-eof save <<<$'absent\tb\t2\t5'
    gives session 5s -k 1 --time-field 2 --state session --on-eof save <<<$'b\t1\t2\t2\t0\tgap'
    given 'a 5' 'b 6' 'a 6' 'b 7'
    gives throttle 1/5s -k 1 --time-field 2 --state throttle --on-eof save <<END
a 3
b 6
END
    gives dedupe 5s -k 1 --time-field 2 --state dedupe --on-eof save <<END
a 6
b 7
END
    printf 'c 6\n' >left
    printf 'a 6\nb 7\n' >right
    for name in join ahead; do
        printf 'left\ta 1\nboth\tc 6\tc 2\nleft\tb 2\n' |
            gives join 5s -k 1 --time-field 2 --state $name --on-eof save left right
    done
    counts in=6 resumed=3
    given 'z 8'
    gives delay 5s --time-field 2 --lateness 2s --state early --on-eof save <<END
a 1
b 2
a 3
END
    counts held=2
}

# Enters a folder that an unprivileged user may use, with a copy of the tool.
open_to_nobody() {
    [ "$(id -u)" -eq 0 ] || skip "needs root to become another user"
    chmod 755 .
    chmod a+x "$BATS_TEST_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_RUN_TMPDIR" 2>/dev/null || true
    cp "$lawn" tool
    as_nobody test -x tool || skip "the folder of the tests is private"
}

as_nobody() {
    setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}

@test "after a run of root the owner of a state can use it" {
    open_to_nobody
    mkdir own
    chown 65534:65534 own
    given 'a 1'
    as_nobody ./tool delay 5s --time-field 2 --state own/s --on-eof save <in
    rm own/s.lock
    given 'b 2'
    gives_nothing delay 5s --time-field 2 --state own/s --on-eof save
    [ "$(stat -c '%u %g %a' own/s.lock)" = "65534 65534 600" ]
    given 'c 3'
    as_nobody ./tool delay 5s --time-field 2 --state own/s <in >out
    printf '%s\n' 'a 1' 'b 2' 'c 3' | diff - out
}

@test "a lock that is a symbolic link is refused" {
    given 'a 1'
    : >elsewhere
    ln -s elsewhere s.lock
    words=("cannot lock the state s" "Too many levels of symbolic links")
    refuses 3 delay 5s --time-field 2 --state s
    [ ! -e s ]
}

@test "a lock that is there keeps its owner" {
    [ "$(id -u)" -eq 0 ] || skip "needs root to give files away"
    given 'a 1'
    gives_nothing delay 5s --time-field 2 --state s --on-eof save
    chown 12345:54321 s
    gives_nothing delay 5s --time-field 2 --state s --on-eof save
    [ "$(stat -c %u s.lock)" = 0 ]
}

@test "a state can be in a folder that cannot be read" {
    open_to_nobody
    mkdir -m 300 own
    chown 65534:65534 own
    given 'a 1'
    as_nobody ./tool delay 5s --time-field 2 --state own/s --on-eof save <in
    given 'b 2'
    as_nobody ./tool delay 5s --time-field 2 --state own/s <in >out
    printf '%s\n' 'a 1' 'b 2' | diff - out
    [ "$(ls own | tr '\n' ' ')" = "s s.lock " ]
}

@test "a message names the temporary file that cannot be created" {
    given 'a 1'
    mkdir -p deep/kept.lawn-tmp
    ln -s deep/kept link
    words=("cannot use the state link: cannot create deep/kept.lawn-tmp: Is a directory")
    refuses 3 delay 5s --time-field 2 --state link
    name="$(printf '%0247d' 0)"
    ln -s "$name" long
    words=("cannot use the state long: file name too long: $name.lawn-tmp is needed")
    refuses 3 delay 5s --time-field 2 --state long
}

@test "a state that cannot be saved to leaves no lock behind" {
    given 'a 1'
    words=("file name too long")
    refuses 3 delay 5s --time-field 2 --state "$(printf '%0248d' 0)"
    [ "$(ls)" = "$(printf 'err\nin\nout')" ]
}

@test "[F5] a state whose folder could not be flushed holds its lines" {
    strace -qq -o trace true || skip "strace is missing"
    given 'a 1'
    code=0
    # Leak detection does not work under strace.
    ASAN_OPTIONS=detect_leaks=0 strace -qq -f -o trace -e inject=fsync:error=EIO:when=2 \
        "$lawn" delay 5s --time-field 2 --state s --on-eof save --stats <in >out 2>err || code=$?
    [ $code -eq 0 ]
    words=("the state is saved to s, but its directory could not be flushed: Input/output error")
    reports
    counts in=1 held=1 discarded=0
    [ "$(grep -c 'line dropped' err)" -eq 0 ]
    given
    gives delay 5s --time-field 2 --state s <<<'a 1'
}
