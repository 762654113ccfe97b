"""Agreement: CUBIC at round trips of 100 us is AIMD(0.53, 0.7), and AIMD(1, 0.7) above the window of its last loss.

The model is that process, packet by packet without round trips, as `single_path_mean_window` is of Reno. What packets
do besides costs NewReno `ROUND_TRIP_COST_PACKETS`; CUBIC, which gives up less at a loss, between nothing and as much.
"""

import numpy as np
import pytest
from agreement.measured.lossy_path import tcp_on_lossy_path

from capsmodel.multipath.sawtooth import (
    ROUND_TRIP_COST_PACKETS,
    ROUND_TRIP_REMAINDER_PACKETS,
    newreno_packets_per_rtt,
    single_path_mean_window,
)
from capsmodel.papers.measurements.means import mean_in_row

pytestmark = pytest.mark.agreement

LOSS_PROB = 0.005
ALPHA, BETA = 3 * 0.3 / 1.7, 0.7


def mean_window(alpha, beta, *, alpha_beyond):
    """Return the mean over time of windows whose square grows by 2 alpha a packet, and by another alpha above the last.

    Losses are independent; each of 4000 windows meets 200, of which the first 40 are not counted.
    """
    rng = np.random.default_rng(1)
    prior = np.full(4000, (1.5 / LOSS_PROB) ** 0.5)
    packets, round_trips = 0.0, 0.0
    for loss in range(200):
        window, sent = beta * prior, rng.geometric(LOSS_PROB, len(prior)).astype(float)
        below = np.minimum(sent, (prior**2 - window**2) / (2 * alpha))
        middle = np.sqrt(window**2 + 2 * alpha * below)
        top = np.sqrt(middle**2 + 2 * alpha_beyond * (sent - below))
        if loss >= 40:
            packets += sent.sum()
            round_trips += np.sum((middle - window) / alpha + (top - middle) / alpha_beyond)
        prior = top
    return packets / round_trips


def test_the_process_is_that_of_reno_where_it_halves():
    """The closed form of `single_path_mean_window` within the error of the draws."""
    assert mean_window(1, 0.5, alpha_beyond=1) == pytest.approx(single_path_mean_window(LOSS_PROB), rel=0.01)


def test_packets_sent_in_a_round_trip(measured, compare):
    """Two-sided: they agree with the process, which lies 8% above that of Reno, and so they differ from NewReno's."""
    payload = {"loss_prob": LOSS_PROB, "connections": 40, "packets": 40_000, "seed": 30}
    row = measured(tcp_on_lossy_path, payload | {"rtt_s": 1e-4, "min_rto_s": 1e-3, "scheme": "cubic"}).iloc[0]
    sent = mean_in_row(row, "sent_packets_per_rtt")
    low, high = -ROUND_TRIP_COST_PACKETS - ROUND_TRIP_REMAINDER_PACKETS, ROUND_TRIP_REMAINDER_PACKETS
    verdict = compare(mean_window(ALPHA, BETA, alpha_beyond=1), sent, bias=(low, high), detect=(low - 1.2, high + 1.2))
    assert verdict, verdict
    newreno = newreno_packets_per_rtt(LOSS_PROB)
    assert compare(newreno, sent, detect=0.1 * newreno).verdict == "disagrees"
    assert newreno < sent.mean < 1.2 * newreno
