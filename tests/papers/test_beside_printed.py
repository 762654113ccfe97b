"""Printed values and ours on one scale: where each relation puts them, and that the place agrees with the verdict."""

import math

import numpy as np
import pytest

from capsim.study.file import Claim
from capsmodel.experiments.words import CLOSE_RELATIVE, NOT_WORSE, SIGNIFICANTLY
from capsmodel.papers import claims
from capsmodel.papers.beside_printed import DIRECTION, RATIO, BesidePrinted, beside_printed
from capsmodel.papers.claim_list import PublishedClaim
from capsmodel.papers.figures._beside_printed import DrawnClaim, draw_beside_printed
from capsmodel.papers.figures._drawing import PUBLISHED
from capsmodel.papers.index import LedgerEntry
from capsmodel.papers.verdicts import tolerance

INF = math.inf


def said(relation, printed="3 ms", metric="mean_fct_short_s"):
    """Return a claim of a study that says this of CAPS and RPS."""
    keys = {"id": "some", "where": "Fig. 1", "subject": "CAPS", "baseline": "RPS"}
    return PublishedClaim.of("caps-hol", Claim(**keys, is_=relation, printed=printed, metric=metric))


def entry(*value, quantity=""):
    return LedgerEntry("made-up", quantity, value, (), "open", "")


def test_what_is_printed_is_a_number_a_range_or_a_side(subtests):
    cases = [
        ("equal", "3 ms", ("ms", 3, 3)),
        ("equal", "~3..4 ms", ("ms", 3, 4)),
        ("equal", "0.34", ("mean_fct_short_s", 0.34, 0.34)),
        ("close", "", (RATIO, *SIGNIFICANTLY)),
        ("higher", "~3 x", (RATIO, 3, 3)),
        ("equal", "~1 x", (RATIO, 1, 1)),
        ("below", "3 %", ("%", -INF, 3)),
        ("above", "3 %", ("%", 3, INF)),
        ("lower", "..80 %", ("reduction, %", 0, 80)),
        ("higher", "50.. %", ("increase, %", 50, INF)),
        ("lower", "", (RATIO, -INF, 1)),
        ("not higher", "", (RATIO, -INF, 1)),
        ("higher", "", (RATIO, 1, INF)),
        ("rising", "", (DIRECTION, 1, 1)),
        ("falling", "", (DIRECTION, -1, -1)),
        ("true", "", ("mean_fct_short_s", 1, 1)),
        ("best at", "29 packets", ("packets", 29, 29)),
    ]
    for relation, printed, expected in cases:
        with subtests.test(relation=relation, printed=printed, expected=expected):
            found = beside_printed(said(relation=relation, printed=printed), entry())
            assert (found.scale, found.low, found.high) == expected
            assert not found.ours


def test_a_claim_without_a_number_has_our_value_alone():
    found = beside_printed(said(relation="equal", printed=""), entry(2.0))
    assert math.isnan(found.low)
    assert found.ours == (2.0,)


def test_a_shape_is_neither_a_rise_nor_a_fall():
    found = beside_printed(said(relation="u-shaped", printed=""), entry(64.0))
    assert math.isnan(found.low)
    assert not found.ours


def test_counts_are_compared_by_their_difference():
    claim = said(relation="lower", printed="", metric="timeouts_short")
    found = beside_printed(claim, entry(-154.5, 17.0, quantity="difference"))
    assert (found.scale, found.low, found.high) == ("timeouts_short: subject minus baseline", -INF, 0)
    assert found.ours == (-154.5, 17.0)


def test_a_trend_rises_falls_or_depends(subtests):
    cases = [
        ("first and last", (0.2, 0.9), (1,)),
        ("first and last", (0.9, 0.2), (-1,)),
        ("Kendall's tau", (0.2, 0.9), (1,)),
        ("Kendall's tau", (-0.8, -0.4), (-1,)),
        ("Kendall's tau", (-0.8, 0.3), (0,)),
        ("difference", (0.2,), (1,)),
        ("difference", (-6e6, 0.3), (0,)),
        ("", (0.2,), ()),  # a value at one place has no direction
        ("", (), ()),
    ]
    for quantity, value, direction in cases:
        with subtests.test(quantity=quantity, value=value, direction=direction):
            claim = said(relation="rising", printed="")
            assert beside_printed(claim, entry(*value, quantity=quantity)).ours == direction


@pytest.mark.parametrize(("relation", "expected"), [("lower", (0, INF)), ("higher", (-INF, 0))])
def test_what_is_lower_has_a_reduction_above_0(relation, expected):
    claim = said(relation=relation, printed="")
    found = beside_printed(claim, entry(4.0, quantity="reduction, %"))
    assert (found.scale, found.low, found.high) == ("reduction, %", *expected)


