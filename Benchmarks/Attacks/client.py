"""A small HTTP client on plain sockets, which can do what a well-behaved one cannot: stop half-way, or never read."""

import os
import socket
import time

# Names the token of all requests that state no other one; child processes inherit it, and `freshet` itself reads it.
TOKEN = "FRESHET_TOKEN"


class Answer:
    """What came back. `status` is 0 where the connection ended without an answer; `error` says how."""

    def __init__(self):
        self.status = 0
        self.fields = {}
        self.body = b""
        self.size = 0
        self.seconds = 0.0
        self.error = ""


def head(method, path, length=None, fields=None, host="127.0.0.1"):
    """The bytes of a request's head. `length` is that of the body, None for no body."""
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}"]
    if length is not None:
        lines.append(f"Content-Length: {length}")
        if not fields or "Content-Type" not in fields:
            lines.append("Content-Type: application/json")
    fields = dict(fields or {})
    if token := os.environ.get(TOKEN):
        fields.setdefault("Authorization", f"Bearer {token}")
    lines += [f"{name}: {value}" for name, value in fields.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


class Connection:
    """One connection. `source` is the loopback address that the server sees as the client's."""

    def __init__(self, port, source="127.0.0.1", timeout=120, receive_buffer=None):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self.socket.settimeout(timeout)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # The port is chosen when the connection is made, so that many connections may share it.
        self.socket.setsockopt(socket.IPPROTO_IP, getattr(socket, "IP_BIND_ADDRESS_NO_PORT", 24), 1)
        self.socket.bind((source, 0))
        self.socket.connect(("127.0.0.1", port))
        self.left = b""

    def close(self):
        self.socket.close()

    def send(self, *parts):
        for part in parts:
            self.socket.sendall(part)

    def exchange(self, method, path, body=None, fields=None, host="127.0.0.1", keep=1 << 20):
        """Sends a request and reads its answer, of whose body it keeps the first `keep` bytes. Errors are part of the answer."""
        answer, began = Answer(), time.monotonic()
        if isinstance(body, str):
            body = body.encode()
        try:
            try:
                self.send(head(method, path, None if body is None else len(body), fields, host), body or b"")
            except (BrokenPipeError, ConnectionResetError):
                pass  # An early refusal: it may still be readable.
            self.receive(answer, keep)
        except OSError as error:
            answer.error = type(error).__name__
        answer.seconds = time.monotonic() - began
        return answer

    def receive(self, answer, keep=1 << 20):
        while b"\r\n\r\n" not in self.left:
            self.more()
        lines, self.left = self.left.split(b"\r\n\r\n", 1)
        lines = lines.decode("latin-1").split("\r\n")
        answer.status = int(lines[0].split(" ")[1])
        answer.fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        if answer.fields.get("transfer-encoding") == "chunked":
            while True:
                while b"\r\n" not in self.left:
                    self.more()
                size, self.left = self.left.split(b"\r\n", 1)
                self.take(int(size, 16), answer, keep)
                self.take(2, Answer(), 0)
                if int(size, 16) == 0:
                    return
        elif answer.status not in (204, 304):
            self.take(int(answer.fields.get("content-length", "0")), answer, keep)

    def take(self, count, answer, keep):
        """Moves `count` bytes into the answer."""
        parts = []
        while count > 0:
            if not self.left:
                self.more()
            part, self.left = self.left[:count], self.left[count:]
            count -= len(part)
            answer.size += len(part)
            if len(answer.body) + sum(map(len, parts)) < keep:
                parts.append(part)
        answer.body += b"".join(parts)

    def more(self):
        part = self.socket.recv(1 << 18)
        if not part:
            raise ConnectionResetError("the server closed the connection")
        self.left += part


def ask(port, method, path, body=None, fields=None, source="127.0.0.1", **options):
    """One request on a separate connection."""
    try:
        connection = Connection(port, source)
    except OSError as error:
        answer = Answer()
        answer.error = type(error).__name__
        return answer
    try:
        return connection.exchange(method, path, body, fields, **options)
    finally:
        connection.close()
