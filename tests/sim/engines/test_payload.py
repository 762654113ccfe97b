"""Payload: packets with the bytes of real codes, of which the decoder says what they are worth."""

from types import SimpleNamespace

import numpy as np
import pytest
from support.engine_setups import BUSY, CROWDED, UnitLosses, differences, flow_list, one_run, setup_of, with_unit_losses

from capsim import Batch, Dumbbell, ParameterError, Scenario, scheme, simulate
from capsim.engines import run
from capsim.engines.payload import Payload, PayloadError
from capsim.engines.reference import Network
from capsim.engines.state import Setup
from capsim.records import CODED, NONE
from capsim.run.simulation import prepare
from capsmodel.codec import RandomLinear, ReedSolomon

MSS = 1460
LINK = Dumbbell(hosts_per_side=1, rate_bps=1e9, delay_s=10e-6)
FAR_SWITCH = 3
WINDOW = {"max_window_bytes": 60 * MSS}
SHORT = (Batch(flows=2, flow_bytes=50_000, pairs="sides"),)


def units_of(result):
    return result.own.records("unit", (0, "layer"))


@pytest.mark.parametrize(
    ("name", "engine"),
    [("caps", "compiled"), ("caps_decode", "reference"), ("cdcps", "compiled"), ("cdcps", "reference")],
)
def test_reed_solomon_gives_the_run_that_counts(name, engine):
    """Any k packets of its units decode them, and that is what counting takes for granted."""
    kind, flows = CROWDED["dumbbell"]
    counted = run(setup_of(kind, flows, name, transport=WINDOW), engine=engine)
    carried = run(setup_of(kind, flows, name, transport=WINDOW, payload="rs"), engine=engine)
    assert np.array_equal(counted.trace, carried.trace)
    assert np.array_equal(counted.flows, carried.flows)
    assert np.array_equal(units_of(counted), units_of(carried))
    assert (units_of(carried)["decoded_ps"] > 0).all()


SMALL_WINDOWS = WINDOW | {"initial_window_packets": 2}


@pytest.mark.parametrize(("name", "code", "engine"), [("sc_mptcp", "rs", "reference"), ("dc2mtcp", "rlnc", "compiled")])
def test_a_coded_stream_gives_the_run_that_counts(name, code, engine):
    """Blocks of Reed-Solomon codes; combinations whose coefficients are those of the code in every run."""
    kind, flows = CROWDED["dumbbell"]
    counted = run(setup_of(kind, flows, name, transport=SMALL_WINDOWS), engine=engine)
    carried = run(setup_of(kind, flows, name, transport=SMALL_WINDOWS, payload=code), engine=engine)
    assert np.array_equal(counted.trace, carried.trace)
    assert np.array_equal(counted.flows, carried.flows)
    assert carried.own.records("subflow", (0, "layer"))["recovered_packets"].sum() > 5


def test_the_decoder_of_combinations_knows_what_the_layer_says(monkeypatch):
    """Before each packet, what the layer has delivered in order is what the decoder of the codec lets through."""
    fronts, stale = [], Payload.stale

    def watched(payload, packet, stack, flow, *others):
        fronts.append((network.flows[flow].data_next, payload.stream(flow, stack).receiver.next_dsn))
        return stale(payload, packet, stack, flow, *others)

    monkeypatch.setattr(Payload, "stale", watched)
    kind, flows = CROWDED["dumbbell"]
    network = Network(setup_of(kind, flows, "dc2mtcp", transport=SMALL_WINDOWS, payload="rlnc"))
    network.simulate()
    assert len(fronts) > 500
    assert all(ours == theirs for ours, theirs in fronts)


def test_wrong_bytes_of_a_combination_are_found(monkeypatch):
    flows = flow_list([(0, 1, 8 * MSS, 0.0)])
    payload = Payload(setup_of(LINK, flows, "dc2mtcp", payload="rlnc"))
    monkeypatch.setattr("capsim.engines.payload.mul", lambda coefficient, packet: packet)
    stream = payload.stream(0, 0)
    stream.take({1: 1}, coded=False)
    with pytest.raises(PayloadError, match=r"^data segment 0 decoded to other bytes than its source: a defect of the"):
        stream.take({0: 3, 1: 5}, coded=True)


