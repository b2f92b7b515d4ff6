"""A PostgreSQL primary and its standby, on loopback, in a folder that is removed, each on a small file system if this may make one."""

import glob
import os
import shutil
import socket
import subprocess


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Node:
    """One PostgreSQL server. Runs as `postgres` where this runs as root, which PostgreSQL refuses."""

    def __init__(self, folder, name):
        self.name = name
        self.folder = os.path.join(folder, name)
        self.port = free_port()
        # Whether the folder is a separate file system, which can be filled.
        self.is_bounded = False
        self.programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: float(path.split("/")[-2]))[-1]

    def _as(self, *command, check=True):
        if os.getuid() == 0:
            command = ("setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--", *command)
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd="/", check=False)
        if check and done.returncode != 0:
            raise SystemExit(f"error: {' '.join(command[-6:])}: {done.stdout}")
        return done

    def _control(self, *options, check=True):
        return self._as(f"{self.programs}/pg_ctl", "-D", self.folder, "-l", f"{self.folder}.log", *options, check=check)

    def bound(self, mebibytes):
        """Makes the folder a file system of this size, as far as this process may: as root, where mounts are allowed."""
        if os.getuid() != 0:
            return
        os.makedirs(self.folder, exist_ok=True)
        mount = ("mount", "-t", "tmpfs", "-o", f"size={mebibytes}m,uid=postgres,gid=postgres,mode=0700", "freshet-chaos", self.folder)
        self.is_bounded = subprocess.run(mount, stderr=subprocess.DEVNULL, check=False).returncode == 0

    @property
    def _filler(self): return os.path.join(self.folder, "filler")

    def fill(self):
        """Leaves no byte of the file system to PostgreSQL."""
        with open(self._filler, "wb", buffering=0) as file:
            size = 1 << 20
            while size:
                try:
                    file.write(bytes(size))
                except OSError:
                    size //= 2

    def is_running(self): return self._control("status", check=False).returncode == 0

    def clear(self):
        """Gives the room back, and starts the server if it has ended for want of it."""
        os.remove(self._filler)
        if not self.is_running():
            self.start()

    def create(self, settings):
        self._as(f"{self.programs}/initdb", "-D", self.folder, "-U", "postgres", "--encoding=UTF8", "--locale=C", "-A", "trust")
        with open(os.path.join(self.folder, "postgresql.conf"), "a", encoding="utf-8") as file:
            file.write(settings)

    def follow(self, port):
        """Becomes a standby of the server at this port, from a fresh copy."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
        self._as(
            f"{self.programs}/pg_basebackup", "-h", "127.0.0.1", "-p", str(port), "-U", "postgres", "-D", self.folder, "-R", "-c", "fast",
            "-d", f"host=127.0.0.1 port={port} user=postgres application_name={self.name}")
        self.start()

    def start(self): self._control("-o", f"-p {self.port} -c cluster_name={self.name}", "-w", "-t", "30", "start")
    def stop(self): self._control("-m", "immediate", "-t", "30", "stop", check=False)
    def promote(self): self._control("-w", "-t", "30", "promote")

    def set(self, name, value):
        """Changes a setting of the running server."""
        self.query(f"ALTER SYSTEM SET {name} = '{value}'")
        self.query("SELECT pg_reload_conf()")

    def remove(self):
        self.stop()
        if self.is_bounded and subprocess.run(("umount", self.folder), stderr=subprocess.DEVNULL, check=False).returncode != 0:
            # The last processes of PostgreSQL are still ending; the file system goes with them.
            subprocess.run(("umount", "--lazy", self.folder), check=False)

    def query(self, text, database="postgres", timeout=30):
        done = subprocess.run(
            ["psql", "-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres", "-v", "ON_ERROR_STOP=1", "-Atqc", text, database],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=timeout, check=False)
        if done.returncode != 0:
            raise OSError(done.stderr.strip())
        return done.stdout.strip()


SETTINGS = """
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 200
wal_level = replica
max_wal_senders = 8
max_wal_size = 128MB
wal_keep_size = 256MB
hot_standby = on
wal_receiver_timeout = 5s
wal_sender_timeout = 5s
wal_retrieve_retry_interval = 200ms
"""
