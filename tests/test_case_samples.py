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
    grid = [{("fabric", fabric), ("scheme", scheme)} for fabric in range(4) for scheme in range(56)]
    for turn in range(6):
        steps = [grid[number] for number in range(turn, len(grid), 6)]
        lacking = set().union(*grid) - set().union(*steps)
        assert len(sampled(grid, every=6, turn=turn)) <= len(steps) + len(lacking)
    lone = [{("value", number)} for number in range(60)]
    assert sampled(lone, every=6, turn=8) == set(range(2, 60, 6))