@pytest.mark.parametrize(("name", "code"), [("caps", "ldpc"), ("cdcps", "rlnc"), ("sc_mptcp", "rlnc")])
def test_engines_agree(name, code):
    kind, flows = CROWDED["dumbbell"]
    assert differences(setup_of(kind, flows, name, transport=WINDOW, payload=code)) == []


def test_an_ldpc_code_needs_more_packets():
    """k' > k: packets that come before the unit decodes and tell the decoder nothing, counted by unit."""
    kind, flows = BUSY["leaf-spine"]
    units = units_of(run(setup_of(kind, flows, "caps", transport=WINDOW, payload="ldpc")))
    decoded = units[units["decoded_ps"] > 0]
    assert decoded["dependent_packets"].sum() > 0
    assert (decoded["arrived_packets"] == decoded["k"]).all()


@pytest.mark.parametrize(("positions", "resent"), [(0b11, 0), (0b1111, 2)])
def test_what_reed_solomon_lacks_is_retransmitted(positions, resent):
    """10 packets of 8 sources: two losses are repaired by the code; two more by TCP."""
    lossy = with_unit_losses(scheme("cdcps"), UnitLosses(at_node=FAR_SWITCH, unit=0, positions=positions))
    result = one_run(setup_of(LINK, flow_list([(0, 1, 8 * MSS, 0.0)]), lossy, payload="rs"))
    assert result.subs["retransmissions"][0] >= resent
    assert bool(result.subs["retransmissions"][0]) == bool(resent)
    assert result.flows["received_ps"][0] > 0


class Receiver:
    """A unit of k packets that a test hands to the decoder in any order."""

    def __init__(self, code, *, k, n, name="caps"):
        kind, flows = CROWDED["dumbbell"]
        setup = setup_of(kind, flows, name, payload=code)
        self.payload, self.stack = Payload(setup), setup.stacks.index(setup.scheme.short)
        self.unit = SimpleNamespace(first_segment=5, k=k, n=n, next=NONE)

    def take(self, position):
        packet = SimpleNamespace(kind=CODED, unit=0, position=position, sub=0)
        return self.payload.stale(packet, self.stack, 3, None, [self.unit])


def test_a_packet_that_came_before_is_worth_nothing():
    receiver = Receiver("rs", k=3, n=5)
    assert [receiver.take(position) for position in (4, 4, 0, 4, 2)] == [0, 1, 0, 1, 0]
    assert receiver.take(1) == 0  # decoded: the layer says that it is late


def test_packets_that_come_while_the_unit_is_filled_count_and_are_kept():
    receiver = Receiver("rs", k=0, n=0)
    assert [receiver.take(0), receiver.take(1)] == [0, 0]
    receiver.unit.k, receiver.unit.n = 3, 5
    assert receiver.take(1) == 1
    assert receiver.take(4) == 0
    assert receiver.payload.receptions[0].decoded


def test_a_retransmission_has_a_number_beyond_the_packets_of_the_unit():
    receiver = Receiver("rs", k=3, n=4)
    assert [receiver.take(position) for position in (9, 0, 12)] == [0, 0, 0]
    assert receiver.payload.receptions[0].decoded


def test_reed_solomon_has_256_packets_and_begins_again():
    """Catches a unit whose 257th packet ends the run; number 258 is packet 2 again."""
    receiver = Receiver("rs", k=3, n=300)
    assert [receiver.take(position) for position in (2, 258, 255)] == [0, 1, 0]
    receiver = Receiver("rs", k=3, n=5)
    assert [receiver.take(position) for position in (2, 258, 4)] == [0, 1, 0]


def test_packets_of_an_ldpc_unit_begin_again():
    """Five of k + 3 packets, so number 6 is packet 0 again."""
    receiver = Receiver("ldpc", k=3, n=5)
    assert receiver.take(0) == 0
    assert receiver.take(6) == 1


