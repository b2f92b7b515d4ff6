"""Clients that roam over the servers: writers with numbers and without, followers, and what they ask."""

import collections
import http.client
import json
import random
import threading
import time

from records import Answer, Change, Page, position

# The value of a record that was deleted.
DELETED = object()


class Reply:
    def __init__(self, status, cursor, body, retry, tag):
        self.status, self.cursor, self.body, self.retry, self.tag = status, cursor, body, retry, tag

    @property
    def problem(self): return str(self.body.get("type", "")).rsplit(":", 1)[-1] if isinstance(self.body, dict) else ""


def ask(port, method, path, body=None, timeout=8, fields=None):
    """One request. `None` if no whole response came."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    fields = ({} if body is None else {"Content-Type": "application/json"}) | (fields or {})
    try:
        connection.request(method, path, None if body is None else json.dumps(body), fields)
        response = connection.getresponse()
        data = response.read()
        fields = response.headers
        body = json.loads(data) if data else None
        return Reply(response.status, fields.get("Freshet-Cursor"), body, fields.get("Retry-After"), fields.get("ETag"))
    except (OSError, http.client.HTTPException, ValueError):
        return None
    finally:
        connection.close()


class Client(threading.Thread):
    def __init__(self, name, servers, history, seed):
        super().__init__(daemon=True)
        self.client, self.servers, self.history = name, servers, history
        self.random = random.Random(seed)
        self.is_stopped = False
        self.server = self.random.choice(servers)
        # Which it roams over.
        self.places = servers

    def roam(self):
        self.server = self.random.choice(self.places)

    def pause(self, reply):
        """Waits as a response asks, but not for so long that the run is idle."""
        time.sleep(min(float(reply.retry or 0.2), 1) * self.random.uniform(0.5, 1) if reply else 0.1)


class WritingClient(Client):
    """Writes until it is stopped, and rests while it is paused."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.is_paused = False
        self.is_idle = False
        # The latest response, for a report.
        self.latest = None

    def run(self):
        while not self.is_stopped:
            self.is_idle = self.is_paused
            if self.is_idle:
                time.sleep(0.02)
            else:
                if self.server not in self.places:
                    self.roam()
                self.step()


