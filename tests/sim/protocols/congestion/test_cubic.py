"""RFC 9438 by a second implementation, by its tables of mean windows, and by hand. Windows in segments."""

from fractions import Fraction
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.engine_setups import (
    FAR_SWITCH,
    Losses,
    assert_same_trace,
    flow_list,
    memory_of,
    one_run,
    params_of,
    record,
    setup_of,
    with_losses,
)
from support.scripted import MSS, Sender

from capsim import Dumbbell, scheme
from capsim.protocols.congestion.cubic import CUBIC, cube_root
from capsim.records import SUBFLOW
from capsim.roles.hooks import EXPIRED, EXPIRED_AGAIN, GROW, LOST

MOST = 10_000  # segments of the receive window
LOSSES = Losses(at_node=FAR_SWITCH, once_a=20, once_b=60)


class Window:
    """The component with records of its own: events go in, the window comes out."""

    def __init__(self, *, ssthresh=4, rtt_s=0.1, **params):
        self.params, self.own = params_of(CUBIC, **params), SimpleNamespace(subflow=memory_of(CUBIC, "subflow"))
        sizes = {"cwnd_bytes": 10 * MSS, "ssthresh_bytes": ssthresh * MSS, "max_window_bytes": MOST * MSS}
        self.sub = record(SUBFLOW, mss_bytes=MSS, srtt_ps=round(rtt_s * 1e12), **sizes)

    def tell(self, signals, now_s, acked=1):
        self.sub.newly_acked_bytes, self.sub.lost_flight_bytes = acked * MSS, self.sub.cwnd_bytes
        CUBIC.react(self.params, self.own, None, self.sub, None, signals, round(now_s * 1e12))

    @property
    def size(self):
        return (self.sub.cwnd_bytes + self.own.subflow.fraction) / MSS


def test_a_second_loss_at_the_same_window_is_no_fast_convergence():
    """RFC 9438, 4.7: below W_max only."""
    window = Window()
    for _ in range(2):
        window.sub.cwnd_bytes = 100 * MSS
        window.tell(LOST, 1.0)
        assert window.own.subflow.w_max == 100.0
    window.sub.cwnd_bytes = 99 * MSS
    window.tell(LOST, 2.0)
    assert window.own.subflow.w_max == pytest.approx(99 * 1.7 / 2)


class Rfc9438:
    """The same as the RFC has it, section by section, with powers of a library and windows that are no whole bytes."""

    def __init__(self, c=0.4, beta=0.7, fast=True, rtt_s=0.1, ssthresh=4):
        self.c, self.beta, self.fast, self.rtt_s = c, beta, fast, rtt_s
        self.cwnd, self.ssthresh, self.w_max, self.stage, self.prior = 10.0, float(ssthresh), None, None, None

    def ack(self, now_s, acked):
        if self.cwnd < self.ssthresh:
            self.cwnd += 1  # RFC 5681, eq. 2
            return
        if self.stage is None:  # 4.2, 4.8, 4.10
            w_max = self.cwnd if self.w_max is None else self.w_max
            self.prior = self.cwnd if self.prior is None else self.prior
            k_s = max((w_max - self.cwnd) / self.c, 0) ** (1 / 3)
            self.stage, self.w_max, self.w_est = (now_s, k_s), w_max, self.cwnd
        alpha = 1 if self.w_est >= self.prior else 3 * (1 - self.beta) / (1 + self.beta)  # 4.3
        self.w_est += alpha * acked / self.cwnd
        begin_s, k_s = self.stage
        now, next_round = (self.c * (now_s + more - begin_s - k_s) ** 3 + self.w_max for more in (0, self.rtt_s))
        target = sorted((self.cwnd, next_round, 1.5 * self.cwnd))[1]
        self.cwnd = self.w_est if now < self.w_est else self.cwnd + (target - self.cwnd) / self.cwnd
        self.cwnd = min(self.cwnd, MOST)

    def lose(self, *, timeout=False):
        flight_bytes = int(self.cwnd * MSS + 1e-6)
        self.cwnd = flight_bytes / MSS
        lowered = self.fast and self.w_max is not None and self.cwnd < self.w_max  # 4.7
        self.w_max = self.cwnd * (1 + self.beta) / 2 if lowered else self.cwnd
        self.prior, self.stage = self.cwnd, None
        self.ssthresh = max(int(self.beta * flight_bytes) / MSS, 2)  # 4.6
        self.cwnd = 1.0 if timeout else self.ssthresh  # 4.8
        self.w_max = None if timeout else self.w_max


