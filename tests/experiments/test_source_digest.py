"""Property: the digest of a measurement covers the code that it runs, wherever it stands, and nothing else."""

import subprocess
import sys
from pathlib import Path

import pytest

from capsmodel import _syntax, code_identity
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


@pytest.fixture
def next_process(tmp_path, monkeypatch):
    """Return what makes this process forget what it has parsed, and the file of what is kept."""
    kept = tmp_path / "kept.json"
    monkeypatch.setattr(_syntax, "_place", lambda: kept)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)

    def forget():
        _syntax._known.cache_clear()
        _syntax._kept.cache_clear()

    forget()
    yield forget, kept
    monkeypatch.undo()
    forget()


def read_and_kept():
    found = [_syntax.read_source(Path(module.__file__)) for module in (_syntax, code_identity)]
    _syntax.keep_sources()
    return found


def test_files_that_a_process_has_parsed_are_not_parsed_again(next_process, monkeypatch):
    forget, _ = next_process
    first = read_and_kept()
    forget()
    monkeypatch.setattr(_syntax.ast, "parse", None)
    assert read_and_kept() == first


def test_a_file_that_has_changed_is_parsed_again(next_process, tmp_path):
    forget, _ = next_process
    file = tmp_path / "some.py"
    found = []
    for text in ("x = 1", "x = 2", "x = 1  # one"):
        forget()
        file.write_text(text)
        found.append(_syntax.read_source(file).digest)
        _syntax.keep_sources()
    assert found[0] == found[2] != found[1]


@pytest.mark.parametrize("text", ["", '{"written_by": "another version", "sources": {}}', '{"written_by"'])
def test_what_is_damaged_or_of_another_version_is_not_used(next_process, text):
    forget, kept = next_process
    first = read_and_kept()
    forget()
    kept.write_text(text)
    assert read_and_kept() == first
    assert kept.read_text() != text


def test_nothing_is_kept_where_no_byte_code_may_be_written(next_process, monkeypatch):
    _, kept = next_process
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    read_and_kept()
    assert not kept.exists()
