"""A server over PostgreSQL beside what PostgreSQL does by itself, on loopback, fsync on, in turn.

    bench.py PROGRAM [--floor SOURCE] [--rounds N] [--seconds N] [--namespaces N]

Prints `name ours=… peer=… ratio=…` for each figure, the medians of the rounds. The ratio is the median of the rounds' ratios, so
that other load on the machine affects both sides of it. SOURCE is a program in C that upserts rows in groups under a locked row.
"""

import argparse
import contextlib
import http.client
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "Chaos"))
import cluster  # noqa: E402

SETTINGS = """
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 200
shared_buffers = 1GB
max_wal_size = 4GB
"""
# The namespaces and rows of the program in C, and the function that its other mode calls.
FLOOR_ROWS = """
INSERT INTO freshet.namespace(name, base) SELECT 'n' || i, 'e' FROM generate_series(1, 8) AS i;
INSERT INTO freshet.record(namespace, collection, id, revision, modified, value)
    SELECT n, 'c', 'k' || i, i, 0, convert_to(repeat('x', 100), 'UTF8') FROM generate_series(1, 8) AS n, generate_series(1, 10000) AS i;
CREATE FUNCTION freshet.fence(bigint, bigint, integer) RETURNS void LANGUAGE sql AS '';
ANALYZE;
"""
CONNECTIONS = 64


def output(*command, environment=None):
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | (environment or {}), check=False)
    if done.returncode != 0:
        raise SystemExit(f"error: {' '.join(command[:3])} … failed: {done.stderr.strip()}")
    return done.stdout


def found(pattern, text, what):
    match = re.search(pattern, text)
    if not match:
        raise SystemExit(f"error: {what} reported no figure: {text.strip()}")
    return float(match.group(1))


class Server:
    """A Freshet server, from its first line on standard output until `stop`."""

    def __init__(self, program, uri, folder, name):
        self.errors = os.path.join(folder, f"{name}.errors")
        with open(self.errors, "wb") as errors:
            self.process = subprocess.Popen([program, "serve", "--port", "0", "--store", uri], stdout=subprocess.PIPE, stderr=errors, text=True)
        line = self.process.stdout.readline()
        if not line.startswith("listening on "):
            with open(self.errors, encoding="utf-8") as errors:
                raise SystemExit(f"error: the server did not start: {errors.read().strip()}")
        self.url = line.split()[2]

    def stop(self):
        self.process.terminate()
        self.process.wait()

    def memory(self):
        """Resident, in MiB."""
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as status:
            return found(r"VmRSS:\s+(\d+)", status.read(), "the server's memory") / 1024


class Load:
    """Loads of wrk, of so many seconds each."""

    def __init__(self, seconds):
        self.seconds = seconds
        self.runs = 0

    def rate(self, kind, *urls, namespaces=1, first=0):
        """Requests a second, over all URLs at once. A request that is refused ends the benchmark."""
        processes = []
        for url in urls:
            self.runs += 1
            settings = {"KIND": kind, "NAMESPACES": str(namespaces), "FIRST": str(first), "RUN": f"c{self.runs}"}
            script = os.path.join(os.path.dirname(__file__), "load.lua")
            command = ["wrk", "-t1", f"-c{CONNECTIONS // len(urls)}", f"-d{self.seconds}s", "-s", script, url]
            processes.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | settings))
        texts = [process.communicate()[0] for process in processes]
        for text in texts:
            if "Non-2xx" in text:
                raise SystemExit(f"error: requests of the load '{kind}' were refused: {text.strip()}")
        return sum(found(r"Requests/sec:\s+([0-9.]+)", text, "wrk") for text in texts)


