"""Datagrams: each packet leaves when its rate says, whatever is lost; what has come is counted in any order."""

from dataclasses import replace

import numpy as np
import pytest
from support.engine_setups import BUSY, CROWDED, Losses, flow_list, one_run, sent_by, setup_of, with_losses

from capsim import Dumbbell, ParameterError, scheme
from capsim.engines import run
from capsim.protocols.transports.datagram import DatagramParams
from capsim.records import ACK

MSS = 1460
LINK = Dumbbell(hosts_per_side=2, rate_bps=1e9, delay_s=10e-6, buffer_packets=100)
FAR_SWITCH = 5


def times_ps(result, setup, sub=0):
    return sent_by(result, setup, sub)["time_ps"].tolist()


@pytest.mark.parametrize("rate_bps", [100_000_000, 333_333_333, 7_000_003])
def test_packets_leave_at_the_rate_to_the_picosecond(rate_bps):
    """Packet i leaves i times 1488 bytes after the first, rounded down: no rounding adds up."""
    setup = setup_of(LINK, flow_list([(0, 2, 700 * MSS, 3.0)]), "cbr", transport={"rate_bps": rate_bps}, end_ps=10**13)
    expected = [3_000_000 + 1488 * 8 * 10**12 * i // rate_bps for i in range(700)]
    assert times_ps(one_run(setup), setup) == expected


def test_the_last_packet_is_as_long_as_what_is_left():
    result = one_run(setup_of(LINK, flow_list([(0, 2, 2 * MSS + 100, 0.0)]), "cbr"))
    assert result.subs["bytes_sent"].tolist() == [2 * 1488 + 128]
    sent_us = 2 * 1488 * 8 / 100  # the third leaves after two packet times
    arrived_us = sent_us + 3 * (128 * 8 / 1000 + 10)
    assert result.flows["received_ps"][0] / 1e6 == pytest.approx(arrived_us, abs=1e-6)
    assert result.flows["acked_ps"][0] / 1e6 == pytest.approx(sent_us, abs=1e-6)
    assert (result.trace["kind"] != ACK).all()


def test_on_periods():
    """At 100 Mbit/s a packet takes 119.04 us: 3 leave in 300 us ON, and the fourth 500 us after the first."""
    options = {"transport": {"on_s": 300e-6, "off_s": 200e-6}}
    setup = setup_of(LINK, flow_list([(0, 2, 9 * MSS, 70.0)]), "on_off", **options)
    sent_us = [time / 1e6 for time in times_ps(one_run(setup), setup)]
    assert sent_us == pytest.approx([70 + 500 * period + 119.04 * i for period in range(3) for i in range(3)])


def test_a_packet_time_longer_than_the_periods():
    """One leaves in the ON period that the next multiple of 119.04 us lies in or before: at 0, 150, 300 us."""
    options = {"transport": {"on_s": 10e-6, "off_s": 40e-6}}
    setup = setup_of(LINK, flow_list([(0, 2, 3 * MSS, 0.0)]), "on_off", **options)
    assert [time / 1e6 for time in times_ps(one_run(setup), setup)] == [0, 150, 300]


def test_an_on_period_that_outlasts_the_flow_is_a_constant_rate():
    kind, flows = CROWDED["leaf-spine"]
    ours = one_run(setup_of(kind, flows, "on_off", transport={"on_s": 10.0}))
    theirs = one_run(setup_of(kind, flows, "cbr"))
    assert np.array_equal(ours.trace, theirs.trace)


def test_a_lost_packet_is_not_sent_again_and_the_rest_is_counted():
    lossy = with_losses(scheme("cbr"), Losses(at_node=FAR_SWITCH, once_a=3, once_b=7))
    setup = setup_of(LINK, flow_list([(0, 2, 10 * MSS, 0.0)]), lossy)
    result = one_run(setup)
    assert len(times_ps(result, setup)) == 10
    assert result.subs["receive_next"].tolist() == [8]
    assert result.flows["received_ps"].tolist() == [-1]
    assert result.subs["closed_ps"][0] == times_ps(result, setup)[-1]


def test_sprayed_datagrams_that_overtake_are_counted():
    kind, flows = BUSY["leaf-spine"]
    sprayed = replace(scheme("rps"), name="sprayed", short=scheme("cbr").short, long=scheme("cbr").long)
    result = one_run(setup_of(kind, flows, sprayed, transport={"rate_bps": 1_000_000_000}))
    assert result.subs["reordered_packets"].sum() > 10
    assert result.subs["retransmissions"].sum() == 0


def test_tcp_gets_what_the_rate_leaves():
    """400 Mbit/s of a link of 1 Gbit/s: 600 for TCP, less its headers and what its sawtooth leaves unused."""
    flows = flow_list([(0, 2, 10**9, 0.0), (1, 3, 10**9, 0.0)])
    fast = Dumbbell(hosts_per_side=2, rate_bps=1e9, host_rate_bps=1e10, delay_s=10e-6, buffer_packets=100)
    tagged = replace(flows, tag=np.array([0, 1], np.int16))
    setup = setup_of(fast, tagged, "ecmp", end_ps=2 * 10**12, trace=0)
    paced = scheme("cbr").with_params(transport={"rate_bps": 400_000_000})
    result = run(replace(setup, entry_schemes={1: paced}))
    goodput_bps = result.subs["receive_next"] * MSS * 8 / 2
    lost = result.subs["packets_dropped"][1] / result.subs["packets_sent"][1]
    assert lost < 0.02
    assert goodput_bps[1] == pytest.approx(400e6 * MSS / 1488 * (1 - lost), rel=1e-3)
    assert goodput_bps[0] == pytest.approx(600e6 * MSS / 1500, rel=0.04)


def test_off_periods_need_on_periods():
    with pytest.raises(ParameterError) as caught:
        DatagramParams(off_s=1e-3)
    assert str(caught.value) == "transport.off_s needs transport.on_s, the length of an ON period"
