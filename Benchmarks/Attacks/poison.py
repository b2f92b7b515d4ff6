"""Section 1: requests that would end the process, or leave something stored that nobody can read."""

import json

from rows import row


def increment(number, path, key="c/deep", by=1):
    return {"number": number, "op": "increment", "key": key, "path": path, "by": by}


def batch(client, writes, **members):
    return json.dumps({"client": client, "writes": writes, **members})


def depth_of(body):
    """The deepest level of brackets, without a reader that could refuse them."""
    level = most = 0
    for byte in body:
        if byte in b"[{":
            level += 1
            most = max(most, level)
        elif byte in b"]}":
            level -= 1
    return most


@row("1", "increment with a pointer of 30,000 steps")
def deep_pointer(scene):
    body = batch("device", [increment(1, "/a" * 30_000)])
    answer = scene.ask("POST", "/v1/a/writes", body)
    scene.state_answer(answer, 400, sent=len(body))
    scene.state_runs()


@row("1", "levels made by increments, 300 in all")
def levels_by_increments(scene):
    answer = scene.ask("POST", "/v1/a/writes", batch("one", [increment(1, "/a" * 300)]))
    if answer.status == 400:
        # A pointer of 128 steps is accepted, so the levels are made above a value that has many already.
        value = '{"a":' * 199 + "{}" + "}" * 199
        scene.must("PUT", "/v1/a/records/c/deep", value)
        scene.ask("PATCH", "/v1/a/records/c/deep", '{"a":' * 127 + "{}" + "}" * 127, {"Content-Type": "application/merge-patch+json"})
        scene.ask("POST", "/v1/a/writes", batch("one", [increment(1, "/a" * 128), increment(2, "/a" * 127 + "/b")]))
    listed = scene.ask("GET", "/v1/a/records/c")
    scene.state_answer(listed, 200)
    # The record object and the page add three levels.
    scene.state("levels of a listed value", max(0, depth_of(listed.body) - 3), most=256)
    scene.state_runs()


@row("1", "a lone surrogate in a value")
def lone_surrogate(scene):
    scene.state_answer(scene.ask("PUT", "/v1/a/records/c/1", '"\\ud800"'), 400)


@row("1", "a member twice in a write")
def duplicate_member(scene):
    body = '{"client":"device","writes":[{"number":1,"op":"put","key":"c/a","key":"c/b","value":1}]}'
    scene.state_answer(scene.ask("POST", "/v1/a/writes", body), 400, sent=len(body))


@row("1", "a member twice in a value, one of them escaped")
def duplicate_escaped_member(scene):
    scene.state_answer(scene.ask("PUT", "/v1/a/records/c/1", '{"a":1,"\\u0061":2}'), 400)
