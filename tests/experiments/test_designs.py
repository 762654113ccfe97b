"""Designs of settings: every alternative is tried alone, and all pairs of factors are changed together and apart."""

from itertools import combinations

import numpy as np
import pytest

from capsmodel import ParameterError
from capsmodel.experiments.statistics.designs import fractional_factorial, one_at_a_time


def two_levels(count):
    return {f"f{number}": ["base", "other"] for number in range(count)}


def changed(factors, runs):
    """Return which factor differs from the base in which run, the base run included."""
    return np.array([[name in run for name in factors] for run in [{}, *runs]])


def test_one_at_a_time_has_each_alternative_once_and_nothing_else():
    factors = {"a": [1, 2, 3], "b": ["x", "y"], "c": [0.1, 0.2, 0.3, 0.4]}
    runs = one_at_a_time(factors)
    assert [len(run) for run in runs] == [1] * 6
    assert {item for run in runs for item in run.items()} == {
        (name, value) for name, values in factors.items() for value in values[1:]
    }


def test_columns_of_a_fraction_are_balanced_and_orthogonal(subtests):
    """The rule of Plackett and Burman: each of the four combinations of two factors in a quarter of the runs."""
    cases = [(3, 8), (4, 8), (5, 8), (7, 8), (8, 16), (11, 16), (15, 16)]
    for count, runs in cases:
        with subtests.test(count=count, runs=runs):
            factors = two_levels(count)
            table = changed(factors, fractional_factorial(factors))
            assert table.shape == (runs, count)
            assert (table.sum(axis=0) == runs // 2).all()
            for a, b in combinations(range(count), 2):
                together = [(table[:, a] == first) & (table[:, b] == second) for first in (0, 1) for second in (0, 1)]
                assert [int(one.sum()) for one in together] == [runs // 4] * 4


def test_four_factors_are_not_confused_with_products_of_two():
    """Resolution IV: of any three factors all eight combinations occur."""
    factors = two_levels(4)
    table = changed(factors, fractional_factorial(factors))
    for chosen in combinations(range(4), 3):
        assert len({tuple(row) for row in table[:, chosen]}) == 8


def test_one_and_two_factors_have_all_their_combinations_once():
    assert fractional_factorial(two_levels(1)) == [{"f0": "other"}]
    assert [len(run) for run in fractional_factorial(two_levels(2))] == [1, 1, 2]


def test_alternatives_take_turns():
    runs = fractional_factorial({"a": [0, 1, 2, 3], "b": [0, 1], "c": [0, 1], "d": [0, 1], "e": [0, 1]})
    values = [run["a"] for run in runs if "a" in run]
    assert sorted(values) == [1, 1, 2, 3]


def test_no_factors_are_no_runs():
    assert fractional_factorial({}) == one_at_a_time({}) == []


@pytest.mark.parametrize("design", [one_at_a_time, fractional_factorial])
def test_a_factor_without_an_alternative_is_refused(design):
    with pytest.raises(ParameterError, match="factor rto has 1 values"):
        design({"rto": [0.2]})
