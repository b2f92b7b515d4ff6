"""Section 2: requests that would stop the writes of everybody."""

import threading
import time

from client import head
from floods import Flood
from poison import batch, increment
from rows import row

MERGE_PATCH = {"Content-Type": "application/merge-patch+json"}


def members(letter, count, escaped=False):
    first = f"\\u{ord(letter):04x}" if escaped else letter
    return "{" + ",".join(f'"{first}{index:07d}":1' for index in range(count)) + "}"


def counted(size):
    """A value with a number and about `size` bytes of members."""
    return '{"n":0,' + members("k", size // 13)[1:]


def patch(scene, patch_text):
    scene.must("PUT", "/v1/a/records/c/m", members("k", 20_000))
    scene.settle()
    answer = scene.ask("PATCH", "/v1/a/records/c/m", patch_text, MERGE_PATCH)
    scene.state_answer(answer, 200, sent=len(patch_text))
    scene.state("took", answer.seconds * 1000, unit="ms")
    scene.state_waits()
    scene.state_runs()


@row("2", "merge patch of 281 KB into 281 KB")
def merge_patch(scene):
    patch(scene, members("j", 20_000))


@row("2", "the same with escapes in its names")
def merge_patch_with_escapes(scene):
    patch(scene, members("j", 20_000, escaped=True))


def together(work, count):
    """Runs `work`, which takes a number, on so many threads at once, and waits for all of them."""
    threads = [threading.Thread(target=work, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def increments(scene, count, value):
    scene.must("PUT", "/v1/a/records/c/n", value)
    scene.settle()
    body = batch("device", [increment(index + 1, "/n", "c/n") for index in range(count)])
    answer = scene.ask("POST", "/v1/a/writes", body)
    scene.state_answer(answer, 200, 413, sent=len(body))
    scene.state("took", answer.seconds * 1000, unit="ms")
    scene.state_waits()
    scene.state_runs()


@row("2", "40 increments over 4 MiB")
def increments_over_text(scene):
    increments(scene, 40, '{"n":0,"t":"' + "x" * (4 << 20) + '"}')


@row("2", "1,000 increments over 0.9 MB of members")
def increments_over_members(scene):
    increments(scene, 1_000, counted(900_000))


@row("2", "an increment of nothing, from a value of 8,000,000 elements")
def increment_of_nothing(scene):
    value = "[" + "1," * 7_999_999 + "1]"
    body = '{"client":"device","writes":[{"number":1,"op":"increment","key":"c/new","path":"/x","by":1,"value":' + value + "}]}"
    scene.settle()
    scene.state_answer(scene.ask("POST", "/v1/a/writes", body), 200, 413, sent=len(body))
    scene.state_waits()
    scene.state_runs()


@row("2", "1,000 writes of which each had another name and number before")
def origins(scene):
    for device in range(8):
        rejected = [{"number": number, "op": "delete", "key": f"c/{number}", "ifRevision": 9_999} for number in range(1, 1_001)]
        scene.must("POST", "/v1/a/writes", batch(f"old-{device}", rejected))
    scene.settle()
    writes = [
        {"number": number, "op": "delete", "key": "c/1", "nonce": number, "origin": {"client": f"old-{number % 8}", "number": number}}
        for number in range(1, 1_001)
    ]
    body = batch("device", writes)
    scene.state_answer(scene.ask("POST", "/v1/a/writes", body), 200, sent=len(body))
    scene.state_waits()
    scene.state_runs()


@row("2", "900 polls with prefixes of 450 lengths, and 1,000 writes of long ids")
def prefixes(scene):
    cursor = scene.must("PUT", "/v1/a/records/c/0", "0").fields["freshet-cursor"]

    def poll(index):
        collection = "&collection=c" if index % 2 else ""
        return head("GET", f"/v1/a/changes?since={cursor}&wait=60{collection}&prefix={'x' * (index // 2 + 1)}y")

    polls = Flood(scene.port, 900, poll)
    polls.run(5)
    scene.settle()
    writes = [{"number": number, "op": "put", "key": f"c/{'x' * 508}{number:04d}", "value": 1} for number in range(1, 1_001)]
    body = batch("device", writes)
    scene.state_answer(scene.ask("POST", "/v1/a/writes", body), 200, sent=len(body))
    scene.state_waits()
    polls.close()
    scene.state_runs()


@row("2", "990 polls with prefixes nested in one another, for 64 collections")
def nested_prefixes(scene):
    cursor = scene.must("PUT", "/v1/a/records/c00/0", "0").fields["freshet-cursor"]
    collections = "&".join(f"collection=c{index:02d}" for index in range(64))
    ids = ["a" * 509 + f"{index:03d}" for index in range(500)] + ["a" * length for length in range(508, 18, -1)]

    def poll(index):
        return head("GET", f"/v1/a/changes?since={cursor}&wait=60&{collections}&prefix={ids[index]}")

    polls = Flood(scene.port, len(ids), poll)
    # Each poll that begins to wait adds its prefix, and the write removes 490 of them at once.
    scene.settle()
    polls.run(5)
    time.sleep(0.5)
    answer = scene.ask("PUT", f"/v1/a/records/c00/{'a' * 512}", "1")
    scene.state_answer(answer, 200, 201)
    scene.state("took", answer.seconds * 1000, unit="ms")
    scene.state_waits()
    polls.close()
    scene.state_runs()


@row("2", "increments of 200 records of 0.9 MB in one batch", quick=False)
def increments_of_many(scene):
    value = counted(900_000)
    for index in range(200):
        scene.must("PUT", f"/v1/a/records/c/{index}", value)
    scene.settle()
    body = batch("device", [increment(index + 1, "/n", f"c/{index}") for index in range(200)])
    answer = scene.ask("POST", "/v1/a/writes", body)
    scene.state_answer(answer, 200, sent=len(body))
    scene.state_waits()
    scene.state_runs()


@row("2", "two clients send batches of 40 patches of 0.9 MB for 6 s", quick=False)
def batches_of_patches(scene):
    value = counted(900_000)
    for index in range(2):
        scene.must("PUT", f"/v1/a/records/c/{index}", value)
    end = time.monotonic() + 6
    statuses = set()

    def one(index):
        sent = 0
        # Unlike whole batches, which take a minute each, these end soon after the row.
        while time.monotonic() < end:
            writes = [{"number": sent + number, "op": "patch", "key": f"c/{index}", "value": {"n": 1}} for number in range(1, 41)]
            statuses.add(scene.ask("POST", "/v1/a/writes", batch(f"device-{index}", writes)).status)
            sent += 40

    scene.settle()
    together(one, 2)
    scene.state("statuses", " ".join(map(str, sorted(statuses))))
    scene.state_waits()
    scene.state_runs()


@row("2", "32 clients at once, each patches 0.9 MB")
def patches_at_once(scene):
    value = counted(900_000)
    for index in range(32):
        scene.must("PUT", f"/v1/a/records/c/{index}", value)
    scene.settle()
    statuses = set()

    def one(index):
        statuses.add(scene.ask("PATCH", f"/v1/a/records/c/{index}", '{"n":1}', MERGE_PATCH).status)

    together(one, 32)
    scene.state("statuses", " ".join(map(str, sorted(statuses))))
    scene.state_waits()
    scene.state_runs()
