"""A sample of the cases of a test, such as the gate runs of each test that has many."""

from collections import Counter
from collections.abc import Hashable, Sequence
from collections.abc import Set as AbstractSet


def sampled(cases: Sequence[AbstractSet[Hashable]], *, every: int, turn: int) -> set[int]:
    """Return which of the cases are run in this turn.

    Parameters
    ----------
    cases
        The values of each case, each with the name of its axis; those of one axis are tried in several cases.
    every
        One of so many cases is taken, at least 1: case `turn` modulo `every`, and each `every`-th after it. After
        `every` turns in a row each case was taken.
    turn
        Which sample.

    Returns
    -------
    set of int
        Positions of the sample, and of further cases until each value that occurs in several cases is there. Regular
        steps alone would take the same few values of an axis whose length has a factor in common with `every`.
    """
    chosen = set(range(turn % min(every, len(cases)), len(cases), every))
    often = Counter(value for values in cases for value in values)
    lacking = {value for value, times in often.items() if times > 1}.difference(*(cases[number] for number in chosen))
    while lacking:
        best = max(range(len(cases)), key=lambda number: len(cases[number] & lacking))
        chosen.add(best)
        lacking -= cases[best]
    return chosen
