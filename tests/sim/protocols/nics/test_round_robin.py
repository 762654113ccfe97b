"""In which order hosts send: turns worked out by hand, in packets and in bytes, and what they leave as it is."""

from collections import deque
from dataclasses import replace
from types import SimpleNamespace
from typing import get_args, get_type_hints

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.engine_setups import (
    BUSY,
    CROWDED,
    assert_same_trace,
    differences,
    flow_list,
    happened,
    in_turns,
    one_run,
    setup_of,
)
from support.scripted import MSS

from capsim import (
    Batch,
    Dumbbell,
    LeafSpine,
    LinkChange,
    Nic,
    ParameterError,
    Queue,
    Scenario,
    scheme,
    schemes,
    simulate,
    with_settings,
)
from capsim.engines import run
from capsim.protocols.nics.round_robin import ROUND_ROBIN, RoundRobinParams, rank
from capsim.protocols.queues.priority import PriorityParams
from capsim.protocols.queues.priority import admit as push_out
from capsim.protocols.registry import NICS
from capsim.records import ACK, ARRIVED, BY_ARRIVAL, BY_RANK, CODED, DATA, NONE, SYN
from capsim.scenario.scenario import from_dict

pytestmark = pytest.mark.agreement

PACKET_US = 12.0  # of 1500 bytes at 1 Gbps
SLOW_NICS = Dumbbell(hosts_per_side=4, rate_bps=1e11, host_rate_bps=1e9, delay_s=1e-6)
TO = (4, 5, 6, 7)  # hosts of the other side
BURST = {"initial_window_packets": 100}


def order_of(flows, chosen, *, kinds=(DATA,), of_host=0, **options):
    """Return the subflows whose packets leave the NIC of a host, in order."""
    setup = setup_of(SLOW_NICS, flow_list(flows), chosen, transport=BURST, **options)
    trace = run(setup, engine="reference").trace
    sent = (trace["what"] == ARRIVED) & (trace["port"] == setup.fabric.host_port[of_host])
    return trace["sub"][sent & np.isin(trace["kind"], kinds)].tolist()


# -- packets in turn


def test_flows_with_a_backlog_leave_packet_by_packet_in_turn():
    flows = [(0, dst, 10 * MSS, 0.0) for dst in TO[:3]]
    assert order_of(flows, "ecmp") == [0] * 10 + [1] * 10 + [2] * 10
    assert order_of(flows, in_turns("ecmp")) == [0, 1, 2] * 10


def test_one_that_ends_leaves_its_turns_to_the_others():
    flows = [(0, TO[0], 5 * MSS, 0.0), (0, TO[1], 2 * MSS, 0.0), (0, TO[2], 3 * MSS, 0.0)]
    assert order_of(flows, in_turns("ecmp")) == [0, 1, 2, 0, 1, 2, 0, 2, 0, 0]


def test_a_late_short_flow_passes_the_backlog_of_a_long_one():
    """When it begins, the long one sends packet 8; then it has every second turn."""
    flows = [(0, TO[0], 40 * MSS, 0.0), (0, TO[1], 3 * MSS, 8.5 * PACKET_US)]
    assert order_of(flows, "ecmp") == [0] * 40 + [1] * 3
    assert order_of(flows, in_turns("ecmp")) == [0] * 9 + [1, 0, 1, 0, 1] + [0] * 29


def test_what_has_waited_saves_no_turns():
    """A flow that pauses comes back to the present turn, not to those that it left out."""
    flows = [(0, TO[0], 2 * MSS, 0.0), (0, TO[1], 30 * MSS, 5.0), (0, TO[2], 4 * MSS, 10.5 * PACKET_US)]
    order = order_of(flows, in_turns("ecmp"))
    assert order[:3] == [0, 1, 0]
    assert order[11:20] == [2, 1, 2, 1, 2, 1, 2, 1, 1]


def test_each_copy_and_each_subflow_has_turns_of_its_own():
    flows = [(0, TO[0], 6 * MSS, 0.0), (0, TO[1], 6 * MSS, 0.0)]
    copies = in_turns("repflow").with_params(sharing={"abort_losers": False})
    assert order_of(flows, copies) == [0, 1, 2, 3] * 6


def test_acknowledgements_take_turns_as_a_connection_of_their_own():
    """Host 0 has 40 packets to send when one comes, which is acknowledged behind the packet in service."""
    flows = [(0, TO[0], 40 * MSS, 0.0), (4, 0, MSS, 0.0)]
    for chosen, position in (("ecmp", 40), (in_turns("ecmp"), 3)):
        assert order_of(flows, chosen, kinds=(DATA, ACK)).index(1) == position


