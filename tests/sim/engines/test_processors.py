"""Coding that takes time: coded packets pass a processor of their host, first come, first served.

The times are compared with Lindley's recursion, C_i = max(C_i-1, A_i) + cost, written here a second time.
"""

from dataclasses import replace

import numpy as np
import pytest
from support.engine_setups import BUSY, CROWDED, Losses, differences, flow_list, one_run, sent_by, setup_of, with_losses
from support.layer_setups import LayerEnd, layer_memory, units_of
from support.scripted import MSS, US

from capsim import Dumbbell, Hosts, Listed, ParameterError, Result, Scenario, scheme, simulate, with_settings
from capsim.engines import run
from capsim.engines.hosts import primitives
from capsim.records import ARRIVED, CODED, DATA, ENQUEUED, NONE, RECEIVED, RETRANSMITTED
from capsim.results import conservation
from capsim.run.simulation import prepare
from capsim.scenario.scenario import from_dict

LINK = Dumbbell(hosts_per_side=1, rate_bps=1e9, delay_s=50e-6, buffer_packets=1000)
FAR_SWITCH = 3
PACKET_PS, HOP_PS = 12 * US, 62 * US
TENS = {"initial_blocking_prob": 0.2, "unit_size": "fixed", "fixed_packets": 10}  # r = 3
UNIT = [(0, 1, 10 * MSS, 0.0)]


def lindley(arrivals, costs):
    """Return when a server that is first in, first out is done with each of its customers."""
    done, free = [], 0
    for arrival, cost in zip(arrivals, costs, strict=True):
        free = max(free, arrival) + cost
        done.append(free)
    return done


def coded_lines(records, what, port):
    """Return the lines of the trace about coded packets at a port."""
    trace = records.trace
    return trace[(trace["what"] == what) & (trace["port"] == port) & (trace["kind"] == CODED)]


def port_to(setup, host):
    return int(np.flatnonzero(setup.fabric.port_to == host)[0])


def played(name="caps_decode", *, flows=UNIT, base=None, **options):
    setup = setup_of(LINK, flow_list(flows), base or name, layer=TENS, **options)
    return setup, one_run(setup)


@pytest.mark.parametrize("encode_ps", [1, 5 * US, 12 * US, 13 * US + 7])
@pytest.mark.parametrize("decode_ps", [0, 7 * US, 12 * US, 40 * US + 3])
def test_a_unit_passes_both_processors(encode_ps, decode_ps):
    """13 packets are encoded one after the other from 0 on; the tenth that is through the decoder decodes."""
    setup, records = played(encode_ps=encode_ps, decode_ps=decode_ps)
    encoded = lindley([0] * 13, [encode_ps] * 13)
    assert sent_by(records, setup)["time_ps"].tolist() == encoded
    arrived = [sent + 2 * HOP_PS + 50 * US for sent in lindley(encoded, [PACKET_PS] * 13)]
    assert coded_lines(records, ARRIVED, port_to(setup, 1))["time_ps"].tolist() == arrived
    decoded = lindley(arrived, [decode_ps] * 13)
    assert units_of(records)["decoded_ps"].tolist() == [decoded[9]]
    assert records.subs["received_ps"].tolist() == [decoded[9]]
    assert layer_memory(records)["late_packets"].tolist() == [3]


def test_a_host_has_one_processor_for_both_directions():
    """Host 1 decodes 13 packets and, from 300 us on, encodes 13 of its own: these wait behind what came before."""
    decode_ps, encode_ps, begin_ps = 20 * US, 9 * US, 300 * US
    flows = [*UNIT, (1, 0, 10 * MSS, begin_ps / US)]
    setup, records = played(flows=flows, encode_ps=encode_ps, decode_ps=decode_ps)
    arrived = coded_lines(records, ARRIVED, port_to(setup, 1))["time_ps"].tolist()
    assert arrived[0] < begin_ps < arrived[12]
    work = [(time, decode_ps) for time in arrived] + [(begin_ps, encode_ps)] * 13
    work.sort(key=lambda each: each[0])
    done = lindley(*zip(*work, strict=True))
    encoded = [end for end, (_, cost) in zip(done, work, strict=True) if cost == encode_ps]
    decoded = [end for end, (_, cost) in zip(done, work, strict=True) if cost == decode_ps]
    assert sent_by(records, setup, sub=1)["time_ps"].tolist() == encoded
    assert units_of(records)["decoded_ps"][0] == decoded[9]


