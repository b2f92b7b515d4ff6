"""What goes wrong, chosen by a seed."""

import random
import signal
import time


# Seconds after which the run rests at the latest, so that the history is judged: this bounds its memory.
STRETCH = 30
# Seconds until a change reaches the followers of all servers, where no notifications arrive: if their connections end, and if they are
# silent, which the heartbeat has to detect first. The first takes at most 1 s on a machine that does little else (0.81 in 13 phases of a
# run of 30 minutes beside builds), and servers that never compare their feeds with the store take 2.6.
CUT, DEAF = 2, 4


class Nemesis:
    def __init__(self, system, history, seed, names, snapshot):
        # For how many seconds a snapshot is held.
        self.snapshot = snapshot
        self.system, self.history, self.random = system, history, random.Random(seed)
        everything = {name.removeprefix("do_"): getattr(self, name) for name in dir(self) if name.startswith("do_")}
        if not system.primary.is_bounded:
            # Otherwise it would be the machine's disk.
            del everything["fill_disk"]
        if system.failover == "keep":
            # Somebody has seen writes that are gone then.
            del everything["promote_with_loss"], everything["promote_unconfirmed"]
        unknown = set(names or []) - set(everything)
        if unknown:
            raise SystemExit(f"error: there is no {', '.join(sorted(unknown))}; there are {', '.join(sorted(everything))}")
        self.actions = {name: action for name, action in everything.items() if not names or name in names}
        # Each once before any comes again, so that a short run has all.
        self.queue = []

    def run(self, until):
        while time.monotonic() < until:
            if not self.queue:
                self.queue = sorted(self.actions)
                self.random.shuffle(self.queue)
            name = self.queue.pop()
            print(f"{self.system.elapsed():5.1f} {name}", flush=True)
            self.actions[name]()
            self.history.count(name)
            self.system.heal()
            if self.random.random() < 0.3 or time.monotonic() - self.system.rested > STRETCH:
                self.system.settle()
            time.sleep(self.random.uniform(0.5, 2))

    def _server(self): return self.random.choice(self.system.servers)
    def _links(self): return self.random.choice([server.links for server in self.system.servers] + [self.system.links()])
    def _rest(self, least, most): time.sleep(self.random.uniform(least, most))

    def do_kill_server(self):
        server = self._server()
        server.kill()
        self._rest(0, 1)
        server.start()

    def do_stop_server(self):
        server = self._server()
        server.signal(signal.SIGSTOP)
        self._rest(1, 7)
        server.signal(signal.SIGCONT)

    def do_cut_links(self):
        for _ in range(self.random.randrange(1, 5)):
            for link in self._links():
                self.system.proxy.cut(link.pairs)
            self._rest(0, 0.3)

    def do_slow_links(self):
        for link in self._links():
            link.delay = self.random.choice([0.005, 0.05, 0.3])
        self._rest(1, 3)

    def do_silence_links(self):
        for link in self._links():
            link.is_silent = True
        self._rest(1, 6)

    def do_lose_notifications(self):
        """The last commits before a pause are announced to nobody: the servers have to look for them."""
        began = time.monotonic()
        for link in self.system.links():
            link.is_deaf = True
        self._rest(0.5, 2)
        self.system.pause()
        self._time("lost notifications", began, DEAF)
        for link in self.system.links():
            self.system.proxy.cut(link.listeners)
            link.is_deaf = False
        self.system.settle()

    def do_silence_notifications(self):
        """The connections for notifications say nothing more, and do not end, while all others work."""

        def silence(link): link.is_deaf = True

        self._disturb_notifications("silent notifications", silence, 1, DEAF)

    def do_refuse_notifications(self):
        """No connection can listen."""

        def refuse(link):
            link.refuses_listeners = True
            self.system.proxy.cut(link.listeners)

        self._disturb_notifications("refused notifications", refuse, 0, CUT)

    def _disturb_notifications(self, name, disturb, least, limit):
        """All writers go on writing, and then at one server: one that writes notices what it has missed, and now the others have to look
        for it."""
        began = time.monotonic()
        for link in self.system.links():
            disturb(link)
        self._rest(least, least + 1)
        server = self._server()
        for writer in self.system.writers:
            writer.places = [server]
        self._rest(least + 2, least + 3)
        self._time(name, began, limit)

    def do_block_notifications(self):
        """A session that listens is in a transaction, so PostgreSQL may remove no notification from its queue."""
        began = time.monotonic()
        self.system.primary.query("BEGIN; LISTEN chaos; COMMIT; BEGIN; SELECT 1; SELECT pg_sleep(3); COMMIT", "freshet")
        self._time("a blocked queue of notifications", began, CUT)

    def _time(self, name, began, limit):
        """Has the deliveries since `began` judged at the next rest."""
        self.history.windows.append((name, began, time.monotonic(), limit))

    def do_lose_commit_answers(self):
        for link in self.system.links():
            link.drops_commits = self.random.randrange(1, 4)
        self._rest(0.5, 2)
        for link in self.system.links():
            self.history.count("answers to commits that were lost", link.dropped)
            link.drops_commits = link.dropped = 0

    def do_end_sessions(self):
        for _ in range(self.random.randrange(1, 4)):
            self.system.primary.query(
                "SELECT count(pg_terminate_backend(pid)) FROM (SELECT pid FROM pg_stat_activity WHERE datname = 'freshet' "
                "ORDER BY random() LIMIT 8) AS s")
            self._rest(0, 0.5)

    def do_restart_database(self):
        self.system.primary.stop()
        self._rest(0, 2)
        self.system.primary.start()

    def do_end_idle_sessions(self):
        """PostgreSQL ends sessions that are silent for a while, as those that listen are."""
        self.system.primary.set("idle_session_timeout", "300ms")
        self._rest(1, 3)
        self.system.primary.set("idle_session_timeout", "0")

    def do_fill_disk(self):
        self.system.primary.fill()
        self._rest(1, 4)
        self.system.primary.clear()

    def do_hold_snapshot(self):
        self.system.primary.query(
            f"BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class; SELECT pg_sleep({self.snapshot}); COMMIT", "freshet",
            self.snapshot + 30)

    def do_promote_without_loss(self):
        """Every acknowledged commit is on the standby, which then takes over."""
        self.system.set_synchronous(True)
        self._rest(1, 2)
        self.system.fail_over(is_lossless=True, zombie=self.random.random() < 0.5)

    def do_promote_with_loss(self):
        """The standby misses the last commits, and takes over."""
        self.system.set_synchronous(False)
        self.system.replication.is_silent = True
        self._rest(0.5, 2)
        self.system.fail_over(is_lossless=False, zombie=self.random.random() < 0.5)
        self.system.replication.is_silent = False

    def do_promote_unconfirmed(self):
        """Waits for the standby are cancelled, so commits are visible that it lacks, and then it takes over: none of them may have been
        acknowledged."""
        self.system.set_synchronous(True)
        self.system.replication.is_silent = True
        for _ in range(5):
            self._rest(0.2, 0.4)
            self.system.primary.query("SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
        self.system.fail_over(is_lossless=True, zombie=self.random.random() < 0.5)
        self.system.replication.is_silent = False
