"""Section 4: one of ten principals with 5,000 polls and 500 streams is revoked: how soon its own waits end, and that no other one does."""

import json
import os
import selectors
import subprocess
import time

from client import Answer, Connection, head
from rows import row
from server import UNUSED_ADDRESS, Server

PRINCIPALS, POLLS, STREAMS = 10, 500, 50
# The most milliseconds from the request for the revocation until the last wait of the principal has ended.
WITHIN = 100


class Wait:
    """A connection with one request that waits."""

    def __init__(self, port, source, key, cursor, is_stream, number):
        self.socket = Connection(port, source).socket
        self.received, self.ended = b"", None
        fields = {"Authorization": f"Bearer {key}", "User-Agent": f"device-{number}"}
        if is_stream:
            fields["Accept"] = "text/event-stream"
        self.socket.sendall(head("GET", f"/v1/a/changes?since={cursor}" + ("" if is_stream else "&wait=60"), None, fields))
        self.socket.setblocking(False)
        self.is_stream = is_stream

    def read(self):
        """Takes what has arrived. A poll ends with its response, a stream with its connection or its last chunk."""
        try:
            while data := self.socket.recv(65_536):
                self.received += data
                if not self.is_stream or self.received.endswith(b"0\r\n\r\n"):
                    self.ended = self.ended or time.monotonic()
            self.ended = self.ended or time.monotonic()
        except BlockingIOError:
            pass


def read_until(selector, seconds, is_done):
    """Reads from all connections until the condition holds, or the time has passed."""
    end = time.monotonic() + seconds
    while not is_done() and (left := end - time.monotonic()) > 0:
        for key, _ in selector.select(min(left, 0.05)):
            key.data.read()
            if key.data.ended:
                selector.unregister(key.fileobj)


def waiting(connection, operator):
    text = connection.exchange("GET", "/metrics", None, operator).body.decode()
    return int(next(line.split()[1] for line in text.splitlines() if line.startswith("freshet_feed_waiters ")))


@row("4", "one of ten principals with 5,000 polls and 500 streams is revoked", quick=False)
def revocations(scene):
    secret = os.path.join(scene.server.folder, "operator.key")

    def prepare(data):
        subprocess.run(
            [scene.program, "key", "create", "--data", data, "--name", "operator", "--admin", "--out", secret], check=True,
            stdout=subprocess.DEVNULL)
        return ["--require-keys", "--trusted-proxy", UNUSED_ADDRESS]

    server = Server(scene.program, prepare)
    try:
        revoke(scene, server, open(secret, encoding="utf-8").read().strip())
        scene.state("server", "runs" if server.runs() else "ended", is_any=("runs",))
    finally:
        server.stop()


def revoke(scene, server, operator):
    control, fields = Connection(server.port), {"Authorization": f"Bearer {operator}"}

    def must(method, path, body=None):
        answer = control.exchange(method, path, body and json.dumps(body), fields)
        if answer.status not in (200, 201):
            raise RuntimeError(f"{method} {path} got {answer.status or answer.error}: {answer.body[:200]!r}")
        return answer

    cursor = must("PUT", "/v1/a/records/c/1", 1).fields["freshet-cursor"]
    grant = [{"ns": "a", "in": ["*"], "may": ["read"]}]
    keys = [json.loads(must("POST", "/admin/keys", {"name": f"p{number}", "allow": grant}).body) for number in range(PRINCIPALS)]
    selector, waits = selectors.DefaultSelector(), []
    for number, key in enumerate(keys):
        waits.append([
            Wait(server.port, f"127.0.6.{number + 1}", key["key"], cursor, index >= POLLS, index) for index in range(POLLS + STREAMS)])
        for wait in waits[-1]:
            selector.register(wait.socket, selectors.EVENT_READ, wait)
    own, others = waits[0], [wait for other in waits[1:] for wait in other]
    # The beginning of each stream is read here.
    read_until(selector, 60, lambda: waiting(control, fields) == PRINCIPALS * (POLLS + STREAMS))
    scene.state("waiting", waiting(control, fields))
    # When
    begin = time.monotonic()
    control.send(head("DELETE", "/admin/keys/" + keys[0]["stored"]["id"], None, fields))
    read_until(selector, 5, lambda: all(wait.ended for wait in own))
    last = max((wait.ended or begin + 5 for wait in own)) - begin
    answer = Answer()
    control.receive(answer)
    scene.state("revocation", answer.status, is_any=(200,))
    scene.state("its own waits that have ended", sum(1 for wait in own if wait.ended), is_any=(len(own),))
    scene.state("the last one after", last * 1000, most=WITHIN, unit="ms", timed=True)
    scene.state("waits of others that have ended", sum(1 for wait in others if wait.ended), most=0)
    # Then a change reaches the others, and the revoked ones got no byte of it
    must("PUT", "/v1/a/records/c/secret", 2)
    read_until(selector, 20, lambda: all(b"secret" in wait.received for wait in others))
    scene.state("others with the next change", sum(1 for wait in others if b"secret" in wait.received), is_any=(len(others),))
    scene.state("revoked ones with it", sum(1 for wait in own if b"secret" in wait.received), most=0)
