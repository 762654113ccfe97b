"""Property: a scenario with any value in any place is refused in one clear line, or it can be prepared to run.

The draws are the same every time. ``HYPOTHESIS_PROFILE=fresh`` makes others, a thousand for each test, and
``--hypothesis-seed N`` names them; a failure prints what repeats it.
"""

import json
import math
import tomllib

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st
from refusals import outcome

from capsim import ParameterError, load_scenario, presets
from capsim.run.simulation import prepare
from capsim.scenario.scenario import from_dict

pytestmark = pytest.mark.agreement

STRANGE = st.one_of(
    st.sampled_from(
        [0, -1, 1, 2**31, 2**53, 2**63 - 1, 2**63, -(2**63), 10**30, 0.0, -0.0, 0.4, 1e-300, 1e300, 5e-324]
    ),
    st.sampled_from(
        [math.inf, -math.inf, math.nan, True, "", "x", "1", "-1s", "1e999Gbps", "10 Gbps", "[/x]", "\x1b[0m"]
    ),
    st.sampled_from([[], {}, [[]], [1, 2, 3], {"kind": "x"}, "９", "1_000", "0x10", " ", "é" * 200]),
    st.integers(-(2**70), 2**70),
    st.floats(),
)
TABLES = {name: scenario.to_dict() for name, scenario in presets().items()}


def places(value, path=()):
    """Return the path to every leaf and every table of plain data."""
    if isinstance(value, dict):
        inside = [place for key, item in value.items() for place in places(item, (*path, key))]
        return [*inside, *([path] if path else [])]
    if isinstance(value, list):
        return [path, *(place for number, item in enumerate(value[:2]) for place in places(item, (*path, number)))]
    return [path]


def replaced(tables, path, value):
    """Return a copy with another value at one place."""
    copy = json.loads(json.dumps(tables))
    *above, last = path
    here = copy
    for key in above:
        here = here[key]
    here[last] = value
    return copy


@st.composite
def broken(draw):
    """Draw a preset with a strange value, or a new key, in one place."""
    tables = TABLES[draw(st.sampled_from(sorted(TABLES)))]
    path = draw(st.sampled_from(places(tables)))
    if draw(st.integers(0, 9)) == 0:
        path = (*path[:-1], draw(st.text(max_size=20))) if isinstance(path[-1], str) else path
    return replaced(tables, path, draw(STRANGE))


@given(broken())
def test_tables_are_refused_or_can_be_prepared(tables):
    outcome(lambda: prepare(from_dict(tables)))


@given(broken())
def test_the_same_in_a_file(tmp_path_factory, tables):
    path = tmp_path_factory.mktemp("fuzz") / "scenario.toml"
    try:
        text = tomli_w.dumps(tables)
        tomllib.loads(text)
    except (TypeError, ValueError):  # no TOML: the key or the value cannot be written
        return
    path.write_text(text, encoding="utf-8")
    found = outcome(lambda: load_scenario(path))
    if found is not None:
        assert load_scenario(path) == found


@given(st.binary(max_size=200), st.integers(0, 400))
def test_bytes_that_are_no_scenario(tmp_path_factory, noise, cut):
    path = tmp_path_factory.mktemp("fuzz") / "scenario.toml"
    text = tomli_w.dumps(TABLES["caps-bursts"]).encode()
    path.write_bytes(text[:cut] + noise + text[cut:])
    outcome(lambda: load_scenario(path))


def test_a_path_that_is_no_file_is_refused(tmp_path):
    with pytest.raises((ParameterError, FileNotFoundError)):
        load_scenario(tmp_path)
