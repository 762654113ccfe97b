"""Property: the digest that sweeps keep with rows covers both packages and the module of the measuring function."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import capsim
import capsmodel

MEASURE = "def measure(*, number):\n    return {'double': 2 * number}\n"
DIGEST = """
from capsim.study.scheme_runs import run_task
from capsmodel.code_identity import source_digest
from measure import measure
print(source_digest(measure), source_digest(run_task))
"""


@pytest.fixture
def packages(tmp_path):
    """Return a folder with copies of both packages and a measuring function of somebody else."""
    for package in (capsmodel, capsim):
        folder = Path(package.__file__).parent
        shutil.copytree(folder, tmp_path / folder.name)  # with its byte code, so that a process need not compile
    (tmp_path / "measure.py").write_text(MEASURE)
    return tmp_path


def digests(folder):
    """Return the digest of the user's function and that of one of the package, found by a new process."""
    environment = os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", DIGEST]
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return result.stdout.split()


def test_an_edit_of_either_package_or_of_the_module_changes_it(packages):
    """Wrong line: a package is left out, or the module of the function, or what is new in a package."""
    found = [digests(packages)]
    assert digests(packages) == found[0]
    for name in ("capsmodel/queueing/poisson.py", "capsim/engines/compiled/links.py"):
        path = next(packages.glob(name), None) or next(packages.glob(f"{name.partition('/')[0]}/*/*.py"))
        path.write_text(path.read_text() + "\n# a comment\n")
        found.append(digests(packages))
    (packages / "capsim" / "more.py").write_text("")
    found.append(digests(packages))
    (packages / "measure.py").write_text(MEASURE.replace("2", "3"))
    found.append(digests(packages))
    of_users, of_package = zip(*found, strict=True)
    assert len(set(of_users)) == 5
    assert len(set(of_package)) == 4
    assert of_package[-1] == of_package[-2]
