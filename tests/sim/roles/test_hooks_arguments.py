"""Engine = engine: the round trip that a hook reads is that of the trace, and one that reads a number has it drawn."""

import pydoc
from dataclasses import replace

import numpy as np
import pytest
from support.engine_setups import FAR_SWITCH, LINK, MSS, Losses, flow_list, one_run, sent_by, setup_of, with_losses

from capsim import ACCEPT, Congestion, LeafSpine, ParameterError, Poisson, Queue, Scenario, records, scheme, simulate
from capsim.records import ACK, ARRIVED, RETRANSMITTED
from capsim.roles import hooks, own
from capsim.roles.hooks import ACKED, GROW

N = 60


def keep_round_trips(params, own, flow, sub, subs, signals, now_ps):
    """Open the window by a segment for each acknowledgement of new data, and keep its round trip."""
    memory = own.subflow
    if signals & ACKED:
        memory.seen_ps[memory.count] = sub.rtt_ps
        memory.count += 1
    if signals & GROW:
        sub.cwnd_bytes += sub.mss_bytes
    return 0


MEMORY = {"subflow": (("seen_ps", f"({2 * N},)i8"), ("count", "i8"))}
KEEPING = Congestion(name="keeping", react=keep_round_trips, memory=MEMORY)


def keeping(name):
    """Return a scheme with that congestion control."""
    base = scheme(name)
    stacks = {flows: replace(getattr(base, flows), congestion=KEEPING) for flows in ("short", "long")}
    return replace(base, name="keeping", **stacks)


def round_trips(raw, setup):
    """Return the round trips of a flow by its trace: from the NIC to the acknowledgement that is the first to say so.

    An acknowledgement of a retransmission measures none (Karn): the one before it stays.
    """
    data = sent_by(raw, setup)
    sent_ps = dict(zip(data["segment"].tolist(), data["time_ps"].tolist(), strict=True))
    trace = raw.trace
    back = trace[(trace["what"] == ARRIVED) & (trace["kind"] == ACK) & (setup.fabric.port_to[trace["port"]] == 0)]
    expected, acked = [0], 0
    for line in back:
        if line["ack"] > acked:
            again = line["flags"] & RETRANSMITTED
            expected.append(expected[-1] if again else int(line["time_ps"]) - sent_ps[int(line["segment"])])
            acked = line["ack"]
    return expected[1:]


@pytest.mark.parametrize("name", ["ecmp", "sack", "rack", "tcp_ns3", "pfabric", "ndp"])
def test_a_congestion_control_reads_the_round_trip_of_the_trace(name):
    """Wrong line: a transport that leaves `sub.rtt_ps` at 0, or gives the smoothed one."""
    setup = setup_of(LINK, flow_list([(0, 1, N * MSS, 0.0)]), keeping(name))
    raw = one_run(setup)
    expected = round_trips(raw, setup)
    memory = raw.own.records("subflow", (0, "congestion"))[0]
    assert memory["seen_ps"][: memory["count"]].tolist() == expected
    assert len(expected) > N / 2
    assert len(set(expected)) > 5  # queues build up at the own NIC


@pytest.mark.parametrize("name", ["ecmp", "sack", "rack"])
def test_a_retransmission_measures_no_round_trip(name):
    """Karn's rule: what is read behind a lost packet is the round trip of the one before."""
    lossy = with_losses(keeping(name), Losses(at_node=FAR_SWITCH, once_a=20))
    setup = setup_of(LINK, flow_list([(0, 1, N * MSS, 0.0)]), lossy)
    raw = one_run(setup)
    expected = round_trips(raw, setup)
    memory = raw.own.records("subflow", (0, "congestion"))[0]
    assert raw.subs["retransmissions"][0] == 1
    assert memory["seen_ps"][: memory["count"]].tolist() == expected
    assert np.count_nonzero(np.diff(expected) == 0) >= 1


def accept(params, own, port, packet, queue_packets, queue_bytes, now_ps, u0):
    return ACCEPT


def accept_half(params, own, port, packet, queue_packets, queue_bytes, now_ps, u0):
    return ACCEPT if u0 < 0.5 else 2


def mark_at_departure(params, own, port, packet, now_ps):
    return ACCEPT


def test_a_component_that_draws_has_a_hook_that_is_given_the_number():
    with pytest.raises(ParameterError, match=r"late: draws=True, but no hook of it is given u0: .*choose, admit are"):
        Queue(name="late", leave=mark_at_departure, draws=True)
    with pytest.raises(ParameterError, match="draws=True"):
        Congestion(name="own", react=keep_round_trips, memory=MEMORY, draws=True)


def test_a_hook_that_reads_the_number_says_that_it_draws():
    """Wrong line: a queue whose u0 is always 0, so that it marks each packet or none."""
    scenario = Scenario(
        fabric=LeafSpine(leaves=2, hosts_per_leaf=2, spines=2),
        traffic=(Poisson(flow_bytes=3000, flows=2, load=0.3, pairs="other-leaf"),),
    )
    for accepts in (accept, lambda *arguments: ACCEPT):
        simulate(scenario, scheme=replace(scheme("ecmp"), queue=Queue(name="own", admit=accepts)), engine="reference")
    own = replace(scheme("ecmp"), name="own", queue=Queue(name="own", admit=accept_half))
    with pytest.raises(ParameterError, match=r"line \d+: accept_half reads u0, which is 0 without draws=True"):
        simulate(scenario, scheme=own, engine="reference")


def test_help_has_a_meaning_of_each_signal_and_each_field(subtests):
    """Wrong lines: a signal without a row; a field whose meaning is empty, or cut out of its table."""
    table = f"{hooks.__doc__}".partition("Signal  ")[2].partition("What happens at an end host")[0]
    signals = [
        getattr(hooks, line.split()[0]) for line in table.splitlines() if line[:1].isupper() and line[1].isupper()
    ]
    assert sorted(signals) == [1 << bit for bit in range(len(signals))]
    for record, fields in records.GIVEN_TO_HOOKS.items():
        _, _, lines = f"{records.__doc__}".partition(f"Fields of {record}:")
        rows = [line.split(maxsplit=1) for line in lines.partition("Fields of")[0].splitlines() if line[:1].islower()]
        with subtests.test(record=record):
            assert [name for name, _ in rows] == list(getattr(records, record).names)
            assert all(meaning[:20] == row[1][:20] for (_, _, meaning), row in zip(fields, rows, strict=True))


def test_help_of_own_state_is_short():
    """Wrong line: it shows a class for each hook, ten times as long as what a scheme declares."""
    assert len(pydoc.render_doc(own).splitlines()) < 200
