"""Signatures of eggs: with PRICEWATCH_EGG_KEY set, write access to the database is not enough to deploy code.

The daemon that receives an egg signs it; every node checks the signature before it runs the egg.
"""

from __future__ import annotations

import hmac
import os
from collections.abc import Mapping
from pathlib import Path

from pricewatch.errors import UserError

VARIABLE = "PRICEWATCH_EGG_KEY"
MIN_KEY_LENGTH = 32


class EggRefused(UserError):
    """An egg has no signature of this cluster's key."""


class EggSigner:
    def __init__(self, key: str = "") -> None:
        if key and len(key) < MIN_KEY_LENGTH:
            raise UserError(
                f"{VARIABLE} has {len(key)} characters. Expected: at least {MIN_KEY_LENGTH} random ones, for "
                "example of `openssl rand -hex 32`."
            )
        self._key = key.encode()

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> EggSigner:
        return cls(environment.get(VARIABLE, ""))

    @property
    def has_key(self) -> bool:
        return bool(self._key)

    def sign(self, project: str, version: str, egg: bytes) -> str | None:
        """Return the signature of an egg under this name; None without a key."""
        if not self._key:
            return None
        # The lengths come first, so that no two names and contents are signed as the same bytes.
        names = [project.encode(), version.encode()]
        signed = b"".join(b"%d:%s" % (len(part), part) for part in (*names, egg))
        return hmac.digest(self._key, signed, "sha256").hex()

    def is_valid(self, project: str, version: str, egg: bytes, signature: str | None) -> bool:
        expected = self.sign(project, version, egg)
        return expected is None or hmac.compare_digest(expected.encode(), (signature or "").encode())

    def trusts_file(self, project: str, version: str, path: Path, signature: str | None) -> bool:
        """Whether there is a local copy of an egg that may be run."""
        if not self._key or not path.exists():
            return path.exists()
        return self.is_valid(project, version, path.read_bytes(), signature)

    def check(self, project: str, version: str, egg: bytes, signature: str | None) -> None:
        if not self.is_valid(project, version, egg, signature):
            problem = "has a wrong signature" if signature else "is not signed"
            raise EggRefused(
                f"Version {version} of {project} {problem}, and {VARIABLE} is set: only versions that were "
                "deployed to a daemon with the same key are run. Deploy it again: scrapyd-deploy --version "
                f"{version}"
            )
