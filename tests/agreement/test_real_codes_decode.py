"""Agreement: how often real codes decode what arrives of a unit, against ``decode_prob`` and its rank-aware form."""

import numpy as np
import pytest

from capsmodel import decode_prob, decode_prob_rlnc, full_rank_prob
from capsmodel.coding.decoding import blocked_packets_prob
from capsmodel.experiments.agreement import Count, MeanAndError
from capsmodel.experiments.statistics.intervals import mean_interval, paired_difference
from capsmodel.papers.measurements.real_codes import (
    decoded_receptions,
    decoded_receptions_by_path,
    ldpc_packets_needed,
    ldpc_receptions,
)

pytestmark = pytest.mark.agreement

KEYS = 65536  # of RFC 8681; random linear units share none, so this bounds their number


def count(row):
    return Count(successes=int(row["successes"]), trials=int(row["trials"]))


def received(measured, code, k, r, blocking_prob, *, receptions, seed):
    sent = {"k": k, "r": r, "code": code, "blocking_prob": blocking_prob, "receptions": receptions, "seed": seed}
    return count(measured(decoded_receptions, sent).iloc[0])


@pytest.mark.parametrize(("k", "r", "blocking_prob"), [(10, 4, 0.2), (8, 3, 0.1), (32, 14, 0.3)])
def test_reed_solomon_decodes_with_the_binomial_probability(k, r, blocking_prob, measured, compare):
    found = received(measured, "rs", k, r, blocking_prob, receptions=32_000, seed=1)
    verdict = compare(decode_prob(k, r=r, blocking_prob=blocking_prob), found, detect=0.02)
    assert verdict, verdict


@pytest.mark.parametrize("in_turn", [False, True])
def test_blocked_paths_are_a_blocking_probability_when_paths_are_drawn(in_turn, measured, compare):
    """CAPS takes p_B = n_L / n, for 8 of 40 paths blocked: right at random.

    In turn, 14 different paths of 40 reduce the variance of the number of losses, and more units decode than by the
    binomial distribution.
    """
    sent = {"k": 10, "r": 4, "code": "rs", "n_paths": 40, "blocked_paths": 8, "in_turn": in_turn, "seed": 2}
    found = count(measured(decoded_receptions_by_path, {**sent, "receptions": 32_000}).iloc[0])
    verdict = compare(decode_prob(10, r=4, blocking_prob=0.2), found, detect=0.02)
    if in_turn:
        assert verdict.verdict == "disagrees"
        assert verdict.measured > verdict.model
    else:
        assert verdict, verdict


@pytest.mark.parametrize(("k", "extra"), [(2, 0), (10, 0), (32, 0), (10, 1)])
def test_dense_random_packets_have_full_rank_as_often_as_uniform_ones(k, extra, measured, compare):
    """Bias declared: RFC 8681 draws from the 255 non-zero elements and the model from all 256.

    At k = 2 that changes the chance by (q^2 + q - 1)/q^3 - 1/(q - 1) < 1e-6, and less for larger k.
    """
    found = received(measured, "rlnc", k, extra, 0.0, receptions=KEYS // (k + extra), seed=3)
    model = full_rank_prob(k, received=k + extra)
    verdict = compare(model, found, bias=1e-6, detect=0.02 if k > 10 else 0.01)
    assert verdict, verdict


@pytest.mark.parametrize(("r", "blocking_prob"), [(4, 0.2), (8, 0.4)])
def test_dense_random_code_decodes_with_the_rank_aware_probability(r, blocking_prob, measured, compare):
    found = received(measured, "rlnc", 10, r, blocking_prob, receptions=KEYS // (10 + r), seed=4)
    verdict = compare(decode_prob_rlnc(10, r=r, blocking_prob=blocking_prob), found, bias=1e-6, detect=0.06)
    assert verdict, verdict


def test_systematic_random_code_decodes_by_the_rank_of_its_repair_rows(measured, compare):
    """With e sources lost only the repair rows' e columns decide, and none when e = 0.

    Model: sum over e lost sources and j repair packets of their binomials times Q(e, j). Bias declared: at e = 1 a
    non-zero coefficient always serves, which in the uniform model is false with probability 1/256.
    """
    k, r, p = 10, 4, 0.2
    lost, repair = np.arange(k + 1)[:, None], np.arange(r + 1)[None, :]
    weights = blocked_packets_prob(lost, n=k, blocking_prob=p) * blocked_packets_prob(r - repair, n=r, blocking_prob=p)
    rank = np.where(lost == 0, 1.0, full_rank_prob(np.maximum(lost, 1), received=repair))
    bias = float(blocked_packets_prob(1, n=k, blocking_prob=p)) / 256
    found = received(measured, "rlnc-systematic", k, r, p, receptions=KEYS // r, seed=5)
    verdict = compare(float((weights * rank).sum()), found, bias=(0.0, bias), detect=0.025)
    assert verdict, verdict


@pytest.mark.parametrize(("k", "r", "n1"), [(10, 5, 3), (32, 16, 5)])
def test_ldpc_decodes_with_the_probability_from_its_inefficiency(k, r, n1, measured, compare):
    """P(decodes) = sum over m arrivals of their binomial times P(k' <= m), k' measured on other receptions.

    Both sides are measured, so their difference has both errors; and both fall short of ``decode_prob``: LDPC does not
    decode from any k of n.
    """
    p = 0.15
    sent = {"k": k, "r": r, "n1": n1, "blocking_prob": p, "receptions": 32_000, "seed": 6}
    row = measured(ldpc_receptions, sent).iloc[0]
    share = row["successes"] / row["trials"]
    error = np.hypot(np.sqrt(share * (1 - share) / row["trials"]), row["error_predicted_prob"])
    difference = MeanAndError(mean=share - row["predicted_prob"], standard_error=error)
    verdict = compare(0.0, difference, detect=0.03)
    assert verdict, verdict
    mds = compare(decode_prob(k, r=r, blocking_prob=p), count(row), detect=0.03)
    assert mds.verdict == "disagrees"
    assert mds.measured < mds.model


@pytest.mark.parametrize(("k", "r", "n1"), [(10, 5, 3), (16, 8, 5), (32, 16, 5), (64, 20, 7), (64, 32, 3)])
def test_ldpc_needs_clearly_more_than_k_packets(k, r, n1, measured):
    """CAPS replaces k' by k because a unit has more than 1000 bits; what counts is packets; at k <= 64 k' is larger.

    Over 30 matrices the mean of k' certainly exceeds k by more than half a packet, and peeling alone needs more.
    """
    rows = measured(ldpc_packets_needed, {"k": k, "r": r, "n1": n1, "matrices": 30, "orders": 60, "seed": 7})
    elimination, peeling = rows["elimination_packets"], rows["peeling_packets"]
    assert mean_interval(elimination, confidence=0.9999).low > k + 0.5
    assert paired_difference(peeling, elimination, confidence=0.9999).low > 0
    assert rows["least_difference_packets"].min() >= 0
