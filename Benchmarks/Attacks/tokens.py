"""JSON Web Tokens (RFC 7519), signed with HS256, of an issuer that a server is configured with.

    tokens.py COUNT PAD

prints as many, each of another subject, with PAD bytes of a claim that nothing reads.
"""

import base64
import hashlib
import hmac
import json
import sys
import time

ISSUER, AUDIENCE = "https://id.example.org", "freshet"
SECRET = b"a secret of at least thirty-two bytes, of no server's"


def token(subject, role="device", pad=0):
    def part(value):
        text = value if isinstance(value, bytes) else json.dumps(value, separators=(",", ":")).encode()
        return base64.urlsafe_b64encode(text).rstrip(b"=")

    now = int(time.time())
    claims = {"iss": ISSUER, "aud": AUDIENCE, "sub": subject, "iat": now, "exp": now + 36_000, "freshet_role": role}
    text = part({"alg": "HS256", "typ": "JWT"}) + b"." + part(claims | ({"pad": "x" * pad} if pad else {}))
    return (text + b"." + part(hmac.digest(SECRET, text, hashlib.sha256))).decode()


if __name__ == "__main__":
    for number in range(int(sys.argv[1])):
        print(token(f"device-{number}", pad=int(sys.argv[2])))
