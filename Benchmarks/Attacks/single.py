"""No single request of at most 16 MiB holds up another client's write: the worst of each kind that we know."""

import json

from memory import OCTETS, text
from poison import batch, increment
from rows import MIB, row
from writers import MERGE_PATCH, counted, members

MOST = 16 * MIB


def attack(scene, method, path, body=None, fields=None):
    size = len(body) if body else 0
    assert size <= MOST, size
    scene.settle()
    answer = scene.ask(method, path, body, fields, keep=1_000)
    scene.state("status", answer.status or answer.error)
    scene.state("sent", size / MIB, unit="MiB")
    scene.state("answer", answer.size / MIB, unit="MiB")
    scene.state("took", answer.seconds * 1000, unit="ms")
    scene.state_waits(health=True)
    scene.state("memory", scene.server.memory(), unit="MiB")
    scene.state_runs()


def put_row(title, body, fields=None, quick=False):
    """A `PUT` of what `body` makes, and another over it."""

    @row("single", "PUT of 16 MiB: " + title, quick)
    def put(scene):
        scene.ask("PUT", "/v1/a/records/c/1", body(), fields)
        attack(scene, "PUT", "/v1/a/records/c/1", body(), fields)


def filled(part, opening="[", closing="]"):
    return opening + ",".join([part] * ((MOST - 2) // (len(part) + 1))) + closing


put_row("bytes", lambda: bytes(MOST), OCTETS)
put_row("an array of digits", lambda: filled("1"), quick=True)
put_row("a string of escapes", lambda: '"' + "\\u00e9" * ((MOST - 2) // 6) + '"', quick=True)
put_row("one number", lambda: "9" * MOST)
put_row("numbers with exponents", lambda: filled("1.234567890123456789e-300"))
put_row("a wide object", lambda: members("k", (MOST - 2) // 13), quick=True)
put_row("members of one length that differ at the end", lambda: "{" + ",".join(f'"{index:>060d}":1' for index in range(255_000)) + "}")
put_row("arrays in arrays", lambda: filled("[" * 250 + "]" * 250))
put_row("objects in objects", lambda: filled('{"a":' * 250 + "1" + "}" * 250))
put_row("empty objects", lambda: filled("{}"))


@row("single", "PUT over 16 MiB, then DELETE")
def delete_large(scene):
    scene.must("PUT", "/v1/a/records/c/1", bytes(MOST), OCTETS)
    attack(scene, "DELETE", "/v1/a/records/c/1")


@row("single", "batch of 1,000 puts, 16 MiB")
def batch_of_puts(scene):
    value = "x" * 16_000
    writes = [{"number": index + 1, "op": "put", "key": f"c/{index}", "value": value} for index in range(1_000)]
    attack(scene, "POST", "/v1/a/writes", batch("device", writes))


@row("single", "atomic batch of 1,000 puts, the last one rejected", quick=False)
def batch_that_fails(scene):
    value = "x" * 16_000
    writes = [{"number": index + 1, "op": "put", "key": f"c/{index}", "value": value} for index in range(999)]
    writes.append({"number": 1_000, "op": "put", "key": "c/0", "value": 1, "ifRevision": 99})
    attack(scene, "POST", "/v1/a/writes", batch("device", writes, atomic=True))


@row("single", "batch of 40 puts of 400 KB", quick=False)
def batch_of_large_puts(scene):
    value = "x" * 400_000
    writes = [{"number": index + 1, "op": "put", "key": f"c/{index}", "value": value} for index in range(40)]
    attack(scene, "POST", "/v1/a/writes", batch("device", writes))


@row("single", "batch of 1,000 increments of records of 16 KB")
def batch_of_increments(scene):
    value = counted(16_000)
    for first in range(0, 1_000, 500):
        writes = ",".join(f'{{"number":{index + 1},"op":"put","key":"c/{first + index}","value":{value}}}' for index in range(500))
        scene.must("POST", "/v1/a/writes", f'{{"client":"fill{first}","writes":[{writes}]}}')
    attack(scene, "POST", "/v1/a/writes", batch("device", [increment(index + 1, "/n", f"c/{index}") for index in range(1_000)]))


@row("single", "atomic batch of 1,000 increments of 0.9 MB")
def atomic_increments(scene):
    scene.must("PUT", "/v1/a/records/c/n", counted(900_000))
    writes = [increment(index + 1, f"/k{index:07d}", "c/n") for index in range(1_000)]
    attack(scene, "POST", "/v1/a/writes", batch("device", writes, atomic=True))


@row("single", "batch of 1,000 patches of 0.9 MB, one by one")
def batch_of_patches(scene):
    scene.must("PUT", "/v1/a/records/c/n", counted(900_000))
    writes = [{"number": index + 1, "op": "patch", "key": "c/n", "value": {"n": index}} for index in range(1_000)]
    attack(scene, "POST", "/v1/a/writes", batch("device", writes))


@row("single", "patch of 1 MiB into 1 MiB")
def large_patch(scene):
    scene.must("PUT", "/v1/a/records/c/m", members("k", 80_000))
    attack(scene, "PATCH", "/v1/a/records/c/m", '{"a":' + members("j", 500) + "," + members("k", 79_000)[1:], MERGE_PATCH)


@row("single", "reading of 10,000 keys that are there")
def large_reading(scene):
    for first in range(0, 10_000, 1_000):
        writes = [{"number": index + 1, "op": "put", "key": f"c/{first + index}", "value": "x" * 400} for index in range(1_000)]
        scene.must("POST", "/v1/a/writes", batch(f"fill{first}", writes))
    attack(scene, "POST", "/v1/a/reads", json.dumps({"keys": [{"key": f"c/{index}"} for index in range(10_000)]}))


@row("single", "reading of 10,000 keys of 512 bytes that are not there")
def reading_of_nothing(scene):
    attack(scene, "POST", "/v1/a/reads", json.dumps({"keys": [{"key": f"c/{index:0512d}"} for index in range(10_000)]}))


@row("single", "invalidation of 10,000 keys of 512 bytes")
def large_invalidation(scene):
    attack(scene, "POST", "/v1/a/invalidations", json.dumps({"keys": [f"c/{index:0512d}" for index in range(10_000)]}))


@row("single", "list of 1,000 records, 4 MiB")
def large_list(scene):
    for first in range(0, 1_000, 500):
        writes = [{"number": index + 1, "op": "put", "key": f"c/{first + index}", "value": "x" * 4_000} for index in range(500)]
        scene.must("POST", "/v1/a/writes", batch(f"fill{first}", writes))
    attack(scene, "GET", "/v1/a/records/c?limit=1000")


def fill_namespace(scene, batches, size):
    for first in range(batches):
        value = "x" * size
        writes = [{"number": index + 1, "op": "put", "key": f"c/{first}-{index}", "value": value} for index in range(1_000)]
        scene.must("POST", "/v1/a/writes", batch(f"fill{first}", writes))


@row("single", "everything of a namespace of 20,000 records invalidated", quick=False)
def sweep(scene):
    fill_namespace(scene, 20, 100)
    attack(scene, "POST", "/v1/a/invalidations", '{"all":true}')


@row("single", "deletion of a namespace of 50,000 records", quick=False)
def delete_namespace(scene):
    fill_namespace(scene, 50, 100)
    attack(scene, "DELETE", "/v1/a")


@row("single", "deletion of a namespace of 512 MiB", quick=False)
def delete_large_namespace(scene):
    for index in range(128):
        scene.must("PUT", f"/v1/a/records/c/{index}", text(4 * MIB))
    attack(scene, "DELETE", "/v1/a")


@row("single", "deletion of a namespace of 5,000 records")
def delete_small_namespace(scene):
    fill_namespace(scene, 5, 1_000)
    attack(scene, "DELETE", "/v1/a")


@row("single", "16 MiB of opening brackets in place of a batch")
def deep_batch(scene):
    attack(scene, "POST", "/v1/a/writes", "[" * MOST)


def fill_with_large(scene, count):
    for index in range(count):
        scene.must("PUT", f"/v1/a/records/c/{index}", bytes(MOST), OCTETS)


@row("single", "batch of 64 deletes of records of 16 MiB", quick=False)
def batch_of_deletes(scene):
    fill_with_large(scene, 64)
    writes = [{"number": index + 1, "op": "delete", "key": f"c/{index}"} for index in range(64)]
    attack(scene, "POST", "/v1/a/writes", batch("device", writes))


@row("single", "batch of 64 small puts over records of 16 MiB", quick=False)
def batch_over_large_records(scene):
    fill_with_large(scene, 64)
    writes = [{"number": index + 1, "op": "put", "key": f"c/{index}", "value": 1} for index in range(64)]
    attack(scene, "POST", "/v1/a/writes", batch("device", writes))
