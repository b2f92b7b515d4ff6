"""Prints the hit ratios, in percent, that libcachesim's S3-FIFO and LRU reach on traces: `TRACE CAPACITY S3FIFO LRU`, a line each.

python hit-ratios.py FOLDER CAPACITY...      FOLDER holds NAME.txt, a whole number a line
"""

import pathlib
import sys

import libcachesim


def hit_ratio(cache, keys):
    request = libcachesim.Request()
    request.obj_size = 1
    hits = 0
    for key in keys:
        request.obj_id = key
        hits += cache.get(request)
    return 100 * hits / len(keys)


folder, capacities = pathlib.Path(sys.argv[1]), [int(text) for text in sys.argv[2:]]
for path in sorted(folder.glob("*.txt")):
    keys = [int(line) for line in path.read_text().split()]
    for capacity in capacities:
        ratios = [hit_ratio(kind(cache_size=capacity, hashpower=18), keys) for kind in (libcachesim.S3FIFO, libcachesim.LRU)]
        print(path.stem, capacity, *(f"{ratio:.3f}" for ratio in ratios))