def test_a_distance_is_close_below_a_tenth():
    found = beside_printed(said(relation="close", printed=""), entry(2.3, quantity="relative distance"))
    assert (found.scale, found.low, found.high) == ("relative distance", 0, CLOSE_RELATIVE)


def placed(row):
    return beside_printed(row.claim, row.entry)


def decided():
    """Claims whose word says where our value lies: another size may lie on either side, and a shape has no place."""
    known = (row for row in claims() if row.claim.has_closed_form or not row.claim.formula)
    rows = [row for row in known if row.entry.verdict in ("agrees", "holds", "fails")]
    return [row for row in rows if row.entry.value and not math.isnan(placed(row).low)]


def reading(claim, bound):
    """How far from a bound a value may lie that meets it; an open end has none."""
    return tolerance(claim, bound) if bound else 0.0


def allowed(claim, bound):
    """How far from a bound a value may lie: what an experiment measures may be off by what is close; none is none."""
    if not bound or claim.low == claim.high == "0":
        return 0.0
    measured = not claim.formula and claim.low == claim.high
    return max(tolerance(claim, bound), CLOSE_RELATIVE * abs(float(bound)) if measured else 0.0)


def test_what_agrees_or_holds_lies_where_it_is_printed_and_what_fails_does_not(subtests):
    for row in decided():
        with subtests.test(claim=row.claim.id):
            found = placed(row)
            # An order holds over many points if it is nowhere worse by more than 3%.
            worse = (
                NOT_WORSE
                if row.entry.quantity == "ratio" and len(row.entry.value) > 1 and not row.claim.printed
                else 1.0
            )
            low = found.low / worse - allowed(row.claim, row.claim.low)
            high = found.high * worse + allowed(row.claim, row.claim.high)
            if row.entry.verdict != "fails":
                assert all(low <= value <= high for value in (*found.ours, *found.interval))
            else:
                assert not any(low < value < high for value in found.ours)


def drawn(*rows):
    return draw_beside_printed("title", rows)


def test_there_is_a_row_for_each_claim_in_the_panel_of_its_scale():
    rows = [
        DrawnClaim("one", BesidePrinted("ms", 3, 3, (4.0,), (3.5, 4.5)), "open"),
        DrawnClaim("two", BesidePrinted("%", 30, 70), "open"),
        DrawnClaim("three", BesidePrinted("ms", 5, 5, (5.0,)), "agrees"),
    ]
    first, second = drawn(*rows).axes
    assert [axes.get_xlabel() for axes in (first, second)] == ["ms", "%"]
    assert [[text.get_text() for text in axes.get_yticklabels()] for axes in (first, second)] == [
        ["one", "three"],
        ["two"],
    ]
    assert [text.get_text() for text in first.texts] == ["open", "agrees"]
    crosses, *_ = (line for line in first.lines if line.get_gid() == PUBLISHED)
    assert crosses.get_xydata().tolist() == [[3, 0], [5, 1]]
    ours = [line.get_xdata().tolist() for line in first.lines if line.get_gid() != PUBLISHED]
    assert ours == [[3.5, 4.5], [4.0], [5.0]]
    (bar,) = second.patches
    assert (bar.get_x(), bar.get_width()) == pytest.approx((30, 40))


def test_an_open_end_reaches_the_edge_and_has_no_mark():
    (axes,) = drawn(DrawnClaim("one", BesidePrinted(RATIO, -INF, 1.0, (0.5, 1.5)), "open")).axes
    (bar,) = axes.patches
    assert bar.get_x() == axes.get_xlim()[0]
    assert bar.get_x() + bar.get_width() == pytest.approx(1)
    assert [line.get_xdata().tolist() for line in axes.lines if line.get_marker() == "|"] == [[1.0]]


def test_orders_of_magnitude_are_drawn_logarithmically_even_if_an_interval_reaches_below_0():
    wide = DrawnClaim("one", BesidePrinted("ms", 1, 1, (900.0,), (-200.0, 2000.0)), "open")
    (axes,) = drawn(wide).axes
    assert axes.get_xscale() == "log"
    assert axes.get_xlim()[1] > 2000
    assert all((line.get_xdata() > 0).all() for line in axes.lines if line.get_xdata().size)
    (axes,) = drawn(DrawnClaim("one", BesidePrinted("ms", 0, 0, (900.0,)), "open")).axes
    assert axes.get_xscale() == "linear"


def test_a_claim_that_waits_is_drawn_with_nothing_of_ours():
    (axes,) = drawn(DrawnClaim("one", BesidePrinted(DIRECTION, 1, 1), "open")).axes
    assert [text.get_text() for text in axes.get_xticklabels()] == ["falls", "neither", "rises"]
    assert all(line.get_gid() == PUBLISHED for line in axes.lines)
    (axes,) = drawn(DrawnClaim("one", BesidePrinted("ms", np.nan, np.nan), "open")).axes
    assert not any(line.get_xdata().size for line in axes.lines)
