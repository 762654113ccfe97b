"""Reordering a second time: CDCPS Eq. 1 and 3 term by term in exact rationals, and TCP's view of an arrival order."""

from fractions import Fraction

import numpy as np
import pytest

from capsmodel.reordering.dup_acks import duplicate_acks_prob
from capsmodel.reordering.probability import expected_overtaken_packets, out_of_order_degree, reordering_prob


def printed_eq3(size: int, n_g: int, n: int) -> Fraction:
    good = Fraction(n_g, n)
    return sum((good ** (i - 1) * (1 - good) * (1 - (1 - good) ** (size - i)) for i in range(1, size)), Fraction(0))


def test_printed_sum_equals_the_closed_form_for_every_number_of_congested_paths(subtests: pytest.Subtests) -> None:
    for n in [8, 64]:
        for size in [1, 2, 5, 20, 64]:
            with subtests.test(n=n, size=size):
                congested = np.arange(n + 1)
                printed = [float(printed_eq3(size, n - int(b), n)) for b in congested]
                np.testing.assert_allclose(
                    reordering_prob(size, congested_prob=congested / n), printed, rtol=1e-12, atol=0
                )


def test_drawn_flows_agree_with_the_three_reordering_quantities() -> None:
    # A sampled twin: 200 000 flows of 12 packets, standard errors below 0.0012; 5 of them leave a false alarm of 1e-6.
    rng = np.random.default_rng(20190628)
    congested = rng.random((200_000, 12)) < 0.3
    good_behind = np.cumsum(~congested[:, ::-1], axis=1)[:, ::-1]
    overtaken = congested & (good_behind > 0)
    first = np.argmax(congested, axis=1)
    raised = np.where(congested.any(axis=1), good_behind[np.arange(len(first)), first], 0)
    for drawn, model in (
        (overtaken.any(axis=1), reordering_prob(12, congested_prob=0.3)),
        (overtaken.sum(axis=1), expected_overtaken_packets(12, congested_prob=0.3)),
        (raised >= 3, duplicate_acks_prob(3, flow_packets=12, congested_prob=0.3)),
    ):
        assert abs(drawn.mean() - model) < 5 * drawn.std() / np.sqrt(len(drawn))


def test_out_of_order_degree_is_the_buffer_a_receiver_needs() -> None:
    rng = np.random.default_rng(7)
    for _ in range(50):
        order = rng.permutation(40)
        held: set[int] = set()
        expected = span = 0
        for number in order:
            held.add(int(number))
            if number > expected:
                span = max(span, int(number) - expected)
            while expected in held:
                expected += 1
        assert out_of_order_degree(order) == span
