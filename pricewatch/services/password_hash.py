"""Hashes of passwords: scrypt, with its parameters stored in the hash."""

from __future__ import annotations

import hashlib
import hmac
import secrets

from pricewatch.rules.access.passwords import normal_password

# 64 MB and about 0.2 seconds.
COST, BLOCK_SIZE, PARALLEL = 2**16, 8, 1
SALT_BYTES, HASH_BYTES = 16, 32
MAX_MEMORY = 96 * 2**20
# Passwords are limited to 128 characters; hashing does not begin for what cannot be one.
MAX_CHECKED = 1_000


def hash_password(password: str, cost: int = COST, parallel: int = PARALLEL) -> str:
    salt = secrets.token_bytes(SALT_BYTES)
    digest = _scrypt(password, salt, cost, BLOCK_SIZE, parallel)
    return f"scrypt${cost}${BLOCK_SIZE}${parallel}${salt.hex()}${digest.hex()}"


def is_password(password: str, stored: str | None) -> bool:
    """Check a password in constant time; without a stored hash, take as long as with one."""
    if len(password) > MAX_CHECKED:
        return False
    _, cost, block_size, parallel, salt, digest = (stored or NO_PASSWORD).split("$")
    computed = _scrypt(password, bytes.fromhex(salt), int(cost), int(block_size), int(parallel))
    return hmac.compare_digest(computed, bytes.fromhex(digest)) and stored is not None


def _scrypt(password: str, salt: bytes, cost: int, block_size: int, parallel: int) -> bytes:
    return hashlib.scrypt(
        normal_password(password).encode(errors="surrogatepass"),
        salt=salt,
        n=cost,
        r=block_size,
        p=parallel,
        maxmem=MAX_MEMORY,
        dklen=HASH_BYTES,
    )


NO_PASSWORD = f"scrypt${COST}${BLOCK_SIZE}${PARALLEL}${'00' * SALT_BYTES}${'00' * HASH_BYTES}"
