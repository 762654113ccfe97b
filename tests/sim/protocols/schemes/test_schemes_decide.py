"""What single schemes decide, against what their papers say, on the smallest case that shows it."""

from dataclasses import replace

import numpy as np
import pytest
from support.engine_setups import DUMBBELL, PARALLEL, flow_list, one_run, params_of, random_flows, record, setup_of

from capsim import ACCEPT, EVICT, MARK, REFUSE, Dumbbell, LeafSpine, LinkChange, records, scheme
from capsim.engines import run
from capsim.engines.state import Setup
from capsim.protocols.queues.ecn import ECN
from capsim.protocols.queues.priority import PRIORITY
from capsim.records import ACK, ARRIVED, DATA, ECN_CAPABLE, EVICTED


def test_repflow_first_copy_counts():
    setup = setup_of(
        LeafSpine(leaves=2, hosts_per_leaf=4, spines=4, buffer_packets=8), random_flows(8, n_flows=40, rng=5), "repflow"
    )
    result = one_run(setup)
    copies = result.flows["n_subs"]
    assert set(copies[result.flows["short"] == 1]) == {2}
    assert set(copies[result.flows["short"] == 0]) == {1}
    for flow in result.flows:
        received = result.subs["received_ps"][flow["first_sub"] : flow["first_sub"] + flow["n_subs"]]
        assert flow["received_ps"] == received.min()
        assert result.subs["received_ps"][flow["winner"]] == flow["received_ps"]
    pairs = result.flows[copies == 2]["first_sub"]
    assert np.mean(result.subs["hash"][pairs] != result.subs["hash"][pairs + 1]) == 1


def test_repflow_loser_stops_when_asked():
    slow = LinkChange(between=("leaf*", "spine1"), rate_bps=50e6)
    kind = LeafSpine(leaves=2, hosts_per_leaf=4, spines=2, buffer_packets=500, links=(slow,))
    flows = flow_list([(i, 4 + i, 90_000, 0.0) for i in range(4)])
    base = scheme("repflow")
    stopping = base.with_params(sharing={"abort_losers": True})
    sent = [run(setup_of(kind, flows, chosen)).subs["packets_sent"].sum() for chosen in (base, stopping)]
    assert sent[0] >= 8 * 62
    assert sent[1] < sent[0]


def test_ecmp_keeps_a_flow_on_its_path_and_spreads_flows():
    setup = setup_of(PARALLEL, flow_list([(i % 4, 4 + i % 4, 20_000, 40.0 * i) for i in range(40)]), "ecmp")
    result = one_run(setup)
    middle = [p for p, name in enumerate(setup.fabric.port_names) if name.startswith("left>right")]
    lines = result.trace[(result.trace["what"] == ARRIVED) & np.isin(result.trace["port"], middle)]
    data = lines[lines["kind"] == DATA]
    paths = [set(data["port"][data["sub"] == sub]) for sub in range(40)]
    assert {len(path) for path in paths} == {1}
    assert set.union(*paths) == set(middle)


def test_priority_pushes_out_the_last_long_packet():
    port = record(records.PORT, limit_packets=4, limit_bytes=-1)
    admit = PRIORITY.admit
    params = params_of(PRIORITY)
    high, low = (record(records.PACKET, priority=level, bytes=1500) for level in (0, 1))
    assert [admit(params, None, port, packet, 3, 4500, 0, 0.0) for packet in (high, low)] == [ACCEPT, ACCEPT]
    assert [admit(params, None, port, packet, 4, 6000, 0, 0.0) for packet in (high, low)] == [EVICT, REFUSE]
    kind = Dumbbell(hosts_per_side=2, host_rate_bps=10e9, buffer_packets=8)
    flows = flow_list([(0, 2, 600_000, 0.0), (1, 3, 30_000, 300.0)])
    result = one_run(setup_of(kind, flows, "ecmp_pq"))
    evicted = result.trace[result.trace["reason"] == EVICTED]
    assert len(evicted) > 0
    assert set(evicted["sub"]) == {0}


def test_short_flow_overtakes_under_priority():
    kind = Dumbbell(hosts_per_side=2, host_rate_bps=10e9, buffer_packets=200)
    flows = flow_list([(0, 2, 3_000_000, 0.0), (1, 3, 30_000, 5000.0)])
    shared, first = (
        one_run(setup_of(kind, flows, name, trace=0)).flows["received_ps"][1] for name in ("ecmp", "ecmp_pq")
    )
    assert first < 0.5 * shared + 0.5 * 5_000_000_000


ECN_AT_NICS = replace(ECN, params=replace(ECN.params, at_nics=True))


