"""Three servers over a PostgreSQL primary and its standby, with everything between them going wrong, and clients that roam.

    chaos.py PROGRAM [--seconds N] [--seed N] [--faults NAME,NAME] [--failover renew|keep] [--keep]

Now and then all heals, and the history of the clients is checked: no acknowledged write is lost without a new epoch, each revision is of
one write, no cursor falls, each page has all changes of its range, each write counts once, a change arrives in time without notifications,
nobody polls without need, and the followers of all servers have the same records. With --failover keep no failover loses a commit, and
none begins an epoch.
"""

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import checks
from clients import DELETED, Follower, Maker, Writer, ask
from cluster import SETTINGS, Node, free_port
from history import History
from nemeses import Nemesis
from proxy import Proxy
from records import position

# Seconds after which the run goes on although not all are equal, which is a contradiction.
HEALING = 20
# Seconds within which all are equal once nobody writes: the hold of a poll, and five more.
EQUAL = Follower.wait + 5
# The size of a database's file system in MiB, where it is a separate one.
DISK = 768
# Seconds from a promotion to the first acknowledged write. It is 3 at most on a machine that does nothing else, and 5.4 on one that builds.
PROMOTION = 10
# Seconds at the end in which nothing happens, and nobody should ask more than once per wait.
QUIET = 5
# Seconds within which every write is decided: a server asks for the outcome of a commit for 30.
DECIDING = 45


class Server:
    """A freshet with links of its own to each database."""

    def __init__(self, program, folder, number, links, failover):
        self.program, self.links, self.failover, self.port = program, links, failover, free_port()
        self.log = open(os.path.join(folder, f"server-{number}.log"), "ab")
        hosts = ",".join(f"127.0.0.1:{link.port}" for link in links)
        self.store = f"postgres://postgres@{hosts}/freshet?target_session_attrs=read-write&connect_timeout=2"
        self.process = None

    def start(self):
        self.process = subprocess.Popen(
            [self.program, "serve", "--open", "--port", str(self.port), "--store", self.store, "--failover", self.failover],
            stdout=self.log, stderr=self.log)

    def signal(self, number): self.process.send_signal(number)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.kill()


