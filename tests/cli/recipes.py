#!/usr/bin/env python3
"""recipes.py titles PAGE          prints the titles of its recipes
   recipes.py run PAGE [TITLE]...  runs them, or all, as a reader would

In docs/RECIPES.md, or a similar page, a recipe is the text below a heading "## TITLE".
Its blocks are run in order, in an empty folder, with the tool that LAWN names, by
default build/lawn, as the first lawn in PATH:

    ```sh      commands, which must exit with status 0
    ```output  the output, including errors, of the commands before it; without
               such a block they must print nothing. A ```text block that begins
               on the line after the commands is such a block as well
    ```ini     a systemd unit, named in its first line, and checked by
               systemd if that is installed
    ```text    elsewhere: not run

Any other block is an error, so that nothing is left unchecked by mistake. In an mdoc
page the blocks are displays marked by comments, .\\" no C shell and .\\" no C output;
a recipe is a display of the kind shell with the text before it.

Commands that need a server use one that is started for the recipe on a free port and
stopped after it: kcat a mock cluster inside librdkafka, redis-cli a redis-server. The
page shows the usual ports.
"""

import contextlib
import difflib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path.insert(0, TOP + '/tests/manual')

from pages import plain  # noqa: E402

LAWN = os.path.realpath(os.environ.get('LAWN', TOP + '/build/lawn'))
KINDS = ('sh', 'output', 'ini', 'text')
PATIENCE_S = 120


class Failed(Exception):
    """The output of a recipe differs from its page."""


class Block:
    def __init__(self, kind, where):
        self.kind = kind
        self.where = where
        self.lines = []

    def text(self):
        return ''.join(line + '\n' for line in self.lines)


def read_markdown(path):
    """The recipes of a page: titles and their blocks."""
    title, block = '', None
    recipes = {title: []}
    commands_end = 0  # the line
    with open(path, encoding='utf-8') as page:
        for number, line in enumerate(page.read().split('\n'), 1):
            where = '%s:%d' % (path, number)
            if block is not None:
                if line == '```':
                    commands_end = number if block.kind == 'sh' else 0
                    block = None
                else:
                    block.lines.append(line)
            elif line.startswith('## '):
                title = line[3:]
                recipes[title] = []
            elif line.startswith('```'):
                block = Block(line[3:], where)
                if block.kind == 'text' and commands_end == number - 1:
                    block.kind = 'output'
                recipes[title].append(block)
    return {title: blocks for title, blocks in recipes.items() if blocks}


def read_mdoc(path):
    """The examples of a manual page."""
    recipes = {}
    kind = block = None
    text = []
    with open(path, encoding='utf-8') as page:
        for number, line in enumerate(page.read().split('\n'), 1):
            mark = re.fullmatch(r'\.\\" no C (shell|output)', line)
            if mark:
                kind = {'shell': 'sh'}.get(mark[1], mark[1])
            elif line.startswith('.Bd ') and kind:
                block = Block(kind, '%s:%d' % (path, number))
                if kind == 'sh':
                    title = ' '.join(text)
                    recipes[title] = []
                recipes[title].append(block)
            elif line == '.Ed':
                block = kind = None
            elif block is not None:
                block.lines.append(plain(line))
            elif line.startswith('.'):
                text = []
            else:
                text.append(line)
    return recipes


def read_recipes(path):
    recipes = (read_markdown if path.endswith('.md') else read_mdoc)(path)
    for blocks in recipes.values():
        for before, block in zip([None] + blocks, blocks):
            if block.kind == 'output' and (not before or before.kind != 'sh'):
                raise Failed('%s: the output of what?' % block.where)
    return recipes


def wait_for(condition, what):
    """Waits until the condition holds, and returns its result."""
    until = time.monotonic() + PATIENCE_S
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > until:
            raise Failed('waited in vain for ' + what)
        time.sleep(0.01)


