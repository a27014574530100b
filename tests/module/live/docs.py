#!/usr/bin/env python3
"""docs.py [--server redis|valkey] [PART OF A NAME] - checks the statements and
examples of docs/ about the module.

Each chapter of a page, the part below a heading "## ", is a case. Its blocks
are run in order, on a server that is empty at first. Ports 6379 and 7000 are
replaced by that of the server:

    ```redis   lines that begin with "> " are typed into redis-cli -3, which must
               print the text between them
    ```sh      shell commands. A server that they start gets its own port and
               folder, and redis-cli connects to it, or else to the shared
               server; make has been run before
    ```python  a program for Debian's Python, which has the package redis
    ```js      a program for node and Debian's package node-redis
    ```output  what the commands or the program before it must print; without
               such a block, nothing
    ```conf    settings: the text of examples/module/lawn.conf. A server must start
               with them, and also with the settings that are commented out

Any other block is an error, so that nothing is left unchecked by mistake.
Numbers that differ on each run need not match. These are lateness, and numbers of
three or more digits that do not occur in an earlier typed line; the server's
number must have as many digits as that of the page, or one less. If a later line
contains such a number, for example a token, it is typed with the server's value.
The commands of the README, whose output is described in words, are run as well.
Further cases compare the lists of the pages with the server's information about the
module.
"""

import binascii
import bisect
import contextlib
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import tempfile

import nodes
import resp
import server
from server import case, need, shared

HERE = pathlib.Path(__file__).resolve().parent
ROOT = (HERE / '../../..').resolve()
PAGES = [ROOT / 'docs' / name for name in (
    'MODULE.md', 'JOBS.md', 'CLUSTER.md', 'MODULE-OPERATIONS.md', 'REDE.md')]
MANUAL, JOBS, CLUSTER, OPERATIONS, REDE = PAGES
README = ROOT / 'README.md'
LIBRARY = ROOT / 'docs/LIBRARY.md'


class Block:
    """A block of a page, or the server's output for it."""

    def __init__(self, kind, page, number):
        self.kind = kind
        self.where = f'{page.name}, line {number}'
        self.lines = []

    def text(self):
        return ''.join(line + '\n' for line in self.lines)


def chapters(page):
    """Returns the titles of chapters and their blocks."""
    found = {'': []}
    title, block = '', None
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if line.startswith('```'):
            if block:
                block = None
            else:
                block = Block(line[3:], page, number)
                found[title].append(block)
        elif block:
            block.lines.append(line)
        elif line.startswith('## '):
            title = line[3:]
            found[title] = []
    return found


def numbers_vary(shown, typed):
    """Returns a pattern of the page's text with groups for varying numbers, and
    these numbers as printed in the page."""
    said = set(re.findall(r'\d+', typed))
    pattern = ''
    late = False
    varied = []
    for word in re.split(r'(\d+)', shown):
        digits = len(word)
        if word.isdigit() and late:
            pattern += r'\d+'
        elif word.isdigit() and digits > 2 and word not in said:
            pattern += rf'(\d{{{digits - 1},{digits}}})'
            varied.append(word)
        else:
            pattern += re.escape(word)
        late = bool(re.search(r'"late(?:-\w+)?" => \(integer\) $', word))
    return pattern, varied


def compare(block, shown, got, typed):
    """Returns the actual values of the varying numbers."""
    pattern, varied = numbers_vary(shown, typed)
    match = re.fullmatch(pattern, got)
    assert match, (f'{block.where}: the page shows\n{shown}\n'
                   f'and the server\n{got}')
    return dict(zip(varied, match.groups()))


def replace_numbers(text, known):
    """Replaces the numbers of a page by those of the server."""
    return re.sub(r'\d+', lambda number: known.get(number[0], number[0]), text)


def client(port):
    return [shutil.which(server.KIND + '-cli') or 'redis-cli', '-p', str(port)]