def test_control_packets_may_leave_before_all_data():
    flows = [(0, dst, 20 * MSS, 0.0) for dst in TO[:3]] + [(4, 0, 3 * MSS, 0.0)]
    order = order_of(flows, in_turns("ecmp", control_first=True), kinds=(DATA, ACK))
    first = order.index(3)
    assert first == 3  # after 27 us on its way it comes while the third is sent
    assert [place - first for place, sub in enumerate(order) if sub == 3] == [0, 2, 4]  # as they come, each at once
    with_turns = order_of(flows, in_turns("ecmp"), kinds=(DATA, ACK))
    assert max(place for place, sub in enumerate(with_turns) if sub == 3) > first + 4


# -- the hook


def turn_of(*, begun=0, following=0, size=1500, kind=DATA, **params):
    """Return the turn of a packet, and what its connection keeps."""
    own = SimpleNamespace(direction=SimpleNamespace(next=following))
    known = SimpleNamespace(**vars(RoundRobinParams(**params)))
    packet = SimpleNamespace(bytes=size, kind=kind)
    return rank(known, own, SimpleNamespace(turn=begun), packet, 0), own.direction.next


@pytest.mark.parametrize(
    ("given", "answer"),
    [
        ({"begun": 7}, (7, 8)),  # a new connection: the present turn
        ({"begun": 7, "following": 12}, (12, 13)),  # one with a backlog
        ({"begun": 7, "following": 3}, (7, 8)),  # turns left out are lost
        ({"quantum_bytes": 3000, "begun": 7}, (7, 22_500)),
        ({"quantum_bytes": 3000, "begun": 7, "following": 23_999}, (7, 25_499)),  # its last byte of the turn
        ({"quantum_bytes": 3000, "begun": 7, "following": 24_000}, (8, 25_500)),
        ({"quantum_bytes": 100, "following": 1500}, (15, 3000)),  # a packet of many turns
        ({"control_first": True, "kind": ACK, "begun": 7, "following": 9}, (NONE, 9)),
        ({"control_first": True, "kind": SYN, "quantum_bytes": 100, "begun": 7}, (NONE, 0)),
        ({"control_first": True, "kind": CODED, "begun": 7}, (7, 8)),
        ({"kind": ACK, "begun": 7}, (7, 8)),
    ],
)
def test_turns_of_packets(given, answer):
    assert turn_of(**given) == answer


# -- bytes in turn


def deficit_round_robin(queues, quantum_bytes):
    """Return the order of all packets as Linux' fq has it: a queue sends while it has credit, then gets a quantum."""
    ring = deque((name, deque(sizes), [quantum_bytes]) for name, sizes in enumerate(queues) if sizes)
    order = []
    while ring:
        name, waiting, credit = ring[0]
        if credit[0] <= 0:
            credit[0] += quantum_bytes
            ring.rotate(-1)
            continue
        credit[0] -= waiting.popleft()
        order.append(name)
        if not waiting:
            ring.popleft()
    return order


@given(
    queues=st.lists(st.lists(st.integers(40, 9000), max_size=30), min_size=1, max_size=6),
    quantum_bytes=st.sampled_from([1, 500, 1500, 3028, 20_000]),
)
def test_turns_of_bytes_are_deficit_round_robin(queues, quantum_bytes):
    """Backlogs that are there at once leave in the order of a second implementation."""
    params = SimpleNamespace(quantum_bytes=quantum_bytes, control_first=False)
    waiting = []
    for name, sizes in enumerate(queues):
        own = SimpleNamespace(direction=SimpleNamespace(next=0))
        for size in sizes:
            turn = rank(params, own, SimpleNamespace(turn=0), SimpleNamespace(bytes=size, kind=DATA), 0)
            waiting.append((turn, len(waiting), name))
    assert [name for *_, name in sorted(waiting)] == deficit_round_robin(queues, quantum_bytes)


def of_two_sizes(**params):
    """Return ECMP whose short flows have packets of 500 bytes, long ones of 1500."""
    chosen = in_turns("ecmp", **params)
    transport = replace(chosen.short.transport, params=replace(chosen.short.transport.params, mss_bytes=460))
    return replace(chosen, short=replace(chosen.short, transport=transport))


