"""A server with a configuration file that requires keys, and the keys of an operator, of the attacker and of the well-behaved client."""

import subprocess

from server import UNUSED_ADDRESS, Server

# The attackers.
PRINCIPAL, NOBODY = "a principal", "nobody"

# With another proxy than loopback, the quotas of addresses apply to the attackers.
CONFIG = {"listen": [{"address": "127.0.0.1:0"}], "proxies": [UNUSED_ADDRESS]}
KEYS = {
    "operator": ["--admin"],
    "attacker": ["--allow", "a:*:read,write,invalidate,create,drop,inspect"],
    "bystander": ["--allow", "bystander:*:read,write,create"],
}


def prepare(program, keys):
    """Starts the server, and puts the keys into `keys` before that."""

    def create(data):
        for name, options in KEYS.items():
            command = [program, "key", "create", "--data", data, "--name", name, "--out", f"{data}.{name}", *options]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            with open(f"{data}.{name}", encoding="utf-8") as file:
                keys[name] = file.read().strip()
        return []

    return Server(program, create, config=CONFIG)