def try_typed(block, port):
    """Types the lines of a block, and compares each reply."""
    steps = []
    for line in block.lines:
        if line.startswith('> '):
            steps.append([line[2:], ''])
        else:
            assert steps, f'{block.where}: output without a command'
            steps[-1][1] += line + '\n'
    typed = ''
    numbers = {}
    for command, shown in steps:
        command = replace_numbers(command, numbers)
        shown = replace_numbers(shown, numbers)
        typed += command + '\n'
        done = subprocess.run(
            [*client(port), '-3', '--no-raw'], input=command + '\n',
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=server.PATIENCE, check=False)
        # The client prints the duration of slow commands, and ends lines with
        # spaces.
        got = re.sub(r'^\(\d+\.\d+s\)\n| +$', '', done.stdout, flags=re.M)
        numbers.update(compare(
            block, f'> {command}\n{shown}',
            f'> {command}\n' + got.rstrip('\n') + '\n',
            typed + ' '.join(numbers.values())))


def write_command(folder, name, text):
    path = pathlib.Path(folder, name)
    path.write_text('#!/bin/sh\n' + text)
    path.chmod(0o755)


class Shell:
    """A folder in which shell commands find build/, examples/, servers and
    clients as in the source tree. Commands that start a server use that server,
    the others the one of the port."""

    def __init__(self, folder, port):
        self.folder = pathlib.Path(folder)
        self.port = server.free_port()
        self.shared = port
        self.started = self.folder / 'started'
        bin_ = self.folder / 'bin'
        for path in (bin_, self.folder / 'build'):
            path.mkdir()
        os.symlink(server.MODULE, self.folder / 'build/lawn.so')
        tool = ROOT / 'build/lawn'
        if tool.exists():
            os.symlink(tool, bin_ / 'lawn')
        os.symlink(ROOT / 'examples', self.folder / 'examples')
        write_command(bin_, 'make', '')
        for kind in server.KINDS:
            write_command(
                bin_, kind + '-server',
                f': >{self.started}\n'
                f'exec {shutil.which(server.KIND + "-server")} "$@" --port '
                f'{self.port} --bind 127.0.0.1 --dir {folder} --save "" '
                f'--pidfile {folder}/pid --logfile {folder}/log\n')
            ours, its = map(shlex.join, (client(port), client(self.port)))
            # A server that goes to the background is not ready yet.
            write_command(
                bin_, kind + '-cli',
                f'[ -e {self.started} ] || exec {ours} "$@"\n'
                'for i in $(seq 500); do\n'
                f'    {its} PING 2>&1 | grep -q PONG && break\n'
                '    sleep 0.02\n'
                'done\n'
                f'exec {its} "$@"\n')

    def run(self, text):
        """Returns its output. Port 7000 stands for the server that it uses."""
        starts = '-server ' in text
        text = re.sub(r'\b7000\b', str(self.port if starts else self.shared),
                      text)
        path = f'{self.folder}/bin:{os.environ["PATH"]}'
        try:
            done = subprocess.run(
                ['sh', '-ec', text], stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                timeout=server.PATIENCE, check=True, cwd=self.folder,
                env=dict(os.environ, PATH=path))
        finally:
            self.stop()
        assert self.started.exists() == starts, \
            'a server was started without -server, or not started'
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
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        return Shell(folder, port).run(text)


def cluster_shell(text):
    """Returns the output of commands that start the servers of a cluster: on
    other ports than written, and with the binaries of this kind."""
    for port in sorted(set(re.findall(r'\b70\d\d\b', text))):
        text = text.replace(port, str(nodes.Node.pick_port()))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = pathlib.Path(name)
        for path in ('bin', 'build'):
            (folder / path).mkdir()
        os.symlink(server.MODULE, folder / 'build/lawn.so')
        write_command(folder / 'bin', 'redis-server', (
            f'exec {shutil.which(server.KIND + "-server")} "$@" --save "" '
            f'--bind 127.0.0.1 --logfile log --pidfile {folder}/$$.pid\n'))
        write_command(folder / 'bin', 'redis-cli', (
            f'exec {shutil.which(server.KIND + "-cli")} "$@"\n'))
        try:
            return subprocess.run(
                ['sh', '-ec', text], stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                timeout=3 * server.PATIENCE, check=False, cwd=folder,
                env=dict(os.environ, TERM='dumb',
                         PATH=f'{folder}/bin:{os.environ["PATH"]}')).stdout
        finally:
            for path in folder.glob('*.pid'):
                with contextlib.suppress(OSError, ValueError):
                    os.kill(int(path.read_text()), signal.SIGKILL)


