"""CDCPS: all flows coded and sprayed, units decoded from any 8 packets, redundancy from RTTs above the average."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from support.engine_setups import CROWDED, UnitLosses, flow_list, one_run, setup_of, with_unit_losses
from support.scripted import MSS, Sender

from capsim import Dumbbell, LeafSpine, scheme
from capsim.engines import run
from capsim.records import CODED

LINK = Dumbbell(hosts_per_side=1, rate_bps=1e9, delay_s=10e-6)
FAR_SWITCH = 3
AS_CDCPS = {"unit_size": "fixed", "fixed_packets": 8, "rtt_factor": 1.0, "threshold": "average"}


def packets_of_units(sender):
    """Return how many packets of each unit have left."""
    return dict(Counter(packet.unit for packet in sender.packets if packet.kind == CODED))


def test_repair_packets_follow_from_the_rtts_above_the_average():
    """ceil(8 / (1 - p) - 8) with p = 1/6 before the first sampling period is over is 2; then 4 of 8 are large: 8.

    The k-th RTT is held against the mean of the first k: 100 four times, then 150, which is above 110 to 125.
    """
    sender = Sender("cdcps", n_segments=1000)
    assert packets_of_units(sender) == {0: 10}  # two more segments wait for six others
    for ack in range(1, 9):
        sender.ack(ack, at_us=150, rtt_us=100 if ack <= 4 else 150)
    assert packets_of_units(sender) == {0: 10, 1: 10, 2: 10}  # una 8, window 18: 26 segments, three units
    for ack in range(9, 15):
        sender.ack(ack, at_us=250, rtt_us=100)
    assert packets_of_units(sender) == {0: 10, 1: 10, 2: 10, 3: 16}


def test_an_rtt_equal_to_the_average_is_not_large():
    sender = Sender("cdcps", n_segments=1000)
    for ack in range(1, 9):
        sender.ack(ack, at_us=150, rtt_us=100)
    for ack in range(9, 15):
        sender.ack(ack, at_us=250, rtt_us=100)
    assert packets_of_units(sender)[3] == 8


@pytest.mark.parametrize("positions", [0b11, 0b1000000001, 0b0001100000])
def test_any_two_of_ten_may_be_lost(positions):
    sub = after_losses(positions)
    assert (sub["retransmissions"], sub["timeouts"]) == (0, 0)


def test_a_third_one_is_retransmitted():
    assert after_losses(0b111)["retransmissions"] > 0


def after_losses(positions):
    """Return the subflow of a flow whose first unit loses the packets at these positions."""
    lossy = with_unit_losses(scheme("cdcps"), UnitLosses(at_node=FAR_SWITCH, unit=0, positions=positions))
    return one_run(setup_of(LINK, flow_list([(0, 1, 100 * MSS, 0.0)]), lossy)).subs[0]


def test_tcp_sees_no_reordering():
    """Without losses, while spraying alone reorders."""
    kind = LeafSpine(leaves=3, hosts_per_leaf=3, spines=3, delay_s=2e-6, buffer_packets=100_000)
    flows = CROWDED["leaf-spine"][1]
    coded, plain = one_run(setup_of(kind, flows, "cdcps")).subs, run(setup_of(kind, flows, "rps")).subs
    assert plain["reordered_packets"].sum() > 50
    for name in ("reordered_packets", "dup_acks_received", "retransmissions"):
        assert coded[name].sum() == 0


def test_short_flows_do_as_those_of_caps_with_the_same_units():
    """What is left of CAPS where no flow is long."""
    kind, flows = CROWDED["leaf-spine"]
    short = replace(flows, short=np.ones(len(flows), bool))
    ours = one_run(setup_of(kind, short, "cdcps"))
    theirs = one_run(setup_of(kind, short, scheme("caps_decode").with_params(layer=AS_CDCPS)))
    assert len(ours.trace) > 10_000
    assert np.array_equal(ours.trace, theirs.trace)


def test_long_flows_are_coded_too():
    kind, flows = CROWDED["leaf-spine"]
    result = one_run(setup_of(kind, flows, "cdcps"))
    long = result.subs[np.isin(result.subs["flow"], np.flatnonzero(~flows.short))]
    coder = result.own.records("subflow", (0, "layer"))[np.isin(result.subs["flow"], np.flatnonzero(~flows.short))]
    assert len(long) == np.sum(~flows.short) == 3
    assert (coder["coded_packets"] >= result.flows["n_segments"][long["flow"]]).all()
