"""What clients have sent and been answered, as plain values: the material of checks.py."""

import dataclasses


@dataclasses.dataclass
class Answer:
    """The results of a batch, of the epoch of its cursor. `revisions` has None where a result states none."""

    epoch: str
    head: int
    revisions: list
    statuses: list
    port: int
    at: float
    wall: float


@dataclasses.dataclass
class Batch:
    """Consecutive numbered writes to one record, and how often they were sent."""

    client: str
    number: int
    key: str
    sent: float
    # The epochs that it was sent for, in their order, and the highest position of each that any client had seen before.
    epochs: dict = dataclasses.field(default_factory=dict)
    attempts: int = 0
    answer: Answer = None
    length: int = 2
    # Whether its last write is a delete.
    removes: bool = False


@dataclasses.dataclass
class Change:
    key: str
    revision: int
    client: str = None
    write: int = None
    op: str = "put"


@dataclasses.dataclass
class Page:
    """One response of the feed: the changes after one cursor, up to and including another."""

    follower: str
    index: int
    since: str
    cursor: str
    is_up_to_date: bool
    status: int
    port: int
    sent: float
    received: float
    wall: float
    changes: list

    @property
    def epoch(self): return position(self.cursor)[0]

    @property
    def start(self): return 0 if self.since == "0" else position(self.since)[1]

    @property
    def is_initial(self):
        """Whether it belongs to a reading from the beginning: the cursors within one have an origin."""
        return self.since == "0" or self.since.count("-") > 1

    @property
    def end(self): return position(self.cursor)[1]


def position(cursor):
    """The epoch and revision of a cursor, without its origin and turn."""
    epoch, revision = cursor.split("-")[:2]
    return epoch, int(revision.split(".")[0])
