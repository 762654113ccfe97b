"""Contract: benchmarks find what they import; `make bench` is not part of the gate."""

from importlib import import_module
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.mark.linux
def test_benchmarks_find_what_they_import():
    """Wrong line: a library that is no longer installed."""
    files = sorted(BENCHMARKS.glob("*.py"))
    assert [Path(str(import_module(path.stem).__file__)) for path in files] == files
    assert len(files) > 10
