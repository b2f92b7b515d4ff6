"""nginx and Varnish with the files in docker/, as a user who is not root would run them, on loopback ports."""

import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import time

DOCKER = pathlib.Path(__file__).resolve().parents[2] / "docker"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


class Edge:
    """One proxy in front of the server at `upstream`. `port` is where it listens."""

    name = "direct"
    # The requests of one address that the proxy's file allows at once; `None` if it has no such bound.
    connections = None

    def __init__(self, *upstreams):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="freshet-edge-"))
        self.port = free_port()
        self.log = open(self.folder / "log", "wb")
        self.process = subprocess.Popen(self.command(*upstreams), stdout=self.log, stderr=self.log)
        end = time.time() + 20
        while time.time() < end:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.05)
        text = (self.folder / "log").read_text(encoding="utf-8", errors="replace")
        self.stop()
        raise SystemExit(f"error: {self.name} did not start:\n{text}")

    def processes(self):
        """Those of the proxy and of its workers."""
        children = subprocess.run(["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True, check=False).stdout.split()
        return [self.process.pid, *map(int, children)]

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def replaced(text, pattern, value):
    text, count = re.subn(pattern, value, text)
    if count == 0:
        raise SystemExit(f"error: the file in docker/ has nothing like {pattern}")
    return text


class Nginx(Edge):
    name = "nginx"
    file = "edge-cache.conf"
    connections = 400

    def command(self, upstream):
        text = (DOCKER / self.file).read_text(encoding="utf-8")
        text = replaced(text, r"server freshet:8180;", f"server 127.0.0.1:{upstream};")
        text = replaced(text, r"listen 8080;", f"listen 127.0.0.1:{self.port} backlog=4096;")
        text = replaced(text, r"/var/cache/nginx/", f"{self.folder}/cache-")
        text = replaced(text, r"limit_conn clients 400;", f"limit_conn clients {self.connections};")
        self.prepare()
        (self.folder / "site.conf").write_text(text, encoding="utf-8")
        user = "user root;\n" if os.geteuid() == 0 else ""
        (self.folder / "nginx.conf").write_text(
            f"""{user}daemon off;
worker_processes 2;
worker_rlimit_nofile 65536;
pid {self.folder}/pid;
error_log stderr;
events {{ worker_connections 32768; }}
http {{
    access_log off;
    keepalive_timeout 120s;
    keepalive_requests 100000;
    client_body_temp_path {self.folder}/body;
    proxy_temp_path {self.folder}/proxy;
    fastcgi_temp_path {self.folder}/fastcgi;
    uwsgi_temp_path {self.folder}/uwsgi;
    scgi_temp_path {self.folder}/scgi;
    include site.conf;
}}
""",
            encoding="utf-8",
        )
        return [shutil.which("nginx") or "/usr/sbin/nginx", "-p", str(self.folder), "-c", "nginx.conf"]

    def prepare(self):
        pass


class NginxWithKeys(Nginx):
    name = "nginx with keys"
    file = "edge-cache-keys.conf"

    def __init__(self, upstream, key):
        self.key = key
        super().__init__(upstream)

    def prepare(self):
        (self.folder / "freshet-key.conf").write_text(f'proxy_set_header Authorization "Bearer {self.key}";\n', encoding="utf-8")


class Varnish(Edge):
    """In front of one server, or of several that it asks in turn."""

    name = "Varnish"

    def command(self, *upstreams):
        text = (DOCKER / "varnish.vcl").read_text(encoding="utf-8")
        text = replaced(text, r'"freshet";\n    \.port = "8180"', f'"127.0.0.1";\n    .port = "{upstreams[0]}"')
        for number, port in enumerate(upstreams[1:], 1):
            text += f'backend freshet{number} {{ .host = "127.0.0.1"; .port = "{port}"; .first_byte_timeout = 90s; }}\n'
        if len(upstreams) > 1:
            names = ["freshet"] + [f"freshet{number}" for number in range(1, len(upstreams))]
            text = replaced(text, r"vcl 4\.1;", "vcl 4.1;\nimport directors;")
            text += "sub vcl_init { new all = directors.round_robin(); " + " ".join(f"all.add_backend({name});" for name in names) + " }\n"
            text += "sub vcl_backend_fetch { set bereq.backend = all.backend(); }\n"
        file = self.folder / "edge.vcl"
        file.write_text(text, encoding="utf-8")
        return [
            shutil.which("varnishd") or "/usr/sbin/varnishd", "-F", "-j", "none", "-a", f"127.0.0.1:{self.port}", "-f", str(file),
            "-n", str(self.folder / "work"), "-s", "malloc,64m", "-p", "timeout_idle=120", "-p", "listen_depth=4096", "-p", "thread_queue_limit=100000",
        ]