def test_ecn_marks_at_the_threshold(subtests):
    """RFC 8257, 3.1: switches do; at hosts' own ports the threshold counts only where `at_nics` asks for it."""
    cases = [(ECN, 0, True), (ECN, 1, False), (ECN_AT_NICS, 0, True), (ECN_AT_NICS, 1, True)]
    for queue, of_host, marks in cases:
        with subtests.test(queue=queue, of_host=of_host, marks=marks):
            port = record(records.PORT, limit_packets=100, limit_bytes=-1, of_host=of_host)
            params = params_of(queue)
            capable = record(records.PACKET, flags=ECN_CAPABLE, bytes=1500)
            other = record(records.PACKET, flags=0, bytes=40, kind=ACK)
            decisions = [
                queue.admit(params, None, port, capable, waiting, 0, 0, 0.0) for waiting in (0, 19, 20, 99, 100)
            ]
            above = MARK if marks else ACCEPT
            assert decisions == [ACCEPT, ACCEPT, above, above, REFUSE]
            assert queue.admit(params, None, port, other, 50, 0, 0, 0.0) == ACCEPT


FIRST_WINDOW_64 = {"initial_window_packets": 64}


def marked_by_port(flows, chosen):
    """Return how many packets the ports of a dumbbell with one rate have marked, by name, and their longest queues."""
    setup = setup_of(Dumbbell(hosts_per_side=2, buffer_packets=200), flows, chosen, transport=FIRST_WINDOW_64)
    ports = one_run(setup).ports
    marked, longest = ports["packets_marked"].tolist(), ports["max_queue_packets"].tolist()
    return tuple(dict(zip(setup.fabric.port_names, found, strict=True)) for found in (marked, longest))


@pytest.mark.parametrize(("at_nics", "marked"), [(False, 0), (True, 64 - 1 - 20)])
def test_a_lone_window_of_64_waits_in_its_own_nic(at_nics, marked):
    """One segment is in service and 20 wait unmarked, so 43 find the threshold; at one rate no switch has a queue."""
    chosen = scheme("dctcp").with_params(queue={"at_nics": at_nics})
    marks, longest = marked_by_port(flow_list([(0, 2, 64 * 1460, 0.0)]), chosen)
    assert longest["host0>left"] == 64
    assert marks["host0>left"] == sum(marks.values()) == marked


def test_a_burst_into_a_port_of_a_switch_is_marked_beyond_the_threshold():
    """Two windows of 64 meet there: in the time of one packet two come and one leaves.

    So the first of pair i = 0 .. 63 finds i - 1 waiting behind the one in service, the second finds i: 43 first and 44
    second ones find 20 or more.
    """
    flows = flow_list([(0, 2, 64 * 1460, 0.0), (1, 2, 64 * 1460, 0.0)])
    marks, longest = marked_by_port(flows, scheme("dctcp"))
    assert longest["left>right"] == 64 + 1
    assert marks["left>right"] == sum(marks.values()) == 43 + 44


def test_dctcp_holds_the_queue_at_the_threshold():
    """Alizadeh et al. 2010 for 10 Gbps, 100 us, K = 65, 2 flows: queue between about 55 and 67, alpha near 0.16."""
    kind = Dumbbell(hosts_per_side=2, rate_bps=10e9, host_rate_bps=40e9, delay_s=50e-6 / 3, buffer_packets=300)
    flows = flow_list([(i, 2 + i, 10**9, 0.0) for i in range(2)])
    chosen = scheme("dctcp").with_params(queue={"threshold_packets": 65})
    fabric = kind.build()
    bottleneck = fabric.port_names.index("left>right")
    result = run(
        Setup(
            fabric=fabric,
            flows=flows,
            scheme=chosen,
            end_ps=2 * 10**11,
            probe_ps=3_700_000,
            probe_fields=("port.queue_packets",),
            probe_ports=(bottleneck,),
        )
    )
    steady = result.probes["value"][result.probes["time_ps"] > 10**11]
    assert steady.max() <= 65 + 2 + 4
    assert steady.min() > 35
    assert result.own.records("subflow", (0, "congestion"))["alpha"] == pytest.approx(0.16, abs=0.08)
    assert result.ports["packets_dropped"].sum() == 0
    assert result.ports["bytes_out"][bottleneck] * 8 / 0.2 > 0.99 * 10e9


def test_time_integral_of_the_queue():
    """Little's law as bookkeeping: the summed sojourns are the area under the queue, sampled finely."""
    setup = setup_of(DUMBBELL, random_flows(6, n_flows=12, rng=2, within_us=100.0), "ecmp", trace=0)
    bottleneck = setup.fabric.port_names.index("left>right")
    sampled = {"probe_ps": 500_000, "probe_fields": ("port.queue_packets",), "probe_ports": (bottleneck,)}
    result = one_run(replace(setup, **sampled, end_ps=2 * 10**9))
    area = result.probes["value"].sum() * 500_000
    assert result.ports["sojourn_ps"][bottleneck] == pytest.approx(area, rel=0.02)