def way(writer, reader, seconds):
    """Milliseconds from the moment at which a PUT is sent until a poll that waits has its answer, one after the other: half, and 99 of 100."""
    put, poll = (http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc) for url in (writer, reader))
    poll.request("GET", "/v1/latency")
    response = poll.getresponse()
    response.read()
    cursor, times, end = response.getheader("Freshet-Cursor"), [], time.monotonic() + seconds
    while time.monotonic() < end:
        poll.request("GET", f"/v1/latency/changes?since={cursor}&wait=20")
        # The poll arrives at the server before the write is sent.
        time.sleep(0.002)
        begin = time.perf_counter()
        put.request("PUT", f"/v1/latency/records/a/{len(times) % 100}", str(len(times)), {"Content-Type": "application/json"})
        response = poll.getresponse()
        times.append(1000 * (time.perf_counter() - begin))
        response.read()
        cursor = response.getheader("Freshet-Cursor")
        put.getresponse().read()
    times.sort()
    return times[len(times) // 2], times[len(times) * 99 // 100]


def median(values):
    value = statistics.median(values)
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


class Figures:
    """The values of all rounds, by the figure's name."""

    def __init__(self):
        self.values = {}

    def add(self, name, ours, peer=None):
        self.values.setdefault(name, []).append((ours, peer))

    def lines(self):
        for name, rounds in self.values.items():
            line = f"{name} ours={median(ours for ours, _ in rounds)}"
            if all(peer for _, peer in rounds):
                line += f" peer={median(peer for _, peer in rounds)} ratio={median(ours / peer for ours, peer in rounds)}"
            yield line


class Bench:
    def __init__(self, options, folder, endings):
        self.options = options
        self.figures = Figures()
        self.load = Load(options.seconds)
        self.node = cluster.Node(folder, "postgresql")
        self.node.create(SETTINGS)
        endings.callback(self.node.stop)
        self.node.start()
        for database in ("bench", "floor", "store"):
            self.node.query(f"CREATE DATABASE {database}")
        self.connection = ["-h", "127.0.0.1", "-p", str(self.node.port), "-U", "postgres"]
        output("pgbench", *self.connection, "-i", "-s", "10", "-q", "bench")
        self.floor = self._floor(folder) if options.floor else None
        self.first = Server(options.program, self.uri("store"), folder, "first")
        endings.callback(self.first.stop)
        self.second = Server(options.program, self.uri("store"), folder, "second")
        endings.callback(self.second.stop)

    def uri(self, database): return f"postgres://postgres@127.0.0.1:{self.node.port}/{database}?sslmode=disable"

    def _floor(self, folder):
        program = os.path.join(folder, "floor")
        include = output("pg_config", "--includedir").strip()
        output("cc", "-O2", "-w", "-pthread", "-o", program, self.options.floor, f"-I{include}", "-lpq")
        output(self.options.program, "store", "init", self.uri("floor"))
        self.node.query(FLOOR_ROWS, "floor")
        return program

    def rows(self, connections):
        """Rows a second of the program in C, in groups of 64, into one namespace or into one for each connection."""
        if not self.floor:
            return None
        target = f"host=127.0.0.1 port={self.node.port} dbname=floor user=postgres options='-c search_path=freshet'"
        is_hot = "1" if connections == 1 else "0"
        return found(
            r"([0-9]+) rows/s",
            output(self.floor, "two", "64", str(connections), is_hot, "none", str(self.options.seconds), "10000", environment={"PGX": target}),
            "the floor")

    def pgbench(self, script):
        text = output(
            "pgbench", *self.connection, script, "-M", "prepared", "-c", str(CONNECTIONS), "-j", "2", "-T", str(self.options.seconds), "bench")
        return found(r"tps = ([0-9.]+)", text, "pgbench")

    def round(self):
        add, rate, url, other = self.figures.add, self.load.rate, self.first.url, self.second.url
        updates = self.pgbench("-N")
        add("postgresql-puts-per-s-vs-pgbench", rate("put", url), updates)
        add("postgresql-puts-8-namespaces-per-s-vs-pgbench", rate("put", url, namespaces=8), updates)
        one = 16 * rate("batch", url)
        add("postgresql-batch16-per-s-vs-postgresql-floor", one, self.rows(1))
        add("postgresql-batch16-8-namespaces-per-s-vs-postgresql-floor", 16 * rate("batch", url, namespaces=8), self.rows(4))
        add("postgresql-batch16-two-servers-per-s-vs-one-server", 16 * rate("batch", url, other), one)
        add("postgresql-gets-per-s-vs-pgbench-select", rate("get", url), self.pgbench("-S"))
        for name, reader in (("same", url), ("other", other)):
            half, most = way(url, reader, self.options.seconds)
            add(f"postgresql-feed-{name}-p50-ms", half)
            add(f"postgresql-feed-{name}-p99-ms", most)

    def many(self):
        """Writes into so many namespaces that each write meets another one, first made and then found."""
        count, made = self.options.namespaces, 0
        while made < count:
            before = made
            self.load.rate("spread", self.first.url, namespaces=count, first=made)
            made = int(self.node.query("SELECT count(*) FROM freshet.namespace WHERE name LIKE 'many%'", "store"))
            if made == before:
                raise SystemExit(f"error: the server makes no more than {made} namespaces")
            print(f"{made:,} namespaces, {self.first.memory():.0f} MiB", file=sys.stderr, flush=True)
        self.figures.add(f"postgresql-namespaces-{count}-writes-per-s", self.load.rate("spread", self.first.url, namespaces=count))
        # From the middle on, since the first ones have just been written.
        self.figures.add(
            f"postgresql-namespaces-{count}-batch16-per-s",
            16 * self.load.rate("spread-batch", self.first.url, namespaces=count, first=count // 2))
        self.figures.add(f"postgresql-namespaces-{count}-memory-mib", self.first.memory())


def whole(text):
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def main():
    parser = argparse.ArgumentParser(description="Measure a server over PostgreSQL beside PostgreSQL itself.")
    parser.add_argument("program")
    parser.add_argument("--floor", help="the source of the program in C")
    parser.add_argument("--rounds", type=whole, default=3)
    parser.add_argument("--seconds", type=whole, default=5)
    parser.add_argument("--namespaces", type=whole, default=100_000)
    options = parser.parse_args()
    # Otherwise it would end without the callbacks, and leave PostgreSQL and the servers.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as endings:
        # PostgreSQL's user makes its files in it.
        os.chmod(folder, 0o755)
        if os.getuid() == 0:
            shutil.chown(folder, "postgres", "postgres")
        bench = Bench(options, folder, endings)
        bench.load.rate("put", bench.first.url)
        for number in range(options.rounds):
            print(f"round {number + 1} of {options.rounds}", file=sys.stderr, flush=True)
            bench.round()
        bench.many()
    for line in bench.figures.lines():
        print(line)


main()
