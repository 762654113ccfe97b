"""``capsmodel choose-unit --code ldpc``: the least r of a code that no formula knows, measured on its own decoder.

A share that was measured says nothing of what is rarer than its tries: targets below `LEAST_FAILURE_PROB` are refused,
and the upper end of an interval stands for every share, also where none failed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from capsmodel.checks import FloatArray, ParameterError, require
from capsmodel.cli.shared.output import Output, explain, print_table
from capsmodel.cli.shared.table import Column
from capsmodel.cli.units.unit_choice import Question
from capsmodel.codec.files import packets_needed
from capsmodel.codec.registry import CODES
from capsmodel.coding.paths.unit_choice import measured_failure_prob
from capsmodel.coding.redundancy import repair_packets_for
from capsmodel.experiments.number_texts import number
from capsmodel.experiments.progress import track
from capsmodel.experiments.statistics.intervals import wilson_interval

TRIES = 10_000
_FIRST_TRIES, _AT_A_TIME = 1_000, 500
LEAST_FAILURE_PROB = 10 / TRIES
_MOST_REPAIR_OF_K = 4  # repair packets of a source packet; a code that needs more is none for these losses
_COLUMNS = (
    Column("k", "k, source packets"),
    Column("r", "r, repair packets"),
    Column("repair_share", "r/n, %", factor=100),
    Column("failure_prob", "fails"),
    Column("failure_prob_high", "fails, upper limit"),
    Column("r_mds", "r, if any k decoded"),
    Column("packets_needed", "packets to decode, mean"),
)


@dataclass(frozen=True)
class Measured:
    """How often a unit fails by the shares that were measured, and by their upper 95% limits."""

    failure_prob: float
    high: float
    packets_needed: float


def print_measured(request: Question, output: Output) -> None:
    """Print the least r with which a unit of the code keeps the target."""
    k, name = request.wish.k, request.wish.code
    if k is None:
        raise ParameterError(f"--code {name} is measured for one size of unit: give --k")
    lowest = f"--failure-prob = {request.failure_prob:g}, but --code {name} is measured with {TRIES} tries"
    require(request.failure_prob >= LEAST_FAILURE_PROB, f"{lowest}: ask for {LEAST_FAILURE_PROB:g} or more")
    least = repair_packets_for(k, losses=request.losses, failure_prob=request.failure_prob)
    r, measured = _least_repair(request, k, least)
    row = {"k": k, "r": r, "repair_share": r / (k + r), "failure_prob": measured.failure_prob}
    row |= {"failure_prob_high": measured.high, "r_mds": least, "packets_needed": measured.packets_needed}
    print_table([row], columns=_COLUMNS, title=request.title(f"Units of the code {name}"), output=output)
    if output.is_text:
        explain(
            f"Of {TRIES} sets of packets in random order the decoder of this code, with its first seed, needed "
            f"{number(measured.packets_needed)} packets in the mean to give {k} back. The upper limit is that of 95% "
            "intervals of these shares; r is the least with which it is below what was asked. Nothing is extrapolated."
        )


def _least_repair(request: Question, k: int, least: int) -> tuple[int, Measured]:
    """Return the least r from `least` on that keeps the target by its upper limit, and what was measured with it."""

    @cache
    def fails(r: int, tries: int) -> Measured:
        return _measured(request, k, r, tries)

    def is_enough(r: int) -> bool:  # by few tries, to find the place
        return fails(r, _FIRST_TRIES).failure_prob <= request.failure_prob

    most = _MOST_REPAIR_OF_K * k
    reached = f"--code {request.wish.code} with up to {most} repair packets"
    refusal = f"--failure-prob = {request.failure_prob:g} is out of reach of {reached}: allow more failures"
    high = next((r for r in _widening(least, most) if is_enough(r)), None)
    if high is None:
        raise ParameterError(refusal)
    low = least - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    r = next((r for r in range(high, most + 1) if fails(r, TRIES).high <= request.failure_prob), None)
    if r is None:
        raise ParameterError(refusal)
    return r, fails(r, TRIES)


def _widening(least: int, most: int) -> Iterator[int]:
    step = 0
    while least + step <= most:
        yield least + step
        step = 2 * step + 1


def _measured(request: Question, k: int, r: int, tries: int) -> Measured:
    """Decode sets of packets in random order, and count what that makes of the losses."""
    code = CODES[request.wish.code](k, r=r, packet_bytes=1)
    rng = np.random.default_rng([k, r])
    parts = range(0, tries, _AT_A_TIME)
    watched = track(parts, total=len(parts), label=f"{request.wish.code} {k} + {r}")
    needed = np.concatenate([packets_needed(code, receptions=_AT_A_TIME, rng=rng) for _ in watched])
    undecoded = [int(np.sum(needed > k + extra)) for extra in range(r + 1)]
    common: dict[str, Any] = {"r": r, "losses": request.losses}
    limits: FloatArray = np.array([wilson_interval(count, trials=tries).high for count in undecoded])
    return Measured(
        failure_prob=measured_failure_prob(k, **common, undecoded_prob=np.array(undecoded) / tries),
        high=measured_failure_prob(k, **common, undecoded_prob=limits),
        packets_needed=float(needed.mean()),
    )
