"""Golden: no measurement, nothing that it calls and no input was edited without a check of its revision or its rows."""

import json

import pytest
from golden.measured_code import FILE, code_of_today, measuring_functions

from capsmodel.experiments.source import source_digests

RECORDED, TODAY = json.loads(FILE.read_text()), code_of_today()


def test_revisions_are_the_recorded_ones():
    assert TODAY["revisions"] == RECORDED["revisions"], "run python tests/golden/measured_code.py"


@pytest.mark.parametrize("name", measuring_functions())
def test_its_code_is_the_recorded_one(name):
    """Where rows are the same for the same arguments, record the code; where not, raise the revision and record it."""
    used = source_digests(measuring_functions()[name])
    edited = [module for module in used if used[module][:16] != RECORDED["modules"].get(module)]
    assert not edited, f"{name}: raise its revision if its rows change, then run python tests/golden/measured_code.py"


@pytest.mark.parametrize("path", TODAY["inputs"])
def test_an_input_says_what_it_said(path):
    """Where rows were measured with it, raise the revision of those measurements, then record the input."""
    message = f"{path}: run again what was measured with it, then run python tests/golden/measured_code.py"
    assert TODAY["inputs"][path] == RECORDED["inputs"].get(path), message
