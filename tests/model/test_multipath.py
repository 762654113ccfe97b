"""Identity and property tests of LIA, redundancy, timeouts and the coding schedule."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from mpmath import binomial, mp, mpf

from capsmodel.checks import ParameterError
from capsmodel.multipath.coded_transport import (
    coded_option_bytes,
    coded_original_ratio,
    connection_loss_prob,
    decoding_work_ratio,
    is_small_flow,
    redundancy_rate_per_s,
    redundancy_ratio,
    small_flow_redundancy_ratio,
    total_coding_delay_s,
)
from capsmodel.multipath.coding_schedule import (
    MAX_MIXED_PACKETS,
    CodingAction,
    CodingState,
    accumulate_redundancy,
    pre_coding_measure,
)
from capsmodel.multipath.lia import (
    best_path_rate_per_s,
    fully_coupled_increase,
    lia_alpha,
    lia_equilibrium_windows,
    lia_increase,
    lia_loss_prob,
    single_path_window,
    uncoupled_increase,
)
from capsmodel.multipath.timeouts import coded_fct_s, reorder_buffer_bits, retransmitted_fct_s, timeout_prob

RTOL = 1e-12
losses = arrays(float, st.tuples(st.integers(1, 3), st.integers(1, 6)), elements=st.floats(1e-9, 0.999))
rtt_lists = st.lists(st.floats(1e-6, 1.0), min_size=6, max_size=6)
CAPPED_LOSS, CAPPED_RTT = (
    [2 / 102, 2 / 3],
    [100.0, 1.0],
)  # s = 10 and 1: the first path is held at its single-path window


@given(losses, rtt_lists)
def test_equilibrium_windows_meet_the_balance_of_lia_on_every_path(loss: np.ndarray, rtts: list[float]) -> None:
    rtt = np.array(rtts[: loss.shape[-1]])
    windows = lia_equilibrium_windows(loss, rtts_s=rtt)
    growth = lia_increase(windows, rtts_s=rtt) * (1 - loss)
    np.testing.assert_allclose(growth, windows / 2 * loss, rtol=1e-9)
    np.testing.assert_allclose(lia_loss_prob(windows, rtts_s=rtt), loss, rtol=1e-9)


@given(losses, rtt_lists)
def test_lia_takes_exactly_the_rate_of_one_tcp_on_the_best_path(loss: np.ndarray, rtts: list[float]) -> None:
    rtt = np.array(rtts[: loss.shape[-1]])
    rate = np.sum(lia_equilibrium_windows(loss, rtts_s=rtt) / rtt, axis=-1)
    np.testing.assert_allclose(rate, best_path_rate_per_s(loss, rtts_s=rtt), rtol=RTOL)


def test_the_cap_of_lia_binds_and_the_windows_are_known_then() -> None:
    windows = lia_equilibrium_windows(CAPPED_LOSS, rtts_s=CAPPED_RTT)
    np.testing.assert_allclose(windows, [10.0, 0.9], rtol=RTOL)
    capped, uncapped = (lia_loss_prob(windows, rtts_s=CAPPED_RTT, form=form) for form in ("rfc6356", "uncapped"))
    assert uncapped[0] > capped[0]
    assert uncapped[1] == capped[1]


def test_one_path_gives_the_window_of_one_tcp(subtests: pytest.Subtests) -> None:
    for loss in [1e-9, 1e-3, 0.3, 0.999]:
        with subtests.test(loss=loss):
            expected = float(mp.sqrt(2 * (1 - mpf(loss)) / mpf(loss)))
            assert single_path_window(loss) == pytest.approx(expected, rel=RTOL)
            assert lia_equilibrium_windows(loss, rtts_s=3e-4)[0] == pytest.approx(expected, rel=RTOL)
            assert lia_alpha(expected, rtts_s=3e-4) == pytest.approx(1, rel=RTOL)
            assert lia_loss_prob(expected, rtts_s=3e-4)[0] == pytest.approx(loss, rel=RTOL)
            assert connection_loss_prob(expected, rtts_s=3e-4) == pytest.approx(loss, rel=RTOL)


def test_equal_paths_share_one_tcp() -> None:
    np.testing.assert_allclose(
        lia_equilibrium_windows([0.01] * 5, rtts_s=1e-4), single_path_window(0.01) / 5, rtol=RTOL
    )


def test_the_printed_loss_is_no_probability() -> None:
    # alpha = 1 with W_i = 10 and W = 40, as the check table has it: windows 10 and 30 with these RTTs.
    windows, rtts = np.array([10.0, 30.0]), np.array([1.0, 1e9])
    alpha = lia_alpha(windows, rtts_s=rtts)
    printed = lia_loss_prob(windows, rtts_s=rtts, form="printed")[0]
    assert printed == pytest.approx(2 * alpha / (2 * alpha + 10) * 40, rel=RTOL)
    assert printed > 1
    assert connection_loss_prob(windows, rtts_s=rtts, form="printed") > 1


@given(losses, rtt_lists)
def test_connection_loss_lies_between_the_losses_of_its_paths(loss: np.ndarray, rtts: list[float]) -> None:
    rtt = np.array(rtts[: loss.shape[-1]])
    windows = lia_equilibrium_windows(loss, rtts_s=rtt)
    for weight in ("window", "rate"):
        joint = connection_loss_prob(windows, rtts_s=rtt, weight=weight)
        assert np.all(joint <= np.max(loss, axis=-1) * (1 + 1e-9))
        assert np.all(joint >= np.min(loss, axis=-1) * (1 - 1e-9))


def test_rate_weights_count_packets_and_window_weights_do_not() -> None:
    loss, rtt = np.array([0.02, 0.08]), np.array([1e-3, 4e-3])
    windows = lia_equilibrium_windows(loss, rtts_s=rtt)
    sent = windows / rtt
    assert connection_loss_prob(windows, rtts_s=rtt, weight="rate") == pytest.approx(sum(sent * loss) / sum(sent))
    assert connection_loss_prob(windows, rtts_s=rtt) == pytest.approx(sum(windows * loss) / sum(windows))


def test_increases_of_the_other_couplings() -> None:
    np.testing.assert_array_equal(fully_coupled_increase([[1, 3], [4, 4]]), [[0.25, 0.25], [0.125, 0.125]])
    np.testing.assert_array_equal(uncoupled_increase([1, 4]), [1, 0.25])
    growth = lia_increase([2.0, 8.0], rtts_s=[1e-3, 1e-3])
    assert np.all(growth <= uncoupled_increase([2.0, 8.0]))
    assert np.all(growth <= fully_coupled_increase([2.0, 8.0]))


REFUSED = {
    "lossless path": lambda: lia_equilibrium_windows([0.0, 0.1], rtts_s=1e-3),
    "path that loses all": lambda: lia_equilibrium_windows([1.0, 0.1], rtts_s=1e-3),
    "RTT of zero": lambda: lia_equilibrium_windows([0.1], rtts_s=0.0),
    "lossless single path": lambda: single_path_window(0.0),
    "window of zero": lambda: lia_alpha([0.0, 1.0], rtts_s=1e-3),
    "unknown form": lambda: lia_loss_prob([1.0], rtts_s=1e-3, form="other"),
    "unknown weight": lambda: connection_loss_prob([1.0], rtts_s=1e-3, weight="other"),
    "certain loss": lambda: redundancy_ratio(1.0),
    "empty window": lambda: timeout_prob(0, loss_prob=0.1),
    "fractional window": lambda: timeout_prob(2.5, loss_prob=0.1),
    "window smaller than its part": lambda: pre_coding_measure(5, unacknowledged_packets=6),
    "empty matrix": lambda: decoding_work_ratio(0, original=0),
    "negative ratio": lambda: accumulate_redundancy(CodingState(), ratio=-1.0, psi_packets=0),
}


def test_values_outside_the_model_are_refused(subtests: pytest.Subtests) -> None:
    for what in REFUSED:
        with subtests.test(what=what), pytest.raises(ParameterError):
            REFUSED[what]()


def enumerated_timeouts(window: int, loss: Fraction) -> Fraction:
    """Add up all loss patterns with fewer than three arrivals behind the first loss."""
    total = Fraction(0)
    for lost in product((True, False), repeat=window):
        if any(lost) and sum(not x for x in lost[lost.index(True) + 1 :]) < 3:
            total += loss ** sum(lost) * (1 - loss) ** (window - sum(lost))
    return total


def test_exact_timeout_probability_equals_the_enumeration_of_loss_patterns(subtests: pytest.Subtests) -> None:
    for window, loss in product(range(1, 12), [0.0, 1e-9, 0.05, 0.5, 0.75, 1 - 1e-9, 1.0]):
        with subtests.test(window=window, loss=loss):
            expected = float(enumerated_timeouts(window, Fraction(loss)))
            assert timeout_prob(window, loss_prob=loss, exact=True) == pytest.approx(expected, rel=RTOL, abs=0)


def test_exact_timeout_probability_of_large_windows_equals_mpmath(subtests: pytest.Subtests) -> None:
    for window, loss in product([64, 4096, 5000, 10**6], [1e-9, 1e-4, 0.01, 0.3, 0.49, 0.5, 0.51, 0.99, 1 - 1e-4]):
        with subtests.test(window=window, loss=loss):
            with mp.workdps(700):
                p, q = mpf(loss), 1 - mpf(loss)
                x, total = p / q, mpf(0)
                for j in range(3):
                    if x == 1:
                        weight = binomial(window, j + 1)
                    else:  # sum_{m<n} C(m,j) x^m by the recurrence S_j = (C(n,j) x^n - x S_{j-1}) / (x - 1)
                        weight = (x**window - 1) / (x - 1)
                        for i in range(1, j + 1):
                            weight = (binomial(window, i) * x**window - x * weight) / (x - 1)
                    total += weight * q ** (window - 1) * p * (q / p) ** j
                expected = float(total)
            assert timeout_prob(window, loss_prob=loss, exact=True) == pytest.approx(expected, rel=RTOL, abs=1e-300)


def test_printed_timeout_probability_is_the_chance_of_two_survivors_and_a_lower_bound(
    subtests: pytest.Subtests,
) -> None:
    for loss in [1e-9, 0.05, 0.5, 0.9]:
        with subtests.test(loss=loss):
            for window in (1, 2, 3):
                np.testing.assert_allclose(
                    timeout_prob(window, loss_prob=loss), timeout_prob(window, loss_prob=loss, exact=True), rtol=RTOL
                )
            for window in (4, 8, 20):
                p = Fraction(loss)
                survivors = [binomial(window, j) * (1 - p) ** j * p ** (window - j) for j in range(3)]
                assert timeout_prob(window, loss_prob=loss) == pytest.approx(float(sum(survivors)), rel=RTOL, abs=0)
                assert timeout_prob(window, loss_prob=loss) < timeout_prob(window, loss_prob=loss, exact=True)


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.0625, 0.25, 0.5, 1.0]), st.integers(0, 8)), max_size=60))
def test_coding_schedule_spends_what_it_earns_and_never_sends_an_empty_packet(steps: list[tuple[float, int]]) -> None:
    state, earned, sent, mixed = CodingState(), 0.0, 0, 0
    for ratio, psi in steps:
        started = not state.coding
        state, action = accumulate_redundancy(state, ratio=ratio, psi_packets=psi)
        earned, sent = earned + ratio, sent + action.send
        mixed = mixed + (action.mix != "none")
        if action.send:
            assert mixed > 0
            mixed = 0
        if started and action.mix != "none":
            assert action.mix == ("this" if psi <= 3 else "oldest")
        assert state.redundancy_packets == earned - sent
        assert 0 <= state.redundancy_packets <= 1


def test_pre_coding_mixes_its_whole_span_when_the_ratio_is_steady() -> None:
    state, actions = CodingState(), []
    for _ in range(33):
        state, action = accumulate_redundancy(state, ratio=1 / 32, psi_packets=0)
        actions.append(action)
    assert [a.mix for a in actions] == ["none"] * 17 + ["this"] * 16  # R + 15/32 > 1 first at packet 18
    assert actions[-1] == CodingAction("this", send=True)
    assert state == CodingState(1 / 32, coding=False, pre_coding=True)


def test_option_holds_count_offsets_and_coefficients() -> None:
    """One byte for the count, two for each offset but the first, one for each coefficient: 3n - 1."""
    mixed = np.arange(1, MAX_MIXED_PACKETS + 1)
    np.testing.assert_array_equal(coded_option_bytes(mixed), 1 + 2 * (mixed - 1) + mixed)


def test_redundancy_and_bookkeeping() -> None:
    np.testing.assert_allclose(redundancy_ratio([0.0, 0.5, 0.9]), [0, 1, 9], rtol=RTOL)
    assert redundancy_rate_per_s(0.5, packets_per_s=7.0) == 7.0
    assert small_flow_redundancy_ratio(8) == 0.125
    assert is_small_flow(5, n_subflows=1)
    assert pre_coding_measure(60, unacknowledged_packets=14) == 46
    assert [coded_option_bytes(n) for n in (0, 13, 14)] == [1, 38, 41]
    assert decoding_work_ratio(5, original=100) == 5 / 105
    assert coded_original_ratio(0, original=1) == 0
    assert total_coding_delay_s(2, coding_delay_s=0.5) == 1.0
    assert reorder_buffer_bits([1e9, 3e9], rtts_s=[1e-3, 2e-3]) == 8e6
    assert retransmitted_fct_s(0.2, rtt_s=4e-3) == pytest.approx(0.202)
    assert coded_fct_s(1e-3) == pytest.approx(1.5e-3)


def test_printed_form_misses_most_timeouts_of_small_losses() -> None:
    """A first loss among the last three packets is enough, and as p -> 0 that is all: 3p, where Eq. 6 has p^(W-2)."""
    windows, loss = np.array([4, 10, 20]), 1e-6
    assert timeout_prob(windows, loss_prob=loss, exact=True) == pytest.approx(3 * loss, rel=1e-4)
    assert np.all(timeout_prob(windows, loss_prob=loss) < 1e-5 * loss)
