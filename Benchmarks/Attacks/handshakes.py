"""Section 4: as many TLS handshakes as this machine makes, and the delay of a client that waits for changes over TLS."""

import json
import os
import re
import shutil
import ssl
import subprocess
import threading
import time

from client import Connection
from rows import row
from server import Server

# The fewest handshakes a second that are a flood, on a machine that does nothing else.
RATE = 1_000
# The most milliseconds that the flood may delay a change on its way to a waiter.
WAIT = 50
SECONDS = 8


class Follower(threading.Thread):
    """A client that polls over TLS, and notes when it gets each number."""

    def __init__(self, port, authority):
        super().__init__(daemon=True)
        context = ssl.create_default_context(cafile=authority)
        self.connection = Connection(port)
        self.connection.socket = context.wrap_socket(self.connection.socket, server_hostname="localhost")
        self.arrivals = {}
        self.start()

    def run(self):
        cursor = "now"
        while True:
            answer = self.connection.exchange("GET", f"/v1/a/changes?since={cursor}&wait=25")
            now = time.monotonic()
            if answer.status not in (200, 204):
                return
            cursor = answer.fields["freshet-cursor"]
            for change in json.loads(answer.body)["changes"] if answer.status == 200 else ():
                self.arrivals[change["value"]] = now


def delays(port, follower, first, seconds):
    """The milliseconds from each write to its arrival at the follower, for so long, in order."""
    writer, sent = Connection(port), {}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        number = first + len(sent)
        sent[number] = time.monotonic()
        if writer.exchange("PUT", "/v1/a/records/c/1", str(number)).status not in (200, 201):
            raise RuntimeError("a write was refused")
        time.sleep(0.02)
    last = max(sent)
    for _ in range(500):
        if last in follower.arrivals:
            break
        time.sleep(0.01)
    writer.close()
    # A change that another has replaced before the follower asked again is not delivered by itself.
    return sorted((follower.arrivals[number] - begin) * 1000 for number, begin in sent.items() if number in follower.arrivals)


@row("4", "a flood of TLS handshakes", quick=False)
def handshakes(scene):
    if shutil.which("openssl") is None:
        scene.state("skipped", "the program openssl is not in the PATH")
        return
    folder = scene.server.folder
    chain, key = os.path.join(folder, "chain.pem"), os.path.join(folder, "key.pem")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", chain], check=True, capture_output=True)
    config = {
        "listen": [{"address": "127.0.0.1:0"}, {"address": "127.0.0.1:0", "tls": {"certificate": chain, "key": key}}],
        "anonymous": [{"ns": "a", "in": ["*"], "may": ["read", "write", "create"]}],
        "quotas": {"address": {"unauthenticated": "100000/s"}},
    }
    server = Server(scene.program, config=config)
    try:
        follower = Follower(server.ports[1], chain)
        quiet = delays(server.ports[0], follower, 1, 3)
        processor = server.processor_seconds()
        floods = [
            subprocess.Popen(["openssl", "s_time", "-connect", f"127.0.0.1:{server.ports[1]}", "-new", "-time", str(SECONDS)],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            for _ in range(2)
        ]
        # The server of the scene and its client rest meanwhile as they can: their load is small.
        waits = delays(server.ports[0], follower, 1_000_000, SECONDS - 1)
        total = sum(int(re.search(r"(\d+) connections in \d+ real seconds", flood.communicate()[0])[1]) for flood in floods)
        scene.state("handshakes a second", total / SECONDS, least=RATE, timed=True)
        scene.state("processor time for one", 1e6 * (server.processor_seconds() - processor) / max(1, total), unit="µs")
        scene.state("changes", len(waits))
        scene.state("delay of a waiter without them", quiet[len(quiet) * 99 // 100], unit="ms, 99th percentile")
        scene.state("with them", waits[len(waits) * 99 // 100], unit="ms, 99th percentile")
        scene.state("at most", waits[-1], most=WAIT, unit="ms", timed=True)
        scene.state("server", "runs" if server.runs() else "ended", is_any=("runs",))
    finally:
        server.stop()
