"""Flows under RACK-TLP in whole runs: what they are where nothing is lost or late, and what spraying costs them."""

import numpy as np
import pytest
from support.engine_setups import CROWDED, FAR_SWITCH, LINK, MSS, Losses, flow_list, setup_of, with_losses

from capsim import LeafSpine, scheme
from capsim.base.clock import serialisation_ps
from capsim.engines import run

DEEP = LeafSpine(leaves=3, hosts_per_leaf=3, spines=3, delay_s=2e-6, buffer_packets=10_000)
FAST = LeafSpine(
    leaves=4, hosts_per_leaf=4, spines=4, rate_bps=100e9, host_rate_bps=100e9, delay_s=1e-6, buffer_packets=1000
)


@pytest.mark.parametrize("transport", [{"tlp": False}, {"max_window_bytes": 3 * MSS}])
def test_without_losses_and_reordering_it_is_sack(transport):
    """Limiting case, packet for packet: without probes in long queues, with them where no round trip doubles."""
    flows = CROWDED["leaf-spine"][1]
    window = {name: value for name, value in transport.items() if name != "tlp"}
    expected = run(setup_of(DEEP, flows, "sack", transport=window))
    assert expected.ports["packets_dropped"].sum() == 0
    assert len(expected.trace) > 5000
    assert np.array_equal(run(setup_of(DEEP, flows, "rack", transport=transport)).trace, expected.trace)


def test_a_lost_end_costs_two_round_trips_in_place_of_the_timeout():
    """Ten segments, the last is lost: a probe 2 SRTT after the last acknowledgement brings it.

    The first RTT is R = 336.96 us; each segment behind it waits for 12 us at its host: RTTs R, R + 12, ... R + 96 us.
    """
    base = with_losses(scheme("rack"), Losses(at_node=FAR_SWITCH, once_a=9))
    found = run(setup_of(LINK, flow_list([(0, 1, 10 * MSS, 0.0)]), base), engine="reference")
    data_ps, ack_ps = (3 * (serialisation_ps(size, 10**9) + 50_000_000) for size in (1500, 40))
    rtts_ps = [data_ps + ack_ps + 12_000_000 * place for place in range(9)]
    srtt_ps = rtts_ps[0]
    for rtt_ps in rtts_ps[1:]:
        srtt_ps = (7 * srtt_ps + rtt_ps) // 8
    assert found.subs["srtt_ps"].tolist() == [srtt_ps]
    assert found.flows["received_ps"].tolist() == [rtts_ps[-1] + 2 * srtt_ps + data_ps]
    assert (found.subs["timeouts"][0], found.subs["retransmissions"][0]) == (0, 1)


def permuted(name, **transport):
    """Return the result of 16 flows of 2 MB, each to the next leaf, on a fabric that has room for all of it."""
    flows = flow_list([(host, (host + 4) % 16, 2_000_000, 0.0) for host in range(16)])
    return run(setup_of(FAST, flows, name, transport={"max_window_bytes": 400_000, **transport}, trace=0))


def test_three_duplicates_send_sprayed_packets_again_that_time_waits_for():
    """No packet is lost. RACK cannot know of reordering before it has seen some, so it is wrong about once a flow."""
    count, timed = (permuted(name) for name in ("rps", "rack_rps"))
    assert count.ports["packets_dropped"].sum() == timed.ports["packets_dropped"].sum() == 0
    assert count.subs["reordered_packets"].min() > 0
    assert timed.subs["reordered_packets"].min() > 0
    assert count.subs["retransmissions"].sum() > 300
    assert timed.subs["spurious_retransmissions"].sum() <= 16
    assert timed.subs["retransmissions"].sum() < count.subs["retransmissions"].sum() / 10
    assert timed.flows["received_ps"].mean() < 0.9 * count.flows["received_ps"].mean()


def test_a_window_that_is_restored_is_reduced_in_vain_as_often_and_costs_less():
    """No packet is lost, so every reduction is in vain: with `undo` the flows end earlier."""
    reduced, restored = (permuted("rack_rps", undo=undo) for undo in (False, True))
    assert restored.subs["fast_retransmits"].sum() >= 8
    assert restored.ports["packets_dropped"].sum() == 0
    assert np.median(restored.subs["ssthresh_bytes"]) > reduced.subs["ssthresh_bytes"].max()
    assert restored.flows["received_ps"].mean() < 0.99 * reduced.flows["received_ps"].mean()


def test_windows_and_marks_of_dctcp_run_over_it():
    """Combined by name: the same windows as over SACK, and half as many acknowledgements if they are put off."""
    flows = flow_list([(0, 1, 300 * MSS, 0.0)])
    alone = {name: run(setup_of(LINK, flows, name)) for name in ("dctcp+sack", "dctcp+rack")}
    assert np.array_equal(*(found.trace for found in alone.values()))
    each, second = (
        run(setup_of(LINK, flows, "dctcp+rack", transport={"ack_every": every, "ack_delay_s": 1e-3})).trace
        for every in (1, 2)
    )
    acks, fewer = (int(((trace["kind"] == 1) & (trace["what"] == 0)).sum()) for trace in (each, second))
    assert acks / 2 <= fewer < 0.52 * acks
