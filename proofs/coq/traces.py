"""Random scripts for trace.c, and its output about them as terms for Trace.v."""

import random

WORD = 1 << 64
LAST = WORD - 2
TIMERS = 24


def home(hashed):
    return hashed >> 60


def colliding(many):
    """TTLs that share their two sets of blades, so that some find no blade."""
    found = {}
    ttl = 1
    while True:
        hashed = ttl * 0xBF58476D1CE4E5B9 % WORD
        key = frozenset((home(hashed) // 4, home((hashed << 20) % WORD) // 4))
        found.setdefault(key, []).append(ttl)
        if len(found[key]) == many:
            return found[key]
        ttl += 1


TTLS = colliding(11)


def ttl(rng, ttls):
    return rng.choice(ttls) if rng.random() < 0.95 else \
        rng.choice((0, 1, LAST, LAST - 1, WORD - 1, 1 << 63))


def deadline(rng, clock, ttls):
    """A deadline. Without ttls to choose from, one that several TTLs will share."""
    return clock + rng.choice(ttls) if ttls else \
        (clock // 8 + 2) * 8 + rng.randrange(2)


def simple(rng, clock, ttls):
    """A line that may also occur in a callback."""
    timer = rng.randrange(TIMERS)
    what = rng.random()
    if what < 0.55 and ttls:
        return f"s {timer} {ttl(rng, ttls)}"
    if what < 0.65:
        return f"a {timer} {max(0, min(WORD - 1, deadline(rng, clock, ttls)))}"
    if what < 0.85:
        return f"x {timer}"
    if what < 0.92:
        return f"n {max(0, min(WORD - 1, clock + rng.randrange(-3, 12)))}"
    return "e"


def script(rng, long):
    """The lines of a script, and its first time. A long script has few TTLs for a
    while, so that a lawn of many timers gets stripes; or deadlines that are due at
    the same tick, so that blades are drained in turn."""
    begin = rng.choice((0, 1, 1000, LAST - 60, rng.randrange(WORD - 1)))
    begin = min(begin, LAST)
    clock = begin
    lines = [f"o {begin}"]
    ttls = TTLS
    for number in range(rng.randrange(20, 90) if not long else 400):
        if long and number % 80 == 0:
            ttls = rng.choice((TTLS, TTLS, TTLS[:1], []))
        if rng.random() < 0.75:
            lines.append(simple(rng, clock, ttls))
            continue
        jump = rng.choice((1, 2, 5, 20, 100, 1 << 20)) \
            if rng.random() < (0.999 if long else 0.97) else WORD
        at = min(WORD - 1, max(0, clock + rng.randrange(-2, jump)))
        clock = max(clock, at)
        budget = rng.choice((0, 1, 2, 3, 1000, 1000, 1000))
        callbacks = [simple(rng, clock, ttls) if rng.random() < 0.7 else "-"
                     for _ in range(rng.randrange(12))]
        lines.append(f"m {at} {budget} {len(callbacks)}")
        lines += callbacks
    return lines


def terms(lines, printed):
    """A script and the output of trace.c about it, as a term; the number of
    operations, of fires and of reserved blades; and the tunings of the lawn."""
    printed = iter(printed)
    acts = []
    reserves = []
    tunings = set()

    def place():
        """The place of a timer, and the blade that its start reserved, with its TTL."""
        word, *values = next(printed).split()
        if word == "w":
            blade, = values
            return f"(On {blade}%nat)", []
        return {"l": "Unqueued", "t": "Last"}[word], values

    def kept(values):
        tunings.add(tuple(map(int, values)))
        return " ".join(values)

    def act(line):
        word, *values = line.split()
        if word == "e":
            acts.append(f"E_ {next(printed).split()[1]}")
        elif word != "-":
            acts.append(f"{word.upper()}_ " + " ".join(
                f"{value}%nat" if i == 0 and word in "sax" else value
                for i, value in enumerate(values)))
            if word in "sa":
                where, reserved = place()
                acts[-1] += f" {where}"
                if reserved:
                    blade, of_ttl = reserved
                    acts.append(f"G_ {blade}%nat {of_ttl}")
                    reserves.append(blade)
            elif word == "n":
                acts[-1] += " " + kept(next(printed).split()[1:])

    fires = 0
    at = 1
    while at < len(lines):
        line = lines[at]
        at += 1
        if not line.startswith("m"):
            act(line)
            continue
        _, time, budget, many = line.split()
        callbacks = lines[at:at + int(many)]
        at += int(many)
        begin = len(acts)
        for answer in printed:
            word, *values = answer.split()
            if len(acts) == begin:
                acts.append(f"B_ {time} {budget} {kept(values[-2:])}")
            if word == "r":
                acts.append(f"R_ {values[0]}")
                break
            fires += 1
            acts.append(f"F_ {values[0]}%nat {values[1]}")
            if callbacks:
                act(callbacks.pop(0))
    rest = [answer.split() for answer in printed]
    running = "; ".join(f"({x}%nat, {due})" for _, x, due in rest)
    term = f"agrees {lines[0].split()[1]} [{'; '.join(acts)}] [{running}]"
    operations = len(acts) - fires - len(reserves)
    return term, operations, fires, len(reserves), tunings


def scripts(seed, many, long):
    rng = random.Random(seed)
    return [script(rng, long) for _ in range(many)]
