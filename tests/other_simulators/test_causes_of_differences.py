"""Another simulator: with the rules in which ns-3 differs from the RFCs, every flow takes ns-3's time.

docs/validation.md names these rules. Packets of one picosecond are taken in order of scheduling, as in ns-3.
"""

import pytest
from other_simulators.compare_with_ns3 import capsim_outcome, equal_flows, ns3_outcome, outcome_of
from other_simulators.dctcp_as_in_ns3 import dctcp_as_in_ns3
from other_simulators.newreno_as_in_ns3 import newreno_as_in_ns3
from other_simulators.reference_scenarios import scenario_of, scheme_of

pytestmark = pytest.mark.agreement


def with_rules(name, scheme, **rules):
    scenario = scenario_of(name)
    return outcome_of(scenario.replace(ties="scheduled"), scheme(scheme_of(scenario), **rules))


@pytest.mark.parametrize("name", ["four-long", "incast-32", "incast-64", "ties-incast-32"])
def test_newreno_with_its_rules_is_that_of_ns3(name):
    ns3, ours = ns3_outcome(name), with_rules(name, newreno_as_in_ns3)
    assert equal_flows(ns3, ours) == ns3.fct_ps.size
    assert (ours.packets_dropped, ours.retransmissions) == (ns3.packets_dropped, ns3.retransmissions)


def test_only_the_segment_declared_lost_at_a_full_acknowledgement_parts_an_incast():
    name = "ties-incast-32"
    rfc, ours = capsim_outcome(name), with_rules(name, newreno_as_in_ns3, lost_at_full_ack=False)
    assert equal_flows(rfc, ours) == ours.fct_ps.size
    assert ours.mean_fct_s > 2 * ns3_outcome(name).mean_fct_s


@pytest.mark.parametrize("name", ["dctcp-eight", "dctcp-eight-prr", "ties-dctcp-eight", "web-search-dctcp"])
def test_dctcp_with_its_rules_is_that_of_ns3(name):
    ns3, ours = ns3_outcome(name), with_rules(name, dctcp_as_in_ns3)
    assert equal_flows(ns3, ours) == ns3.fct_ps.size
    assert ours.packets_marked == ns3.packets_marked


@pytest.mark.parametrize(
    "rule", ["late_first_window", "end_at_last", "cut_by_old_alpha", "whole_segments", "below_a_segment"]
)
def test_dctcp_needs_each_rule(rule):
    name = "dctcp-eight-prr"
    assert equal_flows(ns3_outcome(name), with_rules(name, dctcp_as_in_ns3, **{rule: False})) < 32