@pytest.mark.parametrize("quantum_bytes", [1, 1500, 3028])
def test_connections_share_bytes_with_packets_of_unequal_sizes(quantum_bytes):
    """While both have a backlog they differ by at most a quantum and a packet each; in turns of a packet threefold."""
    flows = [(0, TO[0], 100 * MSS, 0.0), (0, TO[1], 90 * 460, 0.0)]
    sizes = np.array([1500, -500])
    by_bytes = order_of(flows, of_two_sizes(quantum_bytes=quantum_bytes))
    until = max(place for place, sub in enumerate(by_bytes) if sub == 1)
    assert abs(np.cumsum(sizes[by_bytes[:until]])).max() <= quantum_bytes + 2000
    by_packets = order_of(flows, of_two_sizes())
    assert np.cumsum(sizes[by_packets[:180]])[-1] == 90 * 1000


# -- what turns leave as it is


def is_alone(chosen):
    """Return whether a flow of the scheme has one subflow."""
    return not any(hasattr(stack.sharing.params, "subflows") for stack in chosen.stacks)


def in_order(name):
    """Return a scheme whose hosts send in order of arrival."""
    return scheme(name).with_nic(NICS["fifo"])


@pytest.mark.parametrize("name", [name for name, one in schemes().items() if is_alone(one)])
def test_a_flow_alone_is_served_in_order_of_arrival(name):
    kind, _ = BUSY["leaf-spine"]
    flows = flow_list([(0, 8, 300_000, 0.0), (4, 2, 50_000, 50_000.0)])
    fifo, turns = (run(setup_of(kind, flows, each)) for each in (in_order(name), in_turns(name)))
    assert_same_trace(fifo, turns)


@pytest.mark.parametrize("name", schemes())
def test_one_turn_for_all_is_order_of_arrival(name):
    """The limit of long turns, trace for trace; so a departure at each NIC changes nothing either."""
    kind, flows = CROWDED["leaf-spine"]
    fifo, turns = (run(setup_of(kind, flows, each)) for each in (in_order(name), in_turns(name, quantum_bytes=2**30)))
    assert_same_trace(fifo, turns)


@pytest.mark.parametrize("name", ["pfabric", "ecmp_pq", "rps_pq"])
def test_hosts_send_by_priority_where_the_queue_does(name):
    assert scheme(name).with_nic(ROUND_ROBIN) == scheme(name)
    with pytest.raises(ParameterError, match="its queue sends by priority, at hosts too, so its NIC"):
        replace(scheme(name), nic=ROUND_ROBIN)


def test_only_nics_send_in_turns():
    setup = setup_of(*CROWDED["fat-tree"], in_turns("caps"))
    ports = run(setup).ports
    assert {(int(port["of_host"]), int(port["order"])) for port in ports} == {(1, BY_RANK), (0, BY_ARRIVAL)}


# -- both engines, where packets are lost and evicted


def last_first(params, own, port, packet, now_ps):
    """Rank later segments of a subflow before earlier ones."""
    return -packet.segment


SETTINGS = {
    "packets": {},
    "bytes, control first": {"quantum_bytes": 3028, "control_first": True},
    "less than a packet": {"quantum_bytes": 500},
}
HOST_FAILS = LinkChange(between=("host0", "leaf0"), down_s=150e-6, up_s=700e-6)
SLOWER = LinkChange(between=("host4", "leaf1"), rate_bps=1e8)
LOSSY = LinkChange(between=("leaf2", "spine1"), loss_prob=0.02)


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("name", ["ecmp", "caps", "mptcp"])
def test_engines_agree_where_links_of_hosts_fail_and_rates_differ(name, setting, ordered):
    changes = (HOST_FAILS, SLOWER, LOSSY)
    kind = LeafSpine(
        leaves=3, hosts_per_leaf=3, spines=3, delay_s=2e-6, buffer_packets=12, host_buffer_packets=20, links=changes
    )
    chosen = in_turns(name, **SETTINGS[setting])
    options = {"ordered": ordered, "host_jitter_ps": 1_000_000, "flow_jitter_ps": 2_000_000, "histograms": True}
    options |= {"warm_up_ps": 300_000_000, "probe_ps": 50_000_000, "probe_ports": (0, 4, 20)}
    records = one_run(setup_of(kind, CROWDED["leaf-spine"][1], chosen, **options), strict=True)
    assert {"losses", "losses at failed links", "losses on links", "timeouts"} <= happened(records)


