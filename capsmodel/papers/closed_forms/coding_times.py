"""Claims about the time that coding takes, by times of the codec that were measured once.

``data/papers/coding_times.csv`` has the processor time of each step on one machine: one thread, two cores of an x86-64
server, Python 3.11. ``benchmarks/measure_coding_times.py`` writes it. What depends on the machine cannot be compared
with a paper's, so the claims are judged on ratios: of two times, or of a time to a bound far above it.
"""

import csv
from functools import cache
from types import MappingProxyType

import numpy as np

from capsim.study.claims.relations import Says
from capsmodel.datafiles import data_path
from capsmodel.experiments.words import LEVEL
from capsmodel.papers.claim_list import PublishedClaim
from capsmodel.papers.verdicts import Computed, Numbers, tolerance

RTT_S = 8e-3
"""CAPS Section VIII-A: four links of 1 ms, there and back."""
UNITS = (4, 8, 12, 16)
WINDOWS = (10, 20, 39)
"""Packets: the coding units of a flow of 69 packets whose window begins with ten and doubles."""
BLOCK, LARGE_BLOCK = 32, 128
"""Packets of a block of SC-MPTCP: as simulated, and more."""
Step = tuple[str, str, int]


@cache
def _rows() -> MappingProxyType[Step, dict[str, str]]:
    with data_path("papers/coding_times.csv").open(encoding="utf-8", newline="") as file:
        rows = {(row["code"], row["step"], int(row["packets"])): row for row in csv.DictReader(file)}
    return MappingProxyType(rows)


def step_s(code: str, step: str, packets: int) -> float:
    """Return the processor time of a step where nothing else disturbs it, in seconds."""
    return float(_rows()[code, step, packets]["decile_s"])


def unit_s(step: str, packets: int) -> float:
    """Return the time of a coding unit of CAPS, in seconds."""
    return step_s("ldpc", f"{step} a unit", packets)


def _over_rtt_pct() -> list[float]:
    return [100 * (unit_s("encode", k) + unit_s("decode", k)) / RTT_S for k in UNITS]


def time_over_unit() -> Numbers:
    """Fig. 15(a): more packets are more work."""
    return _over_rtt_pct()


def time_over_round_trip(claim: PublishedClaim) -> Computed:
    """Fig. 15(a)."""
    percents = _over_rtt_pct()
    times = float(claim.high) / max(percents)
    return Computed(percents, f"of {1e3 * RTT_S:g} ms; it holds on a machine that takes up to {times:.0f} times")


def time_over_flow(claim: PublishedClaim) -> Computed:
    """Fig. 15(b): the time of a unit is the same for a flow of 69 packets as for one of ten."""
    step = {"enc": "encode", "dec": "decode"}[claim.id.removeprefix("caps-f15b-")]
    times_s = [unit_s(step, k) for k in WINDOWS]
    ratio = float(np.mean(times_s) / times_s[0])
    allowed = tolerance(claim, claim.low) / float(claim.low)
    text = (
        "a unit's time in a flow of 69 packets, whose units have 10, 20 and 39, over that in one of ten; printed: equal"
    )
    return Computed(ratio, text, Says(kind=LEVEL, size=lambda one: abs(one.value - 1) <= allowed))


def block_over_packet(packets: int = BLOCK) -> float:
    """Return how many times what a packet of DC2-MTCP waits for one of SC-MPTCP does, in a block of so many."""
    return step_s("sc", "decode a block", packets) / step_s("dc2", "take a packet", 1)


def decoding_of_block() -> Computed:
    """Fig. 1c: what a packet of SC-MPTCP waits for, over a step of DC2-MTCP."""
    ratio, large = block_over_packet(), block_over_packet(LARGE_BLOCK)
    text = f"a block of {BLOCK} packets, a size that is not stated, with one loss; {large:.1f} times with {LARGE_BLOCK}"
    return Computed(ratio, text)
