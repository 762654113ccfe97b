"""DC2-MTCP Table I: coded over original packets, of short and of long flows, in both patterns.

Chosen: as dc2mtcp-random-fct and dc2mtcp-hotspot. A ratio is that of all flows of a kind in the ten rounds, and a cell
of the table its mean over the factors of the sizes. That smaller flows have a higher ratio is judged over these factors
with two subflows. The total overhead is the ratio times what a packet waits to be decoded, by the measured times of the
codec; over the factors it is a geometric mean. Not judged: the ratio of non-systematic codes, which is quoted, and how
many times more short flows have than long ones, which may have none.
"""

from math import log

from capsmodel.papers.closed_forms.coding_times import BLOCK, block_over_packet
from capsmodel.papers.experiments import _dc2mtcp as shared
from capsmodel.papers.experiments._dc2mtcp import DC2, SC, SUBFLOWS, places
from capsmodel.papers.statements import Comparison, Statement, levels

COLUMNS = {"all": "coded_ratio", "small": "coded_ratio_short", "large": "coded_ratio_long"}
RANDOM, HOT = ([name for subflows in SUBFLOWS for name in places(subflows, hot=hot)] for hot in (False, True))


def mean_ratio(scheme: str, at: list[str], column: str = COLUMNS["all"]) -> Statement:
    """Return the statement about the mean ratio of a scheme over some places."""
    return levels([scheme], at, column=column, average=True)


def total_overhead(at: list[str]) -> Statement:
    """Return the statement about coded packets times the delay of each, of SC-MPTCP over DC2-MTCP."""
    times = block_over_packet()
    return Statement(
        comparisons=tuple(Comparison(place, ((1, (SC, place)), (-1, (DC2, place))), added=log(times)) for place in at),
        column=COLUMNS["all"],
        average=True,
        note=f"a packet of SC-MPTCP, in a block of {BLOCK}, waits {times:.1f} times as long to be decoded",
    )


STATEMENTS = {
    **{
        f"dc2mtcp-t1-{pattern}-{kind}-{subflows}": mean_ratio(DC2, places(subflows, hot=hot), column)
        for pattern, hot in (("random", False), ("hot-spot", True))
        for kind, column in COLUMNS.items()
        for subflows in SUBFLOWS
    },
    "dc2mtcp-s6d-r": mean_ratio(DC2, RANDOM),
    "dc2mtcp-s6d-h": mean_ratio(DC2, HOT),
    "dc2mtcp-s6d-sc": mean_ratio(SC, [*RANDOM, *HOT]),
    "dc2mtcp-s6d-large": mean_ratio(DC2, [*RANDOM, *HOT], COLUMNS["large"]),
    "dc2mtcp-s6d-size": levels([DC2], places(2), column=COLUMNS["all"]),
    "dc2mtcp-s6d-or": total_overhead(RANDOM),
    "dc2mtcp-s6d-oh": total_overhead(HOT),
    "dc2mtcp-s7-5": mean_ratio(DC2, [*RANDOM, *HOT]),
}

EXPERIMENT = shared.experiment(
    module=__name__,
    about=__doc__,
    id="dc2mtcp-e11-co",
    places=shared.all_places() | shared.all_places(hot=True),
    sampled=(*shared.sampled(), *shared.sampled(hot=True)),
    statements=STATEMENTS,
)
