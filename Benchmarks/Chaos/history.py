"""What the clients have seen, and whether it can be right."""

import collections
import dataclasses
import hashlib
import json
import threading
import time

import checks
from records import Batch, position


class Clock(threading.Thread):
    """Notes how late this process wakes up: what it measures is wrong by as much."""

    def __init__(self):
        super().__init__(daemon=True)
        # (time, seconds), the latest thousands
        self.stalls = collections.deque(maxlen=10_000)
        self.start()

    def run(self):
        while True:
            began = time.monotonic()
            time.sleep(0.02)
            late = time.monotonic() - began - 0.02
            if late > 0.02:
                self.stalls.append((began, late))

    def worst(self, start, end): return sum(late for at, late in list(self.stalls) if start <= at <= end)


class History:
    """Acknowledged writes, pages, revisions and epochs. Thread-safe. A contradiction is kept, and ends the run at its end.

    Batches and pages are kept until the next rest of the run, when they are judged. What the servers have then is the base of the next
    stretch, so the memory is that of a stretch, and a line for each record."""

    def __init__(self):
        self.lock = threading.Lock()
        self.failures = []
        self.counts = {}
        # The writes that a 200 has called applied: their place, and the epoch and revision.
        self.acknowledged = []
        # (epoch, revision) -> (key, client, number)
        self.owners = {}
        self.epochs = []
        # epoch -> the highest position that a client has seen
        self.heads = {}
        self.lineage = checks.Lineage()
        # The epochs during which no commit may be lost, since the standby had each before its answer.
        self.is_synchronous = True
        self.batches, self.pages, self.latest = [], [], {}
        self.base, self.rest = [], None
        self.pages_made = 0
        # Stretches without notifications, as (name, start, end, the most seconds until a change reaches all), and what was measured.
        self.windows, self.slowest = [], {}
        # key -> (epoch, revision, digest, whether a standby had it) of records that nobody writes any more
        self.closed = {}
        # The promotion after which no write was acknowledged yet, as (name, time, limit), and the seconds of the others.
        self.promotion, self.promotions = None, []
        self.clock = Clock()

    def fail(self, text):
        with self.lock:
            self.failures.append(text)
            if len(self.failures) > 20:
                return
        print(f"FAIL {text}", flush=True)

    def count(self, name, more=1):
        with self.lock:
            self.counts[name] = self.counts.get(name, 0) + more

    def note(self, name, seconds):
        """Keeps the longest duration."""
        with self.lock:
            self.slowest[name] = max(seconds, self.slowest.get(name, 0))

    def saw(self, cursor):
        """Notes the position of any response."""
        epoch, revision = position(cursor)
        with self.lock:
            self.heads[epoch] = max(revision, self.heads.get(epoch, 0))
            if epoch in self.epochs:
                return
            self.epochs.append(epoch)
        print(f"     epoch {epoch}", flush=True)

    def forked(self, former, problem):
        """Notes where a response says that a new history begins."""
        if "fork" in problem:
            with self.lock:
                contradictions = self.lineage.state(former, position(problem["cursor"])[0], problem["fork"])
            for text in contradictions:
                self.fail(text)

    def allocated(self, epoch, revision, key, client, number):
        """Two different writes must not have one revision. A later epoch may continue the numbers of an earlier one."""
        with self.lock:
            known = self.owners.setdefault((epoch, revision), (key, client, number))
        if known != (key, client, number):
            self.fail(f"revision {revision} of {epoch} is {known} and {(key, client, number)}")

    def acknowledge(self, key, mark, epoch, revision):
        with self.lock:
            self.acknowledged.append((key, mark, epoch, revision, self.is_synchronous))
            promotion, self.promotion = self.promotion, None
        if promotion:
            name, began, limit = promotion
            took = time.monotonic() - began
            self.promotions.append((took, name))
            print(f"     first write {took:.1f} s after {name}", flush=True)
            if limit and took > limit + self.clock.worst(began, began + took):
                self.fail(f"the first write was acknowledged {took:.1f} s after {name}, of {limit}")

    def begin(self, client, number, key, removes):
        batch = Batch(client, number, key, time.monotonic(), removes=removes)
        with self.lock:
            self.batches.append(batch)
        return batch

    def send(self, batch, epoch):
        with self.lock:
            batch.attempts += 1
            batch.epochs.setdefault(epoch, self.heads.get(epoch, 0))

    def add(self, page):
        with self.lock:
            self.pages.append(page)

    def number(self):
        with self.lock:
            self.pages_made += 1
            return self.pages_made

    def judge(self, table, cursor, is_closed=lambda key: False):
        """Judges all since the last rest. Nobody writes, and all followers are at `cursor`, where the servers have `table`."""
        with self.lock:
            batches, pages = self.batches, self.pages
            self.batches, self.pages = [], []
        epoch, head = position(cursor)
        everything = {}
        for page in pages:
            if page.epoch not in everything:
                everything[page.epoch] = checks.revisions(page.epoch, self.lineage, batches, pages, self.base)
        for text in (text for found in everything.values() for text in found.failures):
            self.fail(text)
        self._judge_pages(pages, batches, everything)
        current = everything.get(epoch) or checks.revisions(epoch, self.lineage, batches, pages, self.base)
        self._judge_gaps(current, head)
        for batch in batches:
            self.count("batches checked")
            for text in checks.early(batch):
                self.fail(text)
        for text in checks.behind(current, table):
            self.fail(text)
        self._judge_delays(batches, pages)
        self._judge_survival(table, epoch, is_closed)
        self.latest |= {page.follower: page for page in pages}
        self.base, self.rest = [(key, revision, epoch) for key, (revision, _) in table.items()], (epoch, head)
        states = {revision for _, revision, _ in self.base}
        with self.lock:
            self.owners = {place: owner for place, owner in self.owners.items() if place[0] == epoch and place[1] in states}

    def _judge_pages(self, pages, batches, everything):
        open_batches = {of: [batch for batch in batches if not checks.is_decided(batch, of, found)] for of, found in everything.items()}
        for page in pages:
            found = everything[page.epoch]
            self.count("pages checked")
            self.count("changes that pages had to have", sum(1 for _ in found.between(page.start, page.end)))
            for text in checks.unordered(page):
                self.fail(text)
            for lack in checks.missing(page, found, open_batches[page.epoch]):
                if lack.replacement:
                    self.count("changes that were replaced beyond the page while it was read")
                elif lack.undecided:
                    self.count("changes that a write of unknown outcome may have replaced")
                else:
                    self.fail(self._describe(lack, pages, batches))

    def _judge_delays(self, batches, pages):
        windows, self.windows = self.windows, []
        for name, start, end, limit in windows:
            found = checks.delays(batches, pages, start, end)
            self.count(f"deliveries timed during {name}", len(found))
            if not found:
                continue
            took, batch, page = found[0]
            self.note(f"until a change reached all during {name}", took)
            # Else this process, and not a server, may be the late one.
            if took > limit + self.clock.worst(batch.answer.at, page.received):
                self.fail(
                    f"during {name}, {page.follower} had {batch.key} at {batch.answer.revisions} {took:.2f} s after its acknowledgement by port "
                    f"{batch.answer.port}, of {limit}: page {dataclasses.asdict(page)}, {batch.answer.at - start:.2f} s after the start")

    def _judge_survival(self, table, epoch, is_closed):
        """Whether all acknowledged writes are there. Those to records that nobody writes any more are kept as a digest of the record."""
        with self.lock:
            acknowledged = self.acknowledged
        for text in checks.survival(acknowledged, table, epoch, self.lineage)[0]:
            self.fail(text)
        for key, (of, revision, content, is_synchronous) in self.closed.items():
            must_stay = is_synchronous or revision <= self.lineage.common(of, epoch)
            if must_stay and (key not in table or (table[key][0], digest(table[key][1])) != (revision, content)):
                self.fail(f"{key} was at {revision} of {of} when its last write was over, and is {str(table.get(key))[:200]} in {epoch}")
        self.closed |= {key: (epoch, revision, digest(value), self.is_synchronous) for key, (revision, value) in table.items() if is_closed(key)}
        gone = [write for write in acknowledged if write[0] in self.closed]
        self.count("acknowledged writes that ended with their epoch", sum(
            1 for key, mark, *_ in gone if mark not in table[key][1].get("marks", {})))
        self.count("acknowledged writes found in closed records", len(gone))
        with self.lock:
            self.acknowledged = [write for write in self.acknowledged if write[0] not in self.closed]

    def _judge_gaps(self, found, head):
        start = 0
        if self.rest:
            start = min(self.rest[1], found.lineage.common(self.rest[0], found.epoch))
            if start == 0:
                return self.count("rests without a known beginning")
        lacking = checks.gaps(found, start, head)
        self.count("revisions found dense", head - start - len(lacking))
        if lacking:
            self.fail(f"of the revisions after {start} up to {head} of {found.epoch}, {len(lacking)} are of no write: {lacking[:20]}")

    def _describe(self, lack, pages, batches):
        """All that is known of a change that a page lacks."""
        page, known = lack.page, lack.known
        lines = [
            f"{page.follower}: a page from {page.since} to {page.cursor} lacks {known.key}, which is at {known.revision} "
            f"({known.source}, epoch {known.epoch})"]
        own = [each for each in pages if each.follower == page.follower]
        place = own.index(page)
        around = own[max(0, place - 2):place + 3]
        if place == 0 and page.follower in self.latest:
            around.insert(0, self.latest[page.follower])
        for each in around:
            name = "the page" if each is page else "before" if each.index < page.index else "after"
            lines.append(f"  {name}: " + json.dumps(
                dataclasses.asdict(each) | {
                    "changes": [(change.key, change.revision, change.client, change.write) for change in each.changes],
                    "took": round(each.received - each.sent, 4)}))
        for batch in batches:
            if batch.key == known.key and abs(batch.sent - page.received) < 10:
                lines.append(f"  batch: {json.dumps(dataclasses.asdict(batch))}")
        for each in pages:
            found = [change.revision for change in each.changes if change.key == known.key]
            if found and each.epoch == page.epoch and abs(each.received - page.received) < 2:
                lines.append(f"  shown: by page {each.index} of {each.follower}, {each.since} to {each.cursor}, port {each.port}, at {found}, {each.received}")
        lines.append(f"  forks: {self.lineage.forks}, base: {[each for each in self.base if each[0] == known.key]}")
        return "\n".join(lines)


def digest(value): return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).digest()