def found_in(path, pattern, process):
    """Looks for a line that a process writes to a file."""
    ended = process.poll() is not None
    with open(path, encoding='utf-8', errors='replace') as log:
        text = log.read()
    if ended:
        raise Failed('%s ended: %s' % (process.args[0], text))
    return re.search(pattern, text)


@contextlib.contextmanager
def running(*args, **options):
    """A child process, which ends with the block."""
    process = subprocess.Popen(args, **options)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe:
                with contextlib.suppress(OSError):
                    pipe.close()


def write_command(folder, name, text):
    """A command that is first in PATH."""
    path = os.path.join(folder, name)
    with open(path, 'w', encoding='utf-8') as out:
        out.write(text)
    os.chmod(path, 0o755)


@contextlib.contextmanager
def kafka(bin_folder):
    """A Kafka cluster, inside an idle producer."""
    kcat = shutil.which('kcat')
    log = os.path.join(bin_folder, 'kcat.log')
    with open(log, 'w', encoding='utf-8') as out, running(
            kcat, '-P', '-b', 'none', '-X', 'test.mock.num.brokers=1',
            '-d', 'mock', '-t', 'none', stdin=subprocess.PIPE, stdout=out,
            stderr=out) as process:
        found = wait_for(lambda: found_in(
            log, r'bootstrap\.servers=(127\.0\.0\.1:\d+)', process), 'kcat')
        write_command(bin_folder, 'kcat', '''#!/bin/sh
for word; do
    shift
    [ "$word" = localhost:9092 ] && word=%s
    set -- "$@" "$word"
done
exec %s "$@"
''' % (found[1], kcat))
        yield


@contextlib.contextmanager
def redis(bin_folder):
    """A Redis server on a free port; another process may take the port first."""
    log = os.path.join(bin_folder, 'redis.log')
    client = shutil.which('redis-cli')
    for _ in range(10):
        with socket.socket() as probe:
            probe.bind(('127.0.0.1', 0))
            port = str(probe.getsockname()[1])
        with open(log, 'w', encoding='utf-8') as out, running(
                shutil.which('redis-server'), '--bind', '127.0.0.1', '--port',
                port, '--save', '', '--dir', bin_folder, stdout=out,
                stderr=out) as process:
            try:
                wait_for(lambda: found_in(log, 'Ready to accept', process),
                         'redis-server')
            except Failed as why:
                if 'Address already in use' in str(why):
                    continue
                raise
            write_command(bin_folder, 'redis-cli', '''#!/bin/sh
exec %s -p %s "$@"
''' % (client, port))
            yield
            return
    raise Failed('no free port for redis-server')


def run_commands(block, expected, folder, environment):
    """Runs a block in its own process group, so that all its processes can be ended."""
    process = subprocess.Popen(
        ['sh', '-c', block.text()], cwd=folder, env=environment,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, start_new_session=True)
    try:
        printed = process.communicate(timeout=PATIENCE_S)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        printed = process.communicate()[0] + b'... and did not end\n'
    printed = printed.decode('utf-8', 'backslashreplace')
    if printed != expected:
        raise Failed('%s:\n%s' % (block.where, ''.join(difflib.unified_diff(
            expected.splitlines(True), printed.splitlines(True),
            'the page', 'what was printed'))))
    if process.returncode != 0:
        raise Failed('%s: status %d' % (block.where, process.returncode))


def check_unit(block, folder):
    """Writes a unit where systemd can check it."""
    name = re.fullmatch(r'# .*/([\w-]+\.(?:service|socket))',
                        block.lines[0])
    if not name:
        raise Failed('%s: the first line names no unit' % block.where)
    with open(os.path.join(folder, name[1]), 'w', encoding='utf-8') as unit:
        unit.write(block.text().replace('/usr/bin/lawn', LAWN))
    return name[1]


