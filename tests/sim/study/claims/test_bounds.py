"""Property: the bounds of a claim are where what an interval says of it changes, in the unit of our values."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsim.study.claims.relations import Relation
from capsmodel.experiments.printed import Printed
from capsmodel.experiments.statistics.intervals import Interval


def relation(is_, printed="", size=1.0):
    """Return a relation as a file has it; sizes of lower and higher are round figures."""
    says = replace(Printed.read(printed), is_round=is_ in ("lower", "higher")) if printed else None
    return Relation(is_, says, size)


RATIOS = [
    relation("lower").of_ratio(),
    relation("higher", size=2.0).of_ratio(),
    relation("not higher", size=1.1).of_ratio(),
    relation("close").of_ratio(),
    relation("lower", "40..45 %").of_ratio(),
    relation("lower", "2.5 x").of_ratio(),
    relation("higher", "30 %").of_ratio(),
    relation("equal", "1.5 x").of_ratio(),
    relation("equal", "1 orders of magnitude").of_ratio(),
    relation("below", "1.2 x").of_ratio(),
]
VALUES = [relation("equal", "12 ms").of_value(), relation("above", "3 ms").of_value(), relation("true").of_value()]
UP_TO = relation("lower", "..60 %").of_ratio()


def interval(low, high):
    return Interval(value=(low + high) / 2, low=low, high=high, confidence=0.99, samples=8)


ENDS = st.floats(0.01, 20.0)


@given(says=st.sampled_from(RATIOS + VALUES), ends=st.tuples(ENDS, ENDS).map(sorted))
def test_an_interval_without_the_bound_of_its_size_is_decided(says, ends):
    assert (says.size(interval(*ends)) is None) == any(ends[0] < one < ends[1] for one in says.size.bounds)


@pytest.mark.parametrize("says", RATIOS + VALUES)
def test_values_on_the_two_sides_of_a_bound_have_two_answers(says):
    """Catches a bound in percent beside a ratio, and one without the tolerance of a printed number."""
    assert says.size.bounds
    for bound in says.size.bounds:
        below, above = (says.size(interval(end, end)) for end in (bound * (1 - 1e-6), bound * (1 + 1e-6)))
        assert {bool(below), bool(above)} == {True, False}


def test_the_bound_is_that_of_the_first_question_that_is_open():
    """A reduction by 50% is met from 0.45 to 0.55; by less than a quarter it is none."""
    halved = relation("lower", "50 %").of_ratio()
    assert halved.undecided_at(interval(0.46, 0.54)) == ()
    assert halved.undecided_at(interval(0.40, 0.54)) == pytest.approx((0.45,))
    assert halved.undecided_at(interval(0.40, 0.60)) == pytest.approx((0.45, 0.55))
    assert halved.undecided_at(interval(0.70, 1.20)) == (1.0,)
    assert halved.undecided_at(interval(0.70, 0.95)) == pytest.approx((0.9,))


def test_a_size_that_differences_go_up_to_is_open_until_it_is_reached():
    """60% is reached from a ratio of 0.34 to one of 0.46, within 10% of what is printed."""
    assert UP_TO.undecided_at(interval(0.50, 0.70)) == ()
    assert UP_TO.undecided_at(interval(0.41, 0.50)) == pytest.approx((0.46,))
