#!/usr/bin/env python3
"""json_against_python.py PROGRAM [SEED [SECONDS]] - compares the JSON parser of the
filters with Python's: both must accept or reject the same random texts, valid and damaged,
and paths must lead to the same values.
"""

import json
import random
import re
import subprocess
import sys
import time

BATCH = 2000
NAMES = ["a", "b", "user", "id", "odd name", "", "ä", "\U0001f600", 'q"uote', "x.y", "n\n"]
# Pieces for damaged texts: all JSON syntax, and similar text.
PIECES = ["{", "}", "[", "]", ",", ":", '"', "\\", "\\u", "\\ud83d", "\\ude00", "\\u00e4", "\\n", "0", "-",
          "1", "9", ".", "e", "E", "+", "true", "false", "null", "NaN", "Infinity", "-Infinity", " ", "\t",
          "\n", "\r", "\f", "\v", "\0", "\x1f", "\x7f", "\xa0", "\ufeff", "/", "'", "a", "x" * 16, '""', "{}",
          "[]", '"a":1', ",,", "1e5", "-0", "01", "u", "\u2028"]


class Number(str):
    """A number as written."""


def refuse(name):
    raise ValueError(name)


def parse(text):
    return json.loads(text, parse_int=Number, parse_float=Number, parse_constant=refuse)


def make_string(rng, content):
    """Returns a string with this content, some characters escaped in some way."""
    out = ['"']
    for c in content:
        code = ord(c)
        short = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\b": "\\b", "\r": "\\r", "\f": "\\f"}
        if c in short and rng.random() < 0.7:
            out.append(short[c])
        elif code < 0x20 or c in '"\\' or 0xD800 <= code < 0xE000 or rng.random() < 0.1:
            units = c.encode("utf-16-be", "surrogatepass")
            for i in range(0, len(units), 2):
                digits = units[i:i + 2].hex()
                out.append("\\u" + (digits.upper() if rng.random() < 0.5 else digits))
        elif c == "/" and rng.random() < 0.5:
            out.append("\\/")
        else:
            out.append(c)
    out.append('"')
    return "".join(out)


def make_content(rng):
    alphabet = rng.choice(["abc", "ab\"\\/\n\t\b\r\f\0", "aäß\u20ac\U0001f600", "a\ud83d\ude00\udfff",
                           "{}[]:, \x7f", "0123456789"])
    return "".join(rng.choice(alphabet) for _ in range(rng.choice([0, 1, 2, 5, 15, 16, 17, 40])))


def make_number(rng):
    text = rng.choice(["", "-"]) + rng.choice(["0", "7", "10", "1700000000", "9" * 25])
    if rng.random() < 0.3:
        text += "." + rng.choice(["0", "5", "125", "0" * 20])
    if rng.random() < 0.2:
        text += rng.choice("eE") + rng.choice(["", "+", "-"]) + rng.choice(["0", "5", "007", "99"])
    return text


def make_blanks(rng):
    return "".join(rng.choice(" \t\r\n") for _ in range(rng.choice([0, 0, 0, 0, 1, 2])))


def make_value(rng, depth):
    kind = rng.random()
    if depth > 0 and kind < 0.3:
        members = [make_blanks(rng) + make_string(rng, rng.choice(NAMES)) + make_blanks(rng) + ":" +
                   make_value(rng, depth - 1) for _ in range(rng.choice([0, 1, 2, 3, 6]))]
        text = "{" + ",".join(members or [make_blanks(rng)]) + "}"
    elif depth > 0 and kind < 0.5:
        text = "[" + ",".join([make_value(rng, depth - 1) for _ in range(rng.choice([0, 1, 2, 5]))] or
                              [make_blanks(rng)]) + "]"
    elif kind < 0.7:
        text = make_string(rng, make_content(rng))
    elif kind < 0.85:
        text = make_number(rng)
    else:
        text = rng.choice(["true", "false", "null"])
    return make_blanks(rng) + text + make_blanks(rng)


