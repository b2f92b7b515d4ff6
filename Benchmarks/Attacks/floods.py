"""Many connections at once that send what they are given and never read, by one thread."""

import selectors
import socket
import time


class Flood:
    """Connections whose bytes are sent as far as the server takes them. They stay open until `close`. `payload` is what each
    sends, or a function that makes it of the connection's number."""

    def __init__(self, port, count, payload, source="127.0.0.1", receive_buffer=4096):
        self.selector = selectors.DefaultSelector()
        self.sockets = []
        self.sent = {}
        self.payload = payload if callable(payload) else lambda _: payload
        self.answered = {}
        for index in range(count):
            one = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
            one.setsockopt(socket.IPPROTO_IP, getattr(socket, "IP_BIND_ADDRESS_NO_PORT", 24), 1)
            one.bind((source, 0))
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", port))
            self.sockets.append(one)
            self.sent[one] = 0
            self.selector.register(one, selectors.EVENT_WRITE, index)

    def run(self, seconds, until=None):
        """Sends for so long, or until nothing is left to send or `until` says that it is enough."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.selector.get_map():
            for key, _ in self.selector.select(0.1):
                one, payload = key.fileobj, memoryview(self.payload(key.data))
                try:
                    self.sent[one] += one.send(payload[self.sent[one]:self.sent[one] + (1 << 18)])
                    if self.sent[one] >= len(payload):
                        self.selector.unregister(one)
                except BlockingIOError:
                    continue
                except OSError:
                    self.selector.unregister(one)
            if until and until():
                break

    def sent_bytes(self):
        return sum(self.sent.values())

    def open_count(self):
        """Connections that the server has neither refused nor closed."""
        count = 0
        for one in self.sockets:
            try:
                if one.recv(1, socket.MSG_PEEK):
                    count += 1
            except BlockingIOError:
                count += 1
            except OSError:
                pass
        return count

    def close(self):
        self.selector.close()
        for one in self.sockets:
            one.close()
