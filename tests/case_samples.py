"""A sample of the cases of a test, such as the gate runs of each test that has many."""

import random
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
        One of so many cases is taken, at least 1: of the cases in an order that is drawn once for their number, number
        `turn` modulo `every` and each `every`-th after it. After `every` turns in a row each case was taken.
    turn
        Which sample.

    Returns
    -------
    set of int
        Positions of the sample, and of further cases until each value that occurs in several cases is there. Regular
        steps through the cases as they stand would take few values of an axis whose length has a factor in common with
        `every`.
    """
    order = random.Random(len(cases)).sample(range(len(cases)), len(cases))
    chosen = set(order[turn % min(every, len(cases)) :: every])
    often = Counter(value for values in cases for value in values)
    lacking = {value for value, times in often.items() if times > 1}.difference(*(cases[number] for number in chosen))
    while lacking:
        best = max(order, key=lambda number: len(cases[number] & lacking))
        chosen.add(best)
        lacking -= cases[best]
    return chosen
