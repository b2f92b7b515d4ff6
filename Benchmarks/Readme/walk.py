"""Does what README.md says, for scripts/check-readme.

    walk.py COPY

COPY is a folder named freshet, with a copy of the project; what the page makes beside it is made there. Each command must end with
success, and one that goes on must say that it is ready; what a `console` block shows must come out, but for epochs and times, and so must
what a comment beside a command says.
"""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading

# Commands that go on: how a line of theirs that says "ready" begins, after which the page goes on too.
READY = {"scripts/run": "Serving on http://127.0.0.1:8180", "(cd ../notes": "Hello (confirmed)", "freshet serve": "listening on "}
LEFT_OUT = ["scripts/test"]
SECONDS = 1_200


def fail(text):
    sys.exit(f"error: README.md: {text}")


class Running:
    """A command in a terminal of its own, of which everything is read."""

    def __init__(self, command, folder, environment):
        self.command, self.lines, self.news = command, [], threading.Condition()
        # A terminal, since a program keeps the lines that it prints into a pipe until there are many.
        terminal, end = os.openpty()
        self.process = subprocess.Popen(["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                        stdout=end, stderr=end, start_new_session=True)
        os.close(end)
        threading.Thread(target=self.read, args=[terminal], daemon=True).start()

    def read(self, terminal):
        with open(terminal, encoding="utf-8", errors="replace") as output, contextlib.suppress(OSError):
            # Ends by an error once no process has the terminal any more.
            for line in output:
                with self.news:
                    self.lines.append(re.sub(r"\x1b\[[0-9;]*m", "", line).rstrip())
                    self.news.notify_all()
        with self.news:
            self.lines.append(None)
            self.news.notify_all()

    def wait_for(self, beginning):
        with self.news:
            found = self.news.wait_for(lambda: None in self.lines or any(line.startswith(beginning) for line in self.lines), SECONDS)
            if not found or not any(line and line.startswith(beginning) for line in self.lines):
                fail(f"{self.command} printed no line '{beginning}…':\n" + "\n".join(line or "" for line in self.lines[-30:]))

    def interrupt(self):
        """Ctrl-C."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGINT)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            fail(f"{self.command} does not end by Ctrl-C")


def comparable(text):
    """Without epochs and times, which differ from run to run."""
    text = re.sub(r"[0-9a-v]{13}-([0-9]+)", r"EPOCH-\1", text)
    return re.sub(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z", "TIME", text).strip()


def blocks(text):
    """The page's blocks: the language, the line before, and the lines."""
    for match in re.finditer(r"(?:^|\n)([^\n]*)\n+```(\w*)\n(.*?)```", text, re.S):
        yield match[2], match[1], match[3]


class Reader:
    def __init__(self, folder):
        self.folder, self.environment, self.running = folder, dict(os.environ), []

    def run(self, command):
        """Runs a command in a terminal of this folder; returns what it printed."""
        done = subprocess.run(["bash", "-c", command + "\nstatus=$?\nenv -0 >../environment\nexit $status"], cwd=self.folder,
                              env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, timeout=SECONDS)
        if done.returncode != 0:
            fail(f"{command} ended with {done.returncode}")
        # An export holds for the terminals that follow.
        lines = (self.folder.parent / "environment").read_text().split("\0")
        self.environment = dict(line.split("=", 1) for line in lines if "=" in line)
        return done.stdout

    def start(self, command, ready):
        # The next server takes the port of the one before.
        if command.startswith("freshet serve"):
            self.interrupt()
        self.running.append(Running(command, self.folder, self.environment))
        self.running[-1].wait_for(ready)

    def interrupt(self):
        while self.running:
            self.running.pop().interrupt()

    def commands(self, text):
        for line in text.splitlines():
            command, _, comment = (part.strip() for part in line.partition("  # ") or ("", "", ""))
            if not command or any(command.startswith(name) for name in LEFT_OUT):
                continue
            print(f"$ {command}", flush=True)
            ready = next((ready for name, ready in READY.items() if command.startswith(name)), None)
            if ready:
                self.start(command, ready)
            else:
                print(self.run(command), end="", flush=True)
            if comment == "the program above prints it":
                self.running[-1].wait_for("Good morning (confirmed)")

    def transcript(self, text):
        for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.M):
            print(f"$ {command}", flush=True)
            seen = self.run(command)
            if comparable(seen) != comparable(shown):
                fail(f"{command} printed {seen.strip()}, and not {shown.strip()}")


def main():
    folder, count = pathlib.Path(sys.argv[1]), 0
    reader = Reader(folder)
    try:
        for language, before, block in blocks((folder / "README.md").read_text(encoding="utf-8")):
            name = re.fullmatch(r"`(\.\./[^`]+)`:", before.strip())
            if language == "sh":
                reader.commands(block)
            elif language == "console":
                reader.transcript(block)
            elif name:
                (folder / name[1]).write_text(block, encoding="utf-8")
            else:
                continue
            count += 1
    finally:
        reader.interrupt()
    if count < 8:
        fail(f"only {count} blocks were found")
    print(f"\nREADME.md works: {count} blocks, from the first line to the end")


main()
