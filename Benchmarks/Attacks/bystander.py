"""A well-behaved client in a separate process, so that the attackers' work does not slow it down.

It writes, asks for the server's health and follows its namespace by long polls, each on its own connection and from an
address that no attacker has. A line `mark` on the standard input has it print what it saw since the mark before; `verify` also
whether the server still has each acknowledged write. It ends with its input.
"""

import json
import sys
import threading
import time

from client import Connection, ask

NAMESPACE = "/v1/bystander"
RECORDS = 50


class Bystander:
    def __init__(self, port, source):
        self.port = port
        self.source = source
        self.lock = threading.Lock()
        self.acknowledged = {}
        self.reset()
        self.pending = {}

    def reset(self):
        self.seen = {"writes": [], "health": []}
        self.refused = 0
        self.polls = 0
        self.dropped = 0

    def connect(self):
        while True:
            try:
                return Connection(self.port, self.source)
            except OSError:
                time.sleep(0.01)

    def measure(self, kind, begin, count=True):
        with self.lock:
            self.pending.pop(kind, None)
            self.seen[kind].append(time.monotonic() - begin)

    def write(self):
        """Writes again until the write is acknowledged: a refusal and a broken connection are part of the wait."""
        connection, number = self.connect(), 0
        while True:
            key = number % RECORDS
            begin = time.monotonic()
            self.pending["writes"] = begin
            while True:
                answer = connection.exchange("PUT", f"{NAMESPACE}/records/c/{key}", f'{{"n":{number}}}')
                if answer.status in (200, 201):
                    break
                self.refused += 1
                if not answer.status:
                    connection.close()
                    connection = self.connect()
                time.sleep(0.01)
            self.acknowledged[key] = number
            self.measure("writes", begin)
            number += 1
            time.sleep(0.003)

    def ask_health(self):
        connection = self.connect()
        while True:
            begin = time.monotonic()
            self.pending["health"] = begin
            while connection.exchange("GET", "/healthz").status != 200:
                connection.close()
                connection = self.connect()
                time.sleep(0.01)
            self.measure("health", begin)
            time.sleep(0.01)

    def follow(self):
        connection, cursor = self.connect(), "now"
        while True:
            answer = connection.exchange("GET", f"{NAMESPACE}/changes?since={cursor}&wait=25&collection=other")
            with self.lock:
                self.polls += 1
                if answer.status not in (200, 204):
                    self.dropped += 1
            if answer.status not in (200, 204):
                connection.close()
                connection = self.connect()
                time.sleep(0.05)
            else:
                cursor = answer.fields["freshet-cursor"]

    def mark(self):
        with self.lock:
            now = time.monotonic()
            result = {"refused": self.refused, "polls": self.polls, "dropped": self.dropped}
            for kind, seconds in self.seen.items():
                # Requests that still wait have waited at least this long.
                if kind in self.pending and now - self.pending[kind] > 0.05:
                    seconds.append(now - self.pending[kind])
                seconds.sort()
                result[kind] = {
                    "count": len(seconds),
                    "p50": seconds[len(seconds) // 2] * 1000 if seconds else 0,
                    "p99": seconds[min(len(seconds) - 1, len(seconds) * 99 // 100)] * 1000 if seconds else 0,
                    "most": seconds[-1] * 1000 if seconds else 0,
                }
            self.reset()
        return result

    def verify(self):
        """How many acknowledged writes the server no longer has: each record holds its last acknowledged write or a later one."""
        lost = 0
        for key, number in list(self.acknowledged.items()):
            answer = ask(self.port, "GET", f"{NAMESPACE}/records/c/{key}", source=self.source)
            if answer.status != 200 or json.loads(answer.body)["n"] < number:
                lost += 1
        return {**self.mark(), "lost": lost, "records": len(self.acknowledged)}


def main():
    sys.setswitchinterval(0.0005)
    bystander = Bystander(int(sys.argv[1]), sys.argv[2])
    for task in (bystander.write, bystander.ask_health, bystander.follow):
        threading.Thread(target=task, daemon=True).start()
    for line in sys.stdin:
        result = bystander.verify() if line.strip() == "verify" else bystander.mark()
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
