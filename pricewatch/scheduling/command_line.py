"""The command line and the environment of a spider process, and the list of a project's spiders."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pricewatch
from pricewatch.rules.access.child_environment import spider_variables
from pricewatch.scheduling import runner
from pricewatch.store.engine.database import var_directory

STOCK_RUNNER = "scrapyd.runner"
ROOT = Path(pricewatch.__file__).parents[1]
LIST_SECONDS = 120


class SpiderListError(Exception):
    """The spiders of a project could not be listed; the message is the error output of `scrapy list`."""


def runner_command(runner_module: str, *command: str) -> list[str]:
    """Start our runner by its path, so that nothing is imported before the egg; another one by its name."""
    if runner_module == STOCK_RUNNER:
        return [sys.executable, "-P", runner.__file__, *command]
    return [sys.executable, "-m", runner_module, *command]


def spider_environment(
    inherited: dict[str, str], project: str, egg: Path | None, node: str
) -> dict[str, str]:
    env = spider_variables(inherited)
    env["SCRAPY_PROJECT"] = project
    env["PRICEWATCH_NODE"] = node
    env["PRICEWATCH_VAR"] = str(var_directory().resolve())
    env["PYTHONPATH"] = os.pathsep.join(filter(None, (env.get("PYTHONPATH"), str(ROOT), os.getcwd())))
    env[runner.DAEMON] = str(os.getpid())
    if egg is not None:
        env[runner.EGG] = str(egg)
    return env


def list_spiders(runner_module: str, project: str, egg: Path | None, settings: dict[str, str]) -> list[str]:
    """Run `scrapy list`, which takes about a second; never call this in the reactor thread."""
    env = spider_environment(dict(os.environ), project, egg, "")
    # PR_SET_PDEATHSIG follows the parent thread, and this runs on a thread of the pool.
    del env[runner.DAEMON], env["PRICEWATCH_NODE"]
    if project in settings:
        env["SCRAPY_SETTINGS_MODULE"] = settings[project]
    try:
        done = subprocess.run(
            runner_command(runner_module, "list", "-s", "LOG_STDOUT=0"),
            env={**env, "PYTHONIOENCODING": "UTF-8"},
            capture_output=True,
            timeout=LIST_SECONDS,
            check=True,
        )
    except subprocess.TimeoutExpired:
        raise SpiderListError(f"the spiders could not be listed within {LIST_SECONDS} seconds") from None
    except subprocess.CalledProcessError as error:
        raise SpiderListError(
            (error.stderr or error.stdout or b"").decode(errors="replace").strip()
        ) from None
    return done.stdout.decode().splitlines()
