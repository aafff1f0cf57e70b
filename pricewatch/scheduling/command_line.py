"""How a spider's process is started: the words, and the environment that it finds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pricewatch
from pricewatch.scheduling import runner
from pricewatch.store.engine.database import var_directory

STOCK_RUNNER = "scrapyd.runner"
ROOT = Path(pricewatch.__file__).parents[1]
LIST_SECONDS = 120
# What lets people in is nothing that a spider needs.
SECRETS = ("SCRAPYD_USERNAME", "SCRAPYD_PASSWORD", "PRICEWATCH_USER", "PRICEWATCH_PASSWORD")


class CannotList(Exception):
    """A project whose spiders cannot be listed; the message is what it complained about."""


def words(runner_module: str, *command: str) -> list[str]:
    """Our own runner by its path, so that nothing is imported before the egg; another one by its name."""
    if runner_module == STOCK_RUNNER:
        return [sys.executable, "-P", runner.__file__, *command]
    return [sys.executable, "-m", runner_module, *command]


def environment(given: dict[str, str], project: str, egg: Path | None, node: str) -> dict[str, str]:
    env = {name: value for name, value in given.items() if name not in SECRETS}
    env["SCRAPY_PROJECT"] = project
    env["PRICEWATCH_NODE"] = node
    env["PRICEWATCH_VAR"] = str(var_directory().resolve())
    env["PYTHONPATH"] = os.pathsep.join(filter(None, (env.get("PYTHONPATH"), str(ROOT), os.getcwd())))
    env[runner.DAEMON] = str(os.getpid())
    if egg is not None:
        env[runner.EGG] = str(egg)
    return env


def list_spiders(runner_module: str, project: str, egg: Path | None, settings: dict[str, str]) -> list[str]:
    """What `scrapy list` says; takes a second, so never in the reactor's own thread."""
    env = environment(dict(os.environ), project, egg, "")
    # Asked from a thread of the daemon: the process must not be tied to that thread's life.
    del env[runner.DAEMON], env["PRICEWATCH_NODE"]
    if project in settings:
        env["SCRAPY_SETTINGS_MODULE"] = settings[project]
    try:
        done = subprocess.run(
            words(runner_module, "list", "-s", "LOG_STDOUT=0"),
            env={**env, "PYTHONIOENCODING": "UTF-8"},
            capture_output=True,
            timeout=LIST_SECONDS,
            check=True,
        )
    except subprocess.TimeoutExpired:
        raise CannotList(f"the spiders could not be listed within {LIST_SECONDS} seconds") from None
    except subprocess.CalledProcessError as error:
        raise CannotList((error.stderr or error.stdout or b"").decode(errors="replace").strip()) from None
    return done.stdout.decode().splitlines()