def test_source_packets_pass_by():
    """With a systematic code only the three repair packets are computed; nothing is lost, so they come too late."""
    setup, records = played("caps", encode_ps=40 * US, decode_ps=500 * US)
    assert sent_by(records, setup)["time_ps"].tolist() == [0] * 10 + [40 * US, 80 * US, 120 * US]
    assert records.subs["received_ps"].tolist() == [10 * PACKET_PS + 2 * HOP_PS + 50 * US]


def test_a_lost_source_packet_waits_for_the_decoder():
    """The first repair packet is ready when the last source packet has left the NIC, and takes the decoder 30 us."""
    base = with_losses(scheme("caps"), Losses(at_node=FAR_SWITCH, once_a=4))
    _, records = played(base=base, encode_ps=120 * US, decode_ps=30 * US)
    assert records.subs["received_ps"].tolist() == [120 * US + 3 * HOP_PS + 30 * US]
    assert records.subs["retransmissions"].tolist() == [0]


def test_the_round_trip_time_holds_both():
    _, records = played(encode_ps=100 * US, decode_ps=100 * US, flows=[(0, 1, MSS, 0.0)], transport={"min_rto_s": 0.1})
    _, without = played(flows=[(0, 1, MSS, 0.0)], transport={"min_rto_s": 0.1})
    assert records.subs["srtt_ps"][0] - without.subs["srtt_ps"][0] == 200 * US


def answers(end, hook, packets):
    """Return what the layer says of each packet."""
    return [int(getattr(primitives, hook)(end.hosts, end.number, packet.number)) for packet in packets]


def test_which_packets_take_work(subtests):
    """A unit of three: positions from 3 on; without source packets among the coded ones, all. Until it is decoded."""
    for name in ["caps", "caps_decode"]:
        for systematic in [False, True]:
            with subtests.test(name=name, systematic=systematic):
                end = LayerEnd(name, n_segments=12, layer={"systematic": systematic})
                unit = end.units[0]
                unit.k, unit.n, unit.first_segment, unit.arrived_packets = 3, 5, 0, 1
                unit.decoded_ps, unit.released = NONE, 0
                packets = [end.packet(kind=CODED, unit=0, position=position, flags=0) for position in range(4)]
                packets += [end.packet(kind=DATA, unit=NONE, segment=0, flags=flags) for flags in (0, RETRANSMITTED)]
                wanted = [int(not systematic)] * 3 + [1, 0, 0]
                assert answers(end, "encodes", packets) == wanted
                assert answers(end, "decodes", packets) == wanted
                unit.arrived_packets, unit.decoded_ps = 3, 1
                assert answers(end, "encodes", packets) == wanted
                assert answers(end, "decodes", packets) == [0] * 6


def test_no_work_for_a_unit_whose_source_packets_came_before_it_was_closed():
    """With ``ack = "decoded"`` and a systematic code the decoder does not know the unit of source packets that come."""
    end = LayerEnd("caps_decode", n_segments=12, layer={"systematic": True})
    unit = end.units[0]
    unit.k, unit.n, unit.first_segment, unit.arrived_packets = 3, 5, 0, 0
    unit.decoded_ps, unit.released = NONE, 0
    repair = [end.packet(kind=CODED, unit=0, position=3, flags=0)]
    ring = end.hosts.rings[end.sub.id]
    ring[0], ring[2] = RECEIVED, RECEIVED
    assert answers(end, "decodes", repair) == [1]
    ring[1] = RECEIVED
    assert answers(end, "decodes", repair) == [0]


@pytest.mark.parametrize(
    ("name", "fabric"),
    [("caps", "dumbbell"), ("cdcps", "leaf-spine"), ("caps_decode", "dumbbell"), ("caps", "leaf-spine")],
)
def test_engines_agree_and_nothing_is_lost(name, fabric):
    kind, flows = CROWDED[fabric]
    setup = setup_of(kind, flows, name, encode_ps=2 * US, decode_ps=3 * US)
    records = one_run(setup)
    conservation.check(records, setup.fabric)
    assert not np.array_equal(records.flows, run(replace(setup, encode_ps=0, decode_ps=0)).flows)


