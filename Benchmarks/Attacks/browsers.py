"""Section 5: what a page in a browser, another user of the machine, or a stored value could do."""

import os
import pty
import stat
import subprocess

from client import Answer, Connection, head
from rows import row


@row("5", "POST of text/plain, as a form sends it")
def plain_post(scene):
    body = '{"client":"form","writes":[{"number":1,"op":"put","key":"c/1","value":1}]}'
    for path in ("writes", "reads", "invalidations"):
        answer = scene.ask("POST", f"/v1/a/{path}", body, {"Content-Type": "text/plain"})
        scene.state(path, answer.status or answer.error, is_any=(415,))


@row("5", "writes of a page of another origin")
def foreign_origin(scene):
    fields = {"Content-Type": "application/json"}
    cases = {
        "foreign Origin": {"Origin": "http://attacker.example"},
        "Origin null": {"Origin": "null"},
        "cross-site": {"Sec-Fetch-Site": "cross-site"},
    }
    for name, more in cases.items():
        answer = scene.ask("PUT", "/v1/a/records/c/1", "1", {**fields, **more})
        scene.state(name, answer.status or answer.error, is_any=(403,))
    scene.state("DELETE", scene.ask("DELETE", "/v1/a", None, {"Origin": "http://attacker.example"}).status, is_any=(403,))


@row("5", "a Host that an attacker's DNS points here")
def rebound_host(scene):
    for method, body in (("GET", None), ("PUT", "1")):
        answer = scene.ask(method, "/v1/a/records/c/1", body, host="attacker.example")
        scene.state(method, answer.status or answer.error, is_any=(421,))
    for host in ("127.0.0.1", f"localhost:{scene.port}", "[::1]:80"):
        answer = scene.ask("PUT", "/v1/a/records/c/1", "1", host=host)
        scene.state(host, answer.status or answer.error, is_any=(200, 201))


@row("5", "a stored page that a browser opens")
def stored_page(scene):
    scene.must("PUT", "/v1/a/records/c/page", "<script>alert(1)</script>", {"Content-Type": "text/html"})
    fields = scene.ask("GET", "/v1/a/records/c/page").fields
    scene.state("Content-Security-Policy", fields.get("content-security-policy", "none"), is_any=("sandbox; default-src 'none'",))
    scene.state("X-Content-Type-Options", fields.get("x-content-type-options", "none"), is_any=("nosniff",))
    scene.state("Cache-Control", fields.get("cache-control", "none"), is_any=("private, no-cache",))
    problem = scene.ask("GET", "/v1/a/records/c/none").fields
    scene.state("X-Content-Type-Options of a problem", problem.get("x-content-type-options", "none"), is_any=("nosniff",))


@row("5", "files that another user of the machine could read", needs_key=True)
def file_modes(scene):
    scene.must("PUT", "/v1/a/records/c/1", "1")
    for name in sorted(os.listdir(scene.server.data)):
        mode = stat.S_IMODE(os.stat(os.path.join(scene.server.data, name)).st_mode)
        scene.state(name, f"{mode:04o}", is_any=("0600",))


@row("5", "serve beyond loopback without --open", needs_key=True)
def beyond_loopback(scene):
    # 192.0.2.1 is reserved for documentation: without the refusal, the system refuses the address.
    folder = os.path.join(scene.server.folder, "beyond")
    try:
        ended = subprocess.run(
            [scene.program, "serve", "--host", "192.0.2.1", "--port", "0", "--data", folder], capture_output=True, text=True, timeout=10)
        scene.state("refused", "by name" if ended.returncode and "--open" in ended.stderr else "no", is_any=("by name",))
    except subprocess.TimeoutExpired:
        scene.state("refused", "no", is_any=("by name",))


@row("5", "a value with control characters, on a terminal", needs_key=True)
def terminal_escapes(scene):
    scene.must("PUT", "/v1/a/records/c/1", '"a\x7fb\u009b31mc\u202ed"'.encode(), {"Content-Type": "application/json"})
    scene.must("PUT", "/v1/a/records/c/2", b"\x1b]0;owned\x07\x1b[2J", {"Content-Type": "text/plain"})
    url = f"http://127.0.0.1:{scene.port}"
    for command in (["get", "c/1"], ["get", "c/2"], ["list", "c"]):
        shown = on_terminal([scene.program, command[0], command[1], "--server", url, "--namespace", "a"])
        raw = [name for name, text in (("ESC", b"\x1b]"), ("ESC [2J", b"\x1b[2J"), ("DEL", b"\x7f"), ("C1", b"\xc2\x9b"), ("bidi", b"\xe2\x80\xae"))
               if text in shown]
        scene.state(" ".join(command), "raw " + ", ".join(raw) if raw else "escaped", is_any=("escaped",))


def on_terminal(command):
    """What a command prints where its output is a terminal."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(command, stdin=follower, stdout=follower, stderr=follower)
    os.close(follower)
    shown = b""
    try:
        while part := os.read(leader, 65_536):
            shown += part
    except OSError:
        pass  # The other side is closed.
    os.close(leader)
    if process.wait(timeout=30) != 0:
        raise RuntimeError(f"{' '.join(command[1:])} failed: {shown[:100]!r}")
    return shown


@row("5", "a token sent over http:// beyond loopback", needs_key=True)
def token_in_clear(scene):
    # The system connects 0.0.0.0 to loopback, but it is no loopback address.
    command = [scene.program, "get", "c/1", "--server", f"http://0.0.0.0:{scene.port}", "--namespace", "a", "--token", "secret"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=30)
    refused = ended.returncode != 0 and "https" in ended.stderr
    scene.state("refused", "yes" if refused else "no", is_any=("yes",))


@row("5", "an empty line before a request", needs_key=True)
def empty_line(scene):
    connection, answer = Connection(scene.port), Answer()
    connection.send(b"\r\n" + head("GET", "/healthz"))
    try:
        connection.receive(answer)
    except OSError as error:
        answer.error = type(error).__name__
    scene.state("status", answer.status or answer.error, is_any=(200,))


@row("5", "TRACE")
def trace(scene):
    answer = scene.ask("TRACE", "/v1/a/records/c/1")
    scene.state("status", answer.status or answer.error, is_any=(405,))
    scene.state("Allow", "given" if answer.fields.get("allow") else "none", is_any=("given",))
