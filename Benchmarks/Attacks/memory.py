"""Section 3: answers and memory that would have no bound."""

import json
import os
import threading
import time

from client import Answer, Connection, head
from floods import Flood
from poison import batch
from rows import MIB, row

# The memory, in MiB, that one attack may make the server keep: the server's budgets are 256 MiB of requests and 512 MiB
# of answers.
REQUESTS, ANSWERS = 512, 768
# The most bytes of an answer, in MiB: a page ends after 4 MiB of values.
PAGE = 8
OCTETS = {"Content-Type": "application/octet-stream"}


def text(size):
    return '"' + "x" * (size - 2) + '"'


def put(scene, key, size, namespace="a"):
    scene.must("PUT", f"/v1/{namespace}/records/{key}", text(size))


def state_page(scene, answer, sent, most=ANSWERS):
    scene.state_answer(answer, 200, 413, sent=sent)
    scene.state("answer", answer.size / MIB, most=PAGE, unit="MiB")
    scene.state_waits()
    scene.state_memory(most)
    scene.state_runs()


def reads(scene, keys):
    body = json.dumps({"keys": [{"key": key} for key in keys]})
    scene.settle()
    state_page(scene, scene.ask("POST", "/v1/a/reads", body), len(body))


@row("3", "reads: one key of 1 MiB 1,500 times")
def reads_of_one(scene):
    put(scene, "c/big", MIB)
    reads(scene, ["c/big"] * 1_500)


@row("3", "reads: 300 keys of 1 MiB", quick=False)
def reads_of_many(scene):
    for index in range(300):
        put(scene, f"c/{index}", MIB)
    reads(scene, [f"c/{index}" for index in range(300)])


def rejected(scene, records):
    for index in range(records):
        put(scene, f"c/{index}", MIB)
    writes = [
        {"number": index + 1, "op": "put", "key": f"c/{index % records}", "value": 1, "ifRevision": 9_999} for index in range(1_000)
    ]
    body = batch("device", writes)
    scene.settle()
    first = scene.ask("POST", "/v1/a/writes", body)
    again = scene.ask("POST", "/v1/a/writes", body)
    scene.state("repeat", again.size / MIB, most=PAGE, unit="MiB")
    state_page(scene, first, len(body))


@row("3", "1,000 rejected writes of one record of 1 MiB, and again")
def rejected_writes(scene):
    rejected(scene, 1)


@row("3", "1,000 rejected writes of 100 records of 1 MiB, and again", quick=False)
def rejected_writes_of_many(scene):
    rejected(scene, 100)


@row("3", "200 unfinished bodies of 16 MiB")
def unfinished_bodies(scene):
    scene.settle()
    flood = Flood(scene.port, 200, head("PUT", "/v1/a/records/c/1", 16 * MIB, OCTETS) + bytes(16 * MIB - 1))
    flood.run(6, until=lambda: scene.server.memory() > 2_500)
    scene.state("sent", flood.sent_bytes() / MIB, unit="MiB")
    scene.state_waits(health=True)
    scene.state_memory(REQUESTS)
    flood.close()
    scene.state_runs()


@row("3", "200 unfinished chunked bodies")
def unfinished_chunks(scene):
    fields = {**OCTETS, "Transfer-Encoding": "chunked"}
    chunks = b"10000\r\n" + bytes(65_536) + b"\r\n"
    scene.settle()
    flood = Flood(scene.port, 200, head("PUT", "/v1/a/records/c/1", None, fields) + chunks * 255)
    flood.run(6, until=lambda: scene.server.memory() > 2_500)
    scene.state("sent", flood.sent_bytes() / MIB, unit="MiB")
    scene.state_waits(health=True)
    scene.state_memory(REQUESTS)
    flood.close()
    scene.state_runs()


@row("3", "120 answers of 16 MiB that nobody reads")
def unread_answers(scene):
    scene.must("PUT", "/v1/a/records/c/big", bytes(16 * MIB), OCTETS)
    scene.settle()
    flood = Flood(scene.port, 120, head("GET", "/v1/a/records/c/big"))
    flood.run(5)
    time.sleep(3)
    scene.state_waits(health=True)
    scene.state_memory(ANSWERS)
    flood.close()
    scene.state_runs()


@row("3", "12 connections with 16 lists of 4 MiB each, unread")
def pipelined_lists(scene):
    for index in range(66):
        put(scene, f"c/{index}", 65_536)
    scene.settle()
    flood = Flood(scene.port, 12, head("GET", "/v1/a/records/c?limit=1000") * 16)
    flood.run(3)
    time.sleep(3)
    scene.state_waits(health=True)
    scene.state_memory(ANSWERS)
    flood.close()
    scene.state_runs()


@row("3", "recent changes: 100 namespaces with 8 MiB each", quick=False)
def recent_changes(scene):
    value = text(60_000)
    # Each is followed, so that the server has a reason to keep them.
    polls = Flood(scene.port, 100, b"")
    for index, one in enumerate(polls.sockets):
        one.setblocking(True)
        one.sendall(head("GET", f"/v1/n{index}/changes?since=now&wait=0"))
    scene.settle()
    for index in range(100):
        writes = ",".join(f'{{"number":{number},"op":"put","key":"c/{number}","value":{value}}}' for number in range(1, 141))
        scene.must("POST", f"/v1/n{index}/writes", f'{{"client":"device","writes":[{writes}]}}')
        scene.ask("GET", f"/v1/n{index}/changes?since=now")
    polls.close()
    scene.state_waits()
    scene.state_memory(ANSWERS)
    scene.state_runs()


