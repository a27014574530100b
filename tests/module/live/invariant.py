#!/usr/bin/env python3
"""invariant.py [--server redis|valkey] [PART OF A NAME] - a violated invariant
of the module stops the server like one of its own assertions, also in a release
build.
"""

import os
import pathlib
import re
import signal
import subprocess

import resp
from server import HERE, MODULE, PATIENCE, Server, case, equal, main

ROOT = HERE.parents[2]


def build(folder):
    """Builds the module that violates an invariant, without assertions."""
    library = folder / 'violates.so'
    subprocess.run([os.environ.get('CC', 'cc'), '-shared', '-fPIC', '-O2',
                    '-DNDEBUG', '-Imodule', 'tests/module/live/invariant.c',
                    'module/invariant.c', 'module/redismodule_api.c',
                    '-o', library], check=True, cwd=ROOT)
    return library


@case
def a_violated_invariant_is_logged_and_stops_the_server():
    server = Server()
    equal(server.call('MODULE', 'LOAD', str(build(server.folder))),
          resp.Simple(b'OK'))
    try:
        server.call('VIOLATE')
    except (OSError, resp.Closed):
        pass
    status = server.process.wait(PATIENCE)
    log = server.log()
    server.expect_crash = True
    server.end()
    # The server's crash handler ends it with the original signal.
    assert -status in (signal.SIGSEGV, signal.SIGABRT), status
    source = (HERE / 'invariant.c').read_text().splitlines()
    line = 1 + next(i for i, text in enumerate(source) if 'argc > 1' in text)
    wanted = (f'lawn: invariant violated at tests/module/live/invariant.c:{line} '
              'in violate(): an event is in two places: argc > 1; '
              'this is a bug in the module, please report it; '
              'the server is stopped to protect its data')
    assert wanted in log, log[-3000:]
    assert 'ASSERTION FAILED' in log, log[-3000:]
    assert f"tests/module/live/invariant.c:{line} 'argc > 1' is not true" in log
    assert 'it has one word' not in log


@case
def the_invariants_are_in_the_module_that_is_installed():
    found = 0
    data = pathlib.Path(MODULE).read_bytes()
    for path in sorted((ROOT / 'module').glob('*.c')):
        for use in re.findall(r'\bINVARIANT\(.*?\);', path.read_text(), re.S):
            texts = re.findall(r'"([^"]*)"', use)
            meaning = ''.join(texts).encode()
            assert meaning in data, (path.name, meaning)
            found += 1
    assert found >= 8, found


main(__doc__)
