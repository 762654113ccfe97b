"""Another simulator: capsim against ns-3.44 on the same flows; docs/validation.md explains what is left."""

import json

import pytest
from other_simulators.compare_with_ns3 import (
    NOT_COMPARED,
    capsim_outcome,
    equal_flows,
    ns3_outcome,
    packets_row,
    times_row,
)
from other_simulators.reference_scenarios import inputs_sha256, names, scenario_of, values_file
from page_tables import by_first_cell

pytestmark = pytest.mark.agreement

# Every flow takes the same time to the picosecond, also where packets are lost.
EXACT = {
    "alone-10g",
    "alone-1g",
    "dctcp-one",
    "dctcp-one-prr",
    "incast-8",
    "leaf-spine",
    "leaf-spine-handshake",
    "one-long",
    "one-long-sack",
    "one-long-sack-prr",
    "ties-incast-32-sack",
    "ties-incast-8",
}


@pytest.mark.parametrize("name", names())
def test_the_values_are_of_this_scenario(name):
    values = json.loads(values_file(name).read_text())
    assert values["provenance"]["inputs_sha256"] == inputs_sha256(scenario_of(name))


@pytest.mark.parametrize("name", names())
def test_capsim_agrees_with_ns3_and_the_page_shows_it(name):
    ns3, ours = ns3_outcome(name), capsim_outcome(name)
    lossless = ns3.packets_dropped == 0
    assert by_first_cell("ns3_times")[name] == times_row(name, ns3, ours)[1:]
    if not lossless or ns3.packets_marked:
        assert by_first_cell("ns3_packets")[name] == packets_row(name, ns3, ours)[1:]
    if name in NOT_COMPARED:
        return
    assert (ours.packets_dropped == 0) == lossless
    assert ours.mean_fct_s == pytest.approx(ns3.mean_fct_s, rel=0.01 if lossless else 0.05)
    assert ours.p99_fct_s == pytest.approx(ns3.p99_fct_s, rel=0.10)
    assert ours.waiting_packet_s == pytest.approx(ns3.waiting_packet_s, rel=0.05)
    assert ours.packets_marked == pytest.approx(ns3.packets_marked, rel=0.05)
    if name in EXACT:
        assert equal_flows(ns3, ours) == ns3.fct_ps.size
        assert ours.packets_dropped == ns3.packets_dropped
        assert ours.retransmissions == ns3.retransmissions
