"""Agreement: what :meth:`PathLosses.draw` draws against the law that the same object computes, and real codes on bytes.

Compared is the whole law of the number of lost packets, by chi-square; and by the same count a law that leaves
something out is refuted, so that the draws suffice to tell.
"""

from dataclasses import replace
from math import comb

import numpy as np
import pytest
from chi_square import chi_square, law_of

from capsmodel import Exponential, PathDelay, PathLosses, measured_failure_prob, unit_failure_prob
from capsmodel.codec import get_code
from capsmodel.codec.files import decodes, packets_needed
from capsmodel.codec.rlnc import RandomLinear
from capsmodel.experiments.agreement import Count

pytestmark = pytest.mark.agreement

N, RECEPTIONS = 21, 100_000
LOSS = [0.02, 0.02, 0.1, 0.25]
FALSE_ALARM = 1e-6  # of all tests here together, far below
IN_TURN = PathLosses(LOSS, spread="in-turn")
DELAYS = [PathDelay(2.0 * i, Exponential(8.0)) for i in range(4)]
TIMED = {"delay": DELAYS, "deadline_s": 24.0, "packet_s": 1.0}
KINDS = {
    "random": (PathLosses(LOSS, weight=[4, 1, 1, 2]), PathLosses(LOSS)),
    "in turn": (IN_TURN, PathLosses(LOSS)),
    "one first path": (replace(IN_TURN, first_path=3), replace(IN_TURN, first_path=0)),
    "weighted turns": (replace(IN_TURN, weight=[1, 2, 1, 3]), IN_TURN),
    "runs": (replace(IN_TURN, burst_packets=[1.5, 4, 2, 3]), IN_TURN),
    "runs at random": (PathLosses(LOSS, burst_packets=[1.5, 4, 2, 3]), PathLosses(LOSS)),
    "runs interleaved": (replace(IN_TURN, burst_packets=6.0, interleave=4), replace(IN_TURN, burst_packets=6.0)),
    "runs in time": (replace(IN_TURN, burst_s=9e-6, packet_s=1e-6), replace(IN_TURN, burst_s=2e-6, packet_s=1e-6)),
    "down": (replace(IN_TURN, down_prob=[0.1, 0, 0.02, 0.3]), IN_TURN),
    "down at random": (PathLosses(LOSS, down_prob=[0.1, 0, 0.02, 0.3]), PathLosses(LOSS)),
    "some paths down": (PathLosses([0.02] * 6, spread="in-turn", down_paths=2), PathLosses([0.02] * 6, down_paths=2)),
    "one delay a path": (replace(IN_TURN, **TIMED), replace(IN_TURN, **TIMED, delay_per="packet")),
    "a delay a packet": (replace(IN_TURN, **TIMED, delay_per="packet"), IN_TURN),
    "a random delay": (PathLosses(LOSS, **TIMED, delay_per="packet"), replace(IN_TURN, **TIMED, delay_per="packet")),
    "all": (replace(IN_TURN, **TIMED, burst_packets=3.0, down_prob=0.05), replace(IN_TURN, **TIMED, down_prob=0.05)),
}


@pytest.mark.parametrize("name", KINDS)
def test_drawn_losses_have_the_law_that_is_computed(name, pytestconfig):
    losses, other = KINDS[name]
    lost = N - losses.draw(N, RECEPTIONS, 1 + pytestconfig.getoption("fresh_seeds")).sum(axis=1)
    assert chi_square(lost, law_of(losses, N)) > FALSE_ALARM
    assert chi_square(lost, law_of(other, N)) < FALSE_ALARM


@pytest.mark.parametrize(
    "losses",
    [IN_TURN, replace(IN_TURN, burst_packets=3.0), replace(IN_TURN, down_prob=0.05), PathLosses(LOSS)],
    ids=["in turn", "runs", "down", "random"],
)
def test_reed_solomon_decodes_as_often_on_bytes(losses, compare, pytestconfig):
    arrived = losses.draw(14, 30_000, 2 + pytestconfig.getoption("fresh_seeds"))
    decoded = decodes(get_code("rs")(10, r=4, packet_bytes=1), arrived)
    found = Count(successes=int(np.sum(~decoded)), trials=len(decoded))
    verdict = compare(unit_failure_prob(10, r=4, losses=losses), found, detect=0.02)
    assert verdict, verdict


def test_dense_random_linear_packets_lack_rank_as_often_on_bytes(compare, pytestconfig):
    """RFC 8681 draws no zero coefficient, the model all 256 elements: a bias below 1e-5 at k = 10."""
    arrived = IN_TURN.draw(13, 20_000, 3 + pytestconfig.getoption("fresh_seeds"))
    decoded = decodes(RandomLinear(10, r=3, packet_bytes=1, systematic=False), arrived)
    found = Count(successes=int(np.sum(~decoded)), trials=len(decoded))
    model = unit_failure_prob(10, r=3, losses=IN_TURN, code="rlnc")
    verdict = compare(model, found, detect=0.02, bias=1e-5)
    assert verdict, verdict


LDPC = get_code("ldpc")(6, r=5, packet_bytes=1)


@pytest.fixture(scope="module")
def undecoded():
    """Return for e = 0..5 whether each set of 6 + e packets fails to decode: all sets there are."""
    arrived = (np.arange(2**11)[:, None] >> np.arange(11)) & 1 == 1
    fails, count = ~decodes(LDPC, arrived), arrived.sum(axis=1)
    return [fails[count == 6 + extra] for extra in range(6)]


def test_a_measured_code_fails_as_often_as_all_sets_of_packets_say(undecoded):
    """Losses of equal probability: each set of packets that arrives fails or not, by the decoder of the code."""
    shares = [float(one.mean()) for one in undecoded]
    assert 0 < shares[1] < shares[0] < 1
    assert shares[5] == 0
    for p in (0.01, 0.1, 0.4):
        too_few = sum(comb(11, lost) * p**lost * (1 - p) ** (11 - lost) for lost in range(6, 12))
        sets = sum(one.sum() * p ** (5 - extra) * (1 - p) ** (6 + extra) for extra, one in enumerate(undecoded))
        found = measured_failure_prob(6, r=5, losses=p, undecoded_prob=shares)
        assert found == pytest.approx(too_few + sets, rel=1e-12)


def test_packets_in_random_order_decode_as_often_as_sets_of_them(undecoded, compare, pytestconfig):
    needed = packets_needed(LDPC, receptions=40_000, rng=4 + pytestconfig.getoption("fresh_seeds"))
    for extra, fails in enumerate(undecoded[:3]):
        found = Count(successes=int(np.sum(needed > 6 + extra)), trials=len(needed))
        verdict = compare(float(fails.mean()), found, detect=0.02)
        assert verdict, verdict
