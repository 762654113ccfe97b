"""Golden: no measurement, and nothing that it calls, was edited without a check of its revision."""

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
