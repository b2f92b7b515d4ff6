"""The checks of a history, as pure functions of what clients have seen. Each returns its contradictions as texts.

An epoch that began with a failover has all revisions of the former one up to the fork. So whatever is known of one epoch up to the fork
is known of the other. Nothing is concluded between two epochs whose fork no response has stated.
"""

import bisect
import collections
import dataclasses


class Lineage:
    """Which epochs have a common beginning, as the responses `epoch-changed` state it."""

    def __init__(self):
        # (former, later) -> fork
        self.forks = {}

    def common(self, one, other):
        """The last revision that belongs to the same write in both epochs; 0 if that is not known."""
        if one == other:
            return float("inf")
        best, queue = {one: float("inf")}, collections.deque([one])
        while queue:
            place = queue.popleft()
            for (former, later), fork in self.forks.items():
                if place in (former, later):
                    next_place = later if place == former else former
                    if min(best[place], fork) > best.get(next_place, 0):
                        best[next_place] = min(best[place], fork)
                        queue.append(next_place)
        return best.get(other, 0)

    def state(self, former, later, fork):
        """Adds a fork. Returns a contradiction with what was stated before."""
        known = self.forks.setdefault((former, later), fork)
        return [] if known == fork else [f"{later} continues {former} from {known}, and from {fork}"]


@dataclasses.dataclass
class Known:
    """A revision of a record, and from where it is known. `sent` is a moment before which it cannot have existed: when its write was first
    sent, or that of an earlier revision, since revisions are in the order of commits."""

    key: str
    revision: int
    sent: float
    epoch: str
    source: str
    removes: bool = False


class Revisions:
    """All that is known of the revisions of one epoch."""

    def __init__(self, epoch, lineage):
        self.epoch, self.lineage = epoch, lineage
        self.by_revision = {}
        self.by_key = collections.defaultdict(list)
        self.failures = []

    def add(self, known):
        if known.revision > self.lineage.common(self.epoch, known.epoch):
            return
        former = self.by_revision.get(known.revision)
        if former is None:
            self.by_revision[known.revision] = known
            self.by_key[known.key].append(known)
        elif former.key != known.key:
            self.failures.append(
                f"revision {known.revision} of {self.epoch} is of {former.key} ({former.source}) and of {known.key} ({known.source})")
        else:
            former.sent = max(former.sent, known.sent)

    def seal(self):
        self.order = sorted(self.by_revision)
        latest = float("-inf")
        for revision in self.order:
            known = self.by_revision[revision]
            known.sent = latest = max(latest, known.sent)
        return self

    def between(self, start, end):
        """What is known of the revisions after `start`, up to and including `end`."""
        for index in range(bisect.bisect_right(self.order, start), bisect.bisect_right(self.order, end)):
            yield self.by_revision[self.order[index]]


def revisions(epoch, lineage, batches, pages, base):
    """Collects the revisions of an epoch from answers, pages, and `base`, the records of an earlier time as (key, revision, epoch)."""
    found = Revisions(epoch, lineage)
    sent = {(batch.client, batch.number + offset): batch.sent for batch in batches for offset in range(batch.length)}
    for batch in batches:
        answer = batch.answer
        for index, revision in enumerate(answer.revisions if answer else []):
            if revision is not None:
                removes = batch.removes and index == batch.length - 1
                found.add(Known(batch.key, revision, batch.sent, answer.epoch, f"acknowledged by port {answer.port}", removes))
    for page in pages:
        for change in page.changes:
            began = sent.get((change.client, change.write), float("-inf"))
            found.add(Known(change.key, change.revision, began, page.epoch, f"page {page.index} of {page.follower}", change.op == "delete"))
    for key, revision, of in base:
        found.add(Known(key, revision, float("-inf"), of, "the records at the last rest"))
    return found.seal()


def is_decided(batch, epoch, found):
    """Whether a revision of the batch in this epoch is known, or it was never sent for it, so that it cannot have an unknown one."""
    if epoch not in batch.epochs:
        return True
    answer = batch.answer
    if answer is None:
        return False
    first = next((revision for revision in answer.revisions if revision is not None), None)
    return first is not None and first <= found.lineage.common(epoch, answer.epoch)


@dataclasses.dataclass
class Missing:
    page: object
    known: Known
    # A later change, beyond the page, that may have replaced it while the page was read.
    replacement: Known
    # Writes that may have replaced the record in a history of which no response is left.
    undecided: list


