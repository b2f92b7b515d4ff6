"""A million devices that wait for changes, over many servers and an edge, in virtual time: the cost of one change, of a server's death,
and of a failover of the database with and without a stated fork.

    scale.py [--devices N] [--servers N] [--namespaces N] [--seed N]

Each processor, each core of the database and each cache is a station that serves one job after another; devices wait, back
off and ask again as the SDK does. docs/performance/scale.md has the assumptions, which are `Assumptions` here. Nothing is
measured by this program but its own arithmetic.
"""

import argparse
import dataclasses
import heapq
import random


@dataclasses.dataclass(frozen=True)
class Assumptions:
    # Processor time in microseconds, as measured on two cores of an AMD EPYC (docs/performance.md, docs/operating/shared-caches.md).
    delivery: float = 10          # a change to one waiting poll, with its next poll, at 9,000 waiters
    encrypted_delivery: float = 17
    handshake: float = 412        # TLS 1.3 without resumption
    varnish_delivery: float = 150 # the same through Varnish, for all processes; TLS before it left out
    nginx_delivery: float = 25
    nginx_poll: float = 0.5       # seconds from one look of a waiting request at the cache to the next
    request: float = 60           # any other request at the server
    # Time of one core of PostgreSQL, in microseconds.
    lookup: float = 16            # a key to be verified
    read: float = 200             # a read for a poll that memory cannot answer, or of a client's number
    # Machines.
    server_cores: int = 2
    database_cores: int = 16
    edge_cores: int = 8
    # Devices.
    keys: int = 1_000             # cached records of a device that it verifies after its history has ended
    keys_per_request: int = 500   # SyncSettings.revalidationKeys
    hold: float = 25.0            # seconds of a poll
    first_delay: float = 0.25     # SyncSettings.firstDelay, with full jitter
    longest_delay: float = 30.0
    # The database.
    promotion: float = 3.0        # seconds until the standby is the primary
    lag: float = 0.1              # seconds of commits that it did not have
    writes: float = 1_000         # a second, over all namespaces
    # The balancer stops sending to a dead server after this many seconds.
    health: float = 2.0
    pending_reads: int = 4_096    # of a server; more are refused with 503 and Retry-After: 1


class Station:
    """`cores` processors before one queue."""

    def __init__(self, cores):
        self.free = [0.0] * cores
        self.busy = 0.0

    def serve(self, at, microseconds):
        start = max(at, heapq.heappop(self.free))
        end = start + microseconds / 1e6
        self.busy += microseconds / 1e6
        heapq.heappush(self.free, end)
        return end

    def wait(self, at):
        return max(0.0, self.free[0] - at)


def delay(rng, failures, given, retry_after=0.0):
    ceiling = min(given.longest_delay, given.first_delay * 2 ** min(failures, 20))
    return max(given.first_delay / 5 + rng.random() * ceiling, retry_after)


def row(name, values):
    print(f"| {name} | " + " | ".join(values) + " |")


def seconds(value):
    return f"{value * 1000:.0f} ms" if value < 1 else f"{value:.1f} s" if value < 600 else f"{value / 60:.0f} min"


def quantiles(times):
    times = sorted(times)
    return [times[int(len(times) * part)] for part in (0.5, 0.99)] + [times[-1]]


def change(options, given, rng):
    """One change in a namespace for which all devices wait."""
    for name, cost, cores, machines, poll in (
        ("servers", given.delivery, given.server_cores, options.servers, 0.0),
        ("servers, TLS", given.encrypted_delivery, given.server_cores, options.servers, 0.0),
        ("4 machines of Varnish", given.varnish_delivery, given.edge_cores, 4, 0.0),
        ("4 machines of nginx", given.nginx_delivery, given.edge_cores, 4, given.nginx_poll),
    ):
        stations = [Station(cores) for _ in range(machines)]
        # One read for each server that has waiters, or one request of each cache to one server.
        start = given.read / 1e6
        looks = sorted(start + rng.random() * poll for _ in range(options.devices))
        last = [stations[number % machines].serve(at, cost) for number, at in enumerate(looks)]
        row(f"one change, {name}", [seconds(value) for value in quantiles(last)] + [f"{sum(s.busy for s in stations):.1f} s"])


