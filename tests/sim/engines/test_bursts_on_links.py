"""Losses in runs: each packet's fate by hand, the law of the runs, and that a run of one's own length is no burst."""

from dataclasses import replace
from math import exp
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from support.engine_setups import BUSY, CROWDED, LEAF_SPINE, differences, differing, flow_list, one_run, setup_of

from capsim import (
    DrawnFault,
    Dumbbell,
    LeafSpine,
    LinkChange,
    Listed,
    ParameterError,
    Probes,
    Result,
    Scenario,
    load_scenario,
    simulate,
    write_pcap,
)
from capsim.base.randomness import uniform
from capsim.engines import run
from capsim.engines.initial_state import initial_state
from capsim.engines.state import RawRecords, Setup
from capsim.records import ARRIVED, CORRUPTED, DROPPED
from capsim.results import conservation
from capsim.scenario.scenario import from_dict

pytestmark = pytest.mark.agreement

MSS = 1460
LEFT_RIGHT = "left>right"


def datagrams(
    packets: int, *, prob: float, burst: float | None, burst_s: float | None = None, down: bool = False, **options: Any
) -> Setup:
    """Return packets that cross one lossy link after another, none of which is sent again."""
    outage = {"down_s": 400e-6, "up_s": 900e-6} if down else {}
    runs: dict[str, Any] = {"loss_prob": prob, "loss_burst_packets": burst, "loss_burst_s": burst_s}
    link = LinkChange(between=("left", "right"), one_way=True, **runs, **outage)
    kind = Dumbbell(hosts_per_side=1, rate_bps=1e9, delay_s=1e-6, links=(link,))
    return setup_of(
        kind, flow_list([(0, 1, packets * MSS, 0.0)]), "cbr", transport={"rate_bps": 900_000_000}, **options
    )


def fates(raw: RawRecords, port: int) -> list[bool]:
    """Return whether each packet that crossed the link of a port was lost there, in order of arrival."""
    ends = (raw.trace["what"] == ARRIVED) | (raw.trace["reason"] == CORRUPTED)
    lines = raw.trace[ends & (raw.trace["port"] == port)]
    return (lines["what"] == DROPPED).tolist()


def busy(name: str, fabrics: Any = BUSY, **options: Any) -> Setup:
    """Return a busy leaf-spine whose links lose packets in runs of 4, but for one in runs of 5 us and one without."""
    kind, flows = fabrics["leaf-spine"]
    timed = LinkChange(between=("leaf1", "spine1"), loss_prob=0.1, loss_burst_s=5e-6)
    alone = LinkChange(between=("leaf0", "spine1"), loss_prob=0.2, loss_burst_packets=1.25)
    lossy = LeafSpine(
        **{key: getattr(kind, key) for key in ("leaves", "hosts_per_leaf", "spines", "delay_s", "buffer_packets")},
        loss_prob=0.03,
        loss_burst_packets=4.0,
        links=(alone, timed, *options.pop("links", ())),
    )
    return setup_of(lossy, flows, name, **options)


def test_the_fate_of_each_packet_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """p = 1/4 and runs of 2.5: lost below 0.25 at first, below 0.6 behind a lost packet, below 2/15 behind another."""
    numbers = [0.25, 0.14, 0.13, 0.59, 0.6, 0.2, 0.1, 0.599, 0.0, 0.61, 0.134, 0.133, 0.9]
    lost = [False, False, True, True, False, False, True, True, True, False, False, True, False]
    setup = datagrams(len(numbers), prob=0.25, burst=2.5)
    monkeypatch.setattr("capsim.engines.reference_ports.uniform", lambda stream, count: numbers[count - 1])
    port = setup.fabric.port_names.index(LEFT_RIGHT)
    assert fates(run(setup, engine="reference"), port) == lost


