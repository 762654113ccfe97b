"""Agreement: the wait of short flows beside sprayed long flows, CAPS Fig. 1 with short flows far apart, against M/D/1.

Each of four long flows sends at the rate of a path and picks one of 40 for each packet, so a path sees a tenth of
its capacity, nearly Poisson. Runs with and without long flows have the same short flows.
"""

import pytest

from capsmodel.experiments.statistics.intervals import mean_interval, paired_difference
from capsmodel.papers.measurements.head_of_line import short_flows
from capsmodel.queueing.mg1 import mg1_mean_wait

pytestmark = pytest.mark.agreement

PATHS, PACKET_S, LONG_LOAD = 40, 12e-6, 4 / 40
RUNS, SPREAD_S = 16, 0.1


@pytest.fixture
def runs(measured):
    """Return the runs with (4) and without (0) long flows."""
    pairs = [(long_flows, seed) for long_flows in (4, 0) for seed in range(1, RUNS + 1)]
    payloads = ({"long_flows": count, "seed": seed, "spread_s": SPREAD_S} for count, seed in pairs)
    return measured(short_flows, *payloads).set_index(["long_flows", "seed"])


def wait_s(load):
    """Return the mean wait in M/D/1."""
    return mg1_mean_wait(load, mean_service=PACKET_S, second_moment_service=PACKET_S**2)


def test_wait_before_the_paths(runs, compare):
    """M/D/1 with and without the tenth of load by long flows; four sources queue a quarter less than Poisson."""
    short_load = 100 * runs["flow_bytes"].mean() * 1500 / 1460 * 8e-9 / (PATHS * SPREAD_S)
    model_s = wait_s(LONG_LOAD + short_load) - wait_s(short_load)
    # All but the rest of the packet in service, rho S / 2, is queue: of n sources, 1 - 1/n of that of Poisson's.
    bias_s = (wait_s(LONG_LOAD) - LONG_LOAD * PACKET_S / 2) / 4
    difference_s = runs.loc[4, "path_wait_s"] - runs.loc[0, "path_wait_s"]
    verdict = compare(model_s, difference_s, bias=bias_s, detect=0.3 * model_s)
    assert verdict, verdict


def test_packets_sent_back_to_back_keep_their_largest_wait_until_the_receiver(runs):
    """Packets sent back to back at the receiver's rate: a late one delays all behind it at the last port."""
    at_receiver_s = runs["queueing_delay_s"] - runs["path_wait_s"]
    assert paired_difference(at_receiver_s[4], at_receiver_s[0]).low > 0
    assert mean_interval(at_receiver_s[4] - runs.loc[4, "path_wait_s"]).low > 0


def test_short_flows_that_start_together_queue_behind_each_other(runs, measured):
    """Within 0.1 ms, without any long flow, they wait longer than far apart beside four."""
    together = measured(short_flows, *({"long_flows": 0, "seed": seed} for seed in range(1, RUNS + 1)))
    alone_s = together.set_index("seed")["queueing_delay_s"]
    assert paired_difference(alone_s, runs.loc[4, "queueing_delay_s"]).low > 0
