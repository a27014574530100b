#!/usr/bin/env python3
"""pages.py COMMAND FOLDER... - extracts contents of the manual pages in man/, for
tests/api/manual to compare with the headers.

In the sources of the pages a comment before a literal display gives its kind:

    .\\" program NAME    a whole program; "with -lLIBRARY" may follow
    .\\" prints NAME     the output of that program
    .\\" part NAME       C up to .\\" end, in one or more displays; lines that
                        begin with .\\"+ are compiled with it and not shown;
                        if they define RUN, that must be true
    .\\" no C            none of these

and .\\" command before a .Dl marks a command that compiles the program before it.
A display without such a comment is an error, so that nothing is left unchecked.
"""

import os
import re
import subprocess
import sys

MARK = re.compile(r'\.\\" (program|prints|part|end|no C|command)'
                  r'(?: (\w+)(?: with (.*))?)?$')


def fail(message):
    print(message)
    fail.failed = True


fail.failed = False


def plain(line):
    """A line of a literal display as it is shown."""
    for code, char in ((r'\-', '-'), (r'\(aq', "'"), (r'\(ha', '^'),
                       (r'\(ti', '~'), (r'\(ga', '`'), (r'\&', ''),
                       (r'\e', '\\')):
        line = line.replace(code, char)
    return line


def words(line):
    """The arguments of a macro."""
    return [a or b for a, b in re.findall(r'"([^"]*)"|(\S+)', line)]


class Page:
    """A page: its sections, the functions it declares, its examples."""

    def __init__(self, path):
        self.path = path
        self.lines = open(path, encoding='utf-8').read().split('\n')
        self.section = int(path[-1])
        self.headers = []
        self.defines = []
        self.functions = []  # (name, declaration)
        self.programs = {}
        self.libraries = {}
        self.prints = {}
        self.parts = {}
        self.commands = []  # (program, command)
        self.flaws = []
        self.read_synopsis()
        self.read_displays()

    def part_of(self, title):
        """The lines of a section."""
        inside = False
        found = []
        for line in self.lines:
            if line.startswith('.Sh '):
                inside = line == '.Sh ' + title
            elif inside:
                found.append(line)
        return found

    def read_synopsis(self):
        result = name = None
        arguments = []
        for line in self.part_of('SYNOPSIS'):
            macro, *rest = words(line) or ['']
            if macro == '.In':
                self.headers.append(rest[0])
            elif macro == '.Fd' and not re.search(r'define \w+\(', line):
                self.defines.append(' '.join(rest))
            elif macro == '.Ft':
                result = ' '.join(rest)
            elif macro == '.Fn' and result:
                self.declare(result, rest[0], rest[1:])
            elif macro == '.Fo':
                name, arguments = rest[0], []
            elif macro == '.Fa' and name:
                arguments += rest
            elif macro == '.Fc':
                self.declare(result, name, arguments)
                name = None

    def declare(self, result, name, arguments):
        self.functions.append((name, '%s %s(%s);' % (
            result, name, ', '.join(arguments))))

    def read_displays(self):
        kind = name = display = None
        code = []
        for number, line in enumerate(self.lines, 1):
            where = '%s:%d' % (self.path, number)
            mark = MARK.match(line)
            if display is not None:
                if line == '.Ed':
                    self.keep(kind, name, display, where)
                    code += display
                    display = None
                    kind = kind if kind == 'part' else None
                else:
                    display.append(plain(line))
            elif line.startswith('.Bd -literal'):
                if kind is None:
                    self.flaws.append(
                        where + ': no comment gives the kind of this display')
                display = []
            elif mark and mark[1] == 'end':
                self.parts[name] = code
                kind = None
            elif mark and mark[1] == 'command':
                self.commands.append((name, words(self.lines[number])[1:]))
            elif mark:
                kind, name = mark[1], mark[2] or name
                self.libraries[name] = mark[3] or self.libraries.get(name, '')
                code = []
            elif line.startswith('.\\"+') and kind == 'part':
                code.append(line[5:])
        if kind is not None:
            self.flaws.append('%s: "%s %s" has no end' %
                              (self.path, kind, name))

    def keep(self, kind, name, display, where):
        if kind == 'program':
            self.programs[name] = display
        elif kind == 'prints':
            if name not in self.programs:
                self.flaws.append(where + ': there is no program ' + name)
            self.prints[name] = display

    def names_in(self, title):
        """The functions that a section names."""
        text = '\n'.join(self.part_of(title))
        return set(re.findall(r'\b(?:Fn|Fo) (\w+)', text))


