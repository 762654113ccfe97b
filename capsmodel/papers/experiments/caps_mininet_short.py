"""CAPS Fig. 11: Mininet, over the number of short flows beside four long ones.

Chosen: packets of the stated rates, delays and buffers in place of Mininet. The sweep is that of the appendices, 20 to
180 short flows, whose middle is the default of 100; they start within 0.1 ms, as do the long flows of 14.6 MB. "Up to"
gains of the introduction are those of Fig. 11(b). Freeway's deadline is as many packets as on 1 Gbps. The gain that
Section VIII-C compares with coding times, and prints without a baseline, is the mean over the other schemes.
"""

from capsmodel.papers.experiments import _caps_mininet as shared
from capsmodel.papers.experiments._caps import FOUR_OTHERS, NAMES, SHORT_FLOWS, gain, over
from capsmodel.papers.statements import Comparison, Statement

LONG_FLOWS = 4
PLACES = {f"{count} short flows": {"short_flows": count, "long_flows": LONG_FLOWS} for count in SHORT_FLOWS}
ALL = list(PLACES)
DEFAULT = "100 short flows"


def mean_gain() -> Statement:
    """Return how much sooner short flows end under CAPS than under each of four others, at the default setting."""
    return Statement(
        comparisons=tuple(
            Comparison(other, ((1, (NAMES[other], DEFAULT)), (-1, (NAMES["CAPS"], DEFAULT)))) for other in FOUR_OTHERS
        ),
        column="mean_fct_short_s",
        gap=True,
        average=True,
        note="the other schemes are those of Fig. 11",
    )


STATEMENTS = {
    **{f"caps-intro-tput-{name}": over(f"caps-intro-tput-{name}", ALL) for name in ("repflow", "freeway")},
    **{f"caps-f11a-{name}": over(f"caps-f11a-{name}", ALL) for name in ("ecmp", "rps", "repflow", "freeway")},
    **{
        f"caps-f11b-{name}": over(f"caps-f11b-{name}", ALL)
        for name in ("ecmp", "repflow", "freeway", "rps", "rps-others")
    },
    "caps-f11a-norm": gain(ALL),
    "caps-f15b-gain": mean_gain(),
}

EXPERIMENT = shared.experiment(
    module=__name__,
    about=__doc__,
    id="caps-e13-mininet-short",
    places=PLACES,
    sampled=(ALL[0], ALL[2], ALL[-1]),
    scenario=shared.scenario,
    statements=STATEMENTS,
)
