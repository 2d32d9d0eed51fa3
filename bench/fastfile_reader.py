"""Reads files of a mounted directory and says how long it took. The same program for every mount.

  fastfile_reader.py ROOT BLOCK_FILE WORKLOAD [ARGUMENT...]   → {"ns": [...], "wrong": N} on standard output

Objects are made of one block of bytes: an object's byte at `at` is block[(at + shift) % len(block)], where the shift is
the number in its name. What was timed is compared afterwards, read once more; the page cache has what was delivered.
"""
import json
import os
import random
import sys
import time

READ = 1 << 20


def expected(block, shift, at, size):
    begin = (at + shift) % len(block)
    out = block[begin:begin + size]
    while len(out) < size:
        out += block[:size - len(out)]
    return out


def shift_of(path):
    return int("".join(c for c in os.path.basename(path) if c.isdigit()) or 0)


def read_whole(path, into):
    with open(path, "rb", buffering=0) as file:
        while file.readinto(into):
            pass


def wrong_bytes(path, block):
    with open(path, "rb", buffering=0) as file:
        at = wrong = 0
        while piece := file.read(READ):
            wrong += piece != expected(block, shift_of(path), at, len(piece))
            at += len(piece)
    return wrong + (at != os.path.getsize(path))


def sequential(root, block, name):
    path = os.path.join(root, name)
    into = bytearray(READ)
    begin = time.perf_counter_ns()
    read_whole(path, into)
    return [time.perf_counter_ns() - begin], wrong_bytes(path, block)


def first(root, block, name):
    """The first 128 KiB of a file that nobody has opened before."""
    path = os.path.join(root, name)
    begin = time.perf_counter_ns()
    with open(path, "rb", buffering=0) as file:
        data = file.read(128 << 10)
    return [time.perf_counter_ns() - begin], int(data != expected(block, shift_of(path), 0, len(data)))


def scattered(root, block, name, count):
    """128 KiB at random places, one after the other."""
    path = os.path.join(root, name)
    places = random.Random(5).sample(range(1, os.path.getsize(path) // (128 << 10)), int(count))
    took, wrong = [], 0
    with open(path, "rb", buffering=0) as file:
        for place in places:
            at = place * (128 << 10)
            begin = time.perf_counter_ns()
            data = os.pread(file.fileno(), 128 << 10, at)
            took.append(time.perf_counter_ns() - begin)
            wrong += data != expected(block, shift_of(path), at, 128 << 10)
    return took, wrong


def many(root, block, folder):
    """All files of a folder, in order; the listing is part of it."""
    into = bytearray(READ)
    begin = time.perf_counter_ns()
    names = sorted(os.listdir(os.path.join(root, folder)))
    for name in names:
        read_whole(os.path.join(root, folder, name), into)
    took = time.perf_counter_ns() - begin
    return [took], sum(wrong_bytes(os.path.join(root, folder, name), block) for name in names)


def again(root, block, name):
    """The second epoch: the file was read before, and is read again."""
    path = os.path.join(root, name)
    into = bytearray(READ)
    read_whole(path, into)
    begin = time.perf_counter_ns()
    read_whole(path, into)
    return [time.perf_counter_ns() - begin], wrong_bytes(path, block)


if __name__ == "__main__":
    where, block_file, workload, *arguments = sys.argv[1:]
    with open(block_file, "rb") as opened:
        took_ns, wrong_count = globals()[workload](where, opened.read(), *arguments)
    print(json.dumps({"ns": took_ns, "wrong": wrong_count}))