EVENTS = st.lists(st.tuples(st.sampled_from("aaaaaabbclt"), st.integers(1, 40)), min_size=20, max_size=60)


@settings(max_examples=40, deadline=None)
@given(EVENTS, st.sampled_from([(0.4, 0.7, True), (4.0, 0.5, False)]), st.sampled_from([1e-4, 0.05, 0.4]))
def test_each_event_is_answered_as_in_a_second_implementation(events, constants, rtt_s):
    """Rounds of one acknowledgement a segment, fewer of several, pauses, losses and timeouts in any order."""
    c, beta, fast = constants
    ours = Window(scaling=c, decrease=beta, fast_convergence=fast, rtt_s=rtt_s)
    theirs, now_s = Rfc9438(c, beta, fast, rtt_s), 1.0
    for kind, count in events:
        if kind in "lt":
            ours.tell(LOST if kind == "l" else EXPIRED, now_s)
            theirs.lose(timeout=kind == "t")
        elif kind == "c":
            now_s += count * rtt_s
        else:
            acked = 1 if kind == "a" else 3
            for _ in range(count):
                now_s += rtt_s / theirs.cwnd
                now_s = round(now_s * 1e12) / 1e12
                ours.tell(GROW, now_s, acked)
                theirs.ack(now_s, acked)
        assert ours.size == pytest.approx(theirs.cwnd, rel=1e-6)
        assert ours.sub.ssthresh_bytes / MSS == pytest.approx(theirs.ssthresh, abs=1.5 / MSS)


@pytest.mark.parametrize(
    ("rtt_s", "loss_prob", "c", "printed"),
    [
        (0.1, 1e-4, 0.4, 187),
        (0.1, 1e-4, 4.0, 333),
        (0.1, 1e-3, 4.0, 59),
        (0.01, 1e-4, 0.4, 120),
        (1e-4, 1e-3, 0.4, 38),
    ],
)
def test_mean_windows_are_those_of_the_tables(rtt_s, loss_prob, c, printed):
    """RFC 9438, tables 1 and 2: one loss in 1/p packets. The last line is 100 us, in no table: Reno's window.

    The tables take the larger of both regions' means, so lines are left out where a cycle passes through both.
    The mean is (3 + beta)/4 of the largest window, in the Reno-friendly region (1 + beta)/2; from there on it stays.
    What is printed for Reno's windows is 1.2/sqrt(p), 2% below sqrt(1.5/p).
    """
    window, now_s = Window(ssthresh=2, rtt_s=rtt_s, scaling=c, fast_convergence=False), 1.0
    friendly = printed == int(1.2 / loss_prob**0.5 + 0.5)
    largest = (1.5 / loss_prob) ** 0.5 / 0.85 if friendly else printed / 0.925
    window.sub.cwnd_bytes = round(largest * MSS)
    for _ in range(2):
        window.tell(LOST, now_s)
        begin_s = now_s
        for _ in range(round(1 / loss_prob)):
            now_s += rtt_s / window.size
            window.tell(GROW, now_s)
    assert window.size == pytest.approx(largest, rel=0.02)
    assert rtt_s / loss_prob / (now_s - begin_s) == pytest.approx(printed / 0.98 if friendly else printed, rel=0.01)


@given(st.floats(1e-12, 1e12))
def test_cube_root_to_the_last_bits(value):
    """Exact arithmetic: the root lies within 2^-51 of the one it stands for."""
    root, step = Fraction(cube_root(value)), Fraction(1, 2**51)
    assert (root * (1 - step)) ** 3 <= Fraction(value) <= (root * (1 + step)) ** 3


