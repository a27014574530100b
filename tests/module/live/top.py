#!/usr/bin/env python3
"""top.py [--server redis|valkey] [PART OF A NAME] - lawn top prints the data
that servers report. LAWN names the tool, by default build/lawn.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile

import server
from resp import OK
from server import FAR, HERE, PATIENCE, Server, case, equal, main, wait_until
from server import free_port, shared

LAWN = os.path.abspath(os.environ.get('LAWN', HERE / '../../../build/lawn'))


def url(of, user='', more=''):
    return f'redis://{user}127.0.0.1:{of.port}{more}'


def run(*args, status=0, **environment):
    """Returns its output and its error messages."""
    done = subprocess.run(
        [LAWN, 'top', *map(str, args)], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, timeout=PATIENCE, check=False,
        env={**os.environ, **environment})
    equal(done.returncode, status, done.stderr.decode())
    return done.stdout.decode(), done.stderr.decode()


def once_json(*args, **more):
    return json.loads(run('--once', '--json', *args, **more)[0])


def queues(*args, **more):
    """Returns key -> queue; a key that is printed twice is an error."""
    found = once_json(*args, **more)['queues']
    names = [queue['key'] for queue in found]
    equal(sorted(set(names)), sorted(names))
    return dict(zip(names, found))


class Watch:
    """A running one, and its output."""

    def __init__(self, *args):
        self.out = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [LAWN, 'top', '--json', '--every', '0.05', *map(str, args)],
            stdout=self.out, stderr=subprocess.STDOUT,
            preexec_fn=server._die_with_parent)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        status = self.process.wait(PATIENCE)
        self.out.close()
        equal(status, 0)

    def last(self):
        """Returns the last complete object."""
        # Not with seek(): the process shares the file position.
        number = self.out.fileno()
        data = os.pread(number, os.fstat(number).st_size, 0)
        lines = data.split(b'\n')[:-1]
        return json.loads(lines[-1]) if lines else None

    def until(self, condition, what):
        wait_until(lambda: (last := self.last()) and condition(last), what)


@case
def figures_are_those_of_the_server():
    one = shared()
    for i in range(30):
        one.call('LAWN.PUSH', 'jobs', i, 'x' * i, 'DELAY', 0 if i < 9 else FAR)
    one.call('LAWN.POLL', 'jobs', 'COUNT', 4)
    one.call('SET', 'other', 'x')
    found = queues(url(one))
    equal(list(found), ['jobs'])
    queue = found['jobs']
    reply = one.call('LAWN.INFO', 'jobs')
    info = {name.decode(): value
            for name, value in zip(reply[::2], reply[1::2])}
    for name, value in info.items():
        if name in queue and name != 'oldest-due':
            equal(queue[name], value.decode() if isinstance(value, bytes)
                  else value, name)
    equal([queue[name] for name in ('len', 'waiting', 'due', 'pushed',
                                    'fired')], [26, 21, 5, 30, 4])
    assert 0 <= queue['oldest-due'] <= info['oldest-due']
    table = run('--once', url(one))[0].splitlines()
    titles, row = table[-2].split(), table[-1].split()
    equal(titles[:3] + titles[-1:], ['LEN', 'WAITING', 'DUE', 'KEY'])
    equal(row[:3] + row[-1:], ['26', '21', '5', 'jobs'])
    lines = run('--prometheus', url(one))[0].splitlines()
    assert 'lawn_queue_due{key="jobs"} 5' in lines
    assert f'lawn_timers {one.lawn()["timers"]}' in lines


@case
def leases_dead_events_and_sinks_are_reported():
    one = shared()
    for i in range(6):
        equal(one.call('LAWN.PUSH', 'jobs', i, 'x', 'DELAY', 0, 'TRIES', 1),
              str(i))
    leased = one.call('LAWN.LEASE', 'jobs', 'me', 'LEASE', FAR, 'COUNT', 4)
    equal(one.call('LAWN.ACK', 'jobs', leased[0][0], leased[0][2]), [1])
    equal(one.call('LAWN.NACK', 'jobs', leased[1][0], leased[1][2]), 1)
    one.call('SET', 'wrong', 'no stream')
    equal(one.call('LAWN.SINK', 'out', 'STREAM', 'wrong'), OK)
    one.call('LAWN.PUSH', 'out', 'a', 'x', 'DELAY', 0)
    wait_until(lambda: queues(url(one))['out']['sink-errors'] > 0,
               'the sink is in trouble')
    found = queues(url(one))
    equal([found['jobs'][name] for name in ('len', 'waiting', 'due', 'leased',
                                            'dead', 'acked')],
          [5, 0, 2, 2, 1, 1])
    equal([found['out'][name] for name in ('sink', 'sink-to')],
          ['stream', 'wrong'])
    assert 'WRONGTYPE' in found['out']['sink-error']
    text = run('--once', url(one))[0]
    assert 'out: sink error: ' in text, text
    equal(one.call('LAWN.SINK', 'out', 'STREAM', 'right'), OK)
    wait_until(lambda: queues(url(one))['out']['handed'] == 1, 'it is handed')
    lines = run('--prometheus', url(one))[0].splitlines()
    for line in ('lawn_queue_leased{key="jobs"} 2',
                 'lawn_queue_dead{key="jobs"} 1',
                 'lawn_queue_acked_total{key="jobs"} 1',
                 'lawn_queue_handed_total{key="out"} 1',
                 'lawn_acked_total ' + one.lawn()['acked_total']):
        assert line in lines, line


@case
def rates_are_those_of_the_last_refresh():
    one = shared()
    with Watch(url(one)) as watch:
        for count in range(3):
            for _ in range(50):
                one.call('LAWN.PUSH', 'jobs', '*', 'x', 'DELAY', FAR)
            watch.until(lambda last: any(
                queue['per_second'].get('pushed', 0) > 0
                for queue in last['queues']) or count == 0, 'there is a rate')
            watch.until(lambda last: last['queues'] and
                        last['queues'][0]['per_second'].get('pushed') == 0
                        and last['servers'][0]['per_second']['pushed'] == 0,
                        'it ends')


@case
def queues_are_found_among_many_keys():
    one = shared()
    one.call('DEBUG', 'POPULATE', 30000)
    for i in range(300):
        one.call('LAWN.PUSH', f'q{i}', 1, 'x', 'DELAY', FAR)
    equal(len(queues('--keys', 1000, url(one))), 300)
    with Watch('--keys', 1000, url(one)) as watch:
        watch.until(lambda last: len(last['queues']) == 300, 'all are found')
        one.call('DEL', 'q7')
        one.call('LAWN.PUSH', 'new', 1, 'x', 'DELAY', FAR)
        watch.until(lambda last: {'q7', 'new'} & {
            queue['key'] for queue in last['queues']} == {'new'},
            'one is added and one is removed')


@case
def another_database_is_looked_into():
    one = shared()
    one.call('LAWN.PUSH', 'zero', 1, 'x', 'DELAY', FAR)
    client = one.client()
    client.call('SELECT', 3)
    client.call('LAWN.PUSH', 'three', 1, 'x', 'DELAY', FAR)
    equal(list(queues(url(one))), ['zero'])
    equal(list(queues(url(one, more='/3'))), ['three'])
    equal(run('--once', url(one, more='/999'), status=3)[1].count('index'), 1)


@case
def passwords_and_permissions_are_as_documented():
    with Server() as one:
        client = one.client()
        equal(client.call('CONFIG', 'SET', 'requirepass', 'secret'), OK)
        client.call('LAWN.PUSH', 'jobs', 1, 'x', 'DELAY', FAR)
        client.call('LAWN.PUSH', 'hidden', 1, 'x', 'DELAY', FAR)
        assert 'LAWN_PASSWORD' in run('--once', url(one), status=3)[1]
        bad = run('--once', url(one, 'default:wrong@'), status=3)[1]
        assert 'WRONGPASS' in bad and 'wrong@' not in bad, bad
        equal(len(queues(url(one), LAWN_PASSWORD='secret')), 2)
        equal(len(queues(url(one, ':secret@'))), 2)
        equal(client.call(
            'ACL', 'SETUSER', 'eye', 'on', '>see', '~*', '+info', '+time',
            '+scan', '+cluster|nodes', '+lawn.info', '+lawn.len'), OK)
        equal(len(queues(url(one, 'eye:see@'))), 2)
        equal(client.call('ACL', 'SETUSER', 'eye', 'resetkeys', '~jobs'), OK)
        out, bad = run('--once', '--json', url(one, 'eye@'),
                       LAWN_PASSWORD='see')
        equal([queue['key'] for queue in json.loads(out)['queues']], ['jobs'])
        assert '1 queues are not shown: NOPERM' in bad, bad
        equal(client.call('ACL', 'SETUSER', 'eye', '-lawn.info'), OK)
        equal(client.call('ACL', 'SETUSER', 'eye', '-scan'), OK)
        bad = run('--once', url(one, 'eye:see@'), status=3)[1]
        assert 'NOPERM' in bad and '+scan' in bad, bad


@case
def a_server_without_the_module_is_reported():
    with Server(module=False) as one:
        assert 'module lawn is not loaded' in run('--once', url(one),
                                                  status=3)[1]


@case
def a_server_that_was_killed_is_reported_and_seen_when_it_is_back():
    with Server('appendonly', 'yes') as one:
        one.call('LAWN.PUSH', 'jobs', 1, 'x', 'DELAY', FAR)
        with Watch(url(one)) as watch:
            watch.until(lambda last: last['queues'], 'it is seen')
            one.kill()
            watch.until(lambda last: not last['servers'][0]['up']
                        and 'refused' in last['servers'][0]['error']
                        and not last['queues'], 'it is away')
            one.start()
            watch.until(lambda last: last['queues'], 'it is back')


@case
def a_replica_is_reported_as_one():
    with Server() as master, Server() as replica:
        master.call('LAWN.PUSH', 'jobs', 1, 'x', 'DELAY', FAR)
        equal(replica.call('REPLICAOF', '127.0.0.1', master.port), OK)
        wait_until(lambda: replica.call('DBSIZE') == 1, 'it has the key')
        found = once_json(url(master), url(replica))
        equal([one['role'] for one in found['servers']],
              ['master', 'replica'])
        equal([queue['key'] for queue in found['queues']], ['jobs', 'jobs'])


def cluster_node():
    return Server('cluster-enabled', 'yes', 'cluster-config-file', 'nodes',
                  'cluster-port', free_port(), 'cluster-node-timeout', 30000,
                  'cluster-require-full-coverage', 'no')


def cluster(count):
    """Masters that share the slots."""
    nodes = [cluster_node() for _ in range(count)]
    ports = {}
    for i, node in enumerate(nodes):
        last = 16384 * (i + 1) // count - 1
        equal(node.call('CLUSTER', 'ADDSLOTSRANGE', 16384 * i // count, last),
              OK)
        equal(node.call('CLUSTER', 'SET-CONFIG-EPOCH', i + 1), OK)
        ports[node] = node.options[node.options.index('cluster-port') + 1]
    for node in nodes[1:]:
        equal(nodes[0].call('CLUSTER', 'MEET', '127.0.0.1', node.port,
                            ports[node]), OK)
    return nodes


def settled(nodes, count):
    """Waits until all know this number of nodes, and all slots are served."""
    for node in nodes:
        wait_until(lambda node=node: all(
            text in node.call('CLUSTER', 'INFO').decode() for text in
            ('cluster_state:ok', 'cluster_slots_ok:16384',
             f'cluster_known_nodes:{count}')), 'the cluster is well')


@case
def one_url_shows_all_masters_of_a_cluster():
    nodes = cluster(3)
    settled(nodes, 3)
    keys = {}
    for i in range(60):
        key = f'q{i}'
        slot = nodes[0].call('CLUSTER', 'KEYSLOT', key)
        node = nodes[[16384 * (j + 1) // 3 > slot
                      for j in range(3)].index(True)]
        node.call('LAWN.PUSH', key, 1, 'x', 'DELAY', FAR)
        keys[key] = f'127.0.0.1:{node.port}'
    for urls in ([url(nodes[0])], [url(nodes[2])],
                 [f'redis://localhost:{nodes[1].port}', url(nodes[0])]):
        found = queues(*urls)
        equal({key: queue['server'].replace('localhost', '127.0.0.1')
               for key, queue in found.items()}, dict(sorted(
                   keys.items(), key=lambda item: list(found).index(item[0]))))
        equal(len(once_json(*urls)['servers']), 3)
    text = run('--once', url(nodes[0]))[0]
    assert 'all  60 queues, 60 events' in text, text
    with Watch(url(nodes[0])) as watch:
        watch.until(lambda last: len(last['queues']) == 60, 'all are seen')
        nodes[0].kill()
        left = sum(name != f'127.0.0.1:{nodes[0].port}'
                   for name in keys.values())
        watch.until(lambda last: len(last['queues']) == left
                    and [one['up'] for one in last['servers']] ==
                    [False, True, True], 'the others are still seen')
        nodes[0].start()


@case
def a_replica_of_a_cluster_leads_to_its_master():
    nodes = cluster(1)
    settled(nodes, 1)
    replica = cluster_node()
    equal(replica.call('CLUSTER', 'MEET', '127.0.0.1', nodes[0].port,
                       nodes[0].options[5]), OK)
    settled(nodes, 2)
    wait_until(lambda: replica.call(
        'CLUSTER', 'REPLICATE', nodes[0].call('CLUSTER', 'MYID')) == OK,
        'it follows')
    nodes[0].call('LAWN.PUSH', 'jobs', 1, 'x', 'DELAY', FAR)
    wait_until(lambda: replica.call('DBSIZE') == 1, 'it has the key')
    found = once_json(url(replica))
    equal([queue['server'] for queue in found['queues']],
          [f'127.0.0.1:{nodes[0].port}'])
    equal([one['role'] for one in found['servers']], ['replica', 'master'])


if __name__ == '__main__':
    if not os.path.exists(LAWN):
        sys.exit(f'no {LAWN}; make makes one')
    main(__doc__)