@pytest.mark.parametrize("nic", [ROUND_ROBIN, Nic(name="last_first", rank=last_first)], ids=lambda each: each.name)
def test_engines_agree_where_waiting_packets_are_evicted(nic):
    """Whatever the ranks: here those of a subflow fall too, so that a packet goes before those that already wait."""
    classes = scheme("ecmp_pq")
    queue = Queue(name="push_out", admit=push_out, params=PriorityParams())
    chosen = replace(classes, queue=queue, nic=nic)
    kind = Dumbbell(hosts_per_side=3, rate_bps=1e10, host_rate_bps=1e9, host_buffer_packets=8, buffer_packets=8)
    setup = setup_of(kind, BUSY["dumbbell"][1], chosen, transport=BURST)
    records = run(setup)
    assert (records.trace["reason"][records.trace["what"] != ARRIVED] > 0).any()
    assert differences(setup) == []


@pytest.mark.parametrize("quantum_bytes", [0, 500, 3028])
def test_engines_agree_where_subflows_open_while_packets_wait(quantum_bytes):
    """Wrong line: tables of the compiled engine that grow, and place the next packet behind one of another connection.

    Each flow of one host begins while those before it wait there; their subflows double the table six times.
    """
    flows = [(0, TO[number % 4], (3 + number % 7) * MSS, 20.0 * number) for number in range(70)]
    setup = setup_of(SLOW_NICS, flow_list(flows), in_turns("ecmp", quantum_bytes=quantum_bytes), transport=BURST)
    assert differences(setup) == []


@settings(max_examples=25, deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 2), st.integers(3, 5), st.integers(1, 60_000), st.integers(0, 300)),
        min_size=1,
        max_size=14,
    ),
    host_buffer_packets=st.integers(2, 60),
    quantum_bytes=st.sampled_from([0, 500, 3028]),
    control_first=st.booleans(),
    count_in_service=st.booleans(),
)
def test_engines_agree_for_random_backlogs(rows, host_buffer_packets, quantum_bytes, control_first, count_in_service):
    kind = Dumbbell(hosts_per_side=3, rate_bps=1e10, host_rate_bps=1e9, host_buffer_packets=host_buffer_packets)
    chosen = in_turns("sack", quantum_bytes=quantum_bytes, control_first=control_first)
    flows = flow_list([(src, dst, size, float(start)) for src, dst, size, start in rows])
    setup = setup_of(kind, flows, chosen, transport=BURST, count_in_service=count_in_service)
    assert differences(setup) == []


# -- the scenario


SMALL = Scenario(fabric=Dumbbell(hosts_per_side=2), traffic=(Batch(flow_bytes=1000, pairs="sides"),))


def test_a_scenario_names_the_nics_that_there_are():
    kinds = get_args(get_type_hints(Scenario)["nic"])
    assert set(kinds) == set(NICS)
    assert SMALL.nic == "fifo"
    assert "nic" not in SMALL.to_dict()
    assert from_dict(SMALL.replace(nic="round_robin").to_dict()).nic == "round_robin"


def test_the_manifest_has_the_nic_with_its_parameters_where_it_ranks():
    changed = with_settings(SMALL, {"nic": "round_robin", "nic.quantum_bytes": 3028})
    described = simulate(changed).manifest["parameters"]
    assert described["scenario"]["nic"] == "round_robin"
    assert described["scheme"]["nic"] == {"component": "round_robin", "quantum_bytes": 3028, "control_first": False}
    assert "nic" not in simulate(SMALL).manifest["parameters"]["scheme"]


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        ({"nic": "fq"}, r"nic.*'fq'"),
        ({"nic": 3}, "nic"),
        ({"nic.quantum_bytes": 3028}, r"nic.quantum_bytes is not a parameter of fifo: there are none"),
        (
            {"nic": "round_robin", "nic.quantum": 1},
            r"nic.quantum is not a parameter of round_robin: did you mean quantum_bytes",
        ),
        ({"nic": "round_robin", "nic.quantum_bytes": -1}, r"nic.quantum_bytes = -1, but it must be a number"),
        ({"nic": "round_robin", "nic.quantum_bytes": 2**31}, r"nic.quantum_bytes = 2147483648, but it must be from 0"),
        ({"nic": "round_robin", "nic.control_first": 1}, r"nic.control_first = 1, but it must be true or false"),
    ],
)
def test_bad_values_get_one_line(settings_, message):
    with pytest.raises(ParameterError, match=message) as error:
        simulate(with_settings(SMALL, settings_))
    assert "\n" not in str(error.value)
