"""All attacks on memory at once, with a well-behaved client beside them."""

import json
import multiprocessing
import os
import time

from client import ask, head
from floods import Flood
from memory import OCTETS, put, text
from poison import batch
from rows import MIB, row

# Bounds for all attacks together: MiB resident, and milliseconds until the server answers a health check.
MEMORY, HEALTH = 1_536, 100
SECONDS = 20


def flooding(port, count, payload, source, until):
    """Sends on many connections without reading, and once more where the server has closed some."""
    os.nice(10)
    while time.time() < until:
        flood = Flood(port, count, payload(), source)
        flood.run(min(8, until - time.time()))
        time.sleep(max(0, min(4, until - time.time())))
        flood.close()


def unfinished(): return head("PUT", "/v1/a/records/c/1", 16 * MIB, OCTETS) + bytes(16 * MIB - 1)
def unread(): return head("GET", "/v1/a/records/c/big")
def lists(): return head("GET", "/v1/a/records/d?limit=1000") * 16
def streams(): return head("GET", "/v1/a/changes?since=0", None, {"Accept": "text/event-stream"})
def polls(): return head("GET", "/v1/a/changes?since=now&" + "&".join(f"collection=c{index:03d}" for index in range(64)))


def repeat(port, requests, source, until):
    """Sends requests one after another and reads their answers."""
    os.nice(10)
    index = 0
    for make in _endless(requests):
        if time.time() >= until:
            return
        method, path, body = make(index)
        index += 1
        ask(port, method, path, body, source=source, keep=0)
        # A refusal is answered at once; an attacker that repeated without a pause would take the processor from the
        # well-behaved client, which shares this machine with it.
        time.sleep(0.02)


def _endless(items):
    while True:
        yield from items


def reading(_): return "POST", "/v1/a/reads", json.dumps({"keys": [{"key": "c/mid"}] * 1_500})
def keys(_): return "POST", "/v1/a/reads", '{"keys":[' + ",".join(['{"key":"c/1"}'] * 1_100_000) + "]}"
def sweeping(_): return "POST", "/v1/a/invalidations", json.dumps({"collection": "c", "prefix": "x" * MIB})


def rejections(index):
    writes = [{"number": number, "op": "put", "key": "c/mid", "value": 1, "ifRevision": 9_999} for number in range(1, 1_001)]
    return "POST", "/v1/a/writes", batch(f"device{index}", writes)


def recent(index):
    value = text(60_000)
    writes = ",".join(f'{{"number":{number},"op":"put","key":"c/{number}","value":{value}}}' for number in range(1, 141))
    return "POST", f"/v1/n{index}/writes", f'{{"client":"device","writes":[{writes}]}}'


@row("together", "all attacks on memory at once", quick=False)
def together(scene):
    scene.must("PUT", "/v1/a/records/c/big", bytes(16 * MIB), OCTETS)
    put(scene, "c/mid", MIB)
    for index in range(66):
        put(scene, f"d/{index}", 65_536)
    scene.settle()
    time.sleep(3)
    quiet = scene.mark()
    context, until = multiprocessing.get_context("spawn"), time.time() + SECONDS
    attackers = [
        context.Process(target=flooding, args=(scene.port, count, payload, f"127.0.1.{index + 1}", until))
        for index, (count, payload) in enumerate([(200, unfinished), (120, unread), (12, lists), (100, streams), (200, polls)])
    ] + [
        context.Process(target=repeat, args=(scene.port, requests, f"127.0.2.{index + 1}", until))
        for index, requests in enumerate([[reading], [rejections], [recent], [keys, sweeping]])
    ]
    for attacker in attackers:
        attacker.start()
    while time.time() < until and scene.server.runs() and scene.server.memory() < 6_000:
        time.sleep(0.2)
    for attacker in attackers:
        if time.time() < until:
            attacker.terminate()
        attacker.join()
    scene.state_runs()
    if not scene.server.runs():
        return
    seen = scene.mark("verify")
    scene.state_memory(MEMORY)
    scene.state("quiet p99", quiet["writes"]["p99"], unit="ms")
    scene.state("p99 of writes", seen["writes"]["p99"], most=round(10 * quiet["writes"]["p99"]), unit="ms", timed=True)
    scene.state("most", seen["writes"]["most"], unit="ms")
    scene.state("writes", seen["writes"]["count"])
    scene.state("refusals", seen["refused"])
    scene.state("p99 of health", seen["health"]["p99"], unit="ms")
    scene.state("most", seen["health"]["most"], most=HEALTH, unit="ms", timed=True)
    scene.state("records with a lost write", seen["lost"], most=0)
    scene.state("polls dropped", seen["dropped"], most=0)
