"""Checks that a shared cache in front of the server collapses polls, and that nobody polls without a pause or reads without a right.

    check.py PROGRAM [--readers N]

Each of nginx and Varnish, with the files in docker/: one request to the server answers all readers that wait at one
position; polls that find nothing lead on to another URL; streams, writes, positions of the moment and polls with unknown
parameters pass through; and behind the configuration with keys, a response in the cache reaches only those who may read it.
nginx bounds the requests of one address, those of clients that have left included.
"""

import argparse
import asyncio
import json
import pathlib
import resource
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Attacks"))

import metrics  # noqa: E402
from edges import Nginx, NginxWithKeys, Varnish  # noqa: E402
from readers import Reader, ask, send  # noqa: E402
from server import Server  # noqa: E402

failures = []


def state(edge, text, holds, figure=""):
    print(f"{'ok  ' if holds else 'FAIL'} {edge:<16} {text}{': ' + str(figure) if figure != '' else ''}", flush=True)
    if not holds:
        failures.append(f"{edge}: {text}: {figure}")


async def until_waiting(server, count, token=None):
    end = time.monotonic() + 20
    while metrics.waiting(server.port, token) < count:
        if time.monotonic() > end:
            raise SystemExit("error: the readers' request did not reach the server")
        await asyncio.sleep(0.02)


async def until_none_waits(server, token=None):
    end = time.monotonic() + 20
    while metrics.waiting(server.port, token) > 0:
        if time.monotonic() > end:
            raise SystemExit("error: polls do not end")
        await asyncio.sleep(0.02)


async def collapse(edge, server, count, token=None, fields=(), writer=()):
    """One change, and then silence, for `count` readers."""
    put = lambda value: ask(edge.port, "PUT", "/v1/shop/records/fruits/apple", writer, json.dumps(value).encode())
    start = (await put(1)).cursor
    before = metrics.feed_responses(server.port, token)
    wait = 4
    began = time.monotonic()
    until = began + 9
    readers = [Reader(edge.port, "shop", start, wait, fields) for _ in range(count)]
    tasks = [asyncio.create_task(reader.run(until)) for reader in readers]
    await asyncio.gather(*(reader.ready.wait() for reader in readers))
    await until_waiting(server, 1, token)
    await asyncio.sleep(0.5)
    written = time.monotonic()
    await put(2)
    await asyncio.gather(*tasks)
    late = max(max(reader.seen, default=written + 99) - written for reader in readers)
    upstream = metrics.feed_responses(server.port, token) - before
    most = max(reader.requests for reader in readers)
    elapsed = time.monotonic() - began
    state(edge.name, f"{count} readers get one change", all(len(reader.seen) == 1 for reader in readers), f"the last after {late * 1000:.0f} ms")
    # One for the change, and one for each wait afterwards; readers whose waits end in two spans of time ask twice.
    bound = 2 + 2 * int(elapsed / wait + 1)
    state(edge.name, "requests to the server", 0 < upstream <= bound, f"{upstream} (at most {bound}) for {sum(reader.requests for reader in readers)}")
    state(edge.name, "nobody polls without a pause", most <= bound, f"{most} requests of one reader at most (at most {bound})")
    state(edge.name, "the last position has a turn", all("." in reader.cursor for reader in readers))


async def selection(edge, server, token=None, fields=()):
    """Which polls share a response: those with the parameters of the protocol, in its order."""
    start = (await ask(edge.port, "PUT", "/v1/shop/records/fruits/apple", fields, b"1")).cursor
    url = f"/v1/shop/changes?since={start}&wait=5&limit=1000"
    for text, endings, requests in (
        ("polls in the protocol's spelling share a request",
         ["", "&collection=Fruits_1.x&collection=fruits&prefix=a%2Fb~c&values=false", "&prefix=a", "&values=false"], 1),
        ("polls in other spellings do not",
         ["&x=1", "&collection=fruits&x=1", "&values=false&collection=fruits", "&values=false&"], 2),
    ):
        polls = [await send(edge.port, "GET", url + ending, fields) for ending in endings for _ in range(2)]
        await until_waiting(server, len(endings) * requests, token)
        await asyncio.sleep(0.5)
        waiting = metrics.waiting(server.port, token)
        state(edge.name, text, waiting == len(endings) * requests, f"{waiting} of {len(polls)} reach the server")
        for _, writer in polls:
            writer.close()
        await asyncio.sleep(0.5)
        if requests == 2 and edge.connections:
            state(edge.name, "and end when their clients leave", metrics.waiting(server.port, token) == 0)
        await until_none_waits(server, token)


async def bound(edge, server, token=None, fields=()):
    """One address has as many polls as it may, each at a URL of its own, and closes its connections."""
    start = (await ask(edge.port, "PUT", "/v1/shop/records/fruits/apple", fields, b"1")).cursor
    url = lambda turn: f"/v1/shop/changes?since={start}.{turn}&wait=30&limit=1000"
    polls = [await send(edge.port, "GET", url(turn), fields) for turn in range(1, edge.connections + 1)]
    await until_waiting(server, edge.connections, token)
    beyond = (await ask(edge.port, "GET", url(edge.connections + 1), fields)).status
    state(edge.name, "an address with too many polls is refused", beyond == 503, f"{beyond} after {edge.connections}")
    for _, writer in polls:
        writer.close()
    await asyncio.sleep(1)
    beyond = (await ask(edge.port, "GET", url(edge.connections + 2), fields)).status
    waiting = metrics.waiting(server.port, token)
    state(edge.name, "also once its clients have left", beyond == 503 and waiting == edge.connections, f"{beyond}, {waiting} wait")
    other = (await ask(edge.port, "PUT", "/v1/shop/records/fruits/apple", fields, b"2", source="127.0.0.2")).status
    await until_none_waits(server, token)
    state(edge.name, "other addresses are answered", other == 200, other)
    again = (await ask(edge.port, "GET", url(1), fields)).status
    state(edge.name, "and so is the first once its polls have ended", again == 200, again)