def try_shell(block, expected, port):
    if '--cluster create' in block.text():
        compare(block, expected, cluster_shell(block.text()), block.text())
        return
    text = block.text().replace('6379', str(port))
    compare(block, expected, shell(text, port), block.text())


def try_program(block, expected, port, *command):
    done = subprocess.run(
        [*command, re.sub(r'\b(6379|7000)\b', str(port), block.text())],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, timeout=server.PATIENCE,
        check=False, cwd=ROOT,
        env=dict(os.environ, NODE_PATH='/usr/share/nodejs'))
    compare(block, expected, done.stdout, block.text())


def try_python(block, expected, port):
    try_program(block, expected, port, '/usr/bin/python3', '-c')


def try_node(block, expected, port):
    need(shutil.which('node'), 'nodejs')
    try_program(block, expected, port, 'node', '-e')


def try_settings(block):
    assert block.text() == (ROOT / 'examples/module/lawn.conf').read_text(), (
        f'{block.where} is not examples/module/lawn.conf')
    text = re.sub(r'^loadmodule .*\n', '', block.text(), flags=re.M)
    all_ = re.sub(r'^# ([a-z]+-[a-z-]+ \d+)$', r'\1', text, flags=re.M)
    assert text != all_ and text != block.text()
    for settings in (text, all_):
        with server.Server('include', 'settings', files=[
                ('settings', settings.encode())]) as one:
            for name, value in re.findall(r'^([a-z-]+) (\S+)$', settings,
                                          re.M):
                got = one.client(3).call('CONFIG', 'GET', name)[name.encode()]
                want = value.replace('12gb', str(12 << 30))
                assert got.decode() == want, (name, got, want)


# Blocks whose output is compared with the block that follows.
COMMANDS = {'sh': try_shell, 'python': try_python, 'js': try_node}


def try_chapter(blocks):
    port = shared().port
    before = None
    for block, after in zip(blocks, blocks[1:] + [None]):
        if block.kind == 'redis':
            try_typed(block, port)
        elif block.kind in COMMANDS:
            expected = after and after.kind == 'output' and after.text()
            COMMANDS[block.kind](block, expected or '', port)
        elif block.kind == 'conf':
            try_settings(block)
        else:
            assert block.kind == 'output' and before in COMMANDS, (
                f'{block.where}: what is this block?')
        before = block.kind


def words(text):
    return re.sub(r'\W+', '_', text.lower()).strip('_')


def add_chapter(page, title, blocks):
    def test():
        try_chapter(blocks)
    test.__name__ = (f'the_examples_of_the_chapter_'
                     f'{words(title) or "the_beginning"}_in_'
                     f'{words(page.stem)}_are_true')
    case(test)


for path in PAGES:
    for name, examples in chapters(path).items():
        if examples:
            add_chapter(path, name, examples)


def block_with(page, kind, words):
    """Returns the only block of the page with these words."""
    found, = (block for blocks in chapters(page).values() for block in blocks
              if block.kind == kind and words in block.text())
    return found


REFUSED = """
import threading

def fix():
    while not server.info('commandstats').get(
            'cmdstat_lawn.poll', {}).get('rejected_calls'):
        time.sleep(0.01)
    server.config_set('min-replicas-to-write', 0)

lawn('LAWN.PUSH', 'mails', 'ana', 'after all', 'DELAY', 0)
server.config_set('min-replicas-to-write', 1)
threading.Thread(target=fix).start()
print(next(events('mails'))['payload'])
"""


