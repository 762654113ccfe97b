"""Freeway (reconstructed): how paths are divided, where short and long flows go; its limit."""

import numpy as np
import pytest
from support.balancer_setups import OneSwitch
from support.engine_setups import PARALLEL, differences, flow_list, one_run, random_flows, record, setup_of

from capsim import records, scheme
from capsim.engines import run
from capsim.protocols.balancers.ecmp import hashed
from capsim.protocols.balancers.freeway import FREEWAY
from capsim.records import ACK, DATA, ENQUEUED

PERIOD_US = 10_000
PERIOD_BYTES = 1_250_000  # of one path of 1 Gbit/s


class Divided(OneSwitch):
    """A switch with four paths of 1 Gbit/s."""

    def __init__(self, **params):
        super().__init__(FREEWAY, **params)
        for port in self.ports.values():
            port.rate_bps = 10**9

    def short(self, now_us, number, packet_bytes=1500, kind=DATA):
        return self.path(now_us, hash=number, bytes=packet_bytes, sub=record(records.SUBFLOW, short=1), kind=kind)

    def long(self, now_us, number, kind=DATA):
        return self.path(now_us, hash=number, bytes=1500, sub=record(records.SUBFLOW, short=0), kind=kind)

    @property
    def n_low(self):
        return self.own["towards"].n_low


def test_without_long_flows_short_ones_have_all_paths():
    switch = Divided()
    expected = [hashed(switch.record, record(records.PACKET, hash=number), 4) for number in range(40)]
    assert [switch.short(0, number) for number in range(40)] == expected
    assert set(expected) == {0, 1, 2, 3}


def test_beside_long_flows_they_have_the_first_paths():
    switch = Divided()
    switch.long(0, 100)
    assert {switch.short(1, number) for number in range(40)} == {0}
    switch.own["towards"].n_low = 3
    assert {switch.short(2, number) for number in range(40)} == {0, 1, 2}
    assert {switch.long(3, 100, kind=ACK) for _ in range(5)} <= {0, 1, 2}  # acknowledgements are short


def test_long_flows_are_forgotten_a_period_after_the_last():
    switch = Divided()
    switch.long(0, 100)
    assert {switch.short(PERIOD_US + 1, number) for number in range(40)} == {0}
    assert len({switch.short(2 * PERIOD_US + 1, number) for number in range(40)}) == 4


def test_a_long_flow_takes_the_path_with_the_fewest_and_keeps_it():
    switch = Divided()
    assert [switch.long(0, number) for number in range(5)] == [1, 2, 3, 1, 2]
    assert [switch.long(1, number) for number in range(5)] == [1, 2, 3, 1, 2]
    assert switch.long(2, 5) == 3
    assert [switch.long(PERIOD_US, number) for number in (0, 3, 1)] == [1, 1, 2]
    assert switch.long(2 * PERIOD_US, 9) == 3  # in the period before, 1 had two flows and 2 one


def test_a_long_flow_moves_when_its_path_is_for_short_ones():
    switch = Divided()
    assert [switch.long(0, number) for number in range(2)] == [1, 2]
    switch.own["towards"].n_low = 2
    assert [switch.long(1, number) for number in range(2)] == [3, 2]


def load_per_path(**params):
    """Return the largest load at which the waits of the M/D/1 queue still meet the deadline."""
    chosen = scheme("freeway").balancer.params
    wait = params.get("deadline_s", chosen.deadline_s) / chosen.deadline_waits / 12e-6  # in packets of 1500 bytes
    return 2 * wait / (1 + 2 * wait)  # wait = load / (2 (1 - load))


def test_as_many_paths_as_the_deadline_needs(subtests):
    """Load just above what `paths` carry in time: one more; just below: they stay."""
    for paths in [1, 2]:
        for deadline_s in [100e-6, 20e-6]:
            with subtests.test(paths=paths, deadline_s=deadline_s):
                most = round(paths * load_per_path(deadline_s=deadline_s) * PERIOD_BYTES)
                for size, expected in ((int(0.999 * most), paths), (int(1.001 * most), paths + 1)):
                    switch = Divided(deadline_s=deadline_s)
                    switch.own["towards"].n_low = paths
                    switch.short(0, 1, packet_bytes=size)
                    switch.short(PERIOD_US, 1)
                    assert switch.n_low == expected


def test_the_division_falls_with_the_load_and_leaves_a_path_to_each():
    switch = Divided()
    for period in range(5):
        switch.short(period * PERIOD_US, 1, packet_bytes=10 * PERIOD_BYTES)
    assert switch.n_low == 3
    for period in range(5, 9):
        switch.short(period * PERIOD_US, 1, packet_bytes=100)
    assert switch.n_low == 1


def test_a_period_without_packets_is_no_load():
    switch = Divided()
    switch.own["towards"].n_low = 2
    switch.short(0, 1, packet_bytes=10 * PERIOD_BYTES)
    switch.short(2 * PERIOD_US, 1)
    assert switch.n_low == 1


def test_a_flow_may_be_long_by_what_it_has_sent():
    switch = Divided(long_from=1, threshold_bytes=4500)
    paths = [switch.short(number, 1) for number in range(6)]
    own = hashed(switch.record, record(records.PACKET, hash=1), 4)
    assert paths[:2] == [own, own]
    assert paths[2:] == [1] * 4


@pytest.mark.parametrize("fabric", [PARALLEL])
def test_short_flows_alone_are_ecmp(fabric):
    flows = random_flows(8, n_flows=40, rng=3, within_us=300)
    only_short = flow_list(
        [
            (int(s), int(d), int(min(b, 90_000)), float(t) / 1e6)
            for s, d, b, t in zip(flows.src, flows.dst, flows.flow_bytes, flows.start_ps, strict=True)
        ]
    )
    freeway, ecmp = (
        one_run(setup_of(fabric, only_short, "freeway")).trace,
        run(setup_of(fabric, only_short, "ecmp")).trace,
    )
    assert np.array_equal(freeway, ecmp)


def test_short_and_long_flows_share_no_path():
    """Two long flows before the short ones begin: no packet of data of either kind on a path of the other."""
    rows = [(0, 4, 3_000_000, 0.0), (1, 5, 3_000_000, 0.0)]
    rows += [(2 + number % 2, 6 + number % 2, 20_000, 100.0 + 300.0 * number) for number in range(40)]
    setup = setup_of(PARALLEL, flow_list(rows), "freeway")
    result = one_run(setup)
    names, trace = setup.fabric.port_names, result.trace
    middle = [port for port in range(len(names)) if names[port].startswith("left>right")]
    lines = trace[(trace["what"] == ENQUEUED) & (trace["kind"] == DATA) & np.isin(trace["port"], middle)]
    short = result.flows["short"][result.subs["flow"][lines["sub"]]] == 1
    assert set(lines["port"][short].tolist()).isdisjoint(lines["port"][~short].tolist())
    assert len(set(lines["port"][~short].tolist())) == 2


def test_engines_agree():
    flows = random_flows(8, n_flows=30, rng=2)
    options = {"period_s": 50e-6, "long_from": "threshold", "threshold_bytes": 20_000, "deadline_s": 20e-6}
    assert differences(setup_of(PARALLEL, flows, "freeway", balancer=options)) == []
