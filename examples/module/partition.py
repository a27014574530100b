#!/usr/bin/python3
"""partition.py - computes the partition of an id, like LAWN.PARTITION.

    partition.py N ID [ID ...]

prints the partition of each id, 0 to N - 1. The hash is the CRC16 that clusters use for
slots (XMODEM), over the whole id; Python has it built in.
"""
import binascii
import sys


def partition(id, count):
    return binascii.crc_hqx(id.encode() if isinstance(id, str) else id,
                            0) % count


if __name__ == '__main__':
    for word in sys.argv[2:]:
        print(partition(word, int(sys.argv[1])))
