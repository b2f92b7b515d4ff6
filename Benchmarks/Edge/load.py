"""How long changes take to reach many readers through a shared cache, and how many requests the servers get for them.

    load.py PROGRAM FANOUT [--readers N] [--changes N] [--store URI]

FANOUT is `fanout.c`, built: it opens the connections of the readers and times each change. The readers wait directly at the
server, and then through Varnish and nginx with the files in docker/. With --store, two servers share a PostgreSQL
database, Varnish asks both in turn, and the changes are written to one of them.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Attacks"))

import metrics  # noqa: E402
from edges import Nginx, Varnish  # noqa: E402
from server import Server  # noqa: E402

BODY = '{"n":{I},"pad":"' + "0123456789" * 10 + '"}'
FIELDS = r" HTTP/1.1\nHost: 127.0.0.1\nUser-Agent: device-{S}\nAccept: application/json\n\n"


class UnboundedNginx(Nginx):
    """All readers have four addresses."""

    connections = 65_535


def measure(name, options, ports, port, pids):
    request = urllib.request.Request(f"http://127.0.0.1:{ports[0]}/v1/fan/records/c/0", b"1", {"Content-Type": "application/json"}, method="PUT")
    cursor = urllib.request.urlopen(request).headers["Freshet-Cursor"]
    before = sum(map(metrics.feed_responses, ports))
    load = subprocess.run(
        [
            options.fanout, "--port", str(port), "--pub-port", str(ports[0]), "--pid", ",".join(map(str, pids)), "-n", str(options.readers),
            "-m", str(options.changes), "--srcips", "4", "--gap", str(options.gap), "--mode", "cursor", "--cursor-header", "Freshet-Cursor",
            "--cursor-init", cursor, "--body", BODY,
            "--pub", r"PUT /v1/fan/records/c/1 HTTP/1.1\nHost: 127.0.0.1\nContent-Type: application/json\nContent-Length: {L}\n\n{B}",
            "--sub", "GET /v1/fan/changes?since={C}&wait=60&limit=1000" + FIELDS,
        ], capture_output=True, text=True)
    if load.returncode != 0:
        raise SystemExit(f"error: {name}: {load.stderr.strip() or load.stdout.strip()}")
    text = load.stdout
    found = {key: re.search(rf"{re.escape(key)}=([0-9.]+)", text) for key in ("p50", "p99", "last-subscriber median", "lost", "idle-rss")}
    figures = {key: float(match.group(1)) for key, match in found.items() if match}
    figures["processor µs"] = float(re.search(r"server-cpu=([0-9.]+)us", text).group(1))
    # Three changes before the first that is timed.
    figures["requests for a change"] = round((sum(map(metrics.feed_responses, ports)) - before) / (options.changes + 3), 2)
    print(f"{name:<10} " + "  ".join(f"{key} {value:g}" for key, value in figures.items()), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("fanout")
    parser.add_argument("--readers", type=int, default=9_000)
    parser.add_argument("--changes", type=int, default=20)
    parser.add_argument("--gap", type=int, default=200, help="milliseconds from one change to the next")
    parser.add_argument("--store")
    options = parser.parse_args()
    shared = ["--connections-per-address", "100000"]
    start = lambda edge: Server(options.program, edge + shared, store=options.store)
    for edge in (None, Varnish, UnboundedNginx):
        if options.store and edge is UnboundedNginx:
            continue
        arguments = ["--edge", "*"] if edge else []
        servers = [start(arguments) for _ in range(2 if options.store else 1)]
        ports = [server.port for server in servers]
        proxy = edge(*ports) if edge else None
        try:
            measure(
                edge.name if edge else "direct", options, ports, proxy.port if proxy else ports[-1],
                [server.pid for server in servers] + (proxy.processes() if proxy else []))
        finally:
            if proxy:
                proxy.stop()
            for server in servers:
                server.stop()


if __name__ == "__main__":
    main()
