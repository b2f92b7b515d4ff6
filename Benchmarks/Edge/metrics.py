"""The metrics of a server that the checks and loads of shared caches look at."""

import re
import urllib.request


def read(port, token=None):
    """The text of `/metrics`. `token` is an administrator's, where keys are required."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}/metrics")
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    return urllib.request.urlopen(request).read().decode()


def feed_responses(port, token=None):
    """The responses to requests for changes that the server has given."""
    return sum(int(float(n)) for n in re.findall(r'^freshet_http_responses_total\{.*/changes".*\} (\S+)$', read(port, token), re.M))


def waiting(port, token=None):
    """The readers that wait at the server now."""
    return int(float(re.search(r"^freshet_feed_waiters (\S+)$", read(port, token), re.M).group(1)))
