"""Combinations of settings to try: each alternative alone, and a fraction of all combinations.

============================ =============================== ==================================
Quantity                     Name                            Source
============================ =============================== ==================================
each alternative by itself   :func:`one_at_a_time`
a fraction of all            :func:`fractional_factorial`    Plackett and Burman 1946, Table 1
each value at least once     :func:`each_value_once`
============================ =============================== ==================================

A factor is a name and its values, the first of which is the base. One factor at a time shows which one turns a result
but misses those that act together; a two-level fraction, whose rows are those of a Hadamard matrix, changes half of the
factors in each run, so that each pair of factors is changed together, apart, and not at all, equally often. A factor
with several alternatives takes them in turn in the runs that change it.

The matrix is Sylvester's: its entry in row i and column j is -1 where i and j have an odd number of binary ones in
common. Packages for designs (pyDOE3) build the same two-level fractions, and their designs for more levels have no base
run, which all comparisons here need.

References
----------
R. L. Plackett, J. P. Burman. The design of optimum multifactorial experiments. Biometrika 33(4), pp. 305-325, 1946.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from capsmodel.checks import require

__all__ = ["Combination", "each_value_once", "fractional_factorial", "one_at_a_time"]

Point = tuple[tuple[str, Any], ...]
"""A value of each axis, by name."""
Combination = dict[str, Any]
"""Value of each factor that differs from the base, by name."""

FEWEST_RUNS = 8
"""Rows of the smallest fraction, the base included."""


def _check(factors: Mapping[str, Sequence[Any]]) -> None:
    for name, values in factors.items():
        require(len(values) >= 2, f"factor {name} has {len(values)} values, but it needs its base and an alternative")


def one_at_a_time(factors: Mapping[str, Sequence[Any]]) -> list[Combination]:
    """Return each alternative of each factor alone, all others at their base.

    Parameters
    ----------
    factors : mapping
        Values of each factor by its name, the base first.

    Returns
    -------
    list of dict
        What differs from the base: one name each.

    Raises
    ------
    ParameterError
        If a factor has no alternative.

    Examples
    --------
    >>> one_at_a_time({"rto": [200, 10, 1000], "copies": [2, 3]})
    [{'rto': 10}, {'rto': 1000}, {'copies': 3}]
    """
    _check(factors)
    return [{name: value} for name, values in factors.items() for value in values[1:]]


def fractional_factorial(factors: Mapping[str, Sequence[Any]]) -> list[Combination]:
    """Return a two-level fraction of all combinations without the base.

    Parameters
    ----------
    factors : mapping
        Values of each factor by its name, the base first.

    Returns
    -------
    list of dict
        What differs from the base, each combination once. Of n factors there are 7 runs up to n = 7, 15 up to n = 15,
        and so on, or fewer where so few factors have no more combinations. Main effects are not confused with each
        other (resolution III), and up to four factors not with products of two either (resolution IV).

    Raises
    ------
    ParameterError
        If a factor has no alternative.

    Examples
    --------
    >>> fractional_factorial({"rto": [200, 10, 1000], "copies": [2, 3]})
    [{'rto': 10}, {'copies': 3}, {'rto': 1000, 'copies': 3}]
    """
    _check(factors)
    runs = FEWEST_RUNS
    while runs <= len(factors):
        runs *= 2
    # Independent columns first, then products of as many of them as possible: fewer effects are confused.
    columns = sorted(range(1, runs), key=lambda column: (column.bit_count() != 1, -column.bit_count(), column))
    turns = dict.fromkeys(factors, 0)
    combinations: list[Combination] = []
    for row in range(1, runs):  # row 0 changes nothing: it is the base
        combination: Combination = {}
        for name, column in zip(factors, columns, strict=False):
            if (row & column).bit_count() % 2:
                alternatives = factors[name][1:]
                combination[name] = alternatives[turns[name] % len(alternatives)]
                turns[name] += 1
        if combination and combination not in combinations:
            combinations.append(combination)
    return combinations


def each_value_once(points: Sequence[Point]) -> list[Point]:
    """Return points that have each value of each axis at least once.

    Parameters
    ----------
    points : sequence of tuple
        Pairs of an axis and its value.

    Examples
    --------
    >>> grid = [(("k", k), ("r", r)) for k in (8, 16) for r in (1, 2)]
    >>> each_value_once(grid)
    [(('k', 8), ('r', 1)), (('k', 8), ('r', 2)), (('k', 16), ('r', 1))]
    """
    seen: set[tuple[str, Any]] = set()
    chosen = []
    for point in points:
        if not seen.issuperset(point):
            seen.update(point)
            chosen.append(point)
    return chosen