class Writer(WritingClient):
    """Sends atomic batches of an increment and a mark: a record that counts a write twice, or not at all, has another number of marks
    than its count; or of a put and a delete, or two puts. Repeats a batch under its numbers until it is decided."""

    def __init__(self, *arguments, keys):
        super().__init__(*arguments)
        self.keys = keys
        self.number = 1
        self.epoch = None
        self.rounds = 0
        self.period = lambda: 0

    def step(self):
        self.rounds += 1
        mark = f"{self.client}-{self.rounds}"
        if self.random.random() < 0.1:
            key = f"visits/{self.period()}-{self.random.randrange(self.keys)}"
            last = self.random.choice([{"op": "delete"}, {"op": "put", "value": {"last": mark}}])
            batch = [{"number": self.number, "op": "put", "key": key, "value": {"first": mark}}, {"number": self.number + 1, "key": key} | last]
            mark = None
        else:
            key = f"counters/{self.period()}-{self.random.randrange(self.keys)}"
            batch = [
                {"number": self.number, "op": "increment", "key": key, "path": "/n", "by": 1},
                {"number": self.number + 1, "op": "patch", "key": key, "value": {"marks": {mark: True}}},
            ]
        if self.decide(key, mark, batch):
            self.number += 2
        if self.random.random() < 0.2:
            self.roam()
        time.sleep(self.random.uniform(0, 0.02))

    def decide(self, key, mark, batch):
        sent = self.history.begin(self.client, self.number, key, batch[1]["op"] == "delete")
        while not self.is_stopped:
            if self.epoch is None and not self.learn_epoch():
                continue
            self.history.send(sent, self.epoch)
            body = {"client": self.client, "epoch": self.epoch, "resume": True, "atomic": True, "writes": batch}
            reply = ask(self.server.port, "POST", "/v1/shop/writes", body)
            self.latest = reply and f"{reply.status} {reply.problem}"
            if reply is None:
                self.history.count("writes without an answer")
                self.roam()
                self.pause(reply)
            elif reply.status == 200:
                return self.record(key, mark, reply, sent)
            elif reply.problem == "epoch-changed":
                self.epoch = None
            elif reply.status in (503, 507):
                self.history.count(f"writes answered {reply.problem}")
                self.roam()
                self.pause(reply)
            else:
                self.history.fail(f"{self.client}: {reply.status} {reply.body}")
                self.pause(reply)
        return False

    def learn_epoch(self):
        reply = ask(self.server.port, "GET", f"/v1/shop/clients/{self.client}")
        if reply is None or reply.status != 200:
            self.roam()
            self.pause(reply)
            return False
        self.epoch, _ = position(reply.cursor)
        self.history.saw(reply.cursor)
        return True

    def record(self, key, mark, reply, sent):
        results = reply.body["results"]
        self.history.saw(reply.cursor)
        if len(results) != 2 or any(result["status"] not in ("applied", "settled") for result in results):
            self.history.fail(f"{self.client}: a batch of {key} was answered {reply.body}")
            return True
        epoch, head = position(reply.cursor)
        for number, result in zip((self.number, self.number + 1), results):
            if "revision" in result:
                self.history.allocated(epoch, result["revision"], key, self.client, number)
        sent.answer = Answer(
            epoch, head, [result.get("revision") for result in results], [result["status"] for result in results], self.server.port,
            time.monotonic(), time.time())
        if mark is not None:
            self.history.acknowledge(key, mark, epoch, results[1].get("revision", 0))
        self.history.count("acknowledged batches")
        return True


