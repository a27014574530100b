#!/usr/bin/env python3
"""docs.py [--server redis|valkey] [PART OF A NAME] - docs/MODULE.md is true.

Each chapter of the page, what stands below a heading "## ", is a case: its blocks
are run in their order, on a server that is empty at first:

    ```redis   lines that begin with "> " are typed into redis-cli -3, which must
               show what stands between them
    ```sh      commands of a shell, which must print
    ```output  the block that follows. A server that they start is started, with
               a port and a folder of its own, and redis-cli talks to that one,
               or else to ours; make has been run before
    ```python  likewise, by Debian's Python, which has the package redis

Any other block is an error: nothing is left unchecked by mistake. What is another
number each time need not be the same: one of three digits and more that no line
typed in the block has said, which must have as many digits or one less; and how
late something was. The README's commands, which say in words what they print, are
run as well. Further cases compare the lists of the page with what the server says of
the module.
"""

import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import tempfile

import server
from server import case, shared

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE / '../../../docs/MODULE.md'
README = HERE / '../../../README.md'


class Block:
    """A block of the page, or what a server shows in its place."""

    def __init__(self, kind, line):
        self.kind = kind
        self.line = line
        self.lines = []

    def text(self):
        return ''.join(line + '\n' for line in self.lines)


def chapters():
    """Titles of chapters, and their blocks."""
    found = {'': []}
    title, block = '', None
    for number, line in enumerate(PAGE.read_text().splitlines(), 1):
        if line.startswith('```'):
            if block:
                block = None
            else:
                block = Block(line[3:], number)
                found[title].append(block)
        elif block:
            block.lines.append(line)
        elif line.startswith('## '):
            title = line[3:]
            found[title] = []
    return found


def numbers_vary(shown, typed):
    """A pattern of what the page shows, with numbers of the moment in it."""
    said = set(re.findall(r'\d+', typed))
    pattern = ''
    late = False
    for word in re.split(r'(\d+)', shown):
        digits = len(word)
        if word.isdigit() and late:
            pattern += r'\d+'
        elif word.isdigit() and digits > 2 and word not in said:
            pattern += rf'\d{{{digits - 1},{digits}}}'
        else:
            pattern += re.escape(word)
        late = bool(re.search(r'"late(?:-\w+)?" => \(integer\) $', word))
    return pattern


def compare(block, shown, got, typed):
    assert re.fullmatch(numbers_vary(shown, typed), got), (
        f'MODULE.md, line {block.line}: the page shows\n{shown}\n'
        f'and the server\n{got}')


def client(port):
    return [shutil.which(server.KIND + '-cli') or 'redis-cli', '-p', str(port)]


def try_typed(block, port):
    """All lines of a block in one session, each reply compared."""
    steps = []
    for line in block.lines:
        if line.startswith('> '):
            steps.append([line[2:], ''])
        else:
            assert steps, f'MODULE.md, line {block.line}: who says that?'
            steps[-1][1] += line + '\n'
    typed = '\n'.join(step[0] for step in steps)
    # What is echoed comes between replies, so that they can be told apart.
    mark = 'next-reply-follows'
    session = ''.join(f'{step[0]}\nECHO {mark}\n' for step in steps)
    done = subprocess.run([*client(port), '-3', '--no-raw'], input=session,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=server.PATIENCE, check=False)
    # What took long, the client says how long.
    told = re.sub(r'^\(\d+\.\d+s\)\n', '', done.stdout, flags=re.M)
    replies = told.split(f'"{mark}"\n')
    assert len(replies) == len(steps) + 1, done.stdout
    for (command, shown), got in zip(steps, replies):
        compare(block, f'> {command}\n{shown}',
                f'> {command}\n' + got.rstrip('\n') + '\n', typed)


def write_command(folder, name, text):
    path = pathlib.Path(folder, name)
    path.write_text('#!/bin/sh\n' + text)
    path.chmod(0o755)


class Shell:
    """A folder in which commands of a shell find what they would at home:
    build/lawn.so, servers and their clients. Those who start a server talk to
    it, and the others to the one of the port."""

    def __init__(self, folder, port):
        self.folder = pathlib.Path(folder)
        self.port = server.free_port()
        self.started = self.folder / 'started'
        bin_ = self.folder / 'bin'
        for path in (bin_, self.folder / 'build'):
            path.mkdir()
        os.symlink(server.MODULE, self.folder / 'build/lawn.so')
        write_command(bin_, 'make', '')
        for kind in server.KINDS:
            write_command(
                bin_, kind + '-server',
                f': >{self.started}\n'
                f'exec {shutil.which(server.KIND + "-server")} "$@" --port '
                f'{self.port} --bind 127.0.0.1 --dir {folder} --save "" '
                f'--pidfile {folder}/pid --logfile {folder}/log\n')
            ours, its = map(shlex.join, (client(port), client(self.port)))
            # A server that goes to the background is not yet ready.
            write_command(
                bin_, kind + '-cli',
                f'[ -e {self.started} ] || exec {ours} "$@"\n'
                'for i in $(seq 500); do\n'
                f'    {its} PING 2>&1 | grep -q PONG && break\n'
                '    sleep 0.02\n'
                'done\n'
                f'exec {its} "$@"\n')

    def run(self, text):
        """What it printed."""
        path = f'{self.folder}/bin:{os.environ["PATH"]}'
        try:
            done = subprocess.run(
                ['sh', '-ec', text], stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                timeout=server.PATIENCE, check=True, cwd=self.folder,
                env=dict(os.environ, PATH=path))
        finally:
            self.stop()
        assert self.started.exists() == ('-server ' in text), 'who started it?'
        return done.stdout

    def stop(self):
        if not self.started.exists():
            return
        pid = self.folder / 'pid'
        server.wait_until(lambda: pid.exists() and pid.read_text().strip(),
                          'the server that was started has a number')
        try:
            os.kill(int(pid.read_text()), signal.SIGTERM)
        except ProcessLookupError:
            log = (self.folder / 'log').read_text()
            raise AssertionError('it does not run: ' + log[-500:]) from None
        server.wait_until(lambda: not pid.exists(), 'it ends')