@row("3", "500 polls with 420 collections each")
def collections_of_polls(scene):
    query = "&".join(f"collection=c{index:03d}" for index in range(420))
    began = scene.server.memory("VmRSS")
    answer = scene.ask("GET", f"/v1/a/changes?since=now&{query}")
    scene.state_answer(answer, 400, sent=len(query))
    # As many as are accepted.
    if answer.status == 400:
        query = "&".join(f"collection=c{index:03d}" for index in range(64))
    cursor = scene.ask("GET", "/v1/a/changes?since=now").fields.get("freshet-cursor", "now")
    flood = Flood(scene.port, 500, head("GET", f"/v1/a/changes?since={cursor}&wait=20&{query}"))
    flood.run(3)
    time.sleep(0.5)
    scene.state("each poll", max(0, scene.server.memory("VmRSS") - began) * 1024 / 500, most=32, unit="KiB")
    flood.close()
    scene.state_runs()


@row("3", "999 polls with different limits, and an atomic batch of 16 MiB")
def pages_of_limits(scene):
    wake(scene, lambda cursor, index: f"/v1/a/changes?since={cursor}&wait=60&limit={index + 2}")


@row("3", "999 polls with different turns of a shared cache, and an atomic batch of 16 MiB", options=("--edge", "*"))
def pages_of_turns(scene):
    wake(scene, lambda cursor, index: f"/v1/a/changes?since={cursor}.{index + 1}&wait=60")


def wake(scene, path):
    """Lets 999 polls wait, whose paths `path` makes of a cursor and a number, and wakes all by one atomic batch."""
    cursor = scene.must("PUT", "/v1/a/records/c/0", "0").fields["freshet-cursor"]
    polls = Flood(scene.port, 999, lambda index: head("GET", path(cursor, index)))
    polls.run(5)
    time.sleep(0.5)
    writes = [{"number": number, "op": "put", "key": f"c/{number}", "value": "x" * (63 << 10)} for number in range(1, 256)]
    body = batch("device", writes, atomic=True)
    scene.settle()
    scene.state_answer(scene.ask("POST", "/v1/a/writes", body), 200, sent=len(body))
    time.sleep(0.5)
    scene.state_waits()
    scene.state_memory(ANSWERS)
    polls.close()
    scene.state_runs()


@row("3", "polls that name other collections each time", quick=False)
def groups_of_the_past(scene):
    def poll(index):
        names = "&".join(f"collection={os.urandom(12).hex()}" for _ in range(63))
        return head("GET", f"/v1/a/changes?since={cursor}&wait=60&collection=hot&{names}")

    cursor = scene.must("PUT", "/v1/a/records/hot/1", "0").fields["freshet-cursor"]
    began = scene.server.memory("VmRSS")
    scene.settle()
    for turn in range(16):
        payloads = [poll(index) for index in range(500)]
        polls = Flood(scene.port, 500, payloads.__getitem__)
        polls.run(5)
        time.sleep(0.2)
        cursor = scene.must("PUT", "/v1/a/records/hot/1", str(turn)).fields["freshet-cursor"]
        polls.close()
    scene.state_waits()
    scene.state("kept for 8,000 polls", max(0, scene.server.memory("VmRSS") - began), most=96, unit="MiB")
    scene.state_runs()


@row("3", "a sweep with a prefix of 1 MiB, and one with NUL")
def sweep_prefix(scene):
    body = json.dumps({"collection": "c", "prefix": "x" * MIB})
    scene.state_answer(scene.ask("POST", "/v1/a/invalidations", body), 400, sent=len(body))
    scene.state("with NUL", scene.ask("POST", "/v1/a/invalidations", '{"collection":"c","prefix":"a\\u0000b"}').status, is_any=(400,))