def users(one):
    """Creates the users of the page, each logged in."""
    block = block_with(OPERATIONS, 'redis', 'ACL SETUSER')
    logged = {}
    for line in block.lines:
        if line.startswith('> ACL SETUSER'):
            command = line[2:].split()
            ok(one.call(*command, '+echo'))  # which our client sends
            for secret in [word[1:] for word in command if word[0] == '>']:
                client_ = one.client(3)
                ok(client_.call('AUTH', command[2], secret))
                logged[command[2]] = client_
    assert list(logged) == [row[0] for row in user_rows()], list(logged)
    return logged


def user_rows():
    part = OPERATIONS.read_text().split('| user | what for |\n|---|---|\n')[1]
    return [[cell.strip() for cell in line.strip('|').split('|')]
            for line in part.split('\n\n')[0].splitlines()]


def ok(reply):
    assert not isinstance(reply, resp.Error), reply
    return reply


def all_ok(user, *lines):
    return [ok(user.call(*line.split())) for line in lines][-1]


@case
def the_users_of_the_page_can_do_what_they_have_to():
    one = shared()
    who = users(one)
    all_ok(who['operator'],
           'LAWN.SINK timers:{0} STREAM due:{0} DEADLETTER dead:{0}',
           'LAWN.CONFIG timers:{1} SET tries 1', 'LAWN.PAUSE timers:{0}',
           'LAWN.RESUME timers:{0}', 'LAWN.SCAN timers:{0} 0')
    all_ok(who['reader'], 'XGROUP CREATE due:{0} g $ MKSTREAM')
    all_ok(who['producer'], 'LAWN.PARTITION 1 1',
           'LAWN.PUSH timers:{0} sunk p DELAY 0',
           'LAWN.PUSH timers:{1} dies p DELAY 0',
           'LAWN.MPUSH timers:{1} DELAY 90000 2 a p b p',
           'LAWN.TOUCH timers:{1} a DELAY 80000', 'LAWN.UPDATE timers:{1} a q',
           'LAWN.GET timers:{1} a META', 'LAWN.CANCEL timers:{1} a b',
           'WAIT 0 10')
    got = all_ok(who['reader'],
                 'XREADGROUP GROUP g me BLOCK 5000 STREAMS due:{0} >')
    entry = got[b'due:{0}'][0][0].decode()
    all_ok(who['reader'], 'XPENDING due:{0} g',
           'XAUTOCLAIM due:{0} g me 0 0-0', f'XACK due:{{0}} g {entry}',
           f'XDEL due:{{0}} {entry}')
    for word in ('MULTI', 'EXEC'):
        assert one.call('ACL', 'DRYRUN', 'reader', word) == resp.OK
    for again in ('LAWN.TOUCH timers:{1} dies DELAY 0', 'LAWN.LEN timers:{1}'):
        (id_, _, token, *_), = all_ok(who['consumer'],
                                      'LAWN.LEASE timers:{1} me BLOCK 5000')
        assert id_ == b'dies'
        all_ok(who['consumer'],
               f'LAWN.EXTEND timers:{{1}} dies {token} LEASE 60000',
               f'LAWN.NACK timers:{{1}} dies {token}')
        assert all_ok(who['operator'], 'LAWN.LEN timers:{1} DEAD') == 1
        all_ok(who['operator'], again)
    all_ok(who['operator'], 'LAWN.INFO timers:{1}', 'XPENDING due:{0} g',
           'LAWN.CANCEL timers:{1} dies', 'XRANGE dead:{0} - +')
    for name, secret in (('operator', 'secret4'), ('watcher', 'secret5')):
        shell(f'LAWN_PASSWORD={secret} lawn top --once '
              f'redis://{name}@127.0.0.1:{one.port}', one.port)


JOBS_OF_USERS = """
url=127.0.0.1:PORT
jobs="/usr/bin/python3 examples/module/jobs.py --key timers:{0} --url redis:/"
$jobs/operator:secret4@$url add --id bad --tries 1 charge ana much
$jobs/consumer:secret2@$url work ledger.db >log &
until $jobs/operator:secret4@$url dead | grep -q much; do sleep 0.05; done
kill $!
wait
$jobs/operator:secret4@$url dead --retry
redis-cli LAWN.LEN 'timers:{0}'
redis-cli XLEN 'timers:{0}:dead'
"""


