"""rdb.py - creates dump files and DUMP payloads: the part of the server's
format that a key of a module needs.

A value of a module is the 64-bit number of its type and a sequence of tagged
values: ints are unsigned numbers here, bytes are strings. Anything else is
written unchanged, so that invalid files can be created.
"""

import struct

CHARS = ('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_')
MODULE_2 = 7
MARK_END, MARK_SIGNED, MARK_UNSIGNED, MARK_FLOAT, MARK_DOUBLE, MARK_STRING = \
    range(6)


def _table():
    polynomial = 0x95AC9329AC4BC9B5  # Jones polynomial, reflected
    table = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (polynomial if crc & 1 else 0)
        table.append(crc)
    return table


TABLE = _table()


def crc64(data):
    crc = 0
    for byte in data:
        crc = TABLE[(crc ^ byte) & 255] ^ crc >> 8
    return crc


assert crc64(b'123456789') == 0xE9C6D914C4B8D9CA


def length(number):
    if number < 64:
        return bytes([number])
    if number < 16384:
        return bytes([64 | number >> 8, number & 255])
    if number < 2**32:
        return b'\x80' + struct.pack('>I', number)
    return b'\x81' + struct.pack('>Q', number)


def string(data):
    return length(len(data)) + data


class Raw(bytes):
    """Bytes that are written unchanged."""


def signed(number):
    return Raw(length(MARK_SIGNED) + length(number & 2**64 - 1))


def double(number):
    return Raw(length(MARK_DOUBLE) + struct.pack('<d', number))


def type_number(version, name='dehy-type'):
    number = 0
    for char in name:
        number = number << 6 | CHARS.index(char)
    return number << 10 | version


def row(number, items, end=True):
    """The number of a type, and a sequence of tagged values."""
    out = length(number)
    for item in items:
        if isinstance(item, Raw):
            out += item
        elif isinstance(item, int):
            out += length(MARK_UNSIGNED) + length(item)
        else:
            out += length(MARK_STRING) + string(item)
    return out + (length(MARK_END) if end else b'')


def value(items, version, name='dehy-type', end=True):
    """A value as in RESTORE and dump files, without the type byte."""
    return row(type_number(version, name), items, end)


def dump(body, rdb_version=9):
    """Returns a payload for RESTORE."""
    data = bytes([MODULE_2]) + body + struct.pack('<H', rdb_version)
    return data + struct.pack('<Q', crc64(data))


def undump(data):
    """Returns the body of a DUMP payload, and its version."""
    assert crc64(data[:-8]) == struct.unpack('<Q', data[-8:])[0]
    return data[1:-10], struct.unpack('<H', data[-10:-8])[0]


def file(keys, rdb_version=9):
    """A dump file: {(database, name): body}, with an expiry as (body, ms)."""
    out = b'REDIS%04d' % rdb_version
    out += b'\xfa' + string(b'made-by') + string(b'hand')
    last = None
    for (db, name), body in sorted(keys.items()):
        if db != last:
            out += b'\xfe' + length(db)
            last = db
        if isinstance(body, tuple):
            body, expiry = body
            out += b'\xfc' + struct.pack('<Q', expiry)
        out += bytes([MODULE_2]) + string(name) + body
    out += b'\xff'
    return out + struct.pack('<Q', crc64(out))


def rede(name, queues):
    """A value as written by ReDe: queues is {ttl: [(due, id, payload), ...]}.
    """
    items = [name, len(queues)]
    for ttl, events in queues.items():
        items += [ttl, len(events)]
        for event in events:
            items += event
    return items
