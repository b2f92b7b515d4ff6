"""Section 4: requests that would take the processor or the connections."""

import json
import multiprocessing
import os
import resource
import selectors
import time
import unicodedata
import urllib.parse

from client import Connection, ask, head
from floods import Flood
from memory import OCTETS, put
from rows import MIB, row


def unread(port):
    """The bytes that a server has sent and nobody has received."""
    with open("/proc/net/tcp", encoding="ascii") as table:
        rows = [line.split() for line in table.readlines()[1:]]
    return sum(int(row[4].split(":")[0], 16) for row in rows if row[1].endswith(f":{port:04X}"))


def wait_until_full(port):
    """Waits until each reader that does not read has been sent as much as its socket accepts: for 3 s less than one page more."""
    end, full, since = time.monotonic() + 60, unread(port), time.monotonic()
    while time.monotonic() < min(end, since + 3):
        time.sleep(0.2)
        now = unread(port)
        if abs(now - full) > 64 << 10:
            full, since = now, time.monotonic()


@row("4", "600 streams that nobody reads")
def stuck_streams(scene):
    for index in range(70):
        put(scene, f"c/{index}", 60_000)
    flood = Flood(scene.port, 600, head("GET", "/v1/a/changes?since=0", None, {"Accept": "text/event-stream"}))
    flood.run(5)
    wait_until_full(scene.port)
    scene.settle()
    began, processor = time.monotonic(), scene.server.processor_seconds()
    time.sleep(3)
    share = 100 * (scene.server.processor_seconds() - processor) / (time.monotonic() - began)
    # The well-behaved client's own load is a part of this.
    scene.state("processor", share, most=50, unit="%")
    scene.state_waits(health=True)
    scene.state("memory", scene.server.memory(), unit="MiB")
    flood.close()
    scene.state_runs()


