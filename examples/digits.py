#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Handwritten digits as .npy files, from which `evalue records create` makes record files.

    digits.py [digits.csv.gz] FOLDER

The file is the one that scikit-learn ships (Debian: package python3-sklearn): 1797 lines of 64 grey values from 0 to 16, and the digit. Writes train-pixels.npy,
train-labels.npy, and test-pixels.npy, test-labels.npy with every fifth line. Needs nothing but Python.
"""
import gzip
import pathlib
import struct
import sys

DEBIAN = "/usr/lib/python3/dist-packages/sklearn/datasets/data/digits.csv.gz"


def write_npy(path, descr, shape, data):
    """One array in NumPy's format, version 1."""
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)
    header = header.ljust((len(header) + 11) // 64 * 64 + 63 - 10) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode("ascii") + data)


def write_part(folder, name, rows):
    pixels = b"".join(bytes(row[:64]) for row in rows)
    labels = b"".join(struct.pack("<q", row[64]) for row in rows)
    write_npy(folder / (name + "-pixels.npy"), "|u1", (len(rows), 8, 8), pixels)
    write_npy(folder / (name + "-labels.npy"), "<i8", (len(rows),), labels)
    print("%s: %d digits" % (name, len(rows)))


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    source, folder = ([DEBIAN] + sys.argv[1:])[-2:]
    with gzip.open(source, "rt", encoding="ascii") as lines:
        rows = [[int(float(number)) for number in line.split(",")] for line in lines]
    if any(len(row) != 65 or not 0 <= row[64] <= 9 for row in rows):
        sys.exit("%s: expected lines of 64 grey values and a digit" % source)
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_part(folder, "train", [row for i, row in enumerate(rows) if i % 5 != 0])
    write_part(folder, "test", [row for i, row in enumerate(rows) if i % 5 == 0])


main()
