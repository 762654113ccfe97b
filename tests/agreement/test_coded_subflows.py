"""Agreement: DC2-MTCP's timeouts and redundancy (Eq. 1, 5, 6) against packets on paths that lose at random.

The redundancy that is sent is held against that of the windows, sampled once in a round trip. While a subflow recovers,
it sends fewer new packets than its window says, which are the samples with small windows and much redundancy: so less
is sent than the samples say. Other seeds and settings gave 1 to 3%, which is the declared bias, on one side.
"""

import pytest
from agreement.measured.coded_subflows import coded_share, coded_windows

from capsmodel.experiments.agreement import Count
from capsmodel.multipath.coded_transport import redundancy_ratio
from capsmodel.multipath.timeouts import timeout_prob
from capsmodel.papers.measurements.means import mean_in_row

pytestmark = pytest.mark.agreement

WINDOWS = [(3, 4, 0.02), (3, 4, 0.1), (2, 2, 0.05), (3, 5, 0.01)]
SHARES = [(0.005, 2), (0.005, 4), (0.02, 2)]
FLOWS = 20_000


@pytest.fixture
def timeouts(measured):
    """Return how many of the flows time out; with one coded packet behind each if they are coded."""

    def count(window: int, subflows: int, loss: float, *, coded: bool) -> Count:
        seed = 10_000 * window + 1000 * subflows + round(1000 * loss)
        setting = {"window_packets": window, "subflows": subflows, "loss_prob": loss, "flows": FLOWS}
        row = measured(coded_windows, setting | {"coded": coded, "seed": seed}).iloc[0]
        assert row["coded_packets"] == (FLOWS if coded else 0)
        return Count(successes=int(row["timeouts"]), trials=FLOWS)

    return count


@pytest.mark.parametrize(("window", "subflows", "loss"), WINDOWS)
def test_without_coding_each_subflow_times_out_by_itself(timeouts, compare, window, subflows, loss):
    """Eq. 6 for each of the subflows; windows of at most three packets, where its forms are the same."""
    model = 1 - (1 - timeout_prob(window, loss_prob=loss)) ** subflows
    verdict = compare(model, timeouts(window, subflows, loss, coded=False), detect=0.03)
    assert verdict, verdict


@pytest.mark.parametrize(("window", "subflows", "loss"), WINDOWS)
def test_one_coded_packet_spares_the_timeout_of_one_loss(timeouts, compare, window, subflows, loss):
    """What it mixes are all packets: none of them lost, or one and not the coded packet."""
    size = window * subflows
    model = 1 - (1 - loss) ** size - size * loss * (1 - loss) ** size
    verdict = compare(model, timeouts(window, subflows, loss, coded=True), detect=0.03)
    assert verdict, verdict


@pytest.mark.parametrize(("loss", "subflows"), SHARES)
def test_redundancy_is_that_of_windows_and_round_trips(measured, compare, loss, subflows):
    """Eq. 5 in its consistent form, and Eq. 10 while the windows are small."""
    row = share(measured, loss, subflows)
    verdict = compare(1.0, mean_in_row(row, "ratio_to_model"), bias=(-0.04, 0.0), detect=(-0.08, 0.04))
    assert verdict, verdict


@pytest.mark.parametrize(("loss", "subflows"), SHARES)
def test_redundancy_exceeds_what_the_losses_need(measured, compare, loss, subflows):
    """p / (1 - p) is optimal (Eq. 1), but p from windows that swing is too large: E[1 / W^2] is above 1 / E[W]^2."""
    model = redundancy_ratio(loss)
    verdict = compare(model, mean_in_row(share(measured, loss, subflows), "coded_ratio"), detect=0.3 * model)
    assert verdict.verdict == "disagrees"
    assert verdict.measured > 1.3 * model


def share(measured, loss, subflows):
    setting = {"connections": 20, "round_trips": 1000, "seed": round(1000 * loss) + subflows}
    return measured(coded_share, {"loss_prob": loss, "subflows": subflows} | setting).iloc[0]