@case
def the_job_queue_runs_under_the_users_of_the_page():
    one = shared()
    users(one)
    text = shell(JOBS_OF_USERS.replace('PORT', str(one.port)), one.port)
    assert text == 'bad\nbad 1 ["charge", "ana", "much"]\n1\n0\n', text


@case
def the_cluster_example_contains_the_code_of_the_page():
    example = (ROOT / 'examples/module/cluster.py').read_text()
    for words in ('def serve(', 'def push('):
        assert block_with(CLUSTER, 'python', words).text() in example, words


@case
def the_worker_of_the_manual_waits_for_a_server_that_refuses_to_write():
    block = block_with(MANUAL, 'python', 'def events(key)')
    end = next(i for i, line in enumerate(block.lines)
               if line.startswith("lawn('LAWN.PUSH'"))
    block.lines[end:] = REFUSED.splitlines()
    try_python(block, 'after all\n', shared().port)


@case
def the_loop_that_moves_a_sorted_set_ends_if_it_is_refused():
    one = shared()
    block = block_with(JOBS, 'sh', 'from_zset.lua').text()
    one.call('LAWN.CONFIG', 'timers', 'SET', 'maxlen', 1)
    loop = re.search(r'^until.*?^done\n', block, re.M | re.S)[0]
    one.call('ZADD', 'delayed', 1, 'a', 2, 'b')
    one.call('HSET', 'payloads', 'a', 'p', 'b', 'q')
    text = shell(loop + 'echo "moved $moved"', one.port)
    assert 'FULL' in text and 'moved 0' not in text, text


@case
def the_commands_of_the_readme_print_the_documented_output():
    part = re.search(r'^## In Redis and Valkey\n(.*?)^## ', README.read_text(),
                     re.M | re.S)[1]
    block, documented = re.search(r'\n\n((?:    [^\n]*\n)+)\n(.*?)\.\s', part,
                            re.S).groups()
    text = shell(block, shared().port)
    assert documented.startswith('prints'), documented
    assert text.split('\n')[:-1] == re.findall('`(.*?)`', documented), \
        (text, documented)


def rows(page, title):
    """Returns the rows of the tables of a chapter or of a section."""
    part = re.search(rf'^##+ {re.escape(title)}\n(.*?)(?=^##|\Z)',
                     page.read_text(), re.M | re.S)[1]
    return [[cell.strip() for cell in line.strip('|').split('|')]
            for line in part.splitlines() if line.startswith('| `')]


@case
def every_command_has_a_place_in_the_pages():
    names = {name.decode().upper() for name in shared().call(
        'COMMAND', 'LIST', 'FILTERBY', 'MODULE', 'lawn')}
    assert names
    text = MANUAL.read_text()
    documented = {name for line in re.findall(r'^### (LAWN.*)', text, re.M)
            for name in re.findall(r'LAWN\.\w+', line)}
    documented |= {re.search(r'REDE\.\w+', row[0])[0]
             for row in rows(REDE, 'Commands') if 'REDE.' in row[0]}
    assert documented == names, documented ^ names


def tokens(docs):
    """Returns all keywords of a command in the server's documentation."""
    if isinstance(docs, dict):
        return {value.decode() for name, value in docs.items()
                if name == b'token'}.union(*map(tokens, docs.values()))
    return set().union(*map(tokens, docs)) if isinstance(docs, list) else set()


@case
def the_words_of_each_command_are_those_of_the_server():
    text = MANUAL.read_text()
    one = shared().client(3)
    for command in set(re.findall(r'^    (LAWN\.\w+) ', text, re.M)):
        if command == 'LAWN.APPLY':
            continue
        known = tokens(one.call('COMMAND', 'DOCS', command))
        shown = ' '.join(re.findall(
            rf'^    {re.escape(command)} (.*(?:\n     .*)*)', text, re.M))
        missing = known - set(re.findall(r'[\w~]+', shown.upper()))
        more = set(re.findall(r'\b[A-Z]{2,}\b', shown)) - known
        assert not missing and not more, (command, missing, more)


