"""Claims of simulations, testbeds and codecs that no run decides: what is missing for each, or what follows at once."""

from capsmodel.papers.index import Claim
from capsmodel.papers.verdicts import Verdict, by_bound, cell, judged_by_value, judges, not_testable

MIN_WINDOW_PACKETS, SUBFLOWS = 2, 8
"""MMPTCP Section 3.11: a subflow has two packets in flight at the least, as in Linux."""
_WHY = {
    "lines of the authors' code, which is not what is simulated": ("caps-impl-loc",),
    "use of the authors' machine; how many packets a second it coded is not stated": (
        "caps-f16-cpuavg",
        "caps-f16-cpumax",
        "caps-f16-mem",
    ),
    "from when on a number of flows counts as incast is not said": ("caps-f26-conc",),
    "over which time is not said; over a long one, what arrives is what is offered, whatever the redundancy": (
        "caps-f25a-load",
        "caps-f25a-r",
        "caps-f25b-load",
        "caps-f25b-r",
    ),
    "round trips between two machines of a public cloud, which no model gives": (
        "repflow-f1-mean",
        "repflow-f2-p99",
    ),
    "an input of the simulation (replica_delay_s in settings.toml): it measures the authors' threads": (
        "repflow-s6-skew",
    ),
    "a rule of the scheme, and so an input of the simulation": (
        "mmptcp-s311-core",
        "mmptcp-s311-aggregation",
        "mmptcp-s311-access",
    ),
    "scenarios 'similar to' those of a section: neither which nor how similar": ("mmptcp-t8-li",),
    "a share of at most 1, times the tenth that short flows are of all traffic: no run could be above": (
        "caps-f26b-loss",
    ),
    "advice; what a threshold would be recommended by is not said": ("mmptcp-concl-thr",),
    "gaps in the packet trace of a university, which is not a part of the package": (
        "dc2mtcp-f1b-send",
        "dc2mtcp-f1b-recv",
    ),
    "quoted from earlier work; a code that is not systematic sends nothing else": ("dc2mtcp-s6d-ns",),
}
_REASONS = {claim: reason for reason, claims in _WHY.items() for claim in claims}
# Cells of Table I of DC2-MTCP: coded over original packets.
_TABLE1 = [
    f"dc2mtcp-t1-{pattern}-{kind}-{subflows}"
    for pattern in ("random", "hot-spot")
    for kind in ("all", "small", "large")
    for subflows in (2, 4)
]


@judges(*_REASONS)
def missing(claim: Claim) -> Verdict:
    """Say what is missing."""
    return not_testable(claim, _REASONS[claim.id])


@judged_by_value("mmptcp-s311-8x", "eight windows of the least size over one")
def subflows_over_one_flow() -> float:
    """Section 3.11: 16 packets each round trip over 2."""
    return SUBFLOWS * MIN_WINDOW_PACKETS / MIN_WINDOW_PACKETS


@judges("dc2mtcp-s5-l")
def coded_packets(claim: Claim) -> Verdict:
    """Section V beside Table I: l coded packets for m original ones."""
    return by_bound(claim, [cell(name) for name in _TABLE1], "the cells of Table I, the largest of which counts")
