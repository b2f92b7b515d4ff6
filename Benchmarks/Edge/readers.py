"""Readers that follow the feed of one namespace over one connection each, as the protocol asks of them."""

import asyncio
import time


class Reply:
    def __init__(self, status, fields, body):
        self.status, self.fields, self.body = status, fields, body

    @property
    def cursor(self):
        return self.fields.get("freshet-cursor")


async def read_reply(reader):
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    status = int(head[0].split(" ")[1])
    fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
    body = b""
    if fields.get("transfer-encoding", "").lower() == "chunked":
        while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
            body += await reader.readexactly(size)
            await reader.readexactly(2)
        await reader.readexactly(2)
    elif status not in (204, 304):
        body = await reader.readexactly(int(fields.get("content-length", "0")))
    return Reply(status, fields, body)


class Reader:
    """Follows from `cursor`. `requests` counts its requests, and `seen` has the time of each page."""

    def __init__(self, port, namespace, cursor, wait, fields=(), selection=""):
        self.port, self.namespace, self.cursor, self.wait = port, namespace, cursor, wait
        self.fields = "".join(f"{name}: {value}\r\n" for name, value in fields)
        self.selection = selection
        self.requests, self.seen, self.statuses = 0, [], []
        self.ready = asyncio.Event()

    def head(self):
        # The spelling of the protocol, so that all readers ask for one URL.
        target = f"/v1/{self.namespace}/changes?since={self.cursor}&wait={self.wait}&limit=1000{self.selection}"
        return f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n{self.fields}\r\n".encode()

    async def run(self, until):
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            while (left := until - time.monotonic()) > 0:
                self.requests += 1
                writer.write(self.head())
                self.ready.set()
                reply = await asyncio.wait_for(read_reply(reader), left + self.wait + 10)
                self.statuses.append(reply.status)
                if reply.status not in (200, 204) or reply.cursor is None:
                    raise RuntimeError(f"status {reply.status}: {reply.body[:200]!r}")
                if reply.status == 200:
                    self.seen.append(time.monotonic())
                self.cursor = reply.cursor
        finally:
            writer.close()


async def ask(port, method, target, fields=(), body=None, source="127.0.0.1"):
    """One request on a connection of its own, from the address `source`."""
    reader, writer = await send(port, method, target, fields, body, source)
    try:
        return await asyncio.wait_for(read_reply(reader), 40)
    finally:
        writer.close()


async def send(port, method, target, fields=(), body=None, source="127.0.0.1"):
    """Sends a request, whose response is still to be read."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(source, 0))
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields)
    if body is not None:
        lines += f"Content-Length: {len(body)}\r\nContent-Type: application/json\r\n"
    writer.write(f"{method} {target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{lines}\r\n".encode() + (body or b""))
    return reader, writer