def test_random_linear_packets_may_depend_on_others():
    """The rank of the packets that came decides, with the coefficients of the codec."""
    receiver = Receiver("rlnc", k=40, n=80, name="cdcps")
    worth = [1 - receiver.take(position) for position in range(60)]
    code = RandomLinear(40, r=120, packet_bytes=1, seed=1)
    rank = code.decoder()
    coded = code.coded(np.zeros((40, 1), np.uint8))
    for position, counted in enumerate(worth):
        before = rank.missing
        rank.add(40 + position, coded[40 + position])
        assert counted == (before - rank.missing if before else 1)


def test_decoded_bytes_are_compared_with_the_source(monkeypatch):
    receiver = Receiver("rs", k=3, n=5)
    monkeypatch.setattr(ReedSolomon, "decoder", lambda self: WrongDecoder())
    with pytest.raises(PayloadError) as caught:
        receiver.take(4)
    assert str(caught.value) == "unit 0 decoded to other bytes than its source: a defect of the code"


class WrongDecoder:
    """Says at once that it knows the source."""

    n, missing, complete = 5, 0, True

    def add(self, number, packet):
        return True

    def source(self):
        return np.zeros((3, MSS), np.uint8)


def test_the_scenario_says_it_and_the_units_have_the_column():
    described = Scenario(fabric=Dumbbell(hosts_per_side=2), traffic=SHORT, scheme="caps", payload="rs")
    params = {"transport": WINDOW}
    result = simulate(described.replace(params=params), engine="reference")
    assert result.units["dependent_packets"].tolist() == [0] * len(result.units)
    assert result.summary.unfinished_flows == 0


def test_bad_input(subtests):
    cases = [
        ({"payload": "turbo"}, "payload = 'turbo', but there are the codes ldpc, rlnc, rs"),
        (
            {"payload": "rs", "scheme": "ecmp"},
            "payload = 'rs', but the scheme ecmp codes nothing: leave it out, or take caps",
        ),
        (
            {"payload": "rs", "scheme": "dc2mtcp"},
            "payload = 'rs', but the scheme dc2mtcp sends random linear combinations: take rlnc",
        ),
    ]
    for changes, text in cases:
        with subtests.test(changes=changes, text=text):
            described = Scenario(fabric=Dumbbell(hosts_per_side=2), traffic=SHORT, scheme="caps")
            with pytest.raises(ParameterError) as caught:
                simulate(described.replace(**changes))
            assert str(caught.value) == text


@pytest.mark.parametrize(
    ("code", "most", "changes"),
    [
        ("rs", 256, {}),
        ("rs", 256, {"transport": {"max_window_bytes": 4096 * MSS}}),
        ("rs", 10**5, {"transport": {"max_window_bytes": 256 * MSS}}),
        ("rs", 10**5, {"layer": {"unit_size": "fixed", "fixed_packets": 256}}),
        ("rs", 10**5, {"layer": {"coded_packets": 256}}),
        ("rlnc", 684, {}),
    ],
)
def test_units_that_a_code_has_not_are_refused_before_the_run(code, most, changes):
    """Catches a run that ends at its first large unit, and one that is refused although windows or flows are small."""
    traffic = (Batch(flow_bytes=MSS * most, pairs="sides"),)
    fits = Scenario(fabric=LINK, traffic=traffic, scheme="caps", payload=code, params=changes, short_bytes=10**9)
    prepare(fits)
    if most == 256:
        with pytest.raises(ParameterError, match=r"allow 257 source packets in a unit: k .* at most 256 packets"):
            prepare(fits.replace(traffic=(Batch(flow_bytes=MSS * most + 1, pairs="sides"),)))
    if "layer" in changes:
        return
    larger = {"transport": {"max_window_bytes": 10**5 * MSS}}
    with pytest.raises(ParameterError, match=rf"payload = '{code}': windows and flows allow \d+ source packets"):
        prepare(fits.replace(params=larger, traffic=(Batch(flow_bytes=10**5 * MSS, pairs="sides"),)))


def test_it_is_off_by_default():
    assert Setup.payload == ""
