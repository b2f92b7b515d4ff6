"""What a row of the table is: an attack, what it measured, and which bounds hold for that."""

import json
import os
import subprocess
import sys
import time

from client import TOKEN, ask
from secured import NOBODY, PRINCIPAL, prepare
from server import Server

# The most milliseconds that an attack may delay another client's write, and the answer to its health check.
WRITE_WAIT = 250
HEALTH_WAIT = 250
BYSTANDER = "127.0.0.9"
MIB = 1 << 20

rows = []


class Row:
    def __init__(self, section, title, attack, quick, needs_key, options):
        self.section, self.title, self.attack, self.quick, self.needs_key = section, title, attack, quick, needs_key
        self.options = options


def row(section, title, quick=True, needs_key=False, options=()):
    """Registers an attack: a function that takes a `Scene` and states figures to it. `needs_key`: without a key there is nothing to
    attack, or to see. `options`: those of the server, which is open then."""

    def register(attack):
        rows.append(Row(section, title, attack, quick, needs_key, options))
        return attack

    return register


class Scene:
    """A server with one well-behaved client, and the figures that an attack on it has stated."""

    def __init__(self, program, options, timed=True, attacker=None):
        """`attacker` attacks a server that requires keys; `None` attacks an open one."""
        self.program = program
        self.timed = timed
        self.keys = {}
        # The fields with which the server shows what only an operator may see.
        self.operator = {}
        if attacker is None:
            self.server = Server(program, options)
        else:
            self.server = prepare(program, self.keys)
            self.operator = {"Authorization": f"Bearer {self.keys['operator']}"}
        self.port = self.server.port
        self.figures = []
        folder = os.path.dirname(os.path.abspath(__file__))
        environment = {**os.environ, TOKEN: self.keys["bystander"]} if self.keys else None
        self.bystander = subprocess.Popen(
            [sys.executable, os.path.join(folder, "bystander.py"), str(self.port), BYSTANDER],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        if attacker == PRINCIPAL:
            os.environ[TOKEN] = self.keys["attacker"]

    def close(self):
        if self.keys:
            os.environ.pop(TOKEN, None)
        self.server.stop()
        self.bystander.kill()
        self.bystander.wait()

    def ask(self, method, path, body=None, fields=None, **options):
        return ask(self.port, method, path, body, fields, **options)

    def must(self, method, path, body=None, fields=None, **options):
        """A request that prepares the attack: anything but a success ends it."""
        answer = self.ask(method, path, body, fields, **options)
        if answer.status not in (200, 201):
            raise RuntimeError(f"{method} {path} got {answer.status or answer.error}: {answer.body[:200]!r}")
        return answer

    def state(self, name, value, most=None, is_any=None, unit="", timed=False, least=None):
        """States a figure, with its bounds: at least `least`, at most `most`, or one of `is_any`. Time is measured again where it is beyond
        its bound, and has none where the scene is not timed."""
        if timed and not self.timed:
            most = is_any = least = None
        holds = (least is None or value >= least) and (most is None or value <= most) and (is_any is None or value in is_any)
        self.figures.append((name, value, most, is_any, unit, timed, holds, least))

    def state_answer(self, answer, *statuses, sent=None):
        """States the status of an answer, and how much was sent and came back for it."""
        self.state("status", answer.status or answer.error, is_any=statuses or None)
        if sent is not None:
            self.state("sent", sent / 1024, unit="KiB")

    def mark(self, command="mark"):
        self.bystander.stdin.write(command + "\n")
        self.bystander.stdin.flush()
        line = self.bystander.stdout.readline()
        return json.loads(line)

    def settle(self):
        """Begins the time that counts: what the well-behaved client saw until here is forgotten."""
        time.sleep(0.1)
        self.mark()

    def state_waits(self, health=False, write_wait=WRITE_WAIT):
        """States how long the well-behaved client waited since `settle`."""
        seen = self.mark()
        self.state("writes of others", seen["writes"]["most"], most=write_wait, unit="ms", timed=True)
        if health:
            self.state("health", seen["health"]["most"], most=HEALTH_WAIT, unit="ms", timed=True)

    def state_memory(self, most):
        self.state("memory", self.server.memory(), most=most, unit="MiB")

    def state_runs(self):
        # A process that was killed by a request is not reaped at once.
        time.sleep(0.1)
        self.state("server", "runs" if self.server.runs() else "ended", is_any=("runs",))


class NobodysScene(Scene):
    """A server that requires keys, attacked without one. The operator sends the requests that prepare an attack. Of the figures those
    count that show harm to others, and that no request was done."""

    HARMS = {"writes of others", "health", "memory", "processor", "server", "attack", "held by one address"}

    def __init__(self, program, options, timed, attacker):
        super().__init__(program, options, timed, attacker)
        self.statuses = {}

    def ask(self, method, path, body=None, fields=None, **options):
        answer = super().ask(method, path, body, fields, **options)
        self.statuses[answer.status] = self.statuses.get(answer.status, 0) + 1
        return answer

    def must(self, method, path, body=None, fields=None, **options):
        answer = super().ask(method, path, body, {**(fields or {}), **self.operator}, **options)
        if answer.status not in (200, 201):
            raise RuntimeError(f"{method} {path} got {answer.status or answer.error}: {answer.body[:200]!r}")
        return answer

    def state(self, name, value, **bounds):
        if name in self.HARMS:
            super().state(name, value, **bounds)

    def state_refusals(self):
        """States that each answer was a refusal, and which."""
        done = sum(count for status, count in self.statuses.items() if 200 <= status < 400)
        super().state("requests done", done, most=0)
        super().state("answers", " ".join(f"{count}x{status or 'none'}" for status, count in sorted(self.statuses.items())) or "not read")


def text_of(figure):
    name, value, most, is_any, unit, _, holds, least = figure
    shown = f"{value:,.0f}" if isinstance(value, (int, float)) and name != "status" else str(value)
    if isinstance(value, float) and value < 10:
        shown = f"{value:.1f}"
    text = f"{name} {shown}" + (f" {unit}" if unit else "")
    if least is not None:
        text += f" (at least {least:,})"
    if most is not None:
        text += f" (at most {most:,})"
    elif is_any is not None and not holds:
        text += f" (wanted: {' or '.join(map(str, is_any))})"
    return text if holds else f"[{text}]"


def run_row(row, program, options, attempts=3, timed=True, attacker=None):
    """The figures of a row. Where nothing but times are beyond their bounds it runs again, since another process may have been the reason;
    the attempt with the fewest broken bounds counts."""
    best = None
    for attempt in range(1, attempts + 1):
        scene = (NobodysScene if attacker == NOBODY else Scene)(program, [*options, *row.options], timed, attacker)
        try:
            row.attack(scene)
            if attacker == NOBODY:
                scene.state_refusals()
        except Exception as error:  # A row says what went wrong, and the others follow.
            reason = f"{type(error).__name__}: {error}"[:200]
            scene.state("server", "runs" if scene.server.runs() else "ended", is_any=("runs",))
            scene.state("attack", reason, is_any=())
        finally:
            scene.close()
        broken = [figure for figure in scene.figures if not figure[6]]
        if attempt > 1:
            scene.state("attempt", attempt)
        if best is None or len(broken) < len([figure for figure in best if not figure[6]]):
            best = scene.figures
        if not broken or not all(figure[5] for figure in broken):
            return best if not broken else scene.figures
    return best
