"""Property: the digest of a measurement covers the code that it runs, wherever it stands, and nothing else."""

import subprocess
import sys

import pytest

from capsmodel.experiments.source import source_digests

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
SHOW = "from study.measure import measure; from capsmodel.experiments.source import *; print(source_digest(measure))"


def digest(folder, changed=()):
    """Return the digest in a process of its own, of the study with some files changed."""
    for name, text in (FILES | dict(changed)).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    run = subprocess.run([sys.executable, "-c", SHOW], cwd=folder, capture_output=True, text=True, check=True)
    return run.stdout


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("study/measure.py", "double(number)", "double(number + 1)"),
        ("study/physics.py", "FACTOR * number", "number * FACTOR"),
        ("study/tables/table.py", "2", "3"),
        ("study/tables/__init__.py", "import table", "import table as other, table"),
    ],
)
def test_code_that_is_run_changes_it(name, old, new, tmp_path):
    assert digest(tmp_path, {name: FILES[name].replace(old, new)}) != digest(tmp_path)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("study/other.py", "x = 2\n"),
        ("study/tables/table.py", "# the factor\nFACTOR = 2  # of doubling\n"),
        ("study/measure.py", MEASURE.replace("    return", '    """Measure."""\n    return')),
    ],
)
def test_comments_and_what_is_not_imported_do_not(name, text, tmp_path):
    assert digest(tmp_path, {name: text}) == digest(tmp_path)


def test_of_a_simulation_it_covers_schemes_and_engines():
    from capsmodel.papers.measurements.single_port import port_waits

    found = source_digests(port_waits)
    assert {"capsim.protocols.schemes.caps", "capsim.engines.links", "capsmodel.papers.measurements.single_port"} <= {
        *found
    }
    assert not [name for name in found if name.startswith(("capsmodel.papers.figures", "capsmodel.cli", "numpy"))]