def test_the_curve_by_hand():
    """From 100 to 70: K = cbrt(75) = 4.217 s. At K the window is 100, C further at 1 s later; W_est stays below."""
    window = Window(rtt_s=0.5)
    window.sub.cwnd_bytes = 100 * MSS
    window.tell(LOST, 1.0)
    assert (window.size, window.sub.ssthresh_bytes) == (70, 70 * MSS)
    for now_s in (2.0, 2.0 + 75 ** (1 / 3) - 0.5):
        window.tell(GROW, now_s, 0)
    memory = window.own.subflow
    assert memory.k_s == pytest.approx(75 ** (1 / 3), rel=1e-15)
    first = 0.4 * ((0.5 - memory.k_s) ** 3 + 75)
    second = 30 - first / 70
    assert window.size == pytest.approx(70 + first / 70 + second / (70 + first / 70), rel=1e-12)


def test_no_growth_beyond_half_a_window_a_round_or_the_receive_window():
    """After 1000 s the cubic function is far above: each acknowledgement adds 1/2, as far as the receiver has room."""
    window = Window()
    window.tell(GROW, 1.0)
    size = window.size
    window.tell(GROW, 1001.0)
    assert window.size == pytest.approx(size + 0.5, rel=1e-12)
    window.sub.max_window_bytes = window.sub.cwnd_bytes
    window.tell(GROW, 1001.0)
    assert window.sub.cwnd_bytes == window.sub.max_window_bytes
    assert window.own.subflow.fraction == 0


def test_a_segment_that_expires_again_leaves_ssthresh():
    """RFC 5681, section 3.1: it is set at the first expiry only."""
    window = Window(ssthresh=50)
    window.tell(EXPIRED, 1.0)
    assert (window.size, window.sub.ssthresh_bytes) == (1, 7 * MSS)
    window.tell(EXPIRED | EXPIRED_AGAIN, 2.0)
    assert (window.size, window.sub.ssthresh_bytes) == (1, 7 * MSS)


def test_over_newreno_a_loss_leaves_seven_tenths():
    """Of 10 segments in flight 7; recovery ends with them, and the next window of acknowledgements adds alpha, 0.53."""
    sender = Sender("cubic", max_window_bytes=10 * MSS)
    sender.acks(1, 10)
    sender.duplicates(10, 3)
    assert sender.ssthresh == 7
    sender.ack(20)
    while sender.sub.cwnd_bytes < sender.sub.ssthresh_bytes:
        sender.ack(sender.sub.una + 1)
    first = sender.sub.una + 1
    sender.acks(first, first + 6)
    assert sender.cwnd == pytest.approx(7 + 3 * 0.3 / 1.7, abs=0.02)


def test_the_cubic_function_plays_no_part_at_short_round_trips():
    """100 us and losses: C a hundredth of it changes no packet. Over round trips of half a second it does."""
    slow = scheme("cubic").with_params(congestion={"scaling": 4e-3})
    for delay_s, same in ((16e-6, True), (80e-3, False)):
        link = Dumbbell(hosts_per_side=1, delay_s=delay_s, buffer_packets=1000)
        losses = with_losses(scheme("cubic"), LOSSES), with_losses(slow, LOSSES)
        traces = [one_run(setup_of(link, flow_list([(0, 1, 150 * MSS, 0.0)]), each, end_ps=10**14)) for each in losses]
        if same:
            assert_same_trace(*traces)
        assert traces[0].subs[0]["fast_retransmits"] >= 2
        assert (traces[0].flows[0]["acked_ps"] == traces[1].flows[0]["acked_ps"]) == same


def test_fast_convergence_in_both_engines():
    """The second loss finds a window below W_max: with it W_max is 0.85 of the window, without it the window."""
    link, flows = Dumbbell(hosts_per_side=1), flow_list([(0, 1, 150 * MSS, 0.0)])
    found = {}
    for fast in (True, False):
        chosen = with_losses(scheme("cubic").with_params(congestion={"fast_convergence": fast}), LOSSES)
        records = one_run(setup_of(link, flows, chosen))
        found[fast] = records.own.records("subflow", (0, "congestion"))[0]
    assert found[True]["cwnd_prior"] == found[False]["cwnd_prior"] == found[False]["w_max"]
    assert found[True]["w_max"] == found[True]["cwnd_prior"] * (1 + 0.7) / 2