@case
def the_settings_and_their_defaults_are_those_of_the_page():
    got = shared().client(3).call('CONFIG', 'GET', 'lawn.*')
    documented = {row[0].strip('`'): row[1].replace('1mb', str(1 << 20))
            for row in rows(MANUAL, 'Configuration')}
    assert documented == {name.decode(): value.decode()
                    for name, value in got.items()}, (documented, got)


@case
def the_settings_of_a_key_and_their_defaults_are_those_of_the_page():
    one = shared()
    one.call('LAWN.PUSH', 'key', 'id', 'payload', 'DELAY', '60000')
    got = one.client(3).call('LAWN.CONFIG', 'key', 'GET')
    documented = {row[0].strip('`'): row[1].strip('`')
            for row in rows(MANUAL, 'LAWN.CONFIG')}
    assert documented == {
        name.decode(): value.decode() if isinstance(value, bytes) else str(value)
        for name, value in got.items()}, (documented, got)


@case
def the_fields_of_info_are_those_of_the_page():
    got = set(shared().info('lawn'))
    documented = set()
    for row in rows(OPERATIONS, 'Watching it'):
        first = None
        for field in re.findall(r'`(\w+)`', row[0]):
            if field.startswith('_'):
                field = first[:first.rindex('_')] + field
            first = first or field
            documented.add(field)
    assert documented == got, documented ^ got


@case
def the_fields_of_lawn_info_are_those_of_the_page():
    one = shared()
    one.call('LAWN.PUSH', 'key', 'id', 'payload', 'DELAY', '60000')
    got = {name.decode() for name in one.client(3).call('LAWN.INFO', 'key')}
    documented = {field for row in rows(MANUAL, 'LAWN.INFO')
            for field in re.findall(r'`([\w-]+)`', row[0])}
    assert documented == got, documented ^ got


def largest_share(masters, partitions):
    """Returns the partitions of the busiest master relative to a fair share,
    with slots divided as redis-cli --cluster create does."""
    per = 16384 / masters
    ends = [round(per * (i + 1) - 1) for i in range(masters)]
    slots = [binascii.crc_hqx(b'%d' % i, 0) % 16384 for i in range(partitions)]
    owners = [bisect.bisect_left(ends, slot) for slot in slots]
    return max(map(owners.count, owners)) * masters / partitions


@case
def the_shares_of_masters_are_those_of_the_page():
    table = re.findall(r'^\| (\d+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$',
                       CLUSTER.read_text(), re.M)
    assert len(table) == 4, table
    for partitions, *shown in table:
        got = [f'{largest_share(masters, int(partitions)):.2f}'
               for masters in (3, 6, 12)]
        assert got == shown, (partitions, got)


def anchor(heading):
    """Returns the anchor that viewers create for a heading."""
    return re.sub(r'[^\w\- ]', '', heading.strip().lower()).replace(' ', '-')


@case
def every_link_of_the_pages_leads_somewhere():
    anchors = {}
    for page in (README, *ROOT.joinpath('docs').glob('*.md')):
        anchors[page] = {
            anchor(line.lstrip('#')) for line in page.read_text().splitlines()
            if line.startswith('#')}
    for page in (README, LIBRARY, *PAGES):
        links = re.findall(r'\]\(([^)]*)\)', page.read_text())
        assert links, page
        for target in links:
            if '://' in target:
                continue
            name, _, part = target.partition('#')
            path = (page.parent / name).resolve() if name else page
            assert path.exists(), f'{page.name}: {target}'
            assert not part or part in anchors[path], f'{page.name}: {target}'


@case
def the_readme_names_every_page_and_example_of_the_module():
    text = README.read_text()
    for page in PAGES:
        assert f'docs/{page.name}' in text, page
    named = MANUAL.read_text() + ''.join(
        page.read_text() for page in (JOBS, CLUSTER, OPERATIONS))
    for path in (ROOT / 'examples/module').iterdir():
        assert path.name in named, path


if __name__ == '__main__':
    server.main(__doc__)