class System:
    """The processes, whose ends are callbacks of `endings`, so that none stays however this program ends."""

    def __init__(self, program, folder, history, endings, failover):
        self.program, self.history, self.failover, self.began = program, history, failover, time.monotonic()
        # When the history was judged last.
        self.rested = self.began
        self.proxy = Proxy()
        self.primary, self.standby = Node(folder, "alder"), Node(folder, "birch")
        for node in (self.primary, self.standby):
            node.bound(DISK)
            endings.callback(node.remove)
        self.primary.create(SETTINGS)
        self.primary.start()
        self.replication = self.proxy.link(self.primary.port)
        self.standby.follow(self.replication.port)
        self.primary.query("CREATE DATABASE freshet")
        self.set_synchronous(True)
        subprocess.run(
            [program, "store", "init", f"postgres://postgres@127.0.0.1:{self.primary.port}/freshet"], check=True, stdout=subprocess.DEVNULL)
        self.writers, self.followers = [], []
        # Whether nobody writes a record any more, of its key.
        self.is_closed = lambda key: False
        self.servers = [
            Server(program, folder, number, [self.proxy.link(node.port) for node in (self.primary, self.standby)], failover)
            for number in range(3)
        ]
        for server in self.servers:
            server.start()
            endings.callback(server.stop)

    def elapsed(self): return time.monotonic() - self.began
    def links(self): return [link for server in self.servers for link in server.links]

    def set_synchronous(self, is_on):
        """Whether each commit waits until the standby has it."""
        if not is_on:
            self.history.is_synchronous = False
        self.primary.set("synchronous_standby_names", self.standby.name if is_on else "")
        if is_on:
            end = time.monotonic() + 20
            while self.primary.query("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == "0":
                if time.monotonic() > end:
                    raise SystemExit("error: the standby does not follow")
                time.sleep(0.05)
            # Sessions read the setting at their next statement; the wait for the standby begins with the one after.
            time.sleep(0.2)
            self.history.is_synchronous = True

    def fail_over(self, is_lossless, zombie):
        """The standby takes over. The old primary comes back for a while, if it is a zombie, and becomes the standby then."""
        epochs = len(self.history.epochs)
        if not is_lossless:
            self.forget_synchronous()
        heads = dict(self.history.heads)
        self.primary.stop()
        began = time.monotonic()
        self.standby.promote()
        # A zombie, or a standby that waits for a standby, delays the first write for reasons that are not the servers'.
        kind = "a promotion" + (" beside a zombie" if zombie else "") + ("" if is_lossless else " with loss")
        self.history.promotion = (kind, began, None if zombie else PROMOTION)
        self.primary, self.standby = self.standby, self.primary
        if zombie:
            self.standby.start()
            time.sleep(2)
        self.primary.set("synchronous_standby_names", "")
        self.replication.target = self.primary.port
        self.replication.is_silent = False
        self.proxy.cut(self.replication.pairs)
        self.standby.follow(self.replication.port)
        self.set_synchronous(True)
        if self.failover == "keep":
            return
        end = time.monotonic() + HEALING
        while len(self.history.epochs) == epochs:
            if time.monotonic() > end:
                return self.history.fail("a failover has not begun an epoch")
            time.sleep(0.1)
        self.learn_forks(heads)

    def learn_forks(self, heads):
        """Asks each server from where the latest history continues the one before."""
        epoch = self.history.epochs[-2]
        for server in self.servers:
            reply = ask(server.port, "GET", f"/v1/shop/changes?since={epoch}-{heads.get(epoch, 0)}&wait=0")
            if reply is not None and reply.status == 410:
                self.history.forked(epoch, reply.body)

    def forget_synchronous(self):
        """Commits of before may be lost now."""
        with self.history.lock:
            self.history.acknowledged = [(*write[:4], False) for write in self.history.acknowledged]
            self.history.closed = {key: (*record[:3], False) for key, record in self.history.closed.items()}

    def heal(self):
        for link in self.links():
            link.delay, link.is_silent, link.is_deaf, link.refuses_listeners = 0, False, False, False
            link.drops_commits = 0
        for writer in self.writers:
            writer.places = self.servers

    def pause(self):
        """No write is under way any more. One that is has to be decided first, which takes a while after a fault."""
        for writer in self.writers:
            writer.is_paused = True
        end = time.monotonic() + DECIDING
        while waiting := [f"{writer.client} ({writer.latest})" for writer in self.writers if not writer.is_idle and writer.is_alive()]:
            if time.monotonic() > end:
                return self.history.fail(f"writes are not decided {DECIDING} s after a fault: {', '.join(waiting)}")
            time.sleep(0.02)

    def settle(self):
        """Nothing goes wrong and nobody writes: soon all servers and followers have the same. Returns that, and its position."""
        self.pause()
        began = time.monotonic()
        end = began + HEALING
        tables = []
        while time.monotonic() < end:
            tables = [records(server.port) for server in self.servers]
            wanted = tables[0]
            if all(table[0] is not None and table == wanted for table in tables):
                if all(follower.is_live and position(follower.cursor) == position(wanted[1]) for follower in self.followers):
                    self.rested_within(began)
                    break
            time.sleep(0.2)
        else:
            self.history.fail(
                f"not all is well {HEALING} s after a fault: servers at {[table[1] for table in tables]}, "
                f"followers at {[follower.cursor for follower in self.followers]}")
            wanted = next((table for table in tables if table[0] is not None), ({}, None))
        if wanted[1] is not None:
            self.history.judge(*wanted, self.is_closed)
        self.rested = time.monotonic()
        for writer in self.writers:
            writer.is_paused = False
        return wanted

    def rested_within(self, began):
        """Notes how long it took until all were equal."""
        now = time.monotonic()
        seconds = now - began
        self.history.note("until all were equal after a fault", seconds)
        # Else this process, and not a server, may be the late one.
        if seconds > EQUAL + self.history.clock.worst(began, now):
            self.history.fail(f"it took {seconds:.2f} s until all were equal after a fault, more than {EQUAL} s")


def records(port):
    """All records of a server."""
    found, cursor = {}, None
    for collection in ("counters", "visits"):
        after = ""
        while after is not None:
            reply = ask(port, "GET", f"/v1/shop/records/{collection}?limit=1000{after}", timeout=20)
            if reply is None or reply.status != 200:
                return None, None
            found |= {record["key"]: (record["revision"], record["value"]) for record in reply.body["records"]}
            after = f"&after={reply.body['next']}" if reply.body.get("next") else None
            cursor = reply.cursor
    return found, cursor


def check(history, table, cursor, followers):
    epoch, _ = position(cursor) if cursor else (None, 0)
    for follower in followers:
        for key in sorted(set(table) | set(follower.table)):
            ours, theirs = follower.table.get(key), table.get(key)
            if theirs is None and ours[1] is DELETED:
                continue
            # Values above 64 KiB are left out of the feed.
            if ours is None or theirs is None or ours[0] != theirs[0] or ours[1] not in (None, theirs[1]):
                history.fail(f"{follower.client} has {key} at {ours and ours[0]}, and the servers have it at {theirs and theirs[0]}")
    for key, (_, value) in table.items():
        if key.startswith("counters/") and value.get("n") != len(value.get("marks", {})):
            history.fail(f"{key} counts {value.get('n')}, and has the marks of {len(value.get('marks', {}))} writes")
    history.count("acknowledged writes that ended with their epoch", checks.survival(history.acknowledged, table, epoch, history.lineage)[1])
    for follower in followers:
        polls = follower.polls
        # A stopping server answers at once.
        if checks.unneeded(polls) > 20 + polls["sent"] // 20:
            history.fail(f"{follower.client} polled without need {checks.unneeded(polls)} times: {dict(polls)}")


def rest(history, followers):
    """Counts the polls while nothing changes."""
    before = [follower.polls["sent"] for follower in followers]
    time.sleep(QUIET)
    for follower, count in zip(followers, before):
        count = follower.polls["sent"] - count
        history.count("polls in the quiet end", count)
        if count > QUIET / follower.wait + 2:
            history.fail(f"{follower.client} polled {count} times in {QUIET} s in which nothing changed")


def run(program, seconds, seed, faults, failover, folder, endings):
    history = History()
    system = System(program, folder, history, endings, failover)
    began = time.monotonic()

    def period(): return int((time.monotonic() - began) // 30)

    system.is_closed = lambda key: int(key.split("/")[1].split("-")[0]) < period()
    writers = [Writer(f"writer-{number}", system.servers, history, seed * 100 + number, keys=20) for number in range(6)]
    for writer in writers:
        writer.period = period
    writers += [Maker(f"maker-{number}", system.servers, history, seed * 100 + 80 + number) for number in range(4)]
    followers = [Follower(f"follower-{number}", system.servers, history, seed * 100 + 50 + number) for number in range(4)]
    system.writers, system.followers = writers, followers
    for client in writers + followers:
        client.start()
    time.sleep(2)
    Nemesis(system, history, seed, faults, 60 if seconds >= 600 else 2).run(began + seconds)
    for server in system.servers:
        if server.process.poll() is not None:
            history.fail(f"a server has ended with {server.process.returncode}")
    system.pause()
    for writer in writers:
        writer.is_stopped = True
    for writer in writers:
        writer.join(30)
    table, cursor = system.settle()
    rest(history, followers)
    for follower in followers:
        follower.is_stopped = True
    for follower in followers:
        follower.join(15)
    check(history, table, cursor, followers)
    if failover == "keep" and len(history.epochs) != 1:
        history.fail(f"the epochs were to stay, and there were {', '.join(history.epochs)}")
    for name in sorted(history.counts):
        print(f"{history.counts[name]:8,} {name}")
    for name, took in sorted(history.slowest.items()):
        print(f"{took:8.2f} s at most: {name}")
    for took, name in sorted(history.promotions):
        print(f"{took:8.2f} s from {name} to the first acknowledged write")
    print(f"{len(history.epochs):8,} epochs, seed {seed}")
    if history.failures:
        print(f"FAIL {len(history.failures)} contradictions; the first: {history.failures[0]}")
        return 1
    print("ok   no contradiction")
    return 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=int(time.time()) % 1_000_000)
    parser.add_argument("--faults", type=lambda text: text.split(","))
    parser.add_argument("--failover", choices=["renew", "keep"], default="renew")
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="freshet-chaos-")
    os.chmod(folder, 0o755)
    if os.getuid() == 0:
        shutil.chown(folder, "postgres", "postgres")
    status = 1
    # Otherwise it would end without the callbacks, and leave PostgreSQL and its file systems.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        with contextlib.ExitStack() as endings:
            status = run(options.program, options.seconds, options.seed, options.faults, options.failover, folder, endings)
    finally:
        if options.keep or status:
            print(f"logs: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    sys.exit(status)


if __name__ == "__main__":
    main()
