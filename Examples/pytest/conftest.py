"""A Freshet server for all tests, and a namespace for each, so that none sees the records or the faults of another.

`freshet` must be in the PATH, or FRESHET_PROGRAM say where it is.
"""

import http.client
import json
import os
import subprocess
import urllib.error
import urllib.request
import uuid

import pytest

PROGRAM = os.environ.get("FRESHET_PROGRAM", "freshet")


@pytest.fixture(scope="session")
def server():
    """The URL of a server in memory on a free port, which is ready when it has printed its line."""
    process = subprocess.Popen(
        [PROGRAM, "serve", "--port", "0", "--memory", "--test-faults"], stdout=subprocess.PIPE, text=True
    )
    try:
        line = process.stdout.readline()
        assert line.startswith("listening on "), f"freshet did not start: {line!r}"
        yield line.removeprefix("listening on ").strip()
    finally:
        process.terminate()
        assert process.wait(timeout=30) == 0


class Answer:
    """The server's answer."""

    def __init__(self, status, headers, body):
        self.status = status
        self.cursor = headers.get("Freshet-Cursor")
        self.json = json.loads(body) if body else None


class Shop:
    """A namespace, over HTTP and over the command line."""

    def __init__(self, server, namespace):
        self.server = server
        self.namespace = namespace

    def request(self, method, path, body=None, token=None, timeout=30):
        """One request below the namespace; an error's status is an answer too, a broken connection an exception."""
        headers = {"Content-Type": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            f"{self.server}/v1/{self.namespace}{path}", data=data, headers=headers, method=method
        )
        try:
            with urllib.request.urlopen(request, timeout=timeout) as reply:
                return Answer(reply.status, reply.headers, reply.read())
        except urllib.error.HTTPError as error:
            return Answer(error.code, error.headers, error.read())

    def fault(self, effect, **members):
        """Arms a fault: `shop.fault("drop-reply", on="writes")`."""
        answer = self.request("POST", "/faults", {"effect": effect, **members})
        assert answer.status == 201, answer.json
        return answer.json["id"]

    def strikes(self, fault):
        faults = self.request("GET", "/faults").json["faults"]
        return next(found["strikes"] for found in faults if found["id"] == fault)

    def lift(self):
        return self.request("DELETE", "/faults").json["lifted"]

    def freshet(self, *arguments):
        """Runs the program on the namespace."""
        command = [PROGRAM, *arguments, "--server", self.server, "--namespace", self.namespace]
        return subprocess.run(command, capture_output=True, text=True, timeout=60)


@pytest.fixture
def shop(server):
    """A fresh namespace, removed after the test."""
    shop = Shop(server, f"test-{uuid.uuid4().hex}")
    yield shop
    shop.lift()
    shop.request("DELETE", "")


#: What a connection raises that ends before its answer does.
LOST = (http.client.RemoteDisconnected, http.client.IncompleteRead, ConnectionResetError)
