#!/usr/bin/env python3
"""page.py CHECK - checks that everything that docs/PAPER.md names exists.

    names     the words in `...`: files, folders, functions, tests, theorems
    commands  the verbs and options of lawn and the targets of make
    links     files and headings
    verdicts  each cell of a column "verdict" is confirmed, fixed here or refuted
    cases     all counterexamples of algorithm.py, and the headings of the tables
              that tools/curves prints; their figures are not compared, `tools/curves
              check` checks how they grow
"""

import glob
import os
import re
import subprocess
import sys

PAGE = 'docs/PAPER.md'
FOLDERS = ('include', 'src', 'bench', 'tests', 'proofs', 'examples', 'cli',
           'module', 'tools')
OWN = ('tests/paper/page.py',)


def flaws(found):
    for flaw in found:
        print('%s: %s' % (PAGE, flaw))
    sys.exit(len(found) > 0)


def read(path):
    with open(path, encoding='utf-8', errors='replace') as lines:
        return lines.read()


def quoted():
    """All words in backquotes, except whole blocks."""
    text = re.sub(r'^```.*?^```', '', read(PAGE), flags=re.M | re.S)
    found = re.findall(r'`([^`]+)`', text)
    assert len(found) > 100, 'the page has hardly any names'
    return sorted({re.sub(r'\s+', ' ', each) for each in found})


def sources():
    words = set()
    for folder in FOLDERS:
        for path, _, files in os.walk(folder):
            for name in files:
                where = path + '/' + name
                words.add(name)
                words.add(name.rsplit('.', 1)[0])
                if where not in OWN and os.path.getsize(where) < 1 << 20:
                    words |= set(re.findall(r'\w[\w-]*', read(where)))
    return words


def is_command(name):
    return re.match(r'(build/)?(lawn|make|tools/\S+|tests/\S+|proofs/\S+) ', name)


def check_names():
    words = sources()
    wrong = []
    for name in quoted():
        bare = name[:-2] if name.endswith('()') else name
        if is_command(name):
            continue
        if '/' in name or re.search(r'\.(c|h|md|py|json|v|pml)$', name):
            if not any(glob.glob(place + bare) for place in
                       ('', 'docs/', 'tests/', 'tests/unit/', 'examples/',
                        'src/core/', 'bench/contenders/')):
                wrong.append('there is no %s' % name)
        elif re.fullmatch(r'\w[\w-]*', bare) and bare not in words:
            wrong.append('nothing is called %s' % name)
    flaws(wrong)


def check_commands():
    table = ''.join(
        subprocess.run(command, check=True, stdout=subprocess.PIPE,
                       text=True).stdout
        for command in (['build/lawn', 'completion', 'table'],
                        ['build/lawn-bench', '--completion', 'table']))
    options = {}
    for line in table.splitlines():
        verb, _, _, name, *_ = line.split('\t')
        options.setdefault(verb, set()).add(name)
    make = '\n'.join(map(read, ['Makefile', *glob.glob('mk/*.mk')]))
    wrong = []
    for name in filter(is_command, quoted()):
        program, verb, *rest = name.split()
        if program in ('lawn', 'build/lawn'):
            verb = verb if verb in options else verb + ' ' + rest[0]
            wrong += ['%s: there is no %s' % (name, option)
                      for option in re.findall(r' --([\w-]+)', name)
                      if option not in options.get(verb, ())]
            if verb not in options:
                wrong.append('%s: lawn has no such verb' % name)
        elif program == 'make':
            if not re.search(r'^[^\t#]*\b%s\b[^=]*:' % re.escape(verb), make,
                             re.M):
                wrong.append('%s: there is no such target' % name)
        elif not os.access(program, os.X_OK):
            wrong.append('%s cannot be run' % program)
    flaws(wrong)


def anchors(path):
    """Anchors as viewers derive them from headings."""
    return {re.sub(r'[^\w\- ]', '', line.lstrip('#').strip().lower())
            .replace(' ', '-')
            for line in read(path).splitlines() if line.startswith('#')}


def check_links():
    wrong = []
    links = re.findall(r'\]\(([^)]*)\)', read(PAGE))
    assert links, 'the page has no links'
    for target in links:
        name, _, part = target.partition('#')
        path = os.path.normpath('docs/' + name) if name else PAGE
        if '://' not in target and (not os.path.exists(path) or part and
                                    part not in anchors(path)):
            wrong.append('%s leads nowhere' % target)
    flaws(wrong)


def check_verdicts():
    wrong = []
    column = None
    count = 0
    for line in read(PAGE).splitlines():
        cells = [cell.strip() for cell in line.split('|')[1:-1]]
        if not cells:
            column = None
        elif column is None:
            column = cells.index('verdict') if 'verdict' in cells else -1
        elif column >= 0 and not set(line) <= set('|-'):
            count += 1
            if cells[column] not in ('confirmed', 'fixed here', 'refuted'):
                wrong.append('%s: not a verdict: %s' % (cells[0], cells[column]))
    assert count > 50, 'the page has hardly any verdicts'
    flaws(wrong)


def check_cases():
    page = read(PAGE)
    cases = re.findall(r'^def (\w+)\(\):$', read('tests/paper/algorithm.py'),
                       re.M)
    wrong = ['nothing of %s' % case for case in cases
             if case != 'main' and '`%s`' % case not in page]
    for operation in ('start', 'stop', 'tick'):
        for title in ('20 TTLs', '10,000 timers'):
            heading = '**%s**, mean / worst, %s' % (operation, title)
            if heading not in page:
                wrong.append('no table "%s" of tools/curves' % heading)
    flaws(wrong)


CHECKS = {'names': check_names, 'commands': check_commands,
          'links': check_links, 'verdicts': check_verdicts,
          'cases': check_cases}

if __name__ == '__main__':
    if len(sys.argv) != 2 or sys.argv[1] not in CHECKS:
        sys.exit('usage: tests/paper/page.py ' + '|'.join(CHECKS))
    CHECKS[sys.argv[1]]()