def death(options, given, rng):
    """A server dies. Its devices notice at once (the connection is reset), or at the end of their polls (the machine is gone)."""
    lost = options.devices // options.servers
    for name, notice in (("connections are reset", 0.0), ("the machine is gone", given.hold + 10)):
        stations = [Station(given.server_cores) for _ in range(options.servers - 1)]
        database = Station(given.database_cores)
        live, events = [], []
        for device in range(lost):
            heapq.heappush(events, (rng.random() * notice + delay(rng, 0, given), device, 1))
        refused = 0
        while events:
            at, device, failures = heapq.heappop(events)
            # The balancer still sends some to the dead server.
            if at < given.health and rng.random() < 1 / options.servers:
                refused += 1
                heapq.heappush(events, (at + delay(rng, failures, given), device, failures + 1))
                continue
            station = stations[rng.randrange(len(stations))]
            done = station.serve(at, given.handshake + given.request)
            live.append(station.serve(database.serve(done, given.read), given.request))
        row(
            f"a server's death, {name}: {lost:,} devices",
            [seconds(value) for value in quantiles(live)] + [f"{sum(s.busy for s in stations) + database.busy:.1f} s"])


def failover(options, given, rng):
    """The database fails over and has lost its last commits. The servers notice it together, and answer all who wait."""
    per_namespace = options.devices // options.namespaces
    lost = sum(rng.random() < 1 - (1 - 1 / options.namespaces) ** (given.writes * given.lag) for _ in range(options.namespaces))
    for name, verifying, keys in (
        ("every device verifies its keys", options.devices, given.keys),
        ("with a stated fork", lost * per_namespace, max(1, round(given.writes * given.lag / options.namespaces))),
        ("with a stated fork, all in one namespace", options.devices, round(given.writes * given.lag)),
    ):
        stations = [Station(given.server_cores) for _ in range(options.servers)]
        database = Station(given.database_cores)
        limit = given.pending_reads * options.servers
        events, live, refused = [], [], 0
        for device in range(options.devices):
            at = stations[device % options.servers].serve(given.promotion, given.delivery)
            # A device that need not verify goes on from the same revision: its next poll is part of the delivery.
            if device < verifying:
                heapq.heappush(events, (at, device, keys, 0))
            else:
                live.append(at)
        while events:
            at, device, left, failures = heapq.heappop(events)
            station = stations[device % options.servers]
            part = min(left, given.keys_per_request)
            if database.wait(at) / (part * given.lookup / 1e6) * given.database_cores > limit:
                refused += 1
                end = station.serve(at, given.request / 4)
                heapq.heappush(events, (end + delay(rng, failures, given, 1.0), device, left, failures + 1))
                continue
            end = station.serve(database.serve(station.serve(at, given.request), part * given.lookup), given.request)
            if left > part:
                heapq.heappush(events, (end, device, left - part, 0))
            else:
                live.append(end)
        row(
            f"a failover, {name}: {verifying:,} devices, {keys:,} keys each",
            [seconds(value) for value in quantiles(live)] + [f"{sum(s.busy for s in stations) + database.busy:,.0f} s"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--devices", type=int, default=1_000_000)
    parser.add_argument("--servers", type=int, default=50)
    parser.add_argument("--namespaces", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    given = Assumptions()
    print(f"{options.devices:,} devices, {options.servers} servers of {given.server_cores} cores, a database of {given.database_cores} cores\n")
    row("event", ["half of the devices live", "99 %", "the last", "processor time of all"])
    row("---", ["---:"] * 4)
    change(options, given, random.Random(options.seed))
    death(options, given, random.Random(options.seed))
    failover(options, given, random.Random(options.seed))


if __name__ == "__main__":
    main()
