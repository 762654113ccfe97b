"""Published kind: what fails by a formula or a table fails in a second way, without the functions that judge it.

Other libraries, exact fractions, or another argument; ``data/papers/checks.toml`` says which.
"""

from fractions import Fraction
from math import ceil, sqrt

import numpy as np
import pytest
import sympy
from scipy.optimize import linprog
from scipy.stats import binom

from capsmodel.papers.claim_list import read_claims
from capsmodel.papers.index import read_checks

WINDOW = 64


def cells(table: str, column: str) -> dict[str, float]:
    """Return a column of a table of MMPTCP by the names of its rows."""
    ends = f"mmptcp-{table}-", f"-{column}"
    found = {claim: row.low for claim, row in read_claims().items() if claim.startswith(ends[0])}
    found = {claim: low for claim, low in found.items() if claim.endswith(ends[1])}
    return {claim.removeprefix(ends[0]).removesuffix(ends[1]): float(low) for claim, low in found.items()}


def delay_ms(k: int, prob: str) -> float:
    """Eq. 4 of CAPS: 0.1 ms and the packets before one in a unit if all units decode, else 3 ms; 12 us a packet."""
    r = ceil(k * Fraction(prob) / (1 - Fraction(prob)))
    in_time = binom.cdf(r, k + r, float(prob)) ** (WINDOW / k)
    return float(in_time * (0.1 + 0.012 * (k - 1) / 2) + (1 - in_time) * 3.0)


def printed_unit_is_not_least(prob: str) -> bool:
    """Every unit up to the window, one by one: the printed one is not within a tenth of the least delay."""
    delays = {k: delay_ms(k, prob) for k in range(1, WINDOW + 1)}
    return delays[int(read_claims()[f"caps-optk-{prob}"].low)] > 1.1 * min(delays.values())


def overhead_falls() -> bool:
    """Eq. 7 of CAPS, p/(1 - p) repair packets beside one short and g long ones, by its derivative."""
    p, g = Fraction(1, 4), sympy.Symbol("g", positive=True)
    repair = sympy.Rational(p / (1 - p))
    return bool(sympy.diff(repair / (1 + g + repair), g).is_negative)


def a_scheme_loses_less() -> bool:
    loss_pct = cells("t3", "loss")
    return min(loss_pct, key=lambda scheme: loss_pct[scheme]) != "mmptcp" and len(loss_pct) == 5


def least_deviation(mean: float, median: float) -> float:
    """Return the least deviation of any distribution on a grid with this mean and median, by linear programming."""
    values = np.union1d(np.linspace(0, 4 * mean, 201), [mean, median])
    halves = -np.array([values <= median, values >= median], dtype=float)
    found = linprog(
        (values - mean) ** 2, A_ub=halves, b_ub=[-0.5, -0.5], A_eq=[np.ones_like(values), values], b_eq=[1, mean]
    )
    return sqrt(max(found.fun, 0.0))


def a_row_has_no_distribution() -> bool:
    """One row of twelve has a smaller deviation than any distribution with its mean and median."""
    mean, median, deviation = (cells("t7", column) for column in ("mean", "med", "sd"))
    impossible = [row for row in mean if least_deviation(mean[row], median[row]) > deviation[row] + 0.5]
    return (len(mean), impossible) == (12, ["20-mmptcp_lt"])


def test_the_row_of_table_8_is_one_of_table_1() -> None:
    """All cells of the LI row but the loss, which has fewer digits, are those of a row of Table 1, none of Table 3.

    Discrepancy 15 of MMPTCP: the text points to Section 3.4, whose table is Table 3.
    """
    columns = ("fct", "fctsd", "gp", "gpsd", "util")
    row = [cells("t8", column)["li"] for column in columns]
    of_table_1 = [cells("t1", column)["100-mmptcp"] for column in columns]
    of_table_3 = [cells("t3", column)["mmptcp"] for column in columns]
    assert row == of_table_1
    assert not any(one == other for one, other in zip(row, of_table_3, strict=True))


def no_window_gives_a_probability() -> bool:
    """Eq. 7 of DC2-MTCP is above 1 for all windows, and not what Eq. 3 gives: as much increase as decrease."""
    alpha, window, total, p = sympy.symbols("alpha W_i W p", positive=True)
    printed = 2 * alpha / (2 * alpha + window) * total
    (balanced,) = sympy.solve(sympy.Eq((1 - p) * alpha / total, p * window / 2), p)
    above = [printed.subs({alpha: 1, window: one, total: 4 * one}) > 1 for one in range(1, 101)]
    return all(above) and sympy.simplify(balanced - printed) != 0 and sympy.limit(balanced, alpha, sympy.oo) == 1


SECOND_WAYS = {
    **{
        f"caps-optk-{prob}": lambda prob=prob: printed_unit_is_not_least(prob)
        for prob in ("0.2", "0.25", "0.3", "0.35")
    },
    "caps-f10a-g": overhead_falls,
    "mmptcp-t3-all": a_scheme_loses_less,
    "mmptcp-t7-feas": a_row_has_no_distribution,
    "dc2mtcp-eq7": no_window_gives_a_probability,
}


@pytest.mark.parametrize("claim", SECOND_WAYS)
def test_a_second_way_refutes_it_too(claim: str) -> None:
    assert SECOND_WAYS[claim]()


def test_these_are_the_checks_that_the_record_names() -> None:
    assert {claim for claim, one in read_checks().items() if one.by == "tests/published/test_refuted_claims.py"} == {
        *SECOND_WAYS
    }