async def passing(edge, fields=()):
    """What no cache may keep."""
    replies = [await ask(edge.port, "GET", "/v1/shop/changes?since=now&wait=4&limit=1000", fields) for _ in range(2)]
    state(edge.name, "since=now passes", all(reply.status == 200 and reply.fields["cache-control"] == "no-store" for reply in replies))
    first = replies[-1].cursor
    reader, writer = await asyncio.open_connection("127.0.0.1", edge.port)
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields)
    writer.write(
        f"GET /v1/shop/changes?since={first}&wait=4&limit=1000 HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n{lines}\r\n".encode())
    head = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)).decode()
    began = time.monotonic()
    await ask(edge.port, "PUT", "/v1/shop/records/fruits/apple", fields, b"3")
    await asyncio.wait_for(reader.readuntil(b"event: changes"), 10)
    took = time.monotonic() - began
    writer.close()
    state(edge.name, "a stream passes", "text/event-stream" in head, f"{took * 1000:.0f} ms")
    gone = await ask(edge.port, "GET", f"/v1/shop/changes?since={first.split('-')[0]}-9000&wait=4&limit=1000", fields)
    state(edge.name, "a position ahead of the server is asked for each time", gone.status == 410 and gone.fields["cache-control"] == "no-store")


async def rights(edge, server, admin, user, part, count):
    """Behind keys: the cache answers only those who may read."""
    bearer = lambda token: [("Authorization", f"Bearer {token}")]
    await collapse(edge, server, count, admin, bearer(user), bearer(user))
    await selection(edge, server, admin, bearer(user))
    await bound(edge, server, admin, bearer(user))
    await passing(edge, bearer(user))
    start = (await ask(edge.port, "PUT", "/v1/shop/records/fruits/apple", bearer(user), b"5")).cursor
    await ask(edge.port, "PUT", "/v1/shop/records/fruits/apple", bearer(user), b"6")
    url = f"/v1/shop/changes?since={start}&wait=4&limit=1000"
    allowed = await ask(edge.port, "GET", url, bearer(user))
    refused = [
        (await ask(edge.port, "GET", url)).status, (await ask(edge.port, "GET", url, bearer("fk_wrong"))).status,
        (await ask(edge.port, "GET", url, bearer(part))).status,
    ]
    state(edge.name, "a page in the cache is for those who may read it", allowed.status == 200 and refused == [401, 401, 410], refused)
    # A reader of a part follows by the server itself: its cursors state its rights.
    own = (await ask(edge.port, "GET", "/v1/shop/changes?since=now&wait=4&limit=1000", bearer(part))).cursor
    reader = Reader(edge.port, "shop", own, 1, bearer(part))
    task = asyncio.create_task(reader.run(time.monotonic() + 10))
    await reader.ready.wait()
    await until_waiting(server, 1, admin)
    await ask(edge.port, "PUT", "/v1/shop/records/fruits/apple", bearer(user), b"7")
    await ask(edge.port, "PUT", "/v1/shop/records/nuts/almond", bearer(user), b"8")
    await task
    state(edge.name, "a reader of a part gets that part", len(reader.seen) == 1 and reader.cursor.count("-") == 3, reader.cursor)


def make_key(program, data, *options):
    made = subprocess.run(
        [program, "key", "create", "--data", data, "--name", "check", *options], check=True, capture_output=True, text=True)
    return made.stdout.strip()


def with_keys(program, count):
    """A server that gives out records for keys alone, behind nginx with a key of its own."""
    keys = {}

    def prepare(data):
        keys["admin"] = make_key(program, data, "--admin")
        keys["edge"] = make_key(program, data, "--allow", "shop:*:read")
        keys["user"] = make_key(program, data, "--allow", "shop:*:read,write,create,inspect")
        keys["part"] = make_key(program, data, "--allow", "shop:fruits/a*:read")
        return ["--require-keys", "--edge", "key:" + keys["edge"].split("_")[1]]

    server = Server(program, prepare)
    edge = None
    try:
        edge = NginxWithKeys(server.port, keys["edge"])
        asyncio.run(rights(edge, server, keys["admin"], keys["user"], keys["part"], count))
    finally:
        if edge:
            edge.stop()
        server.stop()


def without_keys(program, count):
    server = Server(program, ["--edge", "*"])
    try:
        for make in (Varnish, Nginx):
            edge = make(server.port)
            try:
                asyncio.run(collapse(edge, server, count))
                asyncio.run(selection(edge, server))
                if edge.connections:
                    asyncio.run(bound(edge, server))
                asyncio.run(passing(edge))
            finally:
                edge.stop()
    finally:
        server.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--readers", type=int, default=200)
    options = parser.parse_args()
    if options.readers > Nginx.connections - 50:
        parser.error(f"nginx allows {Nginx.connections} readers of one address")
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    without_keys(options.program, options.readers)
    with_keys(options.program, options.readers)
    for failure in failures:
        print(f"error: {failure}", file=sys.stderr)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
