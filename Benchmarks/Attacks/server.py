"""A separate server for each attack, with a fresh folder, on loopback."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading

# An address that no attack uses: naming it as the only trusted proxy leaves loopback addresses bounded like others.
UNUSED_ADDRESS = "127.0.0.77"


class Server:
    def __init__(self, program, options=(), config=None, store=None):
        """`config` is the content of a configuration file, whose listeners have the port 0; `ports` are those of its addresses.
        `options` may be a function of the folder with the data, which is called before the server starts. `store` is a PostgreSQL database
        in place of that folder."""
        self.folder = tempfile.mkdtemp(prefix="freshet-attack-")
        self.data = os.path.join(self.folder, "data")
        if callable(options):
            options = options(self.data)
        if config is None:
            where = ["--port", "0"]
        else:
            path = os.path.join(self.folder, "freshet.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(config, file)
            where = ["--config", path]
        command = [program, "serve", *where, *(["--store", store] if store else ["--data", self.data]), *options]
        self.log = open(os.path.join(self.folder, "log"), "wb")
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log, text=True)
        lines = [self.process.stdout.readline() for _ in (config or {}).get("listen", [None])]
        line = lines[0]
        try:
            self.ports = [int(line.strip().rsplit(":", 1)[1]) for line in lines]
            self.port = self.ports[0]
        except (IndexError, ValueError):
            self.stop()
            raise SystemExit(f"error: {program} did not say where it listens, but {line!r}") from None
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    @property
    def pid(self):
        return self.process.pid

    def runs(self):
        return self.process.poll() is None

    def memory(self, name="VmHWM"):
        """MiB resident: the most so far, or `VmRSS`, at present. 0 once the process has ended."""
        try:
            with open(f"/proc/{self.pid}/status") as status:
                for line in status:
                    if line.startswith(name + ":"):
                        return int(line.split()[1]) / 1024
        except OSError:
            pass
        return 0.0

    def processor_seconds(self):
        """User and system time of all its threads."""
        with open(f"/proc/{self.pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        if self.runs():
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def options_of(program, command="serve"):
    """The help of a command, to see which options this build has."""
    return subprocess.run([program, command, "--help"], capture_output=True, text=True, timeout=30).stdout
