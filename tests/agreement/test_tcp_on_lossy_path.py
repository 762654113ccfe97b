"""Agreement: window of one TCP (DC2-MTCP Eq. 8, what LIA builds on) against packets of NewReno on a lossy path.

The declared bias was measured independently, at other loss probabilities and with another seed.
"""

import pandas as pd
import pytest
from agreement.measured.lossy_path import tcp_on_lossy_path

from capsmodel.experiments.agreement import Count
from capsmodel.multipath.lia import single_path_window
from capsmodel.multipath.sawtooth import (
    ROUND_TRIP_REMAINDER_PACKETS,
    TIMEOUT_REMAINDER_PACKETS,
    newreno_packets_per_rtt,
    single_path_mean_window,
)
from capsmodel.papers.measurements.means import mean_in_row

pytestmark = pytest.mark.agreement

CONNECTIONS = 85
LOSSES = {0.003: 1400, 0.005: 900, 0.01: 500, 0.03: 300, 0.1: 200}
"""Packets that each connection loses: enough to see 0.3 packets beyond the declared bias."""
LOSS_PROBS = [loss_prob for loss_prob in LOSSES if loss_prob < 0.1]


def sides(loss_prob: float) -> dict[str, tuple[float, float]]:
    """Return the declared bias, and errors 0.3 packets beyond it."""
    low, high = -ROUND_TRIP_REMAINDER_PACKETS - TIMEOUT_REMAINDER_PACKETS * loss_prob, ROUND_TRIP_REMAINDER_PACKETS
    return {"bias": (low, high), "detect": (low - 0.3, high + 0.3)}


@pytest.fixture
def row(measured):
    """Return the one row of a setting."""

    def averages(loss_prob: float, **setting: float) -> pd.Series:
        packets = round(LOSSES[loss_prob] / loss_prob)
        payload = {"loss_prob": loss_prob, "connections": CONNECTIONS, "packets": packets, "seed": 30}
        return measured(tcp_on_lossy_path, payload | setting).iloc[0]

    return averages


@pytest.mark.parametrize("loss_prob", LOSSES)
def test_losses_are_those_asked_for(row, compare, loss_prob):
    found = row(loss_prob)
    lost = Count(successes=int(found["lost_packets"]), trials=int(found["sent_packets"]))
    verdict = compare(loss_prob, lost, detect=0.08 * loss_prob)
    assert verdict, verdict


@pytest.mark.parametrize("loss_prob", LOSS_PROBS)
def test_packets_sent_in_a_round_trip(row, compare, loss_prob):
    sent = mean_in_row(row(loss_prob), "sent_packets_per_rtt")
    verdict = compare(newreno_packets_per_rtt(loss_prob), sent, **sides(loss_prob))
    assert verdict, verdict


@pytest.mark.parametrize("loss_prob", LOSS_PROBS)
def test_packets_delivered_in_a_round_trip(row, compare, loss_prob):
    delivered = mean_in_row(row(loss_prob), "delivered_packets_per_rtt")
    model = (1 - loss_prob) * newreno_packets_per_rtt(loss_prob)
    verdict = compare(model, delivered, **sides(loss_prob))
    assert verdict, verdict


@pytest.mark.parametrize("loss_prob", LOSS_PROBS)
def test_the_equation_gives_more_than_packets_do(row, compare, loss_prob):
    """Eq. 8 balances E[W²]; the mean lies 7% below, and real round trips lower it further."""
    model = single_path_window(loss_prob)
    verdict = compare(model, mean_in_row(row(loss_prob), "sent_packets_per_rtt"), detect=0.1 * model)
    assert verdict.verdict == "disagrees"
    assert verdict.measured < model


def test_timeouts_take_what_the_equation_leaves_out(row, compare):
    """At 10% loss and four packets many losses wait for the timer, and the longer it is the less is sent."""
    short, long = (mean_in_row(row(0.1, min_rto_s=timeout_s), "sent_packets_per_rtt") for timeout_s in (0.4, 1.0))
    verdict = compare(short.mean, long, detect=0.1 * short.mean)
    assert verdict.verdict == "disagrees"
    assert long.mean < short.mean < single_path_mean_window(0.1)
    assert row(0.1)["timeouts"] > 0.05 * row(0.1)["lost_packets"]
