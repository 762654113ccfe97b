"""Property: a sample of cases has each value of each axis in each turn, and each case in one of its turns."""

from collections import Counter
from itertools import product

from case_samples import sampled
from hypothesis import given
from hypothesis import strategies as st


@given(st.lists(st.integers(1, 8), min_size=1, max_size=3), st.integers(1, 9), st.integers(0, 1000))
def test_sampled(lengths, every, turn):
    """Wrong line: steps that beat with the lengths of the axes, a value that no turn takes, a case that none does."""
    cases = [set(enumerate(place)) for place in product(*(range(length) for length in lengths))]
    shared = {value for value, times in Counter(value for values in cases for value in values).items() if times > 1}
    turns = [sampled(cases, every=every, turn=turn + further) for further in range(every)]
    assert set().union(*turns) == set(range(len(cases)))
    for chosen in turns:
        assert shared <= {value for number in chosen for value in cases[number]}
        assert len(chosen) >= len(cases) // every


def test_sampled_takes_few_cases_more():
    """Wrong line: a case for each value, where one brings several; values of single cases asked for."""
    grid = [
        {("fabric", fabric), ("scheme", scheme), ("pair", scheme // 2)} for fabric in range(4) for scheme in range(56)
    ]
    assert max(len(sampled(grid, every=6, turn=turn)) for turn in range(6)) <= 38 + 56 / 2
    lone = [{("value", number)} for number in range(60)]
    assert {len(sampled(lone, every=6, turn=turn)) for turn in range(6)} == {10}


def test_sampled_takes_all_values_about_as_often():
    """Wrong line: steps of six over four fabrics, of which two are then met in no more than one case."""
    grid = [{("fabric", fabric), ("scheme", scheme)} for scheme in range(56) for fabric in range(4)]
    for turn in range(6):
        met = Counter(value for number in sampled(grid, every=6, turn=turn) for value in grid[number])
        assert min(met["fabric", fabric] for fabric in range(4)) >= 56 / 4 / 2
