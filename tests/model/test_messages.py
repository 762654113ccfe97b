"""Messages that are repeated or coded: every pattern of losses in exact fractions, direct sums, limits, the root."""

from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest

from capsmodel.checks import ParameterError
from capsmodel.coding.messages import coding_pays_from, mean_message_s, message_late_prob
from capsmodel.coding.paths.losses import PathLosses
from capsmodel.coding.paths.retransmission import hybrid_failure_prob

REPETITIONS = 30  # 0.4^30 is nothing beside 1e-11

# packets, k, r, loss, repetition in times of a packet, mean run
CASES = [
    (1, 1, 0, Fraction(3, 10), Fraction(5), None),
    (5, 1, 0, Fraction(1, 5), Fraction(23, 10), None),
    (5, 1, 0, Fraction(1, 5), Fraction(30), Fraction(3)),
    (5, 1, 0, Fraction(2, 5), Fraction(1), Fraction(2)),
    (3, 2, 1, Fraction(1, 10), Fraction(17, 5), None),
    (3, 2, 1, Fraction(1, 4), Fraction(7, 2), Fraction(4)),
    (3, 2, 2, Fraction(1, 3), Fraction(3, 2), Fraction(2)),
    (3, 8, 4, Fraction(1, 4), Fraction(9, 4), Fraction(3)),
]


def patterns(count, loss, burst):
    """Yield each pattern of losses with its probability, losses independent or of the chain."""
    begins, ends = (loss, 1 - loss) if burst is None else (loss / ((1 - loss) * burst), 1 / burst)
    for lost in product((0, 1), repeat=count):
        chance = loss if lost[0] else 1 - loss
        for before, now in pairwise(lost):
            turns = ends if before else begins
            chance *= turns if now != before else 1 - turns
        yield lost, chance


def block_ends(packets, k, r):
    """Return first packet, source packets and end of each block."""
    starts = range(0, packets, k)
    return [(first + number * r, min(k, packets - first)) for number, first in enumerate(starts)]


def complete_prob(lost, blocks, r, repeated, time):
    """Return how likely a message with these losses is complete at a time; `repeated` says what J repetitions leave."""
    chance = Fraction(1)
    for first, k in blocks:
        end = first + k + r
        come = sum(not bad for i, bad in enumerate(lost[first:end]) if first + i + 1 <= time)
        if come < k:
            chance *= (1 - repeated(time - end)) ** (k - come)
    return chance


