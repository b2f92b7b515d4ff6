"""A TCP proxy between a server and a database, whose links can be cut, slowed, silenced, and made to lose the answer to a commit."""

import asyncio
import threading

COMMITTED = b"C\x00\x00\x00\x0bCOMMIT\x00"


class Link:
    """One listening port that leads to one target. Its faults are set by another thread, and looked at for each piece."""

    def __init__(self, target):
        self.target = target
        self.port = None
        self.delay = 0.0
        self.is_silent = False
        # Connections that listen for notifications get none.
        self.is_deaf = False
        # Connections that begin to listen end.
        self.refuses_listeners = False
        self.listeners = set()
        self.drops_commits = 0
        self.dropped = 0
        self.pairs = set()


class Proxy:
    """Runs links on a thread."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    def link(self, target):
        link = Link(target)
        asyncio.run_coroutine_threadsafe(self._listen(link), self.loop).result(10)
        return link

    def cut(self, pairs):
        """Ends connections: all of a link, or those that listen for notifications, with those that they have not got."""
        self.loop.call_soon_threadsafe(lambda: [writer.transport.abort() for pair in pairs for writer in pair])

    async def _listen(self, link):
        server = await asyncio.start_server(lambda reader, writer: self._serve(link, reader, writer), "127.0.0.1", 0)
        link.port = server.sockets[0].getsockname()[1]

    async def _serve(self, link, reader, writer):
        while link.is_silent:
            await asyncio.sleep(0.05)
        try:
            other_reader, other_writer = await asyncio.open_connection("127.0.0.1", link.target)
        except OSError:
            return writer.transport.abort()
        pair = (writer, other_writer)
        link.pairs.add(pair)
        await asyncio.gather(self._pump(link, reader, other_writer, pair, False), self._pump(link, other_reader, writer, pair, True))
        link.pairs.discard(pair)
        link.listeners.discard(pair)

    async def _pump(self, link, reader, writer, pair, is_answer):
        try:
            while piece := await reader.read(1 << 16):
                if link.delay:
                    await asyncio.sleep(link.delay)
                if not is_answer and b"LISTEN" in piece:
                    link.listeners.add(pair)
                    if link.refuses_listeners:
                        break
                while link.is_silent or link.is_deaf and pair in link.listeners:
                    await asyncio.sleep(0.05)
                if is_answer and link.drops_commits > 0 and COMMITTED in piece:
                    link.drops_commits -= 1
                    link.dropped += 1
                    break
                writer.write(piece)
                await writer.drain()
        except (OSError, asyncio.CancelledError):
            pass
        for one in pair:
            one.transport.abort()