@pytest.mark.parametrize("name", ["caps", "cdcps"])
def test_work_that_ends_at_the_same_time(name):
    """Six hosts encode from 0 on, in equal steps; flows start when packets are done. Equal times in order of hosts."""
    kind, _ = BUSY["dumbbell"]
    flows = flow_list([(host, (host + 3) % 6, 40 * MSS, start) for start in (0.0, 12.0, 60.0) for host in range(6)])
    setup = setup_of(kind, flows, name, encode_ps=12 * US, decode_ps=12 * US)
    trace = one_run(setup).trace
    nic = np.isin(trace["port"], setup.fabric.host_port) & (trace["what"] == ENQUEUED) & (trace["kind"] == CODED)
    for time in (24 * US, 36 * US):
        assert trace["port"][nic & (trace["time_ps"] == time)].tolist() == setup.fabric.host_port.tolist()


@pytest.mark.parametrize(("end_us", "waiting"), [(15, 12), (250, 5)])
def test_packets_at_a_processor_are_not_in_the_network(end_us, waiting):
    """At 15 us 12 are not encoded yet; at 250 us five have come since 196 us, 12 us apart, and none is decoded."""
    setup, records = played(encode_ps=10 * US, decode_ps=900 * US, end_ps=end_us * US)
    assert records.counters["held"][0] == waiting
    conservation.check(records, setup.fabric)


def test_a_scheme_that_codes_nothing_takes_no_work():
    kind, flows = CROWDED["dumbbell"]
    off = setup_of(kind, flows, "ecmp")
    on = replace(off, encode_ps=US, decode_ps=US)
    assert differences(on) == []
    for name in ("trace", "flows", "subs", "ports"):
        assert np.array_equal(getattr(run(on), name), getattr(run(off), name))


# Of a scenario

CODED_FLOW = Scenario(fabric=LINK, traffic=(Listed(flows=((0, 1, 10 * MSS, 0.0),)),), scheme="cdcps", trace="packets")
SLOW = CODED_FLOW.replace(hosts=Hosts(encode_s_per_packet=5e-6, decode_s_per_packet=7e-6))


@pytest.mark.parametrize("hosts", [Hosts(), Hosts(encode_s_per_packet=0.0, decode_s_per_packet=0.0)])
def test_no_cost_is_off_trace_for_trace(hosts):
    off, zero = (simulate(CODED_FLOW.replace(hosts=each)) for each in (None, hosts))
    assert zero.trace.equals(off.trace)
    assert zero.raw.counters["events"] == off.raw.counters["events"]


def test_it_is_off_by_default():
    setup = prepare(CODED_FLOW)
    assert (setup.encode_ps, setup.decode_ps) == (0, 0)
    assert len(run(setup).flows) == 1


def test_the_result_remembers_it_and_runs_again(tmp_path):
    first = simulate(SLOW)
    again = Result.load(first.save(tmp_path))
    assert again.scenario.hosts == SLOW.hosts
    assert again.manifest["id"] != simulate(CODED_FLOW).manifest["id"]
    assert simulate(again.scenario).flows.equals(first.flows)
    assert first.flows["fct_s"][0] > simulate(CODED_FLOW).flows["fct_s"][0]


def test_it_is_a_setting():
    typed = {"hosts.encode_s_per_packet": "5us", "hosts.decode_s_per_packet": 7e-6}
    assert with_settings(CODED_FLOW, typed) == SLOW


def test_it_may_be_typed_with_a_unit():
    typed = from_dict({**SLOW.to_dict(), "hosts": {"encode_s_per_packet": "5us", "decode_s_per_packet": "7us"}})
    assert typed == SLOW


def test_bad_input_is_one_line(subtests):
    cases = [
        ({"encode_s_per_packet": -1e-6}, "scenario: hosts.encode_s_per_packet: Expected `float` >= 0.0, but it is"),
        ({"decode_s_per_packet": 1.0}, "scenario: hosts.decode_s_per_packet: Expected `float` <= 0.001, but it is 1"),
        ({"decode_s_per_packet": "slow"}, "decode_s_per_packet: 'slow' is not a time"),
        (
            {"coding_s": 1e-6},
            "scenario: hosts: unknown key `coding_s`: there are encode_s_per_packet, decode_s_per_packet",
        ),
    ]
    for hosts, text in cases:
        with subtests.test(hosts=hosts, text=text):
            with pytest.raises(ParameterError) as caught:
                from_dict({**CODED_FLOW.to_dict(), "hosts": hosts})
            assert str(caught.value).startswith(text)
            assert "\n" not in str(caught.value)