@pytest.mark.parametrize(("packets", "k", "r", "loss", "repeat", "burst"), CASES)
def test_by_listing_all_losses(packets, k, r, loss, repeat, burst):
    blocks = block_ends(packets, k, r)
    total = packets + len(blocks) * r
    moments = {Fraction(i) for i in range(total + 1)}
    moments |= {first + kk + r + j * repeat for first, kk in blocks for j in range(REPETITIONS)}
    times = sorted(moments)

    def repeated(time):
        return loss ** int(max(time // repeat, 0))

    listed = list(patterns(total, loss, burst))
    late = [float(1 - sum(p * complete_prob(lost, blocks, r, repeated, t) for lost, p in listed)) for t in times]
    common = {"loss_prob": float(loss), "repeat_s": float(repeat) / 4, "packet_s": 0.25, "delay_s": 2.0, "k": k, "r": r}
    common["burst_packets"] = None if burst is None else float(burst)
    found = message_late_prob([float(t) / 4 + 2 for t in times], packets=packets, **common)
    assert found == pytest.approx(late, rel=1e-11)
    mean = sum(float(b - a) * fails for (a, b), fails in zip(pairwise(times), late, strict=False))
    assert mean_message_s(packets, **common) == pytest.approx(mean / 4 + 2, rel=1e-12)


@pytest.mark.parametrize(("packets", "loss", "repeat"), [(1, 0.9, 4), (2000, 1e-6, 7), (100_000, 1e-3, 50)])
def test_repetition_alone_is_a_product_over_all_packets(packets, loss, repeat):
    """The law is summed at each packet's time; T is a whole number of them."""
    behind = np.arange(packets)
    total, moment, terms = float(packets), 0, []
    while not terms or terms[-1] > 1e-18:
        sendings = 1 + (moment + behind) // repeat
        terms.append(-np.expm1(np.sum(np.log1p(-(loss ** sendings[sendings < 400])))))
        moment += 1
    common = {"packets": packets, "loss_prob": loss, "packet_s": 1.0, "repeat_s": repeat}
    assert mean_message_s(**common) == pytest.approx(total + np.sum(terms), rel=1e-12)
    at = np.arange(0, moment, 1 + moment // 40)
    assert message_late_prob(packets + at, **common) == pytest.approx(np.array(terms)[at], rel=1e-10)


@pytest.mark.parametrize("burst", [None, 4.0])
def test_one_block_fails_as_a_unit_beside_retransmission(burst):
    """The unit's own law, which counts sendings and knows nothing of times."""
    k, r, loss = 20, 5, 0.2
    losses = PathLosses(loss, burst_packets=burst)
    exact = [hybrid_failure_prob(k, r=r, losses=losses, sendings=j) for j in range(1, 9)]
    times = [k + r + 3.5 * j for j in range(8)]
    common = {"loss_prob": loss, "packet_s": 1.0, "repeat_s": 3.5, "k": k, "r": r, "burst_packets": burst}
    assert message_late_prob(times, packets=k, **common) == pytest.approx(exact, rel=1e-11)


@pytest.mark.parametrize("unit", [1e-6, 1e-9])
def test_a_message_that_comes_exactly_at_a_time_has_come(unit):
    """Whole microseconds and nanoseconds, behind a delay of up to a second; one less is one repetition less."""
    rng = np.random.default_rng(2)
    for delay in (0, 77, 10**9):
        packets, packet, again, rounds = rng.integers([1, 1, 3000, 1], [90, 3000, 9999, 5], size=(60, 4)).T
        exact = packets * packet + delay + rounds * again
        common = {"packet_s": packet * unit, "repeat_s": again * unit, "delay_s": delay * unit, "packets": packets}
        late, before = (message_late_prob(time * unit, loss_prob=0.1, **common) for time in (exact, exact - 1))
        # The last packet was sent rounds + 1 times, those before it that or more often.
        behind = [np.arange(n) * tau // again for n, tau, again in zip(packets, packet, again, strict=True)]
        law = [1 - np.prod(1 - 0.1 ** (1.0 + j + more)) for j, more in zip(rounds, behind, strict=True)]
        assert late == pytest.approx(law, rel=1e-9)
        assert np.all(late < before)


def test_runs_as_long_as_those_of_independent_losses_change_nothing():
    common = {"loss_prob": [0.0, 1e-5, 0.2], "packet_s": 1e-6, "repeat_s": [[2e-5], [1e-3]], "k": 8, "r": 2}
    runs = mean_message_s(300, burst_packets=[1.0, 1 / (1 - 1e-5), 1.25], **common)
    assert runs == pytest.approx(mean_message_s(300, **common), rel=1e-12)
    assert runs[:, 0] == pytest.approx(300e-6 + 37 * 2e-6, rel=1e-12)  # of 38 blocks the last does without repair


@pytest.mark.parametrize(("burst", "repeat_s"), [(None, 1e-4), (4.0, 1e-3)])
def test_coding_pays_from_the_first_loss_at_which_it_is_faster(burst, repeat_s):
    common = {"packet_s": 1e-6, "repeat_s": repeat_s, "burst_packets": burst}
    least = coding_pays_from(100, k=20, r=4, **common)
    below, at = np.geomspace(1e-4 * least, least * (1 - 1e-9), 60), np.array([least, least * 1.001])
    alone, coded = (
        mean_message_s(100, loss_prob=np.append(below, at), k=k, r=r, **common) for k, r in ((1, 0), (20, 4))
    )
    assert np.all(alone[:60] < coded[:60])
    assert alone[60] == pytest.approx(coded[60], rel=1e-9)
    assert alone[61] > coded[61]


def test_where_a_repetition_takes_very_long_coding_pays_early(subtests):
    for packets, burst in [(20, None), (1000, None), (20, 3.0)]:
        for ratio in [1e8, 1e9, 1e12, 1e30, 1e200]:
            with subtests.test(packets=packets, burst=burst, ratio=ratio):
                common = {"packet_s": 1e-5, "repeat_s": ratio * 1e-5, "burst_packets": burst}
                least = coding_pays_from(packets, k=10, r=3, **common)
                alone, coded = (
                    mean_message_s(packets, loss_prob=least * np.array([0.99, 1.01]), k=k, r=r, **common)
                    for k, r in ((1, 0), (10, 3))
                )
                assert alone[0] < coded[0]
                assert alone[1] > coded[1]


def test_where_coding_never_or_always_pays():
    common = {"k": 32, "r": 8, "packet_s": 1e-6}
    assert coding_pays_from([32, 4096], repeat_s=40e-6, **common).tolist() == [0.0, np.inf]
    grid = np.geomspace(1e-6, 0.2, 30)
    alone, coded = (
        mean_message_s(4096, loss_prob=grid, packet_s=1e-6, repeat_s=40e-6, k=k, r=r) for k, r in ((1, 0), (32, 8))
    )
    assert np.all(alone < coded)
    later = coding_pays_from(512, repeat_s=1e-3, fallback_s=[1e-3, 4e-3], **common | {"r": 2})
    assert later[0] < later[1]  # a code that falls back late must fail less often


def test_what_is_refused(subtests):
    cases = [
        ("0.9", {"loss_prob": 0.95}),
        ("mean run of independent", {"loss_prob": 0.5, "burst_packets": 1.5}),
        ("below packet_s", {"repeat_s": 0.5}),
        ("k + r", {"k": 500, "r": 13}),
        ("moments", {"packets": 2**20, "loss_prob": 0.5, "repeat_s": 1e9}),
    ]
    for text, changed in cases:
        with subtests.test(text=text, changed=changed):
            common = {"packets": 5, "loss_prob": 0.1, "packet_s": 1.0, "repeat_s": 5.0}
            with pytest.raises(ParameterError, match=text.replace("+", r"\+")):
                mean_message_s(**common | changed)
            with pytest.raises(ParameterError, match="nothing is coded"):
                coding_pays_from(9, k=3, r=0, packet_s=1.0, repeat_s=5.0)
