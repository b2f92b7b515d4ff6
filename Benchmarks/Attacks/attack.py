"""Attacks a server in each way that we know, and says what it took; see scripts/attack.

    attack.py --program PATH [--quick] [--untimed] [--secured] [TEXT…]

TEXT selects a section, or the rows whose title has it.
"""

import argparse
import time

# Each registers its rows, in the order of the table.
import poison  # noqa: F401
import writers  # noqa: F401
import memory
import processor  # noqa: F401
import handshakes  # noqa: F401
import quotas  # noqa: F401
import revocations  # noqa: F401
import browsers  # noqa: F401
import single  # noqa: F401
import together  # noqa: F401
from rows import Scene, rows, run_row, text_of
from secured import NOBODY, PRINCIPAL
from server import UNUSED_ADDRESS, options_of

SLOW = "slow connections"


def show(section, title, figures, seconds):
    holds = all(figure[6] for figure in figures)
    print(f"{'ok  ' if holds else 'FAIL'} {section}: {title}: {'; '.join(map(text_of, figures))} ({seconds:.1f} s)", flush=True)
    return holds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--untimed", action="store_true")
    parser.add_argument("--secured", action="store_true")
    parser.add_argument("text", nargs="*")
    arguments = parser.parse_args()
    help_text = options_of(arguments.program)
    options = ["--trusted-proxy", UNUSED_ADDRESS] if "--trusted-proxy" in help_text else []

    def chosen(section, title):
        return not arguments.text or any(text == section or (not text.isdigit() and text in title) for text in arguments.text)

    quick, attackers = arguments.quick or arguments.secured, (PRINCIPAL, NOBODY) if arguments.secured else (None,)
    began, broken, count = time.monotonic(), [], 0
    slow = None
    if not quick and chosen("3", SLOW):
        slow = memory.SlowOnes(Scene(arguments.program, options))
    try:
        for row in rows:
            if not chosen(row.section, row.title) or (quick and not row.quick):
                continue
            for attacker in attackers:
                if (attacker == NOBODY and row.needs_key) or (attacker and row.options):
                    continue
                start = time.monotonic()
                figures = run_row(row, arguments.program, options, timed=not arguments.untimed, attacker=attacker)
                count += 1
                title = f"{row.title}, by {attacker}" if attacker else row.title
                if not show(row.section, title, figures, time.monotonic() - start):
                    broken.append(f"{row.section}: {title}")
        if slow:
            count += 1
            if not show("3", SLOW, slow.collect(), time.monotonic() - began):
                broken.append(f"3: {SLOW}")
    finally:
        if slow:
            slow.scene.close()
    if not count:
        raise SystemExit("error: no attack has that in its section or title")
    print(f"\n{count} attacks in {time.monotonic() - began:.0f} s, {len(broken)} with a broken bound")
    for name in broken:
        print(f"  {name}")
    raise SystemExit(1 if broken else 0)


if __name__ == "__main__":
    main()
