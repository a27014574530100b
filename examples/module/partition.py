#!/usr/bin/python3
"""partition.py - which of N keys an id belongs to, as LAWN.PARTITION says it.

    partition.py N ID [ID ...]

prints for each id its number, 0 to N - 1. The checksum is CRC16 as clusters use it
for slots (XMODEM), over the whole id; Python has it built in.
"""
import binascii
import sys


def partition(id, count):
    return binascii.crc_hqx(id.encode() if isinstance(id, str) else id,
                            0) % count


if __name__ == '__main__':
    for word in sys.argv[2:]:
        print(partition(word, int(sys.argv[1])))
