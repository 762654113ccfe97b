"""Engine = engine: SimPy and Numba give the same records, packet for packet, for every scheme and kind of fabric."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.engine_setups import (
    BUSY,
    CROWDED,
    FABRICS,
    LEAF_SPINE,
    differences,
    differing,
    expected,
    flow_list,
    happened,
    in_turns,
    marking_early,
    one_run,
    setup_of,
)

from capsim import LeafSpine, LinkChange, schemes
from capsim.engines import run
from capsim.engines.probes import observables
from capsim.protocols.layers.caps_per_host import CAPS_LAYER_PER_HOST
from capsim.protocols.transports.tcp import SsthreshFrom
from capsim.roles.components import components

pytestmark = pytest.mark.agreement

VARIANTS = {
    "handshake": ("ecmp", {"transport": {"handshake": True}}),
    "handshake without a third packet": ("sack", {"transport": {"handshake": True, "handshake_ack": False}}),
    "pre-opened, backed-off RTO kept": ("ecmp", {"transport": {"initial_rtt_s": 30e-6, "keep_backoff": True}}),
    "ssthresh from pipe, NewReno": ("rps", {"transport": {"ssthresh_from": SsthreshFrom.PIPE, "full_ack_option": 2}}),
    "ssthresh from pipe, SACK": ("sack", {"transport": {"ssthresh_from": SsthreshFrom.PIPE, "rescue": False}}),
    "head again at partial ACKs": ("sack", {"transport": {"resend_at_partial_ack": True, "sack_block_bytes": 0}}),
    "ECN-capable ACKs": ("dctcp_sack", {"transport": {"ecn_acks": True}, "queue": {"threshold_packets": 4}}),
    "initial window of one": ("rps", {"transport": {"initial_window_packets": 1, "initial_ssthresh_bytes": 65_535}}),
    "no limited transmit": ("rps", {"transport": {"limited_transmit": False, "dup_ack_threshold": 2}}),
    "small receive window": ("ecmp", {"transport": {"max_window_bytes": 9_000}}),
    "link bytes": ("ecmp", {"link_bytes": 38}),
    "service counted": ("ecmp_pq", {"count_in_service": True}),
    "ties in order, priorities": ("rps_pq", {"ordered": True, "host_jitter_ps": 3_000_000}),
    "ties in order, probes, a warm-up": (
        "conga",
        {
            "ordered": True,
            "probe_ps": 50_000_000,
            "probe_ports": (0, 3, 9),
            "warm_up_ps": 400_000_000,
            "histograms": True,
        },
    ),
    "a recovery as in ns-3": ("sack", {"transport": {"reduction": "proportional_ns3", "rescue": False}}),
    "marks reduce in proportion": (
        "dctcp_sack",
        {"congestion": {"reduction": "proportional"}, "queue": {"threshold_packets": 4}},
    ),
    "marks reduce as in ns-3": (
        "dctcp",
        {"congestion": {"reduction": "proportional_ns3"}, "queue": {"threshold_packets": 4}},
    ),
    "no probes, no limited transmit": (
        "rack_rps",
        {"transport": {"tlp": False, "limited_transmit": False, "dup_ack_threshold": 2}},
    ),
    "acknowledgements put off": (
        "dctcp+rack",
        {"transport": {"ack_every": 2, "ack_delay_s": 50e-6}, "queue": {"threshold_packets": 4}},
    ),
    "acknowledgements of a shared stream put off": (
        "mptcp+rack",
        {"transport": {"ack_every": 3, "ack_delay_s": 30e-6, "handshake": True}},
    ),
    "round robin": ("rps", {"balancer": {"round_robin": True}}),
    "hashed acks": ("rps", {"balancer": {"spray_acks": False}}),
    "no push-out": ("rps_pq", {"queue": {"push_out": False}}),
    "probes": ("ecmp", {"probe_ps": 50_000_000, "probe_ports": (0, 3, 9), "probe_flows": (0, 5)}),
    "windows of shared streams": ("mptcp", {"probe_ps": 50_000_000, "probe_flows": (0, 5)}),
    "a warm-up": ("rps_pq", {"warm_up_ps": 400_000_000, "histograms": True}),
    "a warm-up without histograms": ("ecmp", {"warm_up_ps": 400_000_000}),
    "a warm-up longer than the run": ("rps", {"warm_up_ps": 2 * 10**11 - 1, "histograms": True}),
    "end in the middle": ("rps_pq", {"end_ps": 700_000_000}),
    "hashed acks of caps": ("caps", {"balancer": {"spray_acks": False}}),
    "acks switch the mode": ("caps", {"balancer": {"mode_counts": "all", "long_from": "threshold"}}),
    "fixed unit": ("caps", {"layer": {"unit_size": "fixed", "fixed_packets": 4, "initial_blocking_prob": 0.3}}),
    "optimal unit": ("caps", {"layer": {"unit_size": "optimal", "initial_blocking_prob": 0.25}}),
    "units of one": ("caps", {"layer": {"unit_size": "fixed", "fixed_packets": 1, "min_repair": 40}}),
    "unit larger than all": ("caps", {"layer": {"unit_size": "fixed", "fixed_packets": 1000}}),
    "copies": ("caps_dark", {"layer": {"resend_copies": 7.3, "initial_blocking_prob": 0.4}}),
    "buffered": ("caps", {"layer": {"systematic": False, "resend_copies": 1.0, "flush_s": 20e-6}}),
    "no repair of partial units": ("caps", {"layer": {"repair_partial": False, "min_repair": 1}}),
    "average threshold": ("caps_dark", {"layer": {"threshold": "average", "coded_packets": 9}}),
    "one sampling period": ("caps", {"layer": {"sampling_s": 0.0}}),
    "coded with a handshake": ("caps", {"transport": {"handshake": True}}),
    "tahoe with a handshake": ("caps_ns2", {"transport": {"handshake": True, "initial_window_packets": 2}}),
    "random own paths": ("caps_ns2", {"balancer": {"round_robin": False}}),
    "at decoding, optimal": ("caps_decode", {"layer": {"unit_size": "optimal", "initial_blocking_prob": 0.25}}),
    "at decoding, flush timer": ("caps_decode", {"layer": {"flush_s": 20e-6, "release": "decoded"}}),
    "at decoding, systematic": ("caps_decode", {"layer": {"systematic": True, "initial_blocking_prob": 0.2}}),
    "at decoding, systematic, as decoded": ("caps_decode", {"layer": {"systematic": True, "release": "decoded"}}),
    "at decoding, systematic, no repair packets": (
        "caps_dark",
        {"layer": {"ack": "decoded", "systematic": True, "max_overhead": 0.0}},
    ),
    "at decoding, systematic, units of one": (
        "caps_decode",
        {"layer": {"systematic": True, "unit_size": "fixed", "fixed_packets": 1, "initial_blocking_prob": 0.5}},
    ),
    "at decoding, systematic, flush timer": (
        "caps_decode",
        {"layer": {"systematic": True, "unit_size": "fixed", "fixed_packets": 30, "flush_s": 20e-6}},
    ),
    "subflows opened one by one": (
        "mptcp",
        {"transport": {"handshake": True}, "sharing": {"join_after_first": True, "join_gap_s": 50e-6}},
    ),
    "subflows in order, small buffer": ("mptcp", {"sharing": {"scheduler": "in_order", "buffer_segments": 30}}),
    "what a full buffer waits for": (
        "ietf_mptcp",
        {"sharing": {"subflows": 3, "buffer_segments": 20, "opportunistic": True, "penalise": True}},
    ),
    "second phase after acknowledged bytes": (
        "mmptcp",
        {"transport": {"handshake": True}, "sharing": {"switch_at": "acked", "switch_bytes": 20_000}},
    ),
    "second phase after a loss": ("mmptcp_lt", {"sharing": {"switch_at": "loss", "join_gap_s": 0.0}}),
    "ns-3 habits off": (
        "mmptcp_ns3",
        {
            "transport": {
                "sample_handshake": True,
                "repeat_join_syns": True,
                "refuse_buffered": False,
                "data_acks": True,
            }
        },
    ),
}


def test_enough_schemes():
    assert len(schemes()) >= 11


@pytest.mark.parametrize("fabric", FABRICS)
@pytest.mark.parametrize("name", schemes())
def test_every_scheme_on_every_fabric(name, fabric):
    """And every value that a hook writes fits its field, which Python alone would not tell."""
    chosen = marking_early(name)
    records = one_run(setup_of(*CROWDED[fabric], chosen), strict=fabric in ("leaf-spine", "fat-tree"))
    assert expected(chosen) <= happened(records)


@pytest.mark.parametrize("fabric", FABRICS)
@pytest.mark.parametrize(("name", "what"), [("rps", "losses"), ("caps", "coded packets"), ("dc2mtcp", "coded packets")])
def test_many_flows(name, what, fabric):
    """Between random hosts, over most routes of the fabric; tables grow that begin small."""
    assert {what, "timeouts"} <= happened(one_run(setup_of(*BUSY[fabric], name)))


@pytest.mark.parametrize("name", [name for name in schemes() if in_turns(name).nic.rank])
def test_every_scheme_with_hosts_that_send_in_turns(name):
    """With slow links of hosts, where most packets wait, and bytes and control packets apart for every second one."""
    params = {"quantum_bytes": 3028, "control_first": True} if len(name) % 2 else {}
    hosts = {"hosts_per_leaf": 3, "host_rate_bps": 1e9, "host_buffer_packets": 30}
    kind = LeafSpine(leaves=3, spines=3, rate_bps=1e10, delay_s=2e-6, buffer_packets=12, **hosts)
    assert differences(setup_of(kind, CROWDED["leaf-spine"][1], in_turns(name, **params)), strict=True) == []


def with_every_memory():
    """Return schemes that have among them every component with fields of its own."""
    found, seen = [], set()
    for name, scheme in schemes().items():
        own = {(part.role, part.name) for _, part in components(scheme) if part.memory}
        found += [name] if own - seen else []
        seen |= own
    return found


@pytest.mark.parametrize("name", with_every_memory())
def test_all_that_can_be_sampled(name):
    """Every field of every record and component, extents of reordering, queues, and counters of a warm-up."""
    kind, flows = CROWDED["leaf-spine"]
    watched = {"probe_ps": 397_000_000, "probe_ports": (0, 3, 9), "probe_flows": (0, 5, 7), "probe_switches": (0, 4)}
    setup = setup_of(kind, flows, name, trace=0, histograms=True, warm_up_ps=300_000_000, **watched)
    fields = tuple(observables(setup))
    assert {"port.queue_bytes", "sub.cwnd_bytes", "flow.buffered"} <= set(fields)
    assert differences(replace(setup, probe_fields=fields)) == []


@pytest.mark.parametrize("variant", VARIANTS)
def test_variants(variant):
    """Each option has an effect in its scenario; two of them need more flows for that."""
    name, options = VARIANTS[variant]
    scenario = (BUSY if variant in ("pre-opened, backed-off RTO kept", "ns-3 habits off") else CROWDED)["leaf-spine"]
    assert differing(one_run(setup_of(*scenario, name, **options)), run(setup_of(*scenario, name))) != []


@pytest.mark.parametrize("name", schemes())
def test_every_scheme_with_ties_in_order_of_scheduling(name):
    """On a star of equal links, where most packets meet others on the same picosecond."""
    kind = LeafSpine(leaves=1, hosts_per_leaf=5, spines=1, delay_s=2e-6, buffer_packets=12)
    flows = flow_list([(host, 4, 20_000 + 60_000 * (host == 0), 0.0) for host in range(4)])
    assert differences(setup_of(kind, flows, name, ordered=True)) == []


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("name", ["ecmp", "rps_pq", "caps", "caps_decode", "caps_ns2"])
def test_failing_links(name, ordered):
    changes = (
        LinkChange(between=("leaf0", "spine1"), down_s=100e-6, up_s=900e-6),
        LinkChange(between=("leaf2", "spine0"), down_s=250e-6),
    )
    fabric = {"leaves": 3, "hosts_per_leaf": 3, "spines": 3, "delay_s": 2e-6, "buffer_packets": 12}
    kind = LeafSpine(**fabric, links=changes, reroute_s=50e-6)
    records = one_run(setup_of(kind, CROWDED["leaf-spine"][1], name, ordered=ordered))
    assert {"losses at failed links", "timeouts"} <= happened(records)


def test_losers_stop():
    stopping = schemes()["repflow"].with_params(sharing={"abort_losers": True})
    records = one_run(setup_of(*CROWDED["leaf-spine"], stopping))
    assert differing(records, run(setup_of(*CROWDED["leaf-spine"], "repflow"))) != []


rows = st.tuples(st.integers(0, 8), st.integers(0, 7), st.integers(1, 60_000), st.integers(0, 200)).map(
    lambda row: (row[0], row[1] + (row[1] >= row[0]), row[2], float(row[3]))
)


@settings(max_examples=30, deadline=None)
@given(
    name=st.sampled_from(list(schemes())),
    flows=st.lists(rows, min_size=1, max_size=12),
    buffer_packets=st.integers(1, 12),
    spines=st.integers(1, 4),
    seed=st.integers(0, 2**63 - 1),
    in_service=st.booleans(),
    ordered=st.booleans(),
)
def test_random_small_scenarios(name, flows, buffer_packets, spines, seed, in_service, ordered):
    kind = type(LEAF_SPINE)(leaves=3, hosts_per_leaf=3, spines=spines, delay_s=1e-6, buffer_packets=buffer_packets)
    options = {"hash_seed": seed, "spray_seed": seed // 3, "count_in_service": in_service, "ordered": ordered}
    assert differences(setup_of(kind, flow_list(flows), name, **options)) == []


@pytest.mark.parametrize("below", ["sack", "dctcp", "caps_ns2"])
@pytest.mark.parametrize("ack", ["packet", "decoded"])
def test_coding_over_other_transports(ack, below):
    kind, flows = CROWDED["leaf-spine"]
    layer = {"ack": ack, "initial_blocking_prob": 0.1}
    assert differences(setup_of(kind, flows, over(schemes()[below], schemes()["caps"]), layer=layer)) == []


def over(below, scheme):
    """Return `scheme` over the transport and the congestion control of another one."""

    def moved(stack, other):
        return replace(stack, transport=other.transport, congestion=other.congestion)

    return replace(scheme, short=moved(scheme.short, below.short), long=moved(scheme.long, below.long))


def test_one_estimator_per_host():
    caps = schemes()["caps"]
    shared = replace(caps, short=replace(caps.short, layer=CAPS_LAYER_PER_HOST))
    records = one_run(setup_of(*BUSY["leaf-spine"], shared))
    assert not np.array_equal(records.trace, run(setup_of(*BUSY["leaf-spine"], caps)).trace)
