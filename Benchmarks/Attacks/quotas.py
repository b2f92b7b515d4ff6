"""Section 4: one principal floods each of its quotas, and the delay of another principal's writes meanwhile."""

import json
import multiprocessing
import os
import time

from client import Connection
from rows import row
from server import Server
from tokens import AUDIENCE, ISSUER, SECRET, token

SECONDS = 4
# How many times its delay without the flood another principal's may be, at the 99th percentile.
FACTOR = 2
CONNECTIONS = 8


def field(subject): return {"Authorization": f"Bearer {token(subject)}"}


# The requests of each flood: what they use up is the quota of the same name.
def requests(index): return "GET", "/v1/a/records/c/1", None
def writes(index): return "PUT", f"/v1/a/records/c/flood{index % 100}", str(index)
def upload(index): return "PUT", "/v1/a/records/c/large", json.dumps("x" * 200_000)
def waits(index): return "GET", f"/v1/a/changes?since=now&wait=20&collection=c{index}", None


FLOODS = [("requests", requests), ("writes", writes), ("bytes", upload), ("waits", waits)]


def flooding(port, make, subject, source, until, answers):
    """Sends on several connections, each its next request when the last was answered; no pause after a refusal. Niceness, since the attacker
    of a real server has a machine to itself."""
    os.nice(10)
    fields, connections, index = field(subject), [], 0
    while time.time() < until:
        if len(connections) < CONNECTIONS * (16 if make is waits else 1):
            connections.append(Connection(port, source))
            connections[-1].socket.settimeout(0.001 if make is waits else 5)
        one = connections[index % len(connections)]
        index += 1
        answer = one.exchange(*make(index), fields)
        answers[1 if answer.status == 429 else 0] += 1
        if not answer.status and answer.error != "TimeoutError":
            one.close()
            connections.remove(one)


def delays(connection, seconds):
    """The milliseconds of each of a well-behaved client's writes for so long, in order."""
    fields, found, end = field("other"), [], time.monotonic() + seconds
    while time.monotonic() < end:
        answer = connection.exchange("PUT", "/v1/a/records/c/1", "1", fields)
        if answer.status not in (200, 201):
            raise RuntimeError(f"a write of the other principal got {answer.status or answer.error}: {answer.body[:200]!r}")
        found.append(answer.seconds * 1000)
        # Within its own quota of 100 writes a second.
        time.sleep(0.012)
    return sorted(found)


def p99(found): return found[len(found) * 99 // 100]


@row("4", "a principal beyond each of its quotas", quick=False)
def quotas(scene):
    secret = os.path.join(scene.server.folder, "secret")
    with open(secret, "wb") as file:
        file.write(SECRET)
    config = {
        "listen": [{"address": "127.0.0.1:0"}],
        "issuers": [{"issuer": ISSUER, "audience": AUDIENCE, "keys": {"secret": secret, "algorithms": ["HS256"]}}],
        "roles": {"device": [{"ns": "a", "in": ["*"], "may": ["read", "write", "create"]}]},
        "quotas": {"principal": {"requests": "200/s", "writes": "100/s", "bytes": "1MiB/s", "waits": 16}},
    }
    server = Server(scene.program, config=config)
    context = multiprocessing.get_context("spawn")
    try:
        connection = Connection(server.port, "127.0.0.9")
        delays(connection, 1)
        for index, (name, make) in enumerate(FLOODS):
            quiet = p99(delays(connection, SECONDS))
            answers, until = context.Array("q", 2), time.time() + SECONDS + 1
            attacker = context.Process(target=flooding, args=(server.port, make, f"flood-{name}", f"127.0.5.{index + 1}", until, answers))
            attacker.start()
            time.sleep(1)
            flooded = p99(delays(connection, SECONDS - 0.5))
            attacker.join()
            scene.state(f"{name}: answered", answers[0])
            # A flood that is never refused was none, and its figures would show nothing.
            scene.state("refused", answers[1], least=1)
            scene.state("p99 of another's writes without it", quiet, unit="ms")
            scene.state("with it", flooded, most=round(FACTOR * quiet, 1), unit="ms", timed=True)
        scene.state("server", "runs" if server.runs() else "ended", is_any=("runs",))
    finally:
        server.stop()
