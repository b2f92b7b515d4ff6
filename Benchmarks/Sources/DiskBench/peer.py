"""Prints what reading and writing one value costs python-diskcache, in microseconds: the same keys, value and counts as GetSetBench."""

import random
import sys
import time

import diskcache

count = 20_000
keys = [f"user/{number}/profile" for number in range(count)]
random.Random(42).shuffle(keys)
value = bytes(range(100))
# Its default, and its quickest: reads note no use.
cache = diskcache.Cache(sys.argv[1], eviction_policy="least-recently-stored")
start = time.perf_counter()
for key in keys:
    cache.set(key, value)
written = time.perf_counter()
for key in keys:
    if cache.get(key) != value:
        sys.exit("a miss")
read = time.perf_counter()
print(f"{(read - written) / count * 1e6:.2f} {(written - start) / count * 1e6:.2f}")