@row("3", "outcomes of 1,000 clients that the namespace's size does not show", needs_key=True)
def unseen_outcomes(scene):
    name = "k" * 2_000
    sent = 0
    for client in range(20):
        body = batch(f"device{client}", [
            {"number": number, "op": "patch", "key": f"c/{name[:500]}{number}", "value": 1} for number in range(1, 1_001)
        ])
        sent += len(body)
        scene.must("POST", "/v1/a/writes", body)
    status = json.loads(scene.ask("GET", "/v1/a", None, scene.operator).body)
    files = sum(os.path.getsize(os.path.join(scene.server.data, name)) for name in os.listdir(scene.server.data))
    scene.state("sent", sent / 1024, unit="KiB")
    scene.state("on disk", files / 1024, most=3 * sent // 1024, unit="KiB")
    shown = sorted(name for name, value in status.items() if isinstance(value, int) and value >= 20 and name not in ("head", "bytes"))
    scene.state("shown by", " ".join(shown) or "nothing")
    scene.state("shows clients", str("clients" in status), is_any=("True",))
    metrics = scene.ask("GET", "/metrics", None, scene.operator).body.decode()
    scene.state("metrics show outcomes", str("outcomes" in metrics or "clients" in metrics), is_any=("True",))


@row("3", "15 MiB of keys in one reading")
def many_keys(scene):
    for path in ("reads", "invalidations"):
        key = '{"key":"c/1"}' if path == "reads" else '"c/1"'
        body = '{"keys":[' + ",".join([key] * (15 * MIB // (len(key) + 1))) + "]}"
        scene.settle()
        scene.state_answer(scene.ask("POST", f"/v1/a/{path}", body), 413, sent=len(body))
        scene.state_waits()
    scene.state_memory(160)


@row("3", "problems that repeat 1 MiB of input")
def long_texts(scene):
    long = "x" * MIB
    attacks = {
        "key": ("POST", "/v1/a/reads", json.dumps({"keys": [{"key": "c/" + long}]})),
        "client": ("POST", "/v1/a/writes", json.dumps({"client": long, "writes": []})),
        "op": ("POST", "/v1/a/writes", json.dumps({"client": "d", "writes": [{"number": 1, "op": long, "key": "c/1"}]})),
        "collection": ("POST", "/v1/a/invalidations", json.dumps({"collection": long})),
        "number": ("POST", "/v1/a/writes", '{"client":"d","writes":[{"number":' + "9" * MIB + "}]}"),
        "path": ("GET", "/v1/a/" + "x" * 8_000, None),
        "parameter": ("GET", "/v1/a/records/c?limit=" + "9" * 8_000, None),
    }
    for name, (method, path, body) in attacks.items():
        answer = scene.ask(method, path, body)
        scene.state(name, answer.size, most=1_024, unit="bytes")
        if answer.status not in (400, 404, 413, 414):
            scene.state("status of " + name, answer.status or answer.error, is_any=(400, 404, 413, 414))
    scene.state_runs()


def is_open(port, peer):
    """Whether the server on a port still has the connection to the peer's port."""
    with open("/proc/net/tcp") as table:
        for line in list(table)[1:]:
            local, remote, state = line.split()[1:4]
            if int(local.split(":")[1], 16) == port and int(remote.split(":")[1], 16) == peer:
                return state == "01"
    return False


class SlowOnes:
    """What takes longer than a minute: it runs beside the other rows, on a separate server, and is collected at the end."""

    def __init__(self, scene):
        self.scene = scene
        self.threads = []
        self.found = {}
        scene.must("PUT", "/v1/a/records/c/big", bytes(16 * MIB), OCTETS)
        for attack in (self.read_slowly, self.send_slowly, self.send_steadily):
            thread = threading.Thread(target=attack, daemon=True)
            thread.start()
            self.threads.append(thread)

    def trickle(self, flood, act, seconds):
        """How long a connection at 400 bytes a second lives."""
        began = time.monotonic()
        while time.monotonic() - began < seconds:
            try:
                act(flood.sockets[0])
            except BlockingIOError:
                pass
            except OSError:
                break
            time.sleep(0.5)
        flood.close()
        return time.monotonic() - began

    def read_slowly(self):
        def act(one):
            # The bytes that the kernel has accepted can be read for long after the server has closed.
            if not one.recv(200) or not is_open(self.scene.port, one.getsockname()[1]):
                raise ConnectionResetError

        flood = Flood(self.scene.port, 1, head("GET", "/v1/a/records/c/big"))
        flood.run(2)
        self.found["an answer of 16 MiB taken at 400 B/s is kept"] = (self.trickle(flood, act, 90), 75, "s")

    def send_slowly(self):
        def act(one):
            one.send(bytes(200))
            try:
                one.recv(1)
                raise ConnectionResetError
            except BlockingIOError:
                pass

        flood = Flood(self.scene.port, 1, head("PUT", "/v1/a/records/c/slow", 16 * MIB, OCTETS) + bytes(MIB))
        flood.run(2)
        # The first MiB allows a pause of 30 s, and the bytes that arrive in it 12 s and less at each check.
        self.found["a body sent at 400 B/s is kept"] = (self.trickle(flood, act, 90), 82, "s")

    def send_steadily(self):
        """An honest device on a thin line: 64 KiB a second for 40 seconds."""
        answer = Answer()
        try:
            connection = Connection(self.scene.port)
            connection.send(head("PUT", "/v1/a/records/c/steady", 40 * 65_536, OCTETS))
            for _ in range(40):
                connection.send(bytes(65_536))
                time.sleep(1)
            connection.receive(answer)
        except OSError as error:
            answer.error = type(error).__name__
        self.found["a body sent at 64 KiB/s for 40 s: status"] = (answer.status or answer.error, (200, 201), "")

    def collect(self):
        for thread in self.threads:
            thread.join(120)
        for name, (value, wanted, unit) in sorted(self.found.items()):
            if isinstance(wanted, tuple):
                self.scene.state(name, value, is_any=wanted)
            else:
                self.scene.state(name, value, most=wanted, unit=unit)
        return self.scene.figures
