"""Templates and static files are found when the project is deployed as a zip file."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

from tests.conftest import ROOT

SCRIPT = """
from pricewatch.web.templating import asset, environment, static_file
from pricewatch.web.runbooks import sections
import pricewatch
assert ".zip" in pricewatch.__file__
for name in environment().list_templates():
    environment().get_template(name)
assert asset("style.css").endswith("/style.css")
assert static_file("../app.py") is None
assert len(sections()) > 10
"""


def test_templates_and_static_files_are_found_in_a_zip(tmp_path: Path) -> None:
    packed = tmp_path / "project.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        for path in (ROOT / "pricewatch").rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                archive.write(path, path.relative_to(ROOT))
    environment = {**os.environ, "PYTHONPATH": str(packed)}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