def check_units(names, folder):
    if not names or not shutil.which('systemd-analyze'):
        return
    said = subprocess.run(['systemd-analyze', 'verify', '--man=no', *names],
                          cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    # systemd also complains about units of the machine.
    wrong = [line for line in said.stdout.splitlines()
             if any(name in line for name in names)]
    if wrong:
        raise Failed('systemd: ' + '\n'.join(wrong))


def start_service(unit, folder, fifo):
    """Runs the command of a unit, with its files in the folder, and a shorter time; as
    in systemd, with a FIFO that always has a writer."""
    command = re.search(r'^ExecStart=(.*)', unit, re.M)[1].split()
    command = [LAWN if word == '/usr/bin/lawn' else
               re.sub(r'^/(?:etc|var/lib)/.*/', folder + '/', word)
               for word in command]
    command[2:3] = ['0.2s']
    return running(*command, stdin=fifo, stdout=subprocess.PIPE, text=True)


def check_service(text, folder):
    """The service reports absent keys, ends as it should, and remembers them when it is
    started again."""
    status = int(re.search(r'^SuccessExitStatus=(\d+)', text, re.M)[1])
    path = os.path.join(folder, 'sensors.fifo')
    os.mkfifo(path)
    fifo = os.open(path, os.O_RDWR)
    try:
        with start_service(text, folder, fifo) as service:
            line = service.stdout.readline()
            if not line.startswith('absent\t'):
                raise Failed('the service prints %r' % line)
            service.terminate()
            if service.wait(PATIENCE_S) != status:
                raise Failed('SIGTERM: status %d' % service.returncode)
        key = line.split('\t')[1]
        with start_service(text, folder, fifo) as service:
            os.write(fifo, (key + '\n').encode())
            told = next(line for line in service.stdout
                        if line.split('\t')[1] == key)
            if not told.startswith('back\t'):
                raise Failed('the service has forgotten ' + key)
    finally:
        os.close(fifo)


def run_recipe(blocks):
    commands = ''.join(block.text() for block in blocks if block.kind == 'sh')
    for block in blocks:
        if block.kind not in KINDS:
            raise Failed('%s: what is this block?' % block.where)
    with contextlib.ExitStack() as stack:
        top = stack.enter_context(tempfile.TemporaryDirectory())
        folder = os.path.join(top, 'empty')
        programs = os.path.join(top, 'bin')
        os.mkdir(folder)
        os.mkdir(programs)
        os.symlink(LAWN, os.path.join(programs, 'lawn'))
        for word, server in (('kcat', kafka), ('redis-cli', redis)):
            if word in commands:
                stack.enter_context(server(programs))
        environment = dict(os.environ, LC_ALL='C.UTF-8', TZ='UTC',
                           PATH=programs + ':' + os.environ['PATH'])
        units = []
        for block, after in zip(blocks, blocks[1:] + [None]):
            if block.kind == 'sh':
                expected = (after.text()
                            if after and after.kind == 'output' else '')
                run_commands(block, expected, folder, environment)
            elif block.kind == 'ini':
                units.append(check_unit(block, folder))
        check_units(units, folder)
        for block in blocks:
            if block.kind == 'ini' and 'ExecStart=' in block.text():
                check_service(block.text(), folder)


def main(arguments):
    if len(arguments) < 2 or arguments[0] not in ('titles', 'run'):
        sys.exit(__doc__)
    recipes = read_recipes(arguments[1])
    if arguments[0] == 'titles':
        print('\n'.join(recipes))
        return 0
    failed = not recipes
    for title in arguments[2:] or recipes:
        if title not in recipes:
            raise Failed('%s has no recipe "%s"' % (arguments[1], title))
        try:
            run_recipe(recipes[title])
            print('ok ' + title)
        except Failed as why:
            print('FAILED %s\n%s' % (title, why))
            failed = True
    return failed


if __name__ == '__main__':
    # So that servers are stopped in this case, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        sys.exit(main(sys.argv[1:]))
    except Failed as failure:
        sys.exit(str(failure))
