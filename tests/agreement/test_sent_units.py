"""Agreement: packets lost of units sent through the simulator against the law that :class:`PathLosses` computes.

Compared is the whole law of the number of lost packets, by chi-square; and by the same counts a law that leaves runs or
turns out is refuted, so that the units suffice to tell. The units are sent by the compiled engine; that the other one
loses the same packets of each unit is tested apart.
"""

import numpy as np
import pytest
from chi_square import chi_square, law_of

from capsim.run.unequal_paths import sent_units
from capsmodel import PathLosses, unit_failure_prob
from capsmodel.experiments.agreement import Count

pytestmark = pytest.mark.agreement

LOSS = [0.02, 0.02, 0.1, 0.25]
K, R, N = 10, 4, 14
UNITS, UNITS_OF_BOTH = 25_000, 120
FALSE_ALARM = 1e-6  # of all tests here together, far below
BURSTS = [1.5, 4, 2, 3]
KINDS = {
    "random": (PathLosses(LOSS), PathLosses(LOSS, spread="in-turn")),
    "in turn": (PathLosses(LOSS, spread="in-turn"), PathLosses(LOSS)),
    "runs at random": (PathLosses(LOSS, burst_packets=BURSTS), PathLosses(LOSS)),
    "runs in turn": (
        PathLosses(LOSS, spread="in-turn", burst_packets=BURSTS),
        PathLosses(LOSS, spread="in-turn"),
    ),
    "one path": (PathLosses(0.1, burst_packets=4.0), PathLosses(0.1)),
    "weighted turns": (
        PathLosses(LOSS, spread="in-turn", weight=[1, 2, 1, 3]),
        PathLosses(LOSS, spread="in-turn"),
    ),
    "weights at random": (PathLosses(LOSS, weight=[1, 1, 1, 4]), PathLosses(LOSS)),
}


def lost_packets(name, seed, units, engine="compiled"):
    """Return how many packets of each unit were lost; exactly those that lost more than R failed."""
    found = list(sent_units(K, r=R, losses=KINDS[name][0], units=units, seed=seed, engine=engine))
    lost, failed = (np.concatenate([getattr(each, name) for each in found]) for name in ("lost_packets", "failed"))
    assert np.array_equal(lost > R, failed)
    return lost


@pytest.mark.parametrize("name", KINDS)
def test_lost_packets_have_the_law_that_is_computed(name, compare, pytestconfig):
    losses, other = KINDS[name]
    lost = lost_packets(name, 1 + pytestconfig.getoption("fresh_seeds"), UNITS)
    assert chi_square(lost, law_of(losses, N)) > FALSE_ALARM
    assert chi_square(lost, law_of(other, N)) < FALSE_ALARM
    found = Count(successes=int(np.sum(lost > R)), trials=len(lost))
    verdict = compare(unit_failure_prob(K, r=R, losses=losses), found, detect=0.015)
    assert verdict, verdict


@pytest.mark.parametrize("name", KINDS)
def test_both_engines_lose_the_same_packets(name):
    one, other = (lost_packets(name, 5, UNITS_OF_BOTH, engine) for engine in ("compiled", "reference"))
    assert len(one) >= UNITS_OF_BOTH
    assert one.sum() > 0
    assert np.array_equal(one, other)


@pytest.mark.parametrize("losses", [PathLosses(LOSS, spread="in-turn", burst_packets=BURSTS)])
def test_packets_with_bytes_are_those_without(losses):
    """Reed-Solomon units fail where more than R are lost; the same seed loses the same packets."""
    counted, carried = (
        np.concatenate([each.failed for each in sent_units(K, r=R, losses=losses, units=300, seed=3, payload=payload)])
        for payload in ("", "rs")
    )
    assert np.array_equal(counted, carried)
    assert counted.sum() > 5
