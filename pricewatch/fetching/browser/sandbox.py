"""Chromium's sandbox, which keeps a page that exploits the browser away from this machine."""

from __future__ import annotations

import os

from pricewatch.fetching.failures import NoBrowser

AS_ROOT = (
    "pricewatch runs as root, and Chromium has no sandbox then: run pricewatch as another user, or set "
    "BROWSER_WITHOUT_SANDBOX=yes if you trust every site that you watch"
)
CANNOT_START = (
    "the sandbox of Chromium cannot start, because this user may not create user namespaces: allow them "
    "(sysctl kernel.unprivileged_userns_clone=1; on Ubuntu, an AppArmor profile for Chromium), install the "
    "setuid sandbox (on Debian, the package chromium-sandbox), run the container with a seccomp profile that "
    "allows them, or set BROWSER_WITHOUT_SANDBOX=yes if you trust every site that you watch"
)
# What Chromium and playwright write if the sandbox is the reason.
SANDBOX_ERRORS = ("no usable sandbox", "sandboxing failed", "move to new namespace", "suid sandbox")


def check_user(*, without_sandbox: bool) -> None:
    """Refuse to start Chromium as root, unless the setting allows it."""
    if os.geteuid() == 0 and not without_sandbox:
        raise NoBrowser(AS_ROOT)


def start_failure(output: str) -> NoBrowser:
    """Return the failure of a browser that does not start, by its error output."""
    if any(error in output.lower() for error in SANDBOX_ERRORS):
        return NoBrowser(CANNOT_START)
    return NoBrowser(f"the browser does not start: {' '.join(output.split())[:200]}")
