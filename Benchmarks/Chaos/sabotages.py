"""Whether the checks of a chaos run find bugs that are made on purpose: a run for each, which has to find a contradiction.

    sabotages.py PROGRAM [NAME,NAME]

PROGRAM is a freshet with `sabotages.patch` and the trait PostgreSQL; `scripts/soak sabotages` makes it.
"""

import os
import subprocess
import sys
import time

CHAOS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "chaos.py")

# Each bug of the patch, the faults with which it shows, and the seconds that it may take. The first is none: a run that always finds a
# contradiction would show nothing.
SABOTAGES = {
    "none": ("refuse_notifications,silence_notifications,lose_notifications,lose_commit_answers,promote_with_loss", 40),
    "gap-skipped": ("refuse_notifications,silence_notifications", 40),
    "announced-early": ("slow_links", 90),
    "never-reconciled": ("refuse_notifications,lose_notifications", 40),
    "epoch-kept": ("promote_with_loss", 40),
    "fork-too-high": ("promote_with_loss", 40),
    "ran-twice": ("lose_commit_answers", 40),
    "unlocked": ("block_notifications", 40),
    "unconfirmed": ("promote_unconfirmed", 40),
}


def main():
    program = sys.argv[1]
    names = sys.argv[2].split(",") if len(sys.argv) > 2 else list(SABOTAGES)
    if unknown := set(names) - set(SABOTAGES):
        raise SystemExit(f"error: there is no {', '.join(sorted(unknown))}; there are {', '.join(SABOTAGES)}")
    wrong = []
    for name in names:
        began = time.monotonic()
        faults, seconds = SABOTAGES[name]
        run = subprocess.run(
            [sys.executable, CHAOS, program, "--seconds", str(seconds), "--seed", "1", "--faults", faults],
            env=os.environ | {"FRESHET_SABOTAGE": name}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        found = next((line for line in run.stdout.splitlines() if line.startswith("FAIL ")), None)
        # An end without a contradiction is no find.
        is_right = (run.returncode == 0 and found is None) if name == "none" else found is not None
        print(f"{'ok  ' if is_right else 'FAIL'} {name}, {time.monotonic() - began:.0f} s: {(found or 'no contradiction')[:200]}", flush=True)
        if not is_right:
            wrong.append(name)
            print("\n".join(run.stdout.splitlines()[-30:]), flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
