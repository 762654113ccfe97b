"""Property: the digest that sweeps keep with rows covers both packages and the module of the measuring function."""

import importlib.util
import os
import subprocess
import sys
from importlib.machinery import ModuleSpec

import pytest

from capsim.study.scheme_runs import run_task
from capsmodel import code_identity
from capsmodel.code_identity import source_digest

MEASURE = "def measure(*, number):\n    return {'double': 2 * number}\n"
FILES = ("capsmodel/__init__.py", "capsmodel/queueing/poisson.py", "capsim/__init__.py", "capsim/engines/links.py")
DIGEST = "from capsmodel.code_identity import source_digest\nfrom measure import measure\nprint(source_digest(measure))"


def forget():
    code_identity._packages_digest.cache_clear()
    source_digest.cache_clear()


@pytest.fixture
def measure(tmp_path, monkeypatch):
    """Return a measuring function of somebody else."""
    (tmp_path / "measure.py").write_text(MEASURE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "measure", raising=False)
    yield importlib.import_module("measure").measure
    del sys.modules["measure"]


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """Return a folder with two packages that stand for ours: few files, which a test may edit."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"# {name}\n")

    def found(package):
        spec = ModuleSpec(package, None, is_package=True)
        spec.submodule_search_locations.append(str(tmp_path / package))
        return spec

    monkeypatch.setattr(importlib.util, "find_spec", found)
    yield tmp_path
    forget()


def test_an_edit_of_either_package_or_of_the_module_changes_it(measure, packages):
    """Wrong line: a package is left out, or the module of the function, or what is new in a package."""

    def digests():
        forget()
        return source_digest(measure), source_digest(run_task)

    found = [digests()]
    assert digests() == found[0]
    for name in FILES:
        (packages / name).write_text("# another comment\n")
        found.append(digests())
    (packages / "capsim" / "more.py").write_text("")
    found.append(digests())
    (packages / "measure.py").write_text(MEASURE.replace("2", "30"))
    found.append(digests())
    of_users, of_package = zip(*found, strict=True)
    assert len(set(of_users)) == 7
    assert len(set(of_package)) == 6
    assert of_package[-1] == of_package[-2]


def test_another_process_finds_the_same(measure, tmp_path):
    """Wrong line: an order of files that differs from one process to the next, which warns of kept rows in vain."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    result = subprocess.run([sys.executable, "-c", DIGEST], env=environment, capture_output=True, text=True, check=True)
    assert result.stdout.split() == [source_digest(measure)]
