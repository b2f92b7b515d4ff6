"""What the clients have seen, and whether it can be right."""

import threading


class History:
    """Acknowledged writes, revisions and epochs. Thread-safe. A contradiction is kept, and ends the run at its end."""

    def __init__(self):
        self.lock = threading.Lock()
        self.failures = []
        self.counts = {}
        # The writes that a 200 has called applied: their place, and the epoch and revision.
        self.acknowledged = []
        # (epoch, revision) -> (key, client, number)
        self.owners = {}
        self.epochs = []
        # The epochs during which no commit may be lost, since the standby had each before its answer.
        self.is_synchronous = True

    def fail(self, text):
        with self.lock:
            self.failures.append(text)
            if len(self.failures) > 20:
                return
        print(f"FAIL {text}", flush=True)

    def count(self, name, more=1):
        with self.lock:
            self.counts[name] = self.counts.get(name, 0) + more

    def saw_epoch(self, epoch):
        with self.lock:
            if epoch not in self.epochs:
                self.epochs.append(epoch)
                return True
        return False

    def allocated(self, epoch, revision, key, client, number):
        """Two different writes must not have one revision. A later epoch may continue the numbers of an earlier one."""
        with self.lock:
            known = self.owners.setdefault((epoch, revision), (key, client, number))
        if known != (key, client, number):
            self.fail(f"revision {revision} of {epoch} is {known} and {(key, client, number)}")

    def acknowledge(self, key, mark, epoch, revision):
        with self.lock:
            self.acknowledged.append((key, mark, epoch, revision, self.is_synchronous))