def damage(rng, text):
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        at = rng.randrange(len(text) + 1)
        size = rng.choice([0, 1, 1, 2, 5])
        way = rng.random()
        if way < 0.5:
            text = text[:at] + rng.choice(PIECES) + text[at + size:]
        elif way < 0.7:
            text = text[:at] + text[at + size:]
        elif way < 0.85:
            text = text[:at] + text[at:at + size] + text[at:]
        else:
            text = text[:at]
    return text or " "


def make_path(rng):
    """Returns steps, and a text for them."""
    steps = [rng.choice(NAMES) if rng.random() < 0.75 else rng.randrange(4) for _ in range(rng.choice([0, 1, 1, 2, 3]))]
    text = ""
    for step in steps:
        point = "." if text == "" or rng.random() < 0.3 else ""
        if isinstance(step, int):
            text += f"{point}[{step}]"
        elif re.fullmatch(r'[^]["\s.]+', step) and rng.random() < 0.7:
            text += "." + step
        elif rng.random() < 0.5:
            text += "." + make_string(rng, step)
        else:
            text += point + "[" + make_string(rng, step) + "]"
    return steps, text or "."


def follow(value, steps):
    """Returns the expected result of the filters, except the text of arrays and objects."""
    for step in steps:
        if isinstance(step, int):
            if not isinstance(value, list) or step >= len(value):
                return "-"
        elif not isinstance(value, dict) or step not in value:
            return "-"
        value = value[step]
    if value is None:
        return "null"
    if value is True or value is False:
        return "o" + str(value).lower().encode().hex()
    if isinstance(value, Number):
        return "n" + value.encode().hex()
    if isinstance(value, str):
        return "s" + value.encode(errors="surrogatepass").hex()
    return value


def wrong_with(answer, text, paths):
    """Returns the fault of an answer, or None."""
    try:
        value = parse(text)
    except ValueError:
        return None if answer == ["no"] else "accepted"
    if answer[0] != "yes":
        return "rejected"
    for (steps, _), found in zip(paths, answer[1:]):
        expected = follow(value, steps)
        if not isinstance(expected, str):
            if found[0] == "o" and parse(bytes.fromhex(found[1:]).decode()) == expected:
                continue
        elif found == expected:
            continue
        return f"{steps} is {found}, not {expected}"
    return None


def main():
    program = sys.argv[1]
    rng = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    end = time.monotonic() + (float(sys.argv[3]) if len(sys.argv) > 3 else 5)
    passed = failed = taken = 0
    while passed + failed == 0 or time.monotonic() < end:
        cases = []
        for _ in range(BATCH):
            text = make_value(rng, rng.choice([0, 1, 2, 4, 8]))
            if rng.random() < 0.5:
                text = damage(rng, text)
            cases.append((text, [make_path(rng) for _ in range(rng.randrange(5))]))
        lines = "".join(" ".join([text.encode("utf-8").hex()] + [path.encode().hex() for _, path in paths]) + "\n"
                        for text, paths in cases)
        run = subprocess.run([program], input=lines, capture_output=True, text=True, timeout=300, check=False)
        answers = run.stdout.splitlines()
        if run.returncode != 0 or len(answers) != BATCH:
            print(run.stderr, end="")
            print(f"{program} failed at {cases[len(answers):len(answers) + 1]}")
            failed += 1
            break
        for (text, paths), answer in zip(cases, answers):
            taken += answer != "no"
            wrong = wrong_with(answer.split(), text, paths)
            passed += wrong is None
            failed += wrong is not None
            if wrong is not None and failed < 10:
                print(f"{text!r} with {paths}: {wrong}")
    if failed == 0 and not passed // 2 < taken < passed * 9 // 10:
        print(f"{taken} of {passed} texts are accepted: too few or too many for a fair test")
        failed += 1
    print(f"{passed} texts agree, {failed} do not")
    return failed != 0


sys.exit(main())
