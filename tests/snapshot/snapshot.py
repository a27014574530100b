#!/usr/bin/env python3
"""Reads and writes snapshots as specified in docs/SNAPSHOT.md, without the C code.

    snapshot.py list FILE          prints the timers, one per line, sorted
    snapshot.py make FILE SEED     writes random timers, and prints them

A line: deadline, TTL, then the id and the payload in hexadecimal. The deadline of a
timer of a paused class is as of the time at which the snapshot was saved.
"""
import random
import struct
import sys

MASK = 2**64 - 1
NEVER = MASK
KEY = int.from_bytes(b"lawnsnap", "little")


def rotate(x, bits):
    return (x << bits | x >> (64 - bits)) & MASK


def siphash13(k0, k1, data):
    v0 = k0 ^ 0x736F6D6570736575
    v1 = k1 ^ 0x646F72616E646F6D
    v2 = k0 ^ 0x6C7967656E657261
    v3 = k1 ^ 0x7465646279746573

    def rounds(many):
        nonlocal v0, v1, v2, v3
        for _ in range(many):
            v0 = (v0 + v1) & MASK
            v1 = rotate(v1, 13) ^ v0
            v0 = rotate(v0, 32)
            v2 = (v2 + v3) & MASK
            v3 = rotate(v3, 16) ^ v2
            v0 = (v0 + v3) & MASK
            v3 = rotate(v3, 21) ^ v0
            v2 = (v2 + v1) & MASK
            v1 = rotate(v1, 17) ^ v2
            v2 = rotate(v2, 32)

    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) & 0xFF])
    for (word,) in struct.iter_unpack("<Q", padded):
        v3 ^= word
        rounds(1)
        v0 ^= word
    v2 ^= 0xFF
    rounds(3)
    return v0 ^ v1 ^ v2 ^ v3


class Chain:
    """Computes the checksums, one after the other."""

    def __init__(self):
        self.number = 0
        self.last = KEY

    def next(self, data):
        self.last = siphash13(self.number, self.last, data)
        self.number += 1
        return struct.pack("<Q", self.last)


def check(condition, what):
    if not condition:
        raise ValueError(what)


def read(data):
    """Returns the classes of a snapshot, (name, ttl, since, weight), and its records,
    (deadline, ttl, id, payload, flags)."""
    at = 0

    def take(size):
        nonlocal at
        check(at + size <= len(data), "truncated")
        at += size
        return data[at - size : at]

    chain = Chain()
    header = take(32)
    magic, version, number, count, first = struct.unpack("<8sIIQQ", header)
    check(magic == b"lawnsnap", "not a snapshot")
    check(take(8) == chain.next(header), "the header is damaged")
    check(version <= 2, "too new")
    check(version >= 1, "unknown version")
    check((number > 0) == (version == 2) and number <= 65535, "classes")

    stream = b""
    while True:
        word = take(4)
        (size,) = struct.unpack("<I", word)
        check(size <= 65536, "a block is too large")
        block = take(size)
        check(take(8) == chain.next(word + block), "a block is damaged")
        if size == 0:
            break
        stream += block
    check(at == len(data), "trailing bytes")
    classes, at = read_classes(stream, number)
    return classes, records(stream, at, classes, count, first)


def read_classes(stream, number):
    classes = []
    at = 0
    for _ in range(number):
        check(at + 20 <= len(stream), "a class is truncated")
        ttl, since, weight, size = struct.unpack_from("<QQHH", stream, at)
        at += 20
        check(at + size <= len(stream), "a class is truncated")
        name = stream[at : at + size]
        at += size
        check(ttl > 0 and 1 <= size <= 64 and 0 not in name, "a class")
        classes.append((name, ttl, since, weight))
    check(len({name for name, *_ in classes}) == number, "names")
    return classes, at