def all_pages():
    return [Page('man/' + name) for name in sorted(os.listdir('man'))
            if re.search(r'\.[1-9]$', name)]


def public():
    """The public names of the map and the headers; some headers belong to separate
    libraries."""
    with open('src/lawn.map', encoding='utf-8') as lines:
        names = set(re.findall(r'^\s+(\w+);', lines.read(), re.M))
    for name in os.listdir('include'):
        if name.endswith('.h'):
            with open('include/' + name, encoding='utf-8') as lines:
                text = re.sub(r'/\*.*?\*/', '', lines.read(), flags=re.S)
            names |= set(re.findall(
                r'^(?!typedef|#|\s)[^;{}()]*?\b(lawn_\w+)\(', text, re.M))
    return sorted(names)


def is_type(declaration):
    return declaration.startswith('typedef ')


def check_entries():
    """Each public function is in the SYNOPSIS and the DESCRIPTION of exactly one
    page, and no page declares other functions. tools/manfunctions checks that the
    contract states what the function returns."""
    pages = [page for page in all_pages() if page.section == 3]
    known = public()
    for function in known:
        having = [page for page in pages
                  if function in (name for name, _ in page.functions)]
        if len(having) != 1:
            fail('%s is in the SYNOPSIS of %d pages, not of one' %
                 (function, len(having)))
        elif function not in having[0].names_in('DESCRIPTION'):
            fail('%s: %s() is missing in the DESCRIPTION' %
                 (having[0].path, function))
    for page in pages:
        for name, declaration in page.functions:
            if not is_type(declaration) and name not in known:
                fail('%s: %s() is not public' % (page.path, name))


def check_references():
    """Our pages and functions that other pages refer to exist."""
    pages = all_pages()
    there = {os.path.basename(page.path) for page in pages}
    there |= {name + '.3' for name in public()}
    for page in pages:
        for name, section in re.findall(r'^\.(?:It )?Xr (lawn\S*) (\d)',
                                        '\n'.join(page.lines), re.M):
            if name + '.' + section not in there:
                fail('%s: there is no %s(%s)' % (page.path, name, section))


def check_figures():
    """The costs in lawn(7) are those of docs/LIBRARY.md."""
    figure = r'\b\d+(?:,\d+)*\b'
    with open('docs/LIBRARY.md', encoding='utf-8') as lines:
        there = set(re.findall(figure, lines.read()))
    told = re.findall(figure, '\n'.join(Page('man/lawn.7').part_of('COST')))
    for number in told:
        if number not in there:
            fail('man/lawn.7: %s in COST is not in docs/LIBRARY.md' % number)
    if not told:
        fail('man/lawn.7: there are no figures in COST')


def tool_options():
    """Verb -> option -> its default according to the tool, or ''."""
    options = {}
    for command in (['build/lawn', 'completion', 'table'],
                    ['build/lawn-bench', '--completion', 'table']):
        told = subprocess.run(command, check=True, stdout=subprocess.PIPE,
                              text=True)
        for line in told.stdout.splitlines():
            verb, _, _, name, _, default, *_ = line.split('\t')
            options.setdefault(verb, {})[name] = default
    return options


def page_options(page):
    """Verb -> option -> its text in the page; '' if it belongs to no verb, or to a
    program without verbs."""
    told = {'': {}}
    verb = name = ''
    for line in page.lines:
        item = re.match(r'\.It Fl (?:\w .*Fl )?-([\w-]+)', line)
        if line.startswith(('.Ss ', '.Sh ')):
            verb = line[9:] if line.startswith('.Ss lawn ') else ''
            name = ''
        elif item:
            name = item[1]
            told.setdefault(verb, {})[name] = ''
        elif name:
            told[verb][name] += line + '\n'
    return told


