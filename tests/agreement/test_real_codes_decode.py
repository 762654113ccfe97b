"""Agreement: how often real codes decode, against ``decode_prob`` and its rank-aware form.

Two-sided at z standard errors. ``Z`` keeps the false-alarm rate of this file's 12 comparisons below 0.1 % in all; seeds
are fixed. A power guard fails a test whose standard error could not tell the deviation that the test is about.
"""

import numpy as np
import pytest

from capsmodel import decode_prob, decode_prob_rlnc, full_rank_prob
from capsmodel.codec import get_code
from capsmodel.codec.ldpc import LdpcStaircase
from capsmodel.codec.reception import arrivals, arrivals_by_path, decodes
from capsmodel.codec.rlnc import RandomLinear

Z = 4.0


def agrees(successes, model, *, trials, bias=0.0, detectable):
    """Assert |share - model| <= Z SE + bias, with SE small enough that an error of `detectable` would fail."""
    share = successes / trials
    standard_error = np.sqrt(model * (1 - model) / trials)
    assert Z * standard_error + bias < detectable, f"no power: SE = {standard_error:.2g}"
    assert abs(share - model) <= Z * standard_error + bias, f"{share:.5f} against {model:.5f}"


@pytest.mark.parametrize(("k", "r", "blocking_prob"), [(10, 4, 0.2), (8, 3, 0.1)])
def test_reed_solomon_decodes_as_the_binomial_says(k, r, blocking_prob):
    code = get_code("rs")(k, r=r, packet_bytes=1)
    arrived = arrivals(k + r, blocking_prob=blocking_prob, receptions=20_000, rng=1)
    model = decode_prob(k, r=r, blocking_prob=blocking_prob)
    agrees(decodes(code, arrived).sum(), model, trials=20_000, detectable=0.02)


def test_blocked_paths_are_a_blocking_probability():
    """CAPS takes p_B = n_L / n: right when packets draw their path, for 8 of 40 paths blocked."""
    code = get_code("rs")(10, r=4, packet_bytes=1)
    arrived = arrivals_by_path(14, n_paths=40, blocked_paths=8, receptions=20_000, rng=2)
    agrees(decodes(code, arrived).sum(), decode_prob(10, r=4, blocking_prob=0.2), trials=20_000, detectable=0.02)


def test_packets_spread_in_turn_do_better_than_the_binomial():
    """Drawing 14 of 40 paths without repetition narrows the number of losses; a shift of 0.02 is 7 SE."""
    code = get_code("rs")(10, r=4, packet_bytes=1)
    arrived = arrivals_by_path(14, n_paths=40, blocked_paths=8, in_turn=True, receptions=20_000, rng=3)
    assert decodes(code, arrived).mean() > decode_prob(10, r=4, blocking_prob=0.2) + 0.02


@pytest.mark.parametrize(("k", "extra"), [(2, 0), (10, 0), (32, 0), (10, 1)])
def test_dense_random_packets_have_full_rank_as_often_as_uniform_ones(k, extra):
    """Bias declared: RFC 8681 draws from the 255 non-zero elements and the model from all 256.

    At k = 2 that changes the chance by (q^2 + q - 1)/q^3 - 1/(q - 1) < 1e-6, and less for larger k. Rows of different
    packets come from keys that no other row uses.
    """
    trials = 65536 // (k + extra)
    found = 0
    for trial in range(trials):
        code = RandomLinear(k, r=extra, packet_bytes=1, seed=trial * (k + extra), systematic=False)
        found += decodes(code, np.ones(k + extra, np.bool_))[0]
    model = full_rank_prob(k, received=k + extra)
    agrees(found, model, trials=trials, bias=1e-6, detectable=0.006 if k > 10 else 0.0039)


def test_dense_random_code_decodes_with_the_rank_aware_probability():
    """Each reception has keys of its own: 65536 / 14 units, three receptions of each."""
    model = decode_prob_rlnc(10, r=4, blocking_prob=0.2)
    units = 65536 // 14
    arrived = arrivals(14, blocking_prob=0.2, receptions=3 * units, rng=4)
    successes = 0
    for unit in range(units):
        code = RandomLinear(10, r=4, packet_bytes=1, seed=14 * unit, systematic=False)
        successes += decodes(code, arrived[3 * unit : 3 * unit + 3]).sum()
    agrees(successes, model, trials=3 * units, bias=1e-6, detectable=0.02)


