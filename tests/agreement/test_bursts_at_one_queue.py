"""Agreement: RepFlow's completion times in the model's own setting, by Lindley's recursion.

Bursts of 44 packets meet one queue as a Poisson process; a short flow of 12 packets adds one wait, one of 84 packets
adds three, drawn independently. Replicas see two such queues and the shorter wait. All loads of the paper's figures.
Waits are correlated over about 1/(1-ρ)² bursts, so runs are longer at high load; at low load waits are infrequent.
"""

import pytest
from agreement.measured.burst_queue import THREE_ROUNDS_PACKETS, burst_queue
from agreement.measured.replicated_bursts import ONE_ROUND

from capsmodel.fct.completion import mean_fct, tail_fct
from capsmodel.fct.replication import effective_load, mean_shortest_wait
from capsmodel.fct.slow_start import BURST_PACKETS, WINDOW_PACKETS
from capsmodel.papers.measurements.means import BATCHES, mean_in_row
from capsmodel.papers.measurements.single_port import wait_variance
from capsmodel.queueing.mg1 import mg1_mean_wait, mg1_second_moment_wait, mg1_wait_prob
from capsmodel.queueing.service import Deterministic
from capsmodel.workloads.catalogue import PacketSizes

pytestmark = pytest.mark.agreement

LOADS = [tenths / 10 for tenths in range(1, 9)]
MOMENTS = {"mean_service": BURST_PACKETS, "second_moment_service": BURST_PACKETS**2}
SERVICE = Deterministic(BURST_PACKETS)
PAIR = {"replicas": 2, "short_byte_share": 0.0}  # copies of so few flows that they load nothing


@pytest.fixture(params=LOADS)
def load(request):
    return request.param


@pytest.fixture
def row(load, measured):
    bursts = round(max(2_000_000, 300_000 / (1 - load) ** 2))
    return measured(burst_queue, {"load": load, "bursts": bursts, "seed": 12}).iloc[0]


@pytest.fixture
def agrees(row, compare):
    """Assert that a column agrees with a model to a share `detect` of it."""

    def check(model, column, *, detect):
        verdict = compare(model, mean_in_row(row, column), detect=detect * model)
        assert verdict, verdict

    return check


def exceeding(slowdown, *, load):
    """Return the exact probability that a flow of one round takes longer."""
    return mg1_wait_prob((slowdown - 1) * WINDOW_PACKETS, load=load, service=SERVICE)


def test_mean_fct(load, agrees):
    """Eq. 3-5 with one round."""
    agrees(mean_fct(load, sizes=ONE_ROUND), "slowdown", detect=0.05)


def test_mean_fct_of_three_rounds(load, agrees):
    """84 packets are 12 + 24 + 48: each round has its own wait."""
    sizes = PacketSizes.fixed(THREE_ROUNDS_PACKETS)
    agrees(mean_fct(load, sizes=sizes, short_packets=100), "rounds_slowdown", detect=0.05)


def test_second_moment_of_the_wait(load, agrees):
    model = mg1_second_moment_wait(load, **MOMENTS, third_moment_service=BURST_PACKETS**3)
    agrees(model, "wait_packets2", detect=0.25)


def test_exact_tail_fct(agrees):
    """Eq. 11 with the exact quantile: one flow in a hundred takes longer."""
    agrees(0.01, "beyond_exact_prob", detect=0.5)


def test_printed_tail_fct_is_exceeded_too_often(load, row, agrees, compare):
    """Eq. 9-11 take the wait to be exponential: more than 1% of flows take longer than its 99th percentile.

    It has the mean but not the shape of the wait: it ignores that a share 1 - ρ of the flows does not wait at all. The
    exact tail gives the size of the error: 8% take longer at load 0.1, 1.6% at load 0.8.
    """
    exact = exceeding(tail_fct(load, sizes=ONE_ROUND), load=load)
    agrees(exact, "beyond_printed_prob", detect=0.4)
    assert compare(0.01, mean_in_row(row, "beyond_printed_prob"), detect=0.005).verdict == "disagrees"


def test_both_queues_are_busy(load, agrees):
    """What Eq. 6 starts from: two independent queues are both busy with probability ρ²."""
    agrees(effective_load(load, short_byte_share=0.0), "both_busy_prob", detect=0.1)


def test_shorter_of_two_waits(load, agrees):
    agrees(mean_shortest_wait(load, service=SERVICE), "shorter_wait_packets", detect=0.15)


def test_virtual_queue_overstates_the_wait_of_replicas(load, row, compare):
    """Eq. 6 takes the shorter of two waits for the wait at load ρ²: waiting is as probable, but the wait is longer.

    A flow that finds both queues busy waits the shorter of two residuals; in the virtual queue, one. RepFlow gains more
    than its model predicts, by up to a half of the remaining wait: the exact wait, tested above, gives the difference.
    """
    virtual, exact = mg1_mean_wait(load**2, **MOMENTS), mean_shortest_wait(load, service=SERVICE)
    verdict = compare(virtual, mean_in_row(row, "shorter_wait_packets"), detect=virtual - exact)
    assert verdict.verdict == "disagrees", verdict
    assert verdict.measured < virtual


@pytest.mark.parametrize(("tail", "column"), [("effective_bandwidth", "printed"), ("exact", "exact")])
def test_tail_fct_of_replicas(tail, column, load, agrees):
    """Eq. 12 at load ρ²: share of flows beyond the printed and the exact 99th percentile of the virtual queue."""
    threshold = tail_fct(load, sizes=ONE_ROUND, tail=tail, **PAIR)
    agrees(exceeding(threshold, load=load) ** 2, f"shorter_beyond_{column}_prob", detect=0.5)


def test_error_of_batch_means(measured, compare):
    """The error that batch means report is the one that theory gives for this number of successive waits."""
    bursts = 100_000
    rows = measured(burst_queue, *({"load": 0.5, "bursts": bursts, "seed": seed} for seed in range(30)))
    kept = 0.9 * bursts // BATCHES * BATCHES
    theory = wait_variance(0.5, service=SERVICE) / kept
    verdict = compare(1.0, (rows["error_wait_packets"] ** 2 / theory).to_numpy(), detect=0.5)
    assert verdict, verdict
