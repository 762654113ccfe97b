"""How coupled windows grow and shrink, by hand and against the closed forms (LIA, UC, FC, OLIA)."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.coupled_subflows import MSS, subflows
from support.engine_setups import memory_of, params_of

from capsim.protocols.congestion.fully_coupled import FULLY_COUPLED
from capsim.protocols.congestion.lia import LIA, LiaParams
from capsim.protocols.congestion.olia import OLIA, inter_loss_bytes
from capsim.protocols.congestion.reno import RENO
from capsim.protocols.congestion.tahoe import TAHOE
from capsim.records import CLOSED, SYN_SENT
from capsim.roles.hooks import ACKED, DUPLICATE, EXPIRED, EXPIRED_AGAIN, GROW, LOST
from capsim.roles.own import OWN
from capsmodel.multipath.lia import fully_coupled_increase, lia_increase, uncoupled_increase

paths = st.lists(st.tuples(st.integers(1, 200), st.integers(50, 5000)), min_size=2, max_size=8)


def own_of(component):
    """Return the component's memory of one subflow and of its flow."""
    return OWN["react"](memory_of(component, "subflow"), memory_of(component, "flow"))


def react(component, flow, subs, index, signals, own=None):
    """Let one subflow react; return how much its window changed, in bytes."""
    before = subs[index].cwnd_bytes
    component.react(params_of(component), own or own_of(component), flow, subs[index], subs, signals, 0)
    return subs[index].cwnd_bytes - before


@given(paths)
@pytest.mark.parametrize(
    ("component", "increases"),
    [
        (LIA, lambda windows, rtts: lia_increase(windows, rtts_s=rtts)),
        (FULLY_COUPLED, lambda windows, rtts: fully_coupled_increase(windows)),
        (RENO, lambda windows, rtts: uncoupled_increase(windows)),
    ],
    ids=["LIA", "FC", "UC"],
)
def test_a_window_grows_as_the_closed_form_says(component, increases, windows_and_rtts):
    """In whole bytes, cut off, one at least."""
    windows, rtts_us = zip(*windows_and_rtts, strict=True)
    expected = increases(windows, [rtt * 1e-6 for rtt in rtts_us])
    for index in range(len(windows)):
        found = react(component, *subflows(*windows_and_rtts), index, ACKED | GROW)
        exact = float(expected[index]) * MSS
        assert found == 1 or exact - 1 - 1e-6 < found <= exact + 1e-6
        assert found > 1 or exact < 2 + 1e-6


def test_only_the_signal_to_grow_opens_a_window(subtests):
    """A duplicate does not, and new data during a recovery do not."""
    for component in [LIA, OLIA, FULLY_COUPLED, RENO, TAHOE]:
        for signals in [0, DUPLICATE, ACKED]:
            with subtests.test(component=component, signals=signals):
                assert react(component, *subflows((10, 100), (20, 100)), 0, signals) == 0


