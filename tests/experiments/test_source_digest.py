"""Property: the digest of a measurement covers the code that it runs, wherever it stands, and nothing else."""

import os
import subprocess
import sys

import pytest

from capsmodel.code_identity import source_digests

MEASURE = """
from study.physics import double

def measure(*, number):
    return {"double": double(number)}
"""
FILES = {
    "study/__init__.py": "",
    "study/measure.py": MEASURE,
    "study/physics.py": "from study import tables\n\ndef double(number):\n    return tables.table.FACTOR * number\n",
    "study/tables/__init__.py": "from . import table\n",
    "study/tables/table.py": "FACTOR = 2\n",
    "study/other.py": "x = 1\n",
}
CHANGES_OF_CODE = {
    "study/measure.py": ("double(number)", "double(number + 1)"),
    "study/physics.py": ("FACTOR * number", "number * FACTOR"),
    "study/tables/table.py": ("2", "3"),
    "study/tables/__init__.py": ("import table", "import table as other, table"),
}
NO_CHANGES_OF_CODE = {
    "study/other.py": "x = 2\n",
    "study/tables/table.py": "# the factor\nFACTOR = 2  # of doubling\n",
    "study/measure.py": MEASURE.replace("    return", '    """Measure."""\n    return'),
}
DIGESTS = """
import multiprocessing, os, sys
from capsmodel.code_identity import source_digest
def digest(folder):
    os.chdir(folder)
    from study.measure import measure
    return source_digest(measure)
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(1, maxtasksperchild=1) as pool:
        print(*pool.map(digest, sys.argv[1:], chunksize=1))
"""


@pytest.fixture(scope="module")
def digest(tmp_path_factory):
    """Return a function that gives the digest, in a process of its own, of the study with one file changed."""
    of_code = [(name, FILES[name].replace(*change)) for name, change in CHANGES_OF_CODE.items()]
    changes = [("", ""), *of_code, *NO_CHANGES_OF_CODE.items()]
    folders = [written(tmp_path_factory.mktemp("study"), *change) for change in changes]
    command = [sys.executable, "-c", DIGESTS, *map(str, folders)]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    found = dict(zip(changes, shown, strict=True))
    return lambda name="", text="": found[name, text]


def written(folder, changed, changed_text):
    """Write the study with one file changed and return its folder."""
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(changed_text if name == changed else text)
    return folder


@pytest.mark.parametrize("name", CHANGES_OF_CODE)
def test_code_that_is_run_changes_it(name, digest):
    assert digest(name, FILES[name].replace(*CHANGES_OF_CODE[name])) != digest()


@pytest.mark.parametrize("name", NO_CHANGES_OF_CODE)
def test_comments_and_what_is_not_imported_do_not(name, digest):
    assert digest(name, NO_CHANGES_OF_CODE[name]) == digest()


def test_of_a_simulation_it_covers_schemes_and_engines():
    from capsmodel.papers.measurements.single_port import port_waits

    found = source_digests(port_waits)
    assert {
        "capsim.protocols.schemes.caps",
        "capsim.engines.compiled.links",
        "capsmodel.papers.measurements.single_port",
    } <= {*found}
    assert not [name for name in found if name.startswith(("capsmodel.papers.figures", "capsmodel.cli", "numpy"))]


OF_A_SIMULATION = """
import ast, sys
from capsmodel import code_identity
from capsmodel.experiments.sweep import run_sweep
if "no parser" in sys.argv:
    ast.parse = None
print(code_identity.source_digest(run_sweep))
"""


@pytest.fixture
def in_a_process(tmp_path):
    """Return a function that gives a digest in a process of its own, and the folder of what such processes keep."""
    folder = tmp_path / "kept"

    def found(*words, **environment):
        settings = os.environ | {"PYTHONPYCACHEPREFIX": str(folder), "PYTHONDONTWRITEBYTECODE": ""} | environment
        command = [sys.executable, "-c", OF_A_SIMULATION, *words]
        return subprocess.run(command, capture_output=True, text=True, check=True, env=settings).stdout

    return found, folder


def test_files_that_a_process_has_parsed_are_not_parsed_again(in_a_process):
    digest, _ = in_a_process
    assert digest() == digest("no parser")


@pytest.mark.parametrize("text", ["", '{"written_by": "another version", "sources": {}}', '{"written_by"'])
def test_what_is_damaged_or_of_another_version_is_not_used(in_a_process, text):
    digest, folder = in_a_process
    first = digest()
    (kept,) = folder.rglob("_syntax.*.json")
    kept.write_text(text)
    assert digest() == first
    assert kept.read_text() != text


def test_nothing_is_kept_where_no_byte_code_may_be_written(in_a_process):
    digest, folder = in_a_process
    digest(PYTHONDONTWRITEBYTECODE="1")
    assert not [*folder.rglob("*.json")]
