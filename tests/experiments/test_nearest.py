"""Property: which setting is nearest to print, and what each does to all claims."""

import math
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from capsmodel.experiments.statistics.nearest import TriedSetting, nearest, settings_for_all

FACTORS = st.floats(1.0, 1e3)
TRIED = st.lists(st.builds(TriedSetting, st.sampled_from("abc"), st.sampled_from("xyz"), FACTORS, FACTORS, st.just(4)))


@given(TRIED)
def test_no_setting_that_was_tried_is_nearer(tried):
    best = nearest(tried)
    assert best.keys() == {one.id for one in tried}
    assert all(best[one.id].factor <= one.factor for one in tried)


@given(TRIED)
def test_gains_are_logarithms_of_products_and_fall(tried):
    found = settings_for_all(tried)
    for one in found:
        rows = [row for row in tried if row.setting == one.setting]
        product = sum(math.log(row.in_text / row.factor) for row in rows)
        assert math.isclose(one.gain, product, rel_tol=1e-9, abs_tol=1e-9)
        assert one.claims == len(rows) >= one.towards + one.away
    assert all(before.gain >= after.gain for before, after in pairwise(found))


def test_a_move_of_a_tenth_counts():
    nearer, same, farther = (TriedSetting("a", "x", 2.0, factor, 4) for factor in (1.8, 1.9, 2.3))
    assert [(one.is_towards, one.is_away) for one in (nearer, same, farther)] == [
        (True, False),
        (False, False),
        (False, True),
    ]
