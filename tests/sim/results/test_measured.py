"""Exact arithmetic and a second count by the packet trace: warm-up, layers, subflows, reordering, histograms."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.engine_setups import record

from capsim import Batch, Dumbbell, LeafSpine, LinkChange, Listed, Poisson, Probes, Result, Scenario, simulate
from capsim.engines.hosts.reordering import judge
from capsim.records import ACK, PACKET, RETRANSMITTED, SUBFLOW

BUSY = Scenario(
    fabric=LeafSpine(leaves=2, hosts_per_leaf=3, spines=3, buffer_packets=12),
    traffic=(Poisson(workload="websearch", load=0.7, flows=20, pairs="other-leaf"),),
    probes=Probes(histograms=True),
    subflows=True,
    trace="packets",
    scheme="rps",
    seed=3,
    end_s=0.05,
)
WARM_S = 0.02


@pytest.fixture(scope="module")
def busy() -> Result:
    return simulate(BUSY.replace(warm_up_s=WARM_S))


# -- warm-up and layers


def test_counters_after_the_warm_up_are_those_of_the_trace(busy: Result) -> None:
    later = busy.trace[busy.trace["time_s"] > WARM_S]
    counts = pd.crosstab(later["port"], later["event"]).reindex(busy.ports["name"], fill_value=0)
    queue_full = later[later["reason"] == "queue full"]["port"].value_counts().reindex(busy.ports["name"])
    dropped = queue_full.fillna(0).to_numpy()
    assert dropped.sum() > 0
    assert busy.ports["measured_packets_dropped"].tolist() == dropped.tolist()
    offered = counts["enqueued"].to_numpy() + dropped
    assert busy.ports["measured_packets_in"].tolist() == offered.tolist()
    assert (busy.ports["measured_packets_in"] < busy.ports["packets_in"]).any()


def test_what_is_measured_is_what_the_warm_up_lacks(busy: Result) -> None:
    """A run that ends with the warm-up has the rest of each time integral and of the bytes sent."""
    first = simulate(BUSY.replace(end_s=WARM_S)).ports
    end_s, ports = busy.resources.simulated_s, busy.ports
    assert end_s > WARM_S
    for name in ("mean_queue_packets", "utilisation"):
        whole, rest = ports[name] * end_s, ports[f"measured_{name}"] * (end_s - WARM_S)
        np.testing.assert_allclose(rest, whole - first[name] * WARM_S, rtol=1e-9, atol=1e-12)


def test_a_warm_up_changes_nothing_else(busy: Result) -> None:
    plain = simulate(BUSY)
    assert plain.trace.equals(busy.trace)
    for name in ("flows", "ports"):
        columns = [column for column in getattr(plain, name) if not column.startswith(("measured_", "counted"))]
        assert getattr(plain, name)[columns].equals(getattr(busy, name)[columns])
    assert plain.ports["measured_packets_in"].equals(plain.ports["packets_in"])
    assert plain.flows["measured_bytes"].equals(plain.flows["delivered_bytes"])


def test_a_run_that_ends_in_its_warm_up_measures_nothing() -> None:
    run = Scenario(fabric=Dumbbell(hosts_per_side=1), traffic=(Batch(pairs="sides", flow_bytes=14_600),), warm_up_s=1.0)
    for engine in ("reference", "compiled"):
        result = simulate(run, engine=engine)
        assert result.ports["measured_packets_in"].eq(0).all()
        assert result.ports["measured_utilisation"].isna().all()
        assert result.flows["measured_bytes"].tolist() == [0]


def test_an_endless_flow_delivers_at_the_rate_of_its_link() -> None:
    """From 10 ms to 30 ms: 1460 of each 1500 bytes at 1 Gbit/s, give or take a packet."""
    flow = Listed(flows=((0, 1, 10**9, 0.0),))
    run = Scenario(fabric=Dumbbell(hosts_per_side=1), traffic=(flow,), end_s=0.03, warm_up_s=0.01)
    found = simulate(run)
    expected_bytes = 1e9 * 0.02 / 8 * 1460 / 1500
    assert found.flows["measured_bytes"].item() == pytest.approx(expected_bytes, abs=1460)
    assert found.summary.mean_goodput_long_bps == pytest.approx(8 * expected_bytes / 0.02, rel=1e-3)
    layer = found.layers.loc["left>right"]
    assert layer["utilisation"] == pytest.approx(1.0, rel=1e-3)
    assert layer["loss_ratio"] == 0.0


def test_layers_add_up_their_ports(busy: Result) -> None:
    layers = busy.layers
    assert set(layers.index) == {"host>leaf", "leaf>host", "leaf>spine", "spine>leaf"}
    assert layers["ports"].to_dict() == {"host>leaf": 6, "leaf>host": 6, "leaf>spine": 6, "spine>leaf": 6}
    ours = busy.ports[busy.ports["layer"] == "leaf>spine"]
    row = layers.loc["leaf>spine"]
    assert row["loss_ratio"] == ours["measured_packets_dropped"].sum() / ours["measured_packets_in"].sum() > 0
    assert row["utilisation"] == pytest.approx(ours["measured_utilisation"].mean(), rel=1e-12)
    assert row["max_utilisation"] == ours["measured_utilisation"].max()


# -- subflows


def test_the_table_of_subflows_has_what_flows_sum() -> None:
    run = BUSY.replace(scheme="repflow", probes=None, subflows=False, trace="off", end_s=1.0)
    result = simulate(run)
    short = result.flows["short"].to_numpy()
    assert result.subflows["flow"].value_counts().sort_index().tolist() == (1 + short).tolist()
    assert result.subflows.groupby("flow")["number"].max().tolist() == short.astype(int).tolist()
    for name in ("packets_sent", "retransmissions", "packets_dropped", "duplicate_acks", "spurious_retransmissions"):
        assert result.subflows.groupby("flow")[name].sum().tolist() == result.flows[name].tolist()
    assert result.subflows["path_hash"].is_unique
    assert (result.subflows["max_reorder_extent"] == -1).all()
    assert len(simulate(run.replace(scheme="ecmp")).subflows) == 0


def test_shares_of_a_stream_add_up() -> None:
    """MPTCP: each data segment of a finished flow was granted to one of its subflows."""
    result = simulate(BUSY.replace(scheme="mptcp", probes=None, subflows=False, trace="off", end_s=1.0))
    assert result.flows["finished"].all()
    granted = result.subflows.groupby("flow")["granted_packets"].sum()
    assert granted.tolist() == np.ceil(result.flows["flow_bytes"] / 1460).astype(int).tolist()
    assert result.subflows["received_s"].isna().all()
    assert (result.subflows["state"] == "closed").all()


@pytest.mark.parametrize("handshake", [False, True])
def test_a_handshake_takes_a_round_trip(handshake: bool) -> None:
    """SYN and SYN-ACK of 40 bytes over three links of 1 Gbit/s and 10 us each way; then the first window."""
    rtt_s = 6 * (10e-6 + 0.32e-6)
    run = Scenario(
        fabric=Dumbbell(hosts_per_side=1, rate_bps=1e9, delay_s=10e-6),
        traffic=(Listed(flows=((0, 1, 1460, 1e-3),)),),
        params={"transport": {"handshake": handshake}},
        subflows=True,
    )
    (row,) = simulate(run, engine="reference").subflows.to_dict("records")
    assert row["open_s"] == 1e-3
    assert row["established_s"] == pytest.approx(1e-3 + handshake * rtt_s, rel=1e-12)
    assert row["received_s"] == pytest.approx(
        row["established_s"] + 3 * (10e-6 + 12e-6) + handshake * 0.32e-6, rel=1e-9
    )
    assert row["closed_s"] == pytest.approx(row["received_s"] + rtt_s / 2, rel=1e-9)
    assert (row["state"], row["granted_packets"], row["cwnd_bytes"]) == ("closed", 1, 11 * 1460)


@pytest.mark.parametrize("up_s", [0.5, 9.0])
def test_a_flow_is_established_by_the_first_syn_that_is_answered(up_s: float) -> None:
    """The link comes up after the first SYN, so the second one opens it, an initial timeout of 1 s later; or never."""
    down = LinkChange(between=("left", "right"), down_s=0.0, up_s=up_s)
    run = Scenario(
        fabric=Dumbbell(hosts_per_side=1, rate_bps=1e9, delay_s=10e-6, links=(down,)),
        traffic=(Listed(flows=((0, 1, 1460, 1e-3),)),),
        params={"transport": {"handshake": True, "initial_rto_s": 1.0}},
        scheme="mptcp",
        subflows=True,
        end_s=1.5,
    )
    result = simulate(run, engine="reference")
    (flow,) = result.flows.to_dict("records")
    if up_s < 1:
        assert flow["established_s"] == result.subflows["established_s"].min()
        assert flow["established_s"] == pytest.approx(1.001 + 6 * 10e-6, abs=2e-5)  # the SYNs of eight subflows
        assert 1.0 < flow["established_s"] < flow["start_s"] + flow["acked_fct_s"] < 1.0013
    else:
        assert np.isnan(flow["established_s"])


# -- reordering


def brute_force_extents(arrivals: pd.DataFrame) -> list[int]:
    """Return the extents of RFC 4737, section 4.2, by their definition: packets in the order of arrival, each once."""
    first = arrivals.drop_duplicates("segment")
    numbers, again = first["segment"].tolist(), (first["flags"] & RETRANSMITTED).tolist()
    found = []
    for i, number in enumerate(numbers):
        later_sent = [j for j in range(i) if numbers[j] > number]
        if later_sent and not again[i]:
            found.append(i - later_sent[0])
    return found


def test_extents_are_those_of_the_definition(busy: Result) -> None:
    trace = busy.trace
    came = trace[(trace["event"] == "arrived") & (trace["packet"] == "data") & (trace["layer"] == "leaf>host")]
    extents = {number: brute_force_extents(rows) for number, rows in came.groupby("subflow")}
    table = busy.subflows.set_index("subflow")
    assert {n: max(e, default=0) for n, e in extents.items()} == table["max_reorder_extent"][list(extents)].to_dict()
    assert {n: len(e) for n, e in extents.items()} == table["reordered_packets"][list(extents)].to_dict()
    is_short = busy.flows.set_index("flow")["short"]
    rows = busy.histograms[busy.histograms["quantity"] == "reorder_extent_packets"]
    for short, kind in ((True, "short"), (False, "long")):
        every = [each for n, e in extents.items() for each in e if is_short[table.loc[n, "flow"]] == short]
        ours = rows[rows["packets"] == kind]
        edges = [*ours["least"], np.inf]
        assert ours["count"].sum() == len(every) > 0
        for row in ours.itertuples():
            assert row.count == sum(row.least <= each < row.below for each in every)
        assert edges == sorted(edges)


def told(sub: Any, segment: int, ack: int, *, flags: int = 0) -> tuple[int, int]:
    """Return spurious retransmissions and long runs after the sender took the acknowledgement of `segment`."""
    packet = record(PACKET, kind=ACK, segment=segment, ack=ack, flags=flags)
    judge(SimpleNamespace(subs=[sub], packets=[packet]), 0, 0)
    sub.una = max(sub.una, ack)
    return sub.spurious_retransmissions, sub.long_dup_ack_runs


def test_a_late_original_is_told_from_a_retransmission() -> None:
    """Segment 5 is missing, four later ones come; the recovery has begun when its original, or its copy, arrives."""
    for flags, expected in ((0, (1, 1)), (RETRANSMITTED, (0, 0))):
        sub = record(SUBFLOW, una=5, high=12)
        for segment in (6, 7, 8, 9):
            assert told(sub, segment, 5) == (0, 0)
        sub.in_doubt = 1
        assert told(sub, 5, 10, flags=flags) == expected
        assert told(sub, 10, 11) == expected, "each recovery is judged once"


def test_three_duplicates_are_no_long_run_and_a_new_acknowledgement_ends_a_run() -> None:
    sub = record(SUBFLOW, una=5, high=20)
    for segment in (6, 7, 8):
        told(sub, segment, 5)
    assert told(sub, 5, 9) == (0, 0)
    for segment in (10, 11):
        told(sub, segment, 9)
    assert told(sub, 9, 12) == (0, 0)
    assert sub.dup_run == 0


def test_duplicates_of_what_is_sent_again_are_no_reordering() -> None:
    """After a timeout four segments that the receiver has are sent again; the original of 5 comes after them."""
    sub = record(SUBFLOW, una=5, high=20)
    for segment in (6, 7, 8, 9):
        told(sub, segment, 5, flags=RETRANSMITTED)
    assert told(sub, 5, 10) == (0, 0)


def test_an_acknowledgement_that_got_lost_leaves_the_question_open() -> None:
    """That of the missing segment is lost: the next one answers a later packet and tells nothing."""
    sub = record(SUBFLOW, una=5, high=20, in_doubt=1)
    assert told(sub, 10, 11) == (0, 0)
    assert sub.in_doubt == 0


@pytest.mark.parametrize(("further_s", "spurious"), [(0.0, 0), (100e-6, 1), (400e-6, 0)])
def test_a_longer_path_makes_a_retransmission_spurious(further_s: float, spurious: int) -> None:
    """Every other of nine packets takes a path that is longer.

    With 100 us more the third duplicate acknowledgement leaves before the original comes, which is there before the
    retransmission, a round trip of 0.2 ms later. With 400 us more the retransmission is there first.
    """
    longer = LinkChange(between=("leaf0", "spine1"), one_way=True, delay_s=20e-6 + further_s)
    run = Scenario(
        fabric=LeafSpine(leaves=2, hosts_per_leaf=1, spines=2, delay_s=20e-6, links=(longer,)),
        traffic=(Listed(flows=((0, 1, 13_140, 0.0),)),),
        scheme="rps",
        params={"balancer": {"round_robin": True, "spray_acks": False}},
    )
    (row,) = simulate(run, engine="reference").flows.to_dict("records")
    assert row["packets_dropped"] == 0
    assert row["fast_retransmits"] == (further_s > 0)
    assert (row["spurious_retransmissions"], row["long_dup_ack_runs"]) == (spurious, spurious)


# -- queues


def test_every_packet_that_leaves_a_queue_is_counted_once(busy: Result) -> None:
    """After the warm-up; waiting times and lengths are of the same packets."""
    rows = busy.histograms[busy.histograms["layer"] != ""]
    for quantity in ("wait_s", "left_behind_bytes"):
        counts = rows[rows["quantity"] == quantity].groupby("layer", observed=True)["count"].sum()
        whole = simulate(BUSY.replace(end_s=WARM_S)).ports.groupby("layer", observed=True)["packets_out"].sum()
        sent = busy.ports.groupby("layer", observed=True)["packets_out"].sum() - whole
        assert counts.to_dict() == sent.to_dict()


def test_a_window_sent_at_once_waits_one_packet_after_the_other() -> None:
    """Ten packets of 12 us at the NIC: waits of 0, 12, ..., 108 us, and 9, 8, ..., 0 packets left behind."""
    run = Scenario(
        fabric=Dumbbell(hosts_per_side=1, rate_bps=1e9),
        traffic=(Listed(flows=((0, 1, 14_600, 0.0),)),),
        probes=Probes(histograms=True),
    )
    rows = simulate(run, engine="reference").histograms
    nic = rows[(rows["layer"] == "host>left") & (rows["packets"] == "short")]
    for quantity, expected in (("wait_s", 12e-6 * np.arange(10)), ("left_behind_bytes", 1500 * np.arange(10))):
        for row in nic[nic["quantity"] == quantity].itertuples():
            inside = (expected * (1 + 1e-12) >= row.least) & (expected * (1 + 1e-12) < row.below)
            assert row.count == inside.sum() > 0
    replies = rows[(rows["layer"] == "host>right") & (rows["packets"] == "control")]
    assert replies.loc[replies["quantity"] == "wait_s", ["least", "count"]].to_numpy().tolist() == [[0.0, 10.0]]


def test_histograms_are_kept_only_when_asked_for() -> None:
    raw = simulate(BUSY.replace(probes=None, trace="off")).raw
    assert len(raw.queue_counts) == len(raw.extents) == 0
    assert raw.subs["max_reorder_extent"].max() == 0
    assert SUBFLOW.itemsize == 448