@row("4", "one address takes all connections")
def one_address(scene):
    """All connections that the server takes, from one address."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    count = min(21_000, hard - 1_000)
    try:
        began = time.monotonic()
        # No more at once than the queue of a listening socket holds.
        floods = []
        for _ in range(0, count, 500):
            floods.append(Flood(scene.port, 500, head("GET", "/healthz")))
            floods[-1].run(1)
            if time.monotonic() - began > 20:
                break
        scene.state("tried", 500 * len(floods))
        time.sleep(0.5)
        # Up to 128 more are open while they are refused.
        scene.state("held by one address", held(scene), most=1_128)
        answer = ask(scene.port, "GET", "/healthz", source="127.0.0.44")
        scene.state_answer(answer, 200)
        scene.state("health from another", answer.seconds * 1000, most=250, unit="ms", timed=True)
        for flood in floods:
            flood.close()
        scene.state_runs()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def held(scene):
    """The sockets that the server has, without its files and the three of the well-behaved client."""
    count = 0
    for name in os.listdir(f"/proc/{scene.server.pid}/fd"):
        try:
            count += os.readlink(f"/proc/{scene.server.pid}/fd/{name}").startswith("socket:")
        except OSError:
            pass
    return max(0, count - 8)


def read_all(port, count, path, seconds):
    """Reads an answer on each of `count` connections, by turns, in a separate process."""
    os.nice(10)
    flood = Flood(port, count, head("GET", path), receive_buffer=1 << 20)
    flood.run(2)
    end = time.monotonic() + seconds
    buffer = bytearray(1 << 20)
    done = set()
    while time.monotonic() < end and len(done) < count:
        idle = True
        for one in flood.sockets:
            if one in done:
                continue
            try:
                received = one.recv_into(buffer)
                flood.answered[one] = flood.answered.get(one, 0) + received
                idle = False
                if not received or flood.answered[one] >= 16 * MIB:
                    done.add(one)
            except BlockingIOError:
                pass
            except OSError:
                done.add(one)
        if idle:
            time.sleep(0.002)
    flood.close()


@row("4", "120 GETs of 16 MiB at once")
def large_reads(scene):
    scene.must("PUT", "/v1/a/records/c/big", bytes(16 * MIB), OCTETS)
    scene.settle()
    began = time.monotonic()
    reader = multiprocessing.get_context("spawn").Process(target=read_all, args=(scene.port, 120, "/v1/a/records/c/big", 20))
    reader.start()
    reader.join()
    scene.state("took", (time.monotonic() - began) * 1000, unit="ms")
    scene.state_waits(health=True)
    scene.state("memory", scene.server.memory(), most=768, unit="MiB")
    scene.state_runs()


def pipeline(port, count, path, seconds):
    """Sends requests without a pause on each of `count` connections and reads the answers, in a separate process."""
    os.nice(10)
    requests = memoryview(head("GET", path) * 256)
    selector, connections = selectors.DefaultSelector(), []
    for _ in range(count):
        connection = Connection(port)
        connection.socket.setblocking(False)
        connections.append(connection)
        selector.register(connection.socket, selectors.EVENT_READ | selectors.EVENT_WRITE)
    sent = {connection.socket: 0 for connection in connections}
    buffer, end = bytearray(1 << 20), time.monotonic() + seconds
    while time.monotonic() < end and selector.get_map():
        for key, events in selector.select(0.1):
            one = key.fileobj
            try:
                if events & selectors.EVENT_WRITE:
                    sent[one] = (sent[one] + one.send(requests[sent[one]:])) % len(requests)
                if events & selectors.EVENT_READ and not one.recv_into(buffer):
                    selector.unregister(one)
            except BlockingIOError:
                pass
            except OSError:
                selector.unregister(one)
    for connection in connections:
        connection.close()


def state_pipelines(scene, count):
    put(scene, "c/small", 100)
    scene.settle()
    sender = multiprocessing.get_context("spawn").Process(target=pipeline, args=(scene.port, count, "/v1/a/records/c/small", 4))
    sender.start()
    time.sleep(4)
    scene.state_waits(health=True)
    # A server that accepts no connection would hold up the attacker.
    sender.join(20)
    sender.kill()
    sender.join()
    scene.state_runs()


@row("4", "24 connections that pipeline without a pause")
def pipelines(scene):
    state_pipelines(scene, 24)


@row("4", "990 connections that pipeline without a pause")
def many_pipelines(scene):
    state_pipelines(scene, 990)


def combining(count):
    """Characters that combine with the one before, of two bytes each, in the order that takes longest to put into normal form."""
    found = {unicodedata.combining(chr(code)): chr(code) for code in range(0x300, 0x800)}
    kinds = [found[kind] for kind in sorted(found, reverse=True) if kind]
    return "".join(kind * (count // len(kinds)) for kind in kinds)


@row("4", "fields, queries and words of combining characters")
def normal_forms(scene):
    put(scene, "c/small", 100)
    field = "x" + combining(7_500)
    tag, kind = f'"{field}"', {"Accept": "text/event-stream", "Last-Event-ID": field}
    word = json.dumps({"client": "device", "writes": [{"number": 1, "op": "put", "key": "c/1", "value": 1, "onMissing": "x" + combining(30_000)}]},
                      ensure_ascii=False).encode()
    query = urllib.parse.quote("x" + combining(1_200))
    scene.settle()
    for _ in range(3):
        scene.ask("POST", "/v1/a/writes", "{}", {"Origin": field})
        scene.ask("POST", "/v1/a/writes", "{}", {"Content-Type": field})
        scene.ask("PATCH", "/v1/a/records/c/small", "{}", {"Content-Type": field})
        scene.ask("PUT", "/v1/a/records/c/small", "1", {"Content-Encoding": field})
        scene.ask("PUT", "/v1/a/records/c/small", "1", {"If-Match": tag})
        scene.ask("GET", "/v1/a/records/c/small", None, {"If-None-Match": tag})
        scene.ask("GET", "/v1/a/changes", None, kind)
        scene.ask("GET", f"/v1/a/changes?{query}=1&since={query}&values={query}&wait=0")
        scene.ask("POST", "/v1/a/writes", word)
    scene.state_waits(health=True)
    scene.state_runs()


@row("4", "a list over 300,000 deleted records", quick=False)
def tombstones(scene):
    records = 300_000
    for first in range(0, records, 1_000):
        for operation in ("put", "delete"):
            writes = [
                {"number": index + 1, "op": operation, "key": f"c/{first + index:07d}", **({"value": 1} if operation == "put" else {})}
                for index in range(1_000)
            ]
            client = f"{operation}{first}"
            scene.must("POST", "/v1/a/writes", json.dumps({"client": client, "writes": writes}))
    scene.settle()
    lists = [scene.ask("GET", "/v1/a/records/c?limit=10") for _ in range(5)]
    scene.state_answer(lists[-1], 200)
    scene.state("list", min(answer.seconds for answer in lists) * 1000, most=30, unit="ms", timed=True)
    scene.state_waits()
    scene.state_runs()
