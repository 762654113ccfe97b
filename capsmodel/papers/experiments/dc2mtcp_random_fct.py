"""DC2-MTCP Fig. 4: completion times of short flows over several subflows, and their timeouts, in the random pattern.

Chosen: as in ``_dc2mtcp``. Short flows are those below 1 MB of the 30, the background is not counted. "On average" is
the geometric mean over the factors of the sizes, and where both are compared over two and four subflows. The
distribution of Fig. 4(d) is taken at the middle factor, 4; a flow without a timeout has none on any of its subflows.
The spacing of the jumps of the distribution is not measured.
"""

from capsmodel.papers.experiments import _dc2mtcp as shared
from capsmodel.papers.experiments._dc2mtcp import DC2, IETF, NAMES, SC, over, places
from capsmodel.papers.statements import Statement, levels, same_scheme

FCT = "multipath_fct_short_s"
ALL = [*places(2), *places(4)]
DISTRIBUTION_2, DISTRIBUTION_4 = places(2, [4]), places(4, [4])


def fewer_than_four(scheme: str) -> Statement:
    """Return the statement about two subflows over four."""
    return same_scheme([scheme], zip(places(2), places(4), strict=True), column=FCT)


STATEMENTS = {
    "dc2mtcp-f4-2lt4-mptcp": fewer_than_four(IETF),
    "dc2mtcp-f4-2lt4-sc": fewer_than_four(SC),
    "dc2mtcp-f4-2lt4-dc2": fewer_than_four(DC2),
    "dc2mtcp-f4-dc2-2": over("dc2mtcp-f4-dc2-2", places(2), column=FCT, average=True),
    "dc2mtcp-f4-dc2-4": over("dc2mtcp-f4-dc2-4", places(4), column=FCT, average=True),
    "dc2mtcp-f4-sc": over("dc2mtcp-f4-sc", ALL, column=FCT, average=True),
    "dc2mtcp-f4-order2": over("dc2mtcp-f4-order2", places(2), column=FCT),
    "dc2mtcp-f4-order4": over("dc2mtcp-f4-order4", places(4), column=FCT),
    "dc2mtcp-f4d-50": levels(
        sorted(set(NAMES.values())),
        [*DISTRIBUTION_2, *DISTRIBUTION_4],
        column="longest_untimed_fct_s",
        note="the longest of a run, which has the ten rounds of the paper",
    ),
    "dc2mtcp-f4d-dc22": over("dc2mtcp-f4d-dc22", DISTRIBUTION_2, column="untimed_ratio", gap=True),
    "dc2mtcp-f4d-sc2": over("dc2mtcp-f4d-sc2", DISTRIBUTION_2, column="untimed_ratio", gap=True),
    "dc2mtcp-f4d-dc24": over("dc2mtcp-f4d-dc24", DISTRIBUTION_4, column="untimed_ratio", gap=True),
    "dc2mtcp-f4d-one-dc2-4": levels([DC2], DISTRIBUTION_4, column="once_timed_ratio"),
    "dc2mtcp-f4d-one-mptcp-4": levels([IETF], DISTRIBUTION_4, column="once_timed_ratio"),
    "dc2mtcp-f4d-one-sc-4": levels([SC], DISTRIBUTION_4, column="once_timed_ratio"),
}

EXPERIMENT = shared.experiment(
    module=__name__,
    about=__doc__,
    id="dc2mtcp-e07-random-fct",
    places=shared.all_places(),
    sampled=shared.sampled(),
    statements=STATEMENTS,
)