def synopsis_options(page):
    """Verb -> the options that follow it in the SYNOPSIS; '' is none."""
    told = {}
    for usage in '\n'.join(page.part_of('SYNOPSIS')).split('.Nm\n'):
        verb = re.match(r'\.Cm ([a-z ]+)\n', usage)
        if 'Fl -' in usage:
            told.setdefault(verb[1] if verb else '', set()).update(
                re.findall(r'(?:Fl|\|) -([\w-]+)', usage))
    return told


def check_verb(page, verb, part, there):
    """The page, and its SYNOPSIS, have all options of the verb with their
    defaults; part is what the page calls the verb."""
    told = page_options(page).get(part, {})
    synopsis = synopsis_options(page).get(part, set())
    for place, names in (('its part', set(told)), ('the SYNOPSIS', synopsis)):
        for name in sorted(set(there) ^ (names - {'help'})):
            fail('--%s of lawn %s: there is %s, in %s' % (
                name, verb, 'nothing of it in ' + place if name in there
                else 'no such option, but ' + place + ' has it', page.path))
    for name, default in there.items():
        # The help prints 0 for "it depends".
        said = 'default' if default == '0' else 'default is ' + default
        if default and not re.search(re.escape(said) + r'\b',
                                     told.get(name, '')):
            fail('%s: --%s of lawn %s has the default %s' %
                 (page.path, name, verb, default))


def check_options():
    """lawn(1) and lawn-bench(1) have all options of each verb that they explain, with
    their defaults, and so does the SYNOPSIS; no page has other options."""
    there = tool_options()
    for verb in ('demo', 'trace stats', 'trace convert'):
        check_verb(Page('man/lawn.1'), verb, verb, there[verb])
    check_verb(Page('man/lawn-bench.1'), 'bench', '', there['bench'])
    known = {'help', 'version'}.union(*there.values())
    for page in all_pages():
        # Other programs have options, too: "--line-buffered of grep(1)".
        text = re.sub(r'^\.Fl -\S+\nof\n\.Xr (?!lawn)', '',
                      '\n'.join(page.lines), flags=re.M)
        for name in re.findall(r'\bFl -([\w-]+)', text):
            if page.section == 1 and name not in known:
                fail('%s: unknown option --%s' % (page.path, name))


def print_public():
    """The names of all public functions."""
    print('\n'.join(public()))


def write(folder, name, text):
    with open(os.path.join(folder, name), 'w', encoding='utf-8') as out:
        out.write(text)


def print_prototypes(folder):
    """The SYNOPSIS of each page, to be compiled after its headers."""
    for page in all_pages():
        if page.headers and page.functions:
            name = os.path.basename(page.path).replace('.', '_')
            write(folder, name + '.c', ''.join(
                '#include <%s>\n' % header for header in page.headers) +
                '\n'.join(page.defines) + '\n' +
                '\n'.join(declaration for _, declaration in page.functions) +
                '\n')


def print_examples(folder):
    """Programs, their output, parts of programs, and commands."""
    for page in all_pages():
        for flaw in page.flaws:
            fail(flaw)
        prefix = os.path.basename(page.path).replace('.', '_') + '_'
        for name, code in page.programs.items():
            write(folder, prefix + name + '.program.c', '\n'.join(code) + '\n')
            write(folder, prefix + name + '.libraries', page.libraries[name])
        for name, text in page.prints.items():
            write(folder, prefix + name + '.expected', '\n'.join(text) + '\n')
        for name, code in page.parts.items():
            write(folder, prefix + name + '.part.c', '\n'.join(code) + '\n')
        for number, (name, command) in enumerate(page.commands, 1):
            write(folder, '%s%s.%d.command' % (prefix, name, number),
                  plain(' '.join(command)) + '\n')


COMMANDS = {'entries': check_entries, 'references': check_references, 'figures': check_figures,
            'options': check_options, 'public': print_public,
            'prototypes': print_prototypes, 'examples': print_examples}

if __name__ == '__main__':
    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        sys.exit('usage: tests/manual/pages.py %s [FOLDER]' %
                 '|'.join(COMMANDS))
    COMMANDS[sys.argv[1]](*sys.argv[2:])
    sys.exit(fail.failed)