def shell(text, port):
    with tempfile.TemporaryDirectory() as folder:
        return Shell(folder, port).run(text)


def try_shell(block, expected, port):
    compare(block, expected, shell(block.text(), port), block.text())


def try_python(block, expected, port):
    done = subprocess.run(
        ['/usr/bin/python3', '-c', block.text().replace('6379', str(port))],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, timeout=server.PATIENCE,
        check=False)
    compare(block, expected, done.stdout, block.text())


# What prints, and has it compared with the block that follows.
COMMANDS = {'sh': try_shell, 'python': try_python}


def try_chapter(blocks):
    port = shared().port
    before = None
    for block, after in zip(blocks, blocks[1:] + [None]):
        if block.kind == 'redis':
            try_typed(block, port)
        elif block.kind in COMMANDS:
            expected = after and after.kind == 'output' and after.text()
            COMMANDS[block.kind](block, expected or '', port)
        else:
            assert block.kind == 'output' and before in COMMANDS, (
                f'MODULE.md, line {block.line}: what is this block?')
        before = block.kind


def add_chapter(title, blocks):
    def test():
        try_chapter(blocks)
    words = re.sub(r'\W+', '_', title.lower()).strip('_') or 'the_beginning'
    test.__name__ = f'the_examples_of_the_chapter_{words}_are_true'
    case(test)


for name, examples in chapters().items():
    if examples:
        add_chapter(name, examples)


@case
def the_commands_of_the_readme_print_what_it_says():
    part = re.search(r'^## In Redis and Valkey\n(.*?)^## ', README.read_text(),
                     re.M | re.S)[1]
    block, told = re.search(r'\n\n((?:    .*\n)+)\n(.*?)\.\s', part,
                            re.S).groups()
    text = shell(block, shared().port)
    assert told.startswith('prints'), told
    assert text.split('\n')[:-1] == re.findall('`(.*?)`', told), (text, told)


def rows(title):
    """The rows of the tables of a chapter, or of what is below a heading."""
    text = PAGE.read_text()
    part = re.search(rf'^##+ {re.escape(title)}\n(.*?)(?=^##|\Z)', text,
                     re.M | re.S)[1]
    return [[cell.strip() for cell in line.strip('|').split('|')]
            for line in part.splitlines() if line.startswith('| `')]


@case
def every_command_has_a_place_in_the_page():
    names = {name.decode().upper() for name in shared().call(
        'COMMAND', 'LIST', 'FILTERBY', 'MODULE', 'lawn')}
    assert names
    text = PAGE.read_text()
    told = {name for line in re.findall(r'^### (LAWN.*)', text, re.M)
            for name in re.findall(r'LAWN\.\w+', line)}
    told |= {re.search(r'REDE\.\w+', row[0])[0] for row in rows('ReDe')
             if 'REDE.' in row[0]}
    assert told == names, told ^ names


@case
def the_settings_and_their_defaults_are_those_of_the_page():
    got = shared().client(3).call('CONFIG', 'GET', 'lawn.*')
    told = {row[0].strip('`'): row[1].replace('1mb', str(1 << 20))
            for row in rows('Configuration')}
    assert told == {name.decode(): value.decode()
                    for name, value in got.items()}, (told, got)


@case
def the_settings_of_a_key_and_their_defaults_are_those_of_the_page():
    one = shared()
    one.call('LAWN.PUSH', 'key', 'id', 'payload', 'DELAY', '60000')
    got = one.client(3).call('LAWN.CONFIG', 'key', 'GET')
    told = {row[0].strip('`'): row[1].strip('`')
            for row in rows('LAWN.CONFIG')}
    assert told == {name.decode(): value.decode() if isinstance(value, bytes)
                    else str(value) for name, value in got.items()}, (told, got)


@case
def the_fields_of_info_are_those_of_the_page():
    got = set(shared().info('lawn'))
    told = set()
    for row in rows('Watching it'):
        first = None
        for field in re.findall(r'`(\w+)`', row[0]):
            if field.startswith('_'):
                field = first[:first.rindex('_')] + field
            first = first or field
            told.add(field)
    assert told == got, told ^ got


if __name__ == '__main__':
    server.main(__doc__)