def test_systematic_random_code_decodes_by_the_rank_of_its_repair_rows():
    """With e sources lost only the repair rows' e columns decide, and none when e = 0.

    Model: sum over e lost sources and j repair packets of their binomials times Q(e, j). Bias declared: at e = 1 a
    non-zero coefficient always serves, which the uniform model denies with probability 1/256.
    """
    k, r, p = 10, 4, 0.2
    lost, repair = np.arange(k + 1)[:, None], np.arange(r + 1)[None, :]
    rng = np.random.default_rng(5)
    weights = binomial(k, p)[:, None] * binomial(r, 1 - p)[None, :]
    rank = np.where(lost == 0, 1.0, full_rank_prob(np.maximum(lost, 1), received=repair))
    model = float((weights * rank).sum())
    units = 4000
    successes = sum(
        decodes(
            RandomLinear(k, r=r, packet_bytes=1, seed=16 * unit), arrivals(14, blocking_prob=p, receptions=4, rng=rng)
        ).sum()
        for unit in range(units)
    )
    agrees(successes, model, trials=4 * units, bias=binomial(k, p)[1] / 256, detectable=0.02)


def binomial(n, prob):
    """Return P(Bin(n, prob) = j) for j = 0 .. n."""
    row = np.ones(1)
    for _ in range(n):
        row = np.convolve(row, [1 - prob, prob])
    return row


@pytest.mark.parametrize(("k", "r", "n1"), [(10, 5, 3), (32, 16, 5)])
def test_ldpc_decodes_as_its_own_inefficiency_says(k, r, n1):
    """P(decodes) = sum over m arrivals of their binomial times P(k' <= m), k' measured on other receptions.

    Both sides are measured, so both have a standard error; and both fall short of ``decode_prob``: any k of n is not
    what LDPC gives.
    """
    trials, p = 20_000, 0.15
    code = LdpcStaircase(k, r=r, packet_bytes=1, n1=n1, seed=77)
    rng = np.random.default_rng(6)
    needed = code.packets_needed(rng.permuted(np.tile(np.arange(k + r), (trials, 1)), axis=1)).elimination
    enough = binomial(k + r, 1 - p).cumsum()  # P(at most m arrive)
    share_by_needed = 1 - enough[needed - 1]
    predicted = share_by_needed.mean()
    predicted_error = share_by_needed.std(ddof=1) / np.sqrt(trials)
    found = decodes(code, arrivals(k + r, blocking_prob=p, receptions=trials, rng=rng)).mean()
    found_error = np.sqrt(predicted * (1 - predicted) / trials)
    standard_error = np.hypot(predicted_error, found_error)
    assert Z * standard_error < 0.02
    assert abs(found - predicted) <= Z * standard_error
    assert found < decode_prob(k, r=r, blocking_prob=p) - Z * standard_error


@pytest.mark.parametrize(("k", "r", "n1"), [(10, 5, 3), (16, 8, 5), (32, 16, 5), (64, 20, 7), (64, 32, 3)])
def test_ldpc_needs_clearly_more_than_k_packets(k, r, n1):
    """CAPS takes k' for k because a unit has more than 1000 bits; what counts is packets, and at k <= 64 k' is larger.

    30 seeds of the matrix, 60 orders each: the mean of k' exceeds k by more than one packet, and peeling alone needs
    at least one more; the means' standard errors are below 0.3 packets.
    """
    rng = np.random.default_rng(7)
    means = []
    for seed in rng.integers(1, 2**31 - 2, size=30):
        code = LdpcStaircase(k, r=r, packet_bytes=1, n1=n1, seed=int(seed))
        needed = code.packets_needed(rng.permuted(np.tile(np.arange(k + r), (60, 1)), axis=1))
        assert (needed.elimination <= needed.peeling).all()
        means.append((needed.elimination.mean(), needed.peeling.mean()))
    elimination, peeling = np.mean(means, axis=0)
    standard_error = np.std(means, axis=0, ddof=1) / np.sqrt(30)
    assert (standard_error < 0.3).all()
    assert elimination > k + 1
    assert peeling > elimination + 0.5
