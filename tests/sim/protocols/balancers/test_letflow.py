"""LetFlow: where flowlets begin and what path they take, packet by packet; its limits; the share of each path."""

import numpy as np
import pytest
from scipy import stats
from support.balancer_setups import OneSwitch
from support.engine_setups import CROWDED, LEAF_SPINE, differences, flow_list, one_run, setup_of

from capsim import scheme
from capsim.engines import run
from capsim.protocols.balancers.letflow import LETFLOW, Aging, Table
from capsim.records import ACK, DATA, ENQUEUED

DRAWS = (0.1, 0.4, 0.6, 0.9)  # the paths 0, 1, 2, 3 of four
EXACT = {"aging": Aging.EXACT, "gap_s": 100e-6}
SWEEP = {"aging": Aging.SWEEP, "gap_s": 100e-6}


@pytest.mark.parametrize("table", Table)
def test_a_flowlet_ends_with_a_silence_of_the_gap(table):
    switch = OneSwitch(LETFLOW, table=table, **EXACT)
    assert switch.path(0, hash=1, u0=DRAWS[2]) == 2
    assert switch.path(99.999999, hash=1, u0=DRAWS[0]) == 2
    assert switch.path(199.999998, hash=1, u0=DRAWS[0]) == 2  # counted from the last packet, not the first
    assert switch.path(299.999998, hash=1, u0=DRAWS[0]) == 0
    assert switch.path(300, hash=1, u0=DRAWS[3]) == 0


def test_a_sweep_finds_a_silence_of_one_to_two_gaps(subtests):
    """The bit of age is set at the first multiple of the gap, the place is free at the second."""
    for last_us, stays_us, leaves_us in [(0, 199.999, 200), (99, 199, 200), (150, 299, 300)]:
        with subtests.test(last_us=last_us, stays_us=stays_us, leaves_us=leaves_us):
            for now_us, expected in ((stays_us, 1), (leaves_us, 3)):
                switch = OneSwitch(LETFLOW, **SWEEP)
                assert switch.path(last_us, hash=1, u0=DRAWS[1]) == 1
                assert switch.path(now_us, hash=1, u0=DRAWS[3]) == expected


@pytest.mark.parametrize("aging", Aging)
def test_without_a_gap_each_packet_is_a_flowlet(aging):
    switch = OneSwitch(LETFLOW, aging=aging, gap_s=0.0)
    assert [switch.path(5, hash=1, u0=u0) for u0 in DRAWS] == [0, 1, 2, 3]


def test_flows_in_one_place_of_the_table_are_one_flowlet():
    apart, together = (OneSwitch(LETFLOW, table_entries=entries, **EXACT) for entries in (65_536, 1))
    for switch, second in ((apart, 3), (together, 0)):
        assert switch.path(0, hash=1, u0=DRAWS[0]) == 0
        assert switch.path(1, hash=2, u0=DRAWS[3]) == second
    own = OneSwitch(LETFLOW, table=Table.PER_FLOW, table_entries=1, **EXACT)
    assert [own.path(0, hash=number, u0=DRAWS[number]) for number in range(4)] == [0, 1, 2, 3]


def test_a_path_that_routes_have_removed_is_left():
    switch = OneSwitch(LETFLOW, **EXACT)
    assert switch.path(0, hash=1, u0=DRAWS[3]) == 3
    switch.candidates = switch.candidates[:2]
    assert switch.path(1, hash=1, u0=0.6) == 1


@pytest.mark.parametrize("table", ["hashed", "per_flow"])
def test_without_a_gap_it_is_random_spraying(table):
    kind, flows = CROWDED["fat-tree"]
    letflow = one_run(setup_of(kind, flows, "letflow", balancer={"gap_s": 0.0, "table": table}))
    rps = run(setup_of(kind, flows, "rps"))
    assert np.array_equal(letflow.trace, rps.trace)


def test_with_an_endless_gap_a_flow_has_one_path():
    """As under ECMP: the data of a flow leave its first switch by one port, its acknowledgements by one of theirs."""
    kind, flows = CROWDED["leaf-spine"]
    setup = setup_of(kind, flows, "letflow", balancer={"gap_s": 4000.0, "table": "per_flow"})
    trace = one_run(setup).trace
    up = [port for port, name in enumerate(setup.fabric.port_names) if name.startswith("leaf") and ">spine" in name]
    lines = trace[(trace["what"] == ENQUEUED) & np.isin(trace["port"], up)]
    ports = {(kind, sub): set() for kind in (DATA, ACK) for sub in range(len(flows))}
    for line in lines:
        ports[line["kind"], line["sub"]].add(line["port"])
    assert {len(found) for found in ports.values()} == {1}
    assert len(set.union(*ports.values())) > len(up) / 2


@pytest.mark.agreement
def test_flowlets_are_spread_evenly():
    """Flows of one packet each are flowlets; of n over three spines each gets n/3, chi-square at 1 in 10,000."""
    flows = flow_list([(0, 3 + number % 6, 1000, 20.0 * number) for number in range(900)])
    setup = setup_of(LEAF_SPINE, flows, scheme("letflow"))
    result = one_run(setup)
    sent = [
        int(result.ports["packets_out"][setup.fabric.port_names.index(f"leaf0>spine{spine}")]) for spine in range(3)
    ]
    assert sum(sent) == 900
    assert stats.chisquare(sent).pvalue > 1e-4


@pytest.mark.parametrize(
    "options",
    [{"table": "per_flow", "aging": "exact", "gap_s": 50e-6}, {"table_entries": 5, "gap_s": 20e-6}],
    ids=["per flow", "few places"],
)
def test_engines_agree(options):
    assert differences(setup_of(*CROWDED["fat-tree"], "letflow", balancer=options)) == []
