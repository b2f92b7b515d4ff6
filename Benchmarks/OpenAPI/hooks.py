"""What an OpenAPI document cannot say, done to the requests that schemathesis makes of ours."""

import schemathesis


def is_number(value):
    """Whether a value can be a write's number: 7.0 is a whole number too."""
    return not isinstance(value, bool) and isinstance(value, (int, float)) and value == int(value) and value > 0


def is_batch(body):
    """Whether a body has several writes with a number each."""
    writes = body.get("writes") if isinstance(body, dict) else None
    return isinstance(writes, list) and len(writes) > 1 and all(
        isinstance(write, dict) and is_number(write.get("number")) for write in writes
    )


def writes_with_two_bounds(body):
    """The writes of a body that state a lower and an upper bound, as increments may."""
    writes = body.get("writes") if isinstance(body, dict) else None
    for write in writes if isinstance(writes, list) else []:
        if isinstance(write, dict) and all(isinstance(write.get(name), (int, float)) for name in ("min", "max")):
            yield write


@schemathesis.hook
def before_call(context, case, **_):
    query = case.query if isinstance(case.query, dict) else {}
    if case.path.endswith("/changes"):
        # A poll waits for 25 seconds by default, and a client that is named may not wait at all.
        if str(query.get("wait", "1")) in map(str, range(1, 61)):
            case.query = {**query, "wait": "0"}
    if case.headers and ("Freshet-Client" in case.headers) != ("Freshet-Write" in case.headers):
        # The two go together.
        for name in ("Freshet-Client", "Freshet-Write"):
            case.headers.pop(name, None)
    if case.path.endswith("/writes"):
        # The lower bound of an increment is not above the upper one.
        for write in writes_with_two_bounds(case.body):
            write["min"], write["max"] = sorted((write["min"], write["max"]))
        if is_batch(case.body):
            # The numbers of a batch follow each other.
            first = min(int(case.body["writes"][0]["number"]), 2**53 - 1 - len(case.body["writes"]))
            for index, write in enumerate(case.body["writes"]):
                write["number"] = first + index