def records(stream, at, classes, count, first):
    timers = []
    last = [0] * len(classes)
    while at < len(stream):
        check(at + 24 <= len(stream), "a record is truncated")
        deadline, ttl, payload_size, id_size, flags, zero = struct.unpack_from(
            "<QQIHBB", stream, at
        )
        at += 24
        check(at + id_size + payload_size <= len(stream), "a record is truncated")
        ident = stream[at : at + id_size]
        at += id_size
        payload = stream[at : at + payload_size]
        at += payload_size
        check(flags in (0, 1, 2) and zero == 0, "flags of a record")
        if flags == 2:
            check(ttl < len(classes), "number of a class")
            check(last[ttl] <= deadline < NEVER, "start")
            last[ttl] = deadline
        else:
            check(max(first, 1) <= deadline < NEVER, "deadline")
            check(ttl > 0, "ttl")
        timers.append((deadline, ttl, ident, payload, flags))
    check(len(timers) == count, "count")
    check(len({timer[2] for timer in timers}) == count, "ids")
    check(find_first(timers) == first, "first")
    return timers


def find_first(timers):
    return min((timer[0] for timer in timers if timer[4] != 2), default=NEVER)


def write(classes, timers, block_sizes):
    """Returns a snapshot, in blocks of the sizes that block_sizes() returns."""
    chain = Chain()
    version = 2 if classes else 1
    header = struct.pack(
        "<8sIIQQ", b"lawnsnap", version, len(classes), len(timers), find_first(timers)
    )
    out = [header, chain.next(header)]
    stream = b"".join(
        struct.pack("<QQHH", ttl, since, weight, len(name)) + name
        for name, ttl, since, weight in classes
    )
    stream += b"".join(
        struct.pack("<QQIHBB", deadline, ttl, len(payload), len(ident), flags, 0)
        + ident
        + payload
        for deadline, ttl, ident, payload, flags in timers
    )
    at = 0
    while at < len(stream):
        content = stream[at : at + block_sizes()]
        at += len(content)
        block = struct.pack("<I", len(content)) + content
        out += [block, chain.next(block)]
    end = struct.pack("<I", 0)
    return b"".join(out + [end, chain.next(end)])


def make(seed):
    rng = random.Random(seed)
    timers = {}
    for number in range(rng.choice([0, 1, 300])):
        size = rng.choice([0, 1, 8, 16, rng.randrange(300), rng.randrange(65536)])
        ident = rng.randbytes(size)
        deadline = rng.choice([1, 1000 + number, rng.randrange(1, NEVER), NEVER - 1])
        ttl = rng.choice([1, 1000, rng.randrange(1, NEVER), NEVER])
        size = rng.choice([0, 7, rng.randrange(5000), rng.randrange(200000)])
        if number > 50:
            size %= 100
        timers[ident] = (deadline, ttl, ident, rng.randbytes(size), rng.randrange(2))
    sizes = rng.choice([[65536], [1000, 65536], [7, 24, 1000]])
    classes = make_classes(rng, timers) if seed % 2 == 1 else []
    return classes, list(timers.values()), lambda: rng.choice(sizes)


def make_classes(rng, timers):
    """Moves some timers into classes. A store at time 0 loads their starts unchanged."""
    classes = [
        (b"class %d" % number, rng.choice([1, 1000, NEVER]), since, rng.randrange(65536))
        for number, since in enumerate([NEVER, 0, NEVER][: rng.randrange(1, 4)])
    ]
    start = 0
    for ident, timer in timers.items():
        if rng.randrange(2) == 0:
            start += rng.choice([0, 1, rng.randrange(2**40)])
            timers[ident] = (start, rng.randrange(len(classes)), *timer[2:4], 2)
    return classes


def show(classes, timers):
    for deadline, ttl, ident, payload, flags in timers:
        if flags == 2:
            ttl = classes[ttl][1]
            deadline = min(deadline + ttl, NEVER - 1)
        print(deadline, ttl, "id=" + ident.hex(), "payload=" + payload.hex())


def main(verb, path, seed="0"):
    if verb == "make":
        classes, timers, block_sizes = make(int(seed))
        with open(path, "wb") as file:
            file.write(write(classes, timers, block_sizes))
    else:
        with open(path, "rb") as file:
            classes, timers = read(file.read())
    show(classes, timers)


if __name__ == "__main__":
    main(*sys.argv[1:])