class Maker(WritingClient):
    """Makes records that nobody else makes, and deletes them, without numbers: a server that repeats a commit of which it does not know
    the outcome would find its own record there, or already deleted. All makers write into namespaces that are new twice a second, which
    several servers make at once."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.count = 0

    def step(self):
        self.count += 1
        path = f"/v1/made-{int(time.monotonic() * 2)}/records/made/{self.client}-{self.count}"
        made = self.send("PUT", path, True, {"If-None-Match": "*"})
        if made is None:
            return
        if made.status != 201:
            self.history.fail(f"{self.client}: the only writer of {path} was answered {made.status} {made.body}")
            return
        self.allocated(made, path, 1)
        deleted = self.send("DELETE", path)
        if deleted and deleted.status == 200:
            self.allocated(deleted, path, 2)
        # A later history may lack the record.
        if deleted and deleted.status not in (200, 204) and position(deleted.cursor)[0] == position(made.cursor)[0]:
            self.history.fail(f"{self.client}: the only one that deletes {path} was answered {deleted.status} {deleted.body}")
        self.history.count("records made and deleted")
        time.sleep(self.random.uniform(0, 0.02))

    def allocated(self, reply, path, number):
        self.history.allocated(position(reply.cursor)[0], reply.body["revision"], path, self.client, number)

    def send(self, method, path, body=None, fields=None):
        """The response; `None` if it does not say whether the write took effect, or it did not."""
        reply = ask(self.server.port, method, path, body, fields=fields)
        self.latest = reply and f"{reply.status} {reply.problem}"
        if reply is not None and reply.status not in (503, 507):
            return reply
        self.history.count(f"makers answered {reply.problem}" if reply else "makers without an answer")
        self.roam()
        self.pause(reply)
        return None


class Follower(Client):
    """Follows the feed over all servers, and keeps the records that it states."""

    wait = 2

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.cursor = "0"
        self.table = {}
        # The revisions of records that were read by themselves. The store may be ahead of a server's feed.
        self.ahead = {}
        self.is_live = False
        # Where it had read everything. It knows of no delete before.
        self.listed = None
        # How many polls had which result.
        self.polls = collections.Counter()

    def run(self):
        while not self.is_stopped:
            self.step()
            if self.random.random() < 0.1:
                self.roam()

    def step(self):
        began = time.monotonic()
        self.polls["sent"] += 1
        reply = ask(self.server.port, "GET", f"/v1/shop/changes?since={self.cursor}&wait={self.wait}")
        if reply is None or reply.status >= 500:
            self.history.count("polls without an answer" if reply is None else f"polls answered {reply.problem}")
            self.polls["failed"] += 1
            self.is_live = False
            self.roam()
            return self.pause(reply)
        if reply.status == 410:
            self.history.count(f"polls answered {reply.problem}")
            self.polls["failed"] += 1
            self.history.forked(position(self.cursor)[0], reply.body)
            # In the middle of several pages, a change may have been left out whose replacement is lost.
            may_continue, self.is_live = self.is_live, False
            if not (may_continue and self.inherit()):
                self.cursor, self.table, self.ahead, self.listed = "0", {}, {}, None
            return
        if reply.status not in (200, 204):
            self.history.fail(f"{self.client}: {reply.status} {reply.body}")
            return self.pause(reply)
        self.take(reply, began)

    def inherit(self):
        """Continues in a history that begins with what the former one had, and reads what it has lost. Whether it can."""
        reply = ask(self.server.port, "GET", f"/v1/shop/changes?since={self.cursor}&wait=0")
        if reply is None or reply.status != 410 or "fork" not in reply.body:
            return False
        fork, cursor = reply.body["fork"], reply.body["cursor"]
        if fork < self.listed:
            return False
        for key in [key for key, (revision, _) in self.table.items() if revision > fork]:
            found = ask(self.server.port, "GET", f"/v1/shop/records/{key}")
            if found is None or found.status not in (200, 404) or position(found.cursor)[0] != position(cursor)[0]:
                return False
            if found.status == 200:
                self.table[key] = (int(found.tag.strip('"').split("-")[1]), found.body)
                self.ahead[key] = self.table[key][0]
            else:
                del self.table[key]
            self.history.count("lost records read again")
        self.cursor = cursor
        self.history.count("followers that continued in a new history")
        return True

    def take(self, reply, began):
        epoch, revision = position(reply.cursor)
        received = time.monotonic()
        self.history.saw(reply.cursor)
        if self.cursor != "0":
            former, before = position(self.cursor)
            if former != epoch:
                self.history.fail(f"{self.client}: a poll from {self.cursor} was answered at {reply.cursor}")
            elif revision < before:
                self.history.fail(f"{self.client}: the cursor fell from {self.cursor} to {reply.cursor}")
        changes = reply.body["changes"] if reply.status == 200 else []
        self.history.add(Page(
            self.client, self.history.number(), self.cursor, reply.cursor, reply.status == 204 or reply.body["upToDate"], reply.status,
            self.server.port, began, received, time.time(),
            [Change(change["key"], change["revision"], change.get("client"), change.get("write"), change["op"]) for change in changes]))
        for change in changes:
            if "write" in change:
                self.history.allocated(epoch, change["revision"], change["key"], change["client"], change["write"])
            known = self.table.get(change["key"])
            if known and known[0] > change["revision"]:
                if self.ahead.get(change["key"]) == known[0] and revision < known[0]:
                    continue
                self.history.fail(f"{self.client}: {change['key']} went from {known[0]} back to {change['revision']}")
            self.table[change["key"]] = (change["revision"], DELETED if change["op"] == "delete" else change.get("value"))
        if changes or self.cursor == "0":
            self.polls["with changes"] += 1
        elif received - began >= self.wait / 2:
            self.polls["waited"] += 1
        self.history.count("polls answered")
        self.is_live = reply.status == 204 or reply.body["upToDate"]
        if self.listed is None and self.is_live:
            self.listed = revision
        self.cursor = reply.cursor