@pytest.mark.parametrize(("first", "lost"), [(0.249, True), (0.25, False)])
def test_the_first_packet_is_lost_as_often_as_all(first: float, lost: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    setup = datagrams(1, prob=0.25, burst=2.5)
    monkeypatch.setattr("capsim.engines.reference_ports.uniform", lambda stream, count: first)
    assert fates(run(setup, engine="reference"), setup.fabric.port_names.index(LEFT_RIGHT)) == [lost]


@pytest.mark.parametrize("down", [False, True])
@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_a_run_of_losses_goes_on_with_the_next_packet_however_late(engine: str, down: bool) -> None:
    """The chain of the link's own numbers, counted in packets that cross it, also when the link fails in between."""
    setup = datagrams(400, prob=0.2, burst=5.0, down=down)
    port = setup.fabric.port_names.index(LEFT_RIGHT)
    found, raw = [], run(setup, engine=engine)
    threshold = 0.2
    for number in range(1, int(raw.ports["packets_arrived"][port]) + 1):
        found.append(uniform(int(initial_state(setup).ports["stream"][port]), number) < threshold)
        threshold = 0.8 if found[-1] else 0.05
    assert fates(raw, port) == found
    assert len(found) < 400 if down else len(found) == 400


@pytest.mark.parametrize("down", [False, True])
@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_a_run_that_lasts_a_time_ends_also_when_no_packet_comes(engine: str, down: bool) -> None:
    """By the times of arrival at the far end: p = 0.2 and runs of 40 us are forgotten with 32 us."""
    setup = datagrams(400, prob=0.2, burst=None, burst_s=40e-6, down=down)
    port = setup.fabric.port_names.index(LEFT_RIGHT)
    raw = run(setup, engine=engine)
    ends = (raw.trace["what"] == ARRIVED) | (raw.trace["reason"] == CORRUPTED)
    times_ps = raw.trace["time_ps"][ends & (raw.trace["port"] == port)].tolist()
    found, chance = [], 0.2
    for number, (now_ps, next_ps) in enumerate(zip(times_ps, [*times_ps[1:], 0], strict=True), start=1):
        found.append(uniform(int(initial_state(setup).ports["stream"][port]), number) < chance)
        chance = 0.2 + (found[-1] - 0.2) * exp((now_ps - next_ps) / 32e6)
    assert fates(raw, port) == found
    assert 20 < sum(found) < len(found)
    assert not down or np.diff(times_ps).max() > 4e8


def test_runs_that_last_a_time_have_the_share_and_the_time_asked_for() -> None:
    """At 13.3 us between packets, runs of 60 us: those behind lost ones and others, each test errs once in 1000."""
    prob, burst_s, apart_s = 0.1, 60e-6, 1460 * 8 / 0.9e9
    setup = datagrams(60_000, prob=prob, burst=None, burst_s=burst_s, end_ps=10**13)
    lost = np.array(fates(run(setup), setup.fabric.port_names.index(LEFT_RIGHT)))
    kept = np.exp(-apart_s / ((1 - prob) * burst_s))
    for before, chance in ((True, prob + (1 - prob) * kept), (False, prob * (1 - kept))):
        behind = lost[1:][lost[:-1] == before][:2000]
        assert stats.binomtest(int(behind.sum()), len(behind), chance).pvalue > 1e-3
    error = np.sqrt(prob * (1 - prob) * (1 + kept) / (1 - kept) / len(lost))
    assert abs(lost.mean() - prob) < 3.29 * error


def test_runs_that_are_over_before_the_next_packet_change_nothing() -> None:
    flows = BUSY["dumbbell"][1]
    plain, runs = (
        setup_of(Dumbbell(hosts_per_side=3, loss_prob=0.03, loss_burst_s=burst_s), flows, "sack")
        for burst_s in (None, 1e-12)
    )
    assert differing(run(plain), run(runs)) == []


@pytest.mark.parametrize(("prob", "burst"), [(0.02, 3.0), (0.2, 5.0), (0.5, 20.0)])
def test_share_and_runs_are_those_asked_for(prob: float, burst: float) -> None:
    """The packets behind lost ones, and those behind others, are independent draws: each test errs once in 1000."""
    setup = datagrams(60_000, prob=prob, burst=burst, end_ps=10**13)
    lost = np.array(fates(run(setup), setup.fabric.port_names.index(LEFT_RIGHT)))
    assert len(lost) == 60_000
    for before, chance in ((True, 1 - 1 / burst), (False, prob / (1 - prob) / burst)):
        behind = lost[1:][lost[:-1] == before][:1100]
        assert len(behind) == 1100
        assert stats.binomtest(int(behind.sum()), len(behind), chance).pvalue > 1e-3
    # In the stationary chain successive fates correlate by c: a share of n has the variance p (1 - p) (1 + c)/(1 - c)/n
    correlation = 1 - 1 / ((1 - prob) * burst)
    error = np.sqrt(prob * (1 - prob) * (1 + correlation) / (1 - correlation) / len(lost))
    assert abs(lost.mean() - prob) < 3.29 * error
    runs = np.diff(np.flatnonzero(np.diff(np.concatenate([[0], lost, [0]]))))[::2]
    assert abs(runs.mean() - burst) < 3.29 * np.sqrt(burst * (burst - 1) / len(runs))


@pytest.mark.parametrize("prob", [0.001, 0.03, 0.1, 0.3, 0.75, 0.999])
def test_runs_of_the_length_of_independent_losses_change_nothing(prob: float) -> None:
    """b = 1/(1 - p): bit for bit, since both thresholds are the probability itself."""
    flows = BUSY["dumbbell"][1]
    plain, runs = (
        setup_of(Dumbbell(hosts_per_side=3, loss_prob=prob, loss_burst_packets=burst), flows, "sack")
        for burst in (None, 1 / (1 - prob))
    )
    assert (runs.fabric.loss_after == prob).all()
    assert differing(run(plain), run(runs)) == []


def test_a_link_without_losses_has_no_runs_and_one_that_loses_all_no_end() -> None:
    """The largest values of the range: p = 0 loses nothing, and runs of 10^9 lose all or nothing."""
    assert run(datagrams(100, prob=0.0, burst=7.0)).ports["packets_lost"].sum() == 0
    assert run(datagrams(100, prob=0.0, burst=None, burst_s=1e-3)).ports["packets_lost"].sum() == 0
    assert run(datagrams(100, prob=1.0, burst=None, burst_s=1e-3)).ports["packets_lost"].sum() == 100
    assert run(datagrams(200, prob=0.5, burst=None, burst_s=4000.0)).ports["packets_lost"].sum() in (0, 200)
    raw = run(datagrams(200, prob=0.5, burst=1e9))
    assert raw.ports["packets_lost"].sum() in (0, 200)


@pytest.mark.parametrize("name", ["ecmp", "rps_pq", "caps", "caps_decode", "mptcp", "dctcp", "sc_mptcp"])
def test_engines_agree(name: str) -> None:
    setup = busy(name)
    raw = one_run(setup, strict=True)
    assert raw.ports["packets_lost"].sum() > 30
    conservation.check(raw, setup.fabric)


OPTIONS: dict[str, dict[str, Any]] = {
    "failing links": {"links": (LinkChange(between=("leaf1", "spine0"), down_s=1e-4, up_s=9e-4),)},
    "ties in order": {"ordered": True},
    "probes of the state, a warm-up": {
        "probe_ps": 50_000_000,
        "probe_ports": tuple(range(36)),
        "probe_fields": ("port.loss_prob", "port.packets_lost"),
        "warm_up_ps": 400_000_000,
        "histograms": True,
    },
}


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("name", ["ecmp", "caps_decode"])
def test_engines_agree_with(name: str, option: str) -> None:
    assert differences(busy(name, **OPTIONS[option])) == []


@pytest.mark.parametrize("name", ["caps", "caps_decode"])
def test_asking_what_a_packet_is_worth_does_not_move_a_run_of_losses(name: str) -> None:
    """Packets with bytes are looked at before they arrive; the same ones are lost as when they are only counted."""
    counted, carried = (busy(name, CROWDED, payload=payload) for payload in ("", "rs"))
    assert differences(carried) == []
    assert np.array_equal(run(counted).trace, run(carried).trace)
    assert run(carried).ports["packets_lost"].sum() > 5


def test_the_same_packets_of_a_link_are_lost_whatever_the_scheme() -> None:
    setups = [busy(name) for name in ("ecmp", "rps")]
    runs, compared = [run(setup) for setup in setups], 0
    timed = setups[0].fabric.loss_memory_ps > 0  # there it depends on when a packet comes
    for port in np.flatnonzero(~timed).tolist():
        ours, theirs = (fates(raw, port) for raw in runs)
        count = min(len(ours), len(theirs))
        assert ours[:count] == theirs[:count]
        compared += sum(ours[:count])
    assert compared > 30
    assert fates(run(replace(setups[0], loss_seed=6)), 0) != fates(runs[0], 0)


def lossy_pair(**options: Any) -> Scenario:
    """Return a flow of datagrams over three links that lose a fifth of the packets in runs of 5."""
    fabric = Dumbbell(hosts_per_side=1, rate_bps=1e9, loss_prob=0.2, loss_burst_packets=5.0)
    return Scenario(fabric=fabric, traffic=(Listed(flows=((0, 1, 400_000, 0.0),)),), scheme="cbr", **options)


def test_a_probe_shows_the_probability_of_the_next_packet() -> None:
    probes = Probes(period_s=20e-6, fields=("port.loss_prob",), ports=(LEFT_RIGHT,))
    found = simulate(lossy_pair(probes=probes)).samples("port.loss_prob")[LEFT_RIGHT]
    assert set(found.round(12)) == {0.2, 0.8, 0.05}


def test_a_capture_behind_the_link_has_what_the_link_let_through(tmp_path: Path) -> None:
    result = simulate(lossy_pair(trace="packets"))
    ports = result.ports.set_index("name")
    left = ports.loc[LEFT_RIGHT]
    assert write_pcap(result, tmp_path / "run.pcap", ports=[LEFT_RIGHT]) == left["packets_out"] - left["packets_lost"]
    assert left["packets_lost"] > 10


# -- as a scenario says it


def test_one_key_for_all_links_entries_that_differ_and_faults_that_are_drawn() -> None:
    """Probability and runs may come from different places; 1 - 1/((1 - p) b) is what correlates successive losses."""
    links = (
        LinkChange(between=("leaf0", "spine1"), loss_prob=0.5),
        LinkChange(between=("host0", "leaf0"), loss_burst_packets=2.0),
    )
    faults = (DrawnFault(nodes="leaf1", one_way=True, share=1.0, loss_prob=0.2, loss_burst_packets=1.25),)
    shape: dict[str, Any] = {
        "leaves": 2,
        "hosts_per_leaf": 2,
        "spines": 2,
        "loss_prob": 0.01,
        "links": links,
        "faults": faults,
    }
    fabric = LeafSpine(loss_burst_packets=4.0, **shape).build()
    found = dict(zip(fabric.port_names, fabric.loss_correlation.tolist(), strict=True))
    assert found["leaf0>spine1"] == found["spine1>leaf0"] == pytest.approx(1 - 1 / (0.5 * 4))
    assert found["host0>leaf0"] == found["leaf0>host0"] == pytest.approx(1 - 1 / (0.99 * 2))
    assert found["host1>leaf0"] == pytest.approx(1 - 1 / (0.99 * 4))
    assert found["leaf1>spine0"] == found["leaf1>host2"] == 0
    assert found["spine0>leaf1"] == pytest.approx(1 - 1 / (0.99 * 4))
    timed = LinkChange(between=("host1", "leaf0"), loss_burst_s=1e-6)  # in place of the runs in packets
    fabric = LeafSpine(loss_burst_packets=4.0, **shape | {"links": (*links, timed)}).build()
    memory_ps = dict(zip(fabric.port_names, fabric.loss_memory_ps.tolist(), strict=True))
    assert {name for name, value in memory_ps.items() if value} == {"host1>leaf0", "leaf0>host1"}
    assert memory_ps["host1>leaf0"] == pytest.approx(0.99e6)
    assert dict(zip(fabric.port_names, fabric.loss_correlation.tolist(), strict=True))["host1>leaf0"] == 0
    assert (LEAF_SPINE.build().loss_correlation == 0).all()


def test_a_file_says_it_and_a_result_keeps_it(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    scenario = lossy_pair()
    simulate(scenario).save(folder)
    assert Result.load(folder).scenario.fabric == scenario.fabric
    text = '[fabric]\nkind = "dumbbell"\nhosts_per_side = 1\n[[fabric.links]]\nbetween = ["left", "right"]\n'
    (tmp_path / "own.toml").write_text(
        f'{text}loss_prob = 0.1\nloss_burst_packets = 3\n[[traffic]]\nkind = "batch"\nflow_bytes = 1000\n'
    )
    assert load_scenario(tmp_path / "own.toml").fabric.links[0].loss_burst_packets == 3


@pytest.mark.parametrize(("prob", "burst", "least"), [(0.2, 1.2, "1.25"), (1.0, 9.0, "inf"), (0.9, 9.9999, "10")])
def test_runs_shorter_than_those_of_independent_losses_are_refused(prob: float, burst: float, least: str) -> None:
    with pytest.raises(ParameterError) as refusal:
        datagrams(1, prob=prob, burst=burst)
    assert str(refusal.value) == (
        f"fabric: loss_burst_packets = {burst:g} of left>right, but losses of probability {prob:g} come in runs of at "
        f"least {least}: give that or more, or leave it out for independent losses"
    )


def test_runs_are_counted_in_packets_or_in_time() -> None:
    with pytest.raises(ParameterError, match=r"^fabric: loss_burst_packets and loss_burst_s exclude each other"):
        Dumbbell(hosts_per_side=1, loss_prob=0.1, loss_burst_packets=2.0, loss_burst_s=1e-6).build()


WRONG = [("loss_burst_packets", value) for value in (0.5, -1, float("nan"), 1e10, "long")]
WRONG += [("loss_burst_s", value) for value in (0, -1e-6, float("nan"), 1e10, "long")]


@pytest.mark.parametrize(("key", "value"), WRONG)
@pytest.mark.parametrize("place", ["fabric", "links"])
def test_a_length_that_is_none_is_refused(place: str, key: str, value: Any) -> None:
    keys = {"loss_prob": 0.1, key: value}
    kind = {"kind": "leaf-spine", "leaves": 2, "hosts_per_leaf": 1, "spines": 1}
    fabric = kind | (keys if place == "fabric" else {"links": [{"between": ["*", "*"], **keys}]})
    with pytest.raises(ParameterError, match=key) as error:
        from_dict({"fabric": fabric, "traffic": [{"kind": "batch", "flow_bytes": 1}]})
    assert "\n" not in str(error.value)
