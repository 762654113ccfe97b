"""Agreement: MMPTCP's threshold of duplicate ACKs (mmptcp 2.4) against packets scattered over paths of two delays.

The extent of the first late packet of a flow is the number of duplicate ACKs that it causes. So a flow retransmits
without need if this extent reaches 3 plus the number of paths, which the sender of the scheme derives itself. Extents
of all late packets are measured with a threshold that is never reached.
"""

import pytest
from agreement.measured.scattered_retransmissions import NEVER, scattered_retransmissions

from capsmodel.experiments.agreement import Count
from capsmodel.papers.measurements.means import mean_in_row
from capsmodel.reordering.dup_acks import dup_ack_threshold_leaf_spine, duplicate_acks_prob
from capsmodel.reordering.extents import expected_late_packets

pytestmark = pytest.mark.agreement

FLOWS, DETECT = 6000, 0.05
SETTINGS = {
    "five paths, one slow": {"paths": 5, "slow_paths": 1, "flow_packets": 12},
    "five paths, two slow": {"paths": 5, "slow_paths": 2, "flow_packets": 16},
    "thirteen paths, two slow": {"paths": 13, "slow_paths": 2, "flow_packets": 24},
    "thirteen paths, six slow": {"paths": 13, "slow_paths": 6, "flow_packets": 30},
}


@pytest.fixture
def found(measured):
    """Return the row of one setting."""

    def counts(name: str, scheme: str, **rule: int):
        setting = {"scheme": scheme, "flows": FLOWS, "seed": 70 + list(SETTINGS).index(name)}
        return measured(scattered_retransmissions, SETTINGS[name] | setting | rule).iloc[0]

    return counts


def model_of(name):
    """Return the threshold of the rule, and size of flows and probability of a slow path as the model has them."""
    setting = SETTINGS[name]
    flow = {"flow_packets": setting["flow_packets"], "congested_prob": setting["slow_paths"] / setting["paths"]}
    return dup_ack_threshold_leaf_spine(setting["paths"]), flow


def retransmitting(row):
    return Count(successes=int(row["retransmitting_flows"]), trials=int(row["flows"]))


@pytest.mark.parametrize("name", SETTINGS)
def test_flows_that_retransmit_for_nothing(found, compare, name):
    threshold, flow = model_of(name)
    verdict = compare(duplicate_acks_prob(threshold, **flow), retransmitting(found(name, "mmptcp")), detect=DETECT)
    assert verdict, verdict


@pytest.mark.parametrize("name", list(SETTINGS)[:2])
def test_with_the_standard_threshold_more_flows_do(found, compare, name):
    """Sprayed flows of a sender that does not know the paths retransmit at the third duplicate ACK."""
    _, flow = model_of(name)
    verdict = compare(duplicate_acks_prob(3, **flow), retransmitting(found(name, "rps")), detect=DETECT)
    assert verdict, verdict


@pytest.mark.parametrize("name", SETTINGS)
def test_packets_whose_extent_reaches_the_threshold(found, compare, name):
    threshold, flow = model_of(name)
    model, row = expected_late_packets(threshold, **flow), found(name, "mmptcp", dup_ack_threshold=NEVER)
    verdict = compare(model, mean_in_row(row, "late_packets"), detect=0.25 * model)
    assert verdict, verdict


@pytest.mark.parametrize("name", SETTINGS)
def test_extents_of_all_late_packets_tell_too_many_retransmissions(found, compare, name):
    """Behind the first late packet the others arrive in order: they have an extent, and cause no duplicate ACK."""
    late = mean_in_row(found(name, "mmptcp", dup_ack_threshold=NEVER), "late_packets").mean
    verdict = compare(min(late, 1.0), retransmitting(found(name, "mmptcp")), detect=DETECT)
    assert verdict.verdict == "disagrees"
    assert verdict.measured < late