def test_without_the_cap_a_small_window_grows_by_alpha_over_all_windows():
    """Windows of 2 and 64 MSS at round trips of 1 and 10 ms: alpha = 66 * 2 / (2 + 6.4)^2, so 2 / 8.4^2 of an MSS."""
    both = ((64, 10_000), (2, 1000))
    increase = int(MSS * 2 / 8.4**2)
    free = replace(LIA, params=LiaParams(capped=False))
    assert [react(one, *subflows(*both), 0, ACKED | GROW) for one in (LIA, free)] == [MSS // 64, increase]
    assert react(free, *subflows(*both), 1, ACKED | GROW) == react(LIA, *subflows(*both), 1, ACKED | GROW) == increase


@given(paths, st.lists(st.integers(1, 10**6), min_size=8, max_size=8))
def test_olia_grows_as_its_formula_says(windows_and_rtts, between):
    """Against exact arithmetic from the draft; alpha sums up to zero over the paths."""
    exact = olia_increases(windows_and_rtts, between)
    for index in range(len(windows_and_rtts)):
        flow, subs = subflows(*windows_and_rtts)
        own = own_of(OLIA)
        own.flow.between_losses[:8] = between
        found = react(OLIA, flow, subs, index, GROW, own) + own.subflow.fraction
        limit = (1 - windows_and_rtts[index][0]) * MSS  # one segment stays
        assert found == pytest.approx(max(float(exact[index] * MSS), limit), abs=1e-6)


def olia_increases(windows_and_rtts, between):
    """Return the growth of each window in segments for a segment acknowledged."""
    n = len(windows_and_rtts)
    rates = sum(Fraction(window, rtt) for window, rtt in windows_and_rtts)
    quality = [Fraction(between[index], rtt * rtt) for index, (_, rtt) in enumerate(windows_and_rtts)]
    largest = {i for i in range(n) if windows_and_rtts[i][0] == max(window for window, _ in windows_and_rtts)}
    better = {i for i in range(n) if quality[i] == max(quality)} - largest
    alpha = {i: Fraction(0) for i in range(n)}
    if better:
        alpha |= {i: Fraction(-1, n * len(largest)) for i in largest}
        alpha |= {i: Fraction(1, n * len(better)) for i in better}
    assert sum(alpha.values()) == 0
    return [
        Fraction(window, rtt * rtt) / rates**2 + alpha[i] / window for i, (window, rtt) in enumerate(windows_and_rtts)
    ]


def test_olia_on_equal_paths_is_lia():
    """n equal windows w: each grows by 1 / (n^2 w) for a segment acknowledged."""
    flow, subs = subflows(*[(10, 100)] * 4)
    own = own_of(OLIA)
    grown = react(OLIA, flow, subs, 0, GROW, own) + own.subflow.fraction
    assert grown == pytest.approx(MSS / 160)


def test_olia_moves_the_window_to_the_path_with_fewer_losses():
    """Windows 10 and 20 with 100 and 50 segments between losses: alpha is 1/2 on the first, -1/2 on the second."""
    flow, subs = subflows((10, 100), (20, 100))
    own = own_of(OLIA)
    own.flow.between_losses[:2] = [100 * MSS, 50 * MSS]
    assert react(OLIA, flow, subs, 0, GROW, own) == int((10 / 900 + 0.5 / 10) * MSS)
    flow, subs = subflows((10, 100), (20, 100))
    own.subflow.fraction = 0.0
    assert react(OLIA, flow, subs, 1, GROW, own) == int((20 / 900 - 0.5 / 20) * MSS)


def test_olia_keeps_fractions_of_a_byte():
    """A growth of 1460 / 400 = 3.65 bytes each: ten of them are 36 bytes and a half."""
    flow, subs = subflows((100, 100), (100, 100))
    own = own_of(OLIA)
    total = 0
    for _ in range(10):
        total += react(OLIA, flow, subs, 0, GROW, own)
        subs[0].cwnd_bytes = 100 * MSS
    assert total == 36


def test_olia_measures_the_bytes_between_losses():
    """The larger of the present and the last interval; a second timeout of one segment ends none."""
    flow, subs = subflows((10, 100), (20, 100))
    own = own_of(OLIA)
    for signals, expected in (
        (ACKED, MSS),
        (ACKED, 2 * MSS),
        (LOST, 2 * MSS),
        (ACKED, 2 * MSS),
        (EXPIRED | EXPIRED_AGAIN, 2 * MSS),
        (EXPIRED, MSS),
    ):
        react(OLIA, flow, subs, 0, signals, own)
        assert inter_loss_bytes(own.flow, subs[0]) == expected
    assert inter_loss_bytes(own.flow, subs[1]) == 0


def test_fully_coupled_a_loss_takes_half_of_all_windows(subtests):
    """From one window: 16 of 20 leaves 6, 12 of 20 would leave 2, 2 segments stay at least."""
    for windows, left in [((16, 4), 6), ((12, 8), 2), ((30, 10), 10)]:
        with subtests.test(windows=windows, left=left):
            flow, subs = subflows(*[(window, 100) for window in windows])
            react(FULLY_COUPLED, flow, subs, 0, LOST)
            assert subs[0].cwnd_bytes == subs[0].ssthresh_bytes == left * MSS
            flow, subs = subflows(*[(window, 100) for window in reversed(windows)])
            react(FULLY_COUPLED, flow, subs, 0, LOST)
            assert subs[0].cwnd_bytes == 2 * MSS


def test_fully_coupled_a_timeout_is_that_of_one_tcp():
    flow, subs = subflows((16, 100), (4, 100))
    react(FULLY_COUPLED, flow, subs, 0, EXPIRED)
    assert (subs[0].cwnd_bytes, subs[0].ssthresh_bytes) == (MSS, 8 * MSS)


def test_subflows_that_take_no_new_data_are_not_coupled(subtests):
    """Two windows of 10 segments and a third, of a subflow that is closed, not yet open or only finishes its data."""
    for field, value in [("state", CLOSED), ("state", SYN_SENT), ("final", 1)]:
        for component in [LIA, FULLY_COUPLED, OLIA]:
            with subtests.test(field=field, value=value, component=component):
                flow, subs = subflows((10, 100), (10, 100), (40, 100))
                setattr(subs[2], field, value)
                with_third = react(component, flow, subs, 0, GROW)
                assert with_third == react(component, *subflows((10, 100), (10, 100)), 0, GROW)


def test_a_subflow_without_new_data_is_a_tcp_of_its_own(subtests):
    for component in [LIA, FULLY_COUPLED, OLIA]:
        with subtests.test(component=component):
            flow, subs = subflows((10, 100), (40, 100))
            subs[0].final = 1
            assert react(component, flow, subs, 0, GROW) == MSS // 10
            react(component, flow, subs, 0, LOST)
            assert subs[0].cwnd_bytes == 5 * MSS