def missing(page, found, undecided):
    """The changes of a page's range that it lacks. It may, where there is a replacement, or may be one.

    A page leaves out a change whose record has a later one. That may be beyond the page, if it was committed while the page was read.
    So its write was sent before the page was received. A reader that begins without data gets no deletes."""
    shown = {}
    for change in page.changes:
        shown[change.key] = max(change.revision, shown.get(change.key, 0))
    wanted = {}
    for known in found.between(page.start, page.end):
        wanted[known.key] = known
    for key, known in wanted.items():
        if shown.get(key, 0) >= known.revision or known.removes and page.is_initial:
            continue
        replacement = next((later for later in found.by_key[key] if later.revision > page.end and later.sent < page.received), None)
        yield Missing(page, known, replacement, [batch for batch in undecided if batch.key == key and batch.sent < page.received])


def unordered(page):
    """Contradictions of a page with itself."""
    order = [change.revision for change in page.changes]
    name = f"page {page.index} of {page.follower}, {page.since} to {page.cursor}"
    if order != sorted(set(order)):
        yield f"{name}: the changes are not in order: {order}"
    if len({change.key for change in page.changes}) != len(order):
        yield f"{name}: a record comes twice: {[(change.key, change.revision) for change in page.changes]}"
    if order and (order[0] <= page.start or order[-1] > page.end):
        yield f"{name}: a change is outside: {order}"
    if order and page.end <= page.start:
        yield f"{name}: it has changes, and does not advance"


def gaps(found, start, end):
    """The revisions after `start` up to `end` that are of no known write."""
    known = [each.revision for each in found.between(start, end)]
    if len(known) == end - start:
        return []
    return sorted(set(range(start + 1, end + 1)) - set(known))


def early(batch):
    """A write that took effect before it was sent: its revision had been passed by then, in the eyes of some client."""
    answer = batch.answer
    if answer is None or answer.epoch != next(iter(batch.epochs)):
        return
    # Sent for this epoch alone, so its revision is of it and not inherited.
    floor = batch.epochs[answer.epoch]
    states = [revision for revision in answer.revisions if revision is not None]
    if states and min(states) <= floor:
        yield f"{batch.client} {batch.number} of {batch.key} has revision {min(states)} of {answer.epoch}, which was at {floor} before it was sent"
    if states and max(states) > answer.head:
        yield f"{batch.client} {batch.number} of {batch.key} has revision {max(states)}, beyond the response's cursor {answer.epoch}-{answer.head}"
    if states != sorted(set(states)):
        yield f"{batch.client} {batch.number} of {batch.key} has the revisions {states}"


def behind(found, table):
    """The records of the servers whose revision is not the last one that is known."""
    for key, known in found.by_key.items():
        last = max(known, key=lambda each: each.revision)
        wanted = 0 if last.removes else last.revision
        if table.get(key, (0,))[0] != wanted:
            yield f"{key} is at {table.get(key, (0,))[0]} of {found.epoch}, and {last.revision} is known ({'a delete' if last.removes else 'a put'})"


def survival(acknowledged, table, epoch, lineage):
    """Compares acknowledged writes, as (key, mark, epoch, revision, whether a standby had it), with the records of the present epoch.
    Returns the contradictions, and how many writes ended with their epoch."""
    failures, lost = [], 0
    for key, mark, of, revision, is_synchronous in acknowledged:
        shared = lineage.common(of, epoch)
        is_there = mark in table.get(key, (0, {}))[1].get("marks", {})
        if not is_there:
            lost += 1
        if not is_there and (is_synchronous or revision <= shared):
            failures.append(f"{mark} of {key} was acknowledged at {revision} of {of}, and is not there in {epoch}, which shares {shared}")
        if is_there and 0 < shared < revision:
            failures.append(f"{mark} of {key} was acknowledged at {revision} of {of}, and is there in {epoch}, which shares only {shared}")
    return failures, lost


def delays(batches, pages, start, end):
    """The seconds from the answer to each batch that was acknowledged between two moments until each follower had a page up to it:
    (seconds, batch, page), the longest first."""
    found = []
    followers = collections.defaultdict(list)
    for page in pages:
        followers[page.follower].append(page)
    for batch in batches:
        if batch.answer is None or not start <= batch.answer.at <= end:
            continue
        last = max((revision for revision in batch.answer.revisions if revision is not None), default=None)
        for own in followers.values() if last is not None else ():
            place = bisect.bisect_right(own, batch.answer.at, key=lambda page: page.received)
            later = (own[index] for index in range(max(0, place - 1), len(own)))
            first = next((page for page in later if page.epoch == batch.answer.epoch and page.end >= last), None)
            if first is not None and first.received > batch.answer.at:
                found.append((first.received - batch.answer.at, batch, first))
    return sorted(found, key=lambda each: -each[0])


def unneeded(polls):
    """How many of a follower's polls, as counts by result, brought nothing: neither changes, nor a wait, nor an error to recover from."""
    return polls["sent"] - polls["with changes"] - polls["waited"] - polls["failed"]
