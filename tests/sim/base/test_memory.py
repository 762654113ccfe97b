"""Contract: what would not fit, or would take for ever, is refused in one line; what runs can be interrupted."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.engine_setups import memory_of, params_of, record

from capsim import (
    Batch,
    Dumbbell,
    Edge,
    FatTree,
    LeafSpine,
    LinkChange,
    Listed,
    Node,
    ParallelPaths,
    ParameterError,
    Probes,
    Scenario,
    Topology,
    simulate,
)
from capsim.base import memory
from capsim.base.bounds import PODS, PORTS, WORD
from capsim.engines.compiled import engine as chunk_module
from capsim.engines.compiled import world as world_module
from capsim.engines.compiled.layout import WORLD
from capsim.engines.compiled.world import LARGE_BYTES, World, aligned
from capsim.fabric.kinds import AnyFabric
from capsim.protocols.layers.blocking import Threshold, note_rtt
from capsim.protocols.layers.caps import CAPS_LAYER
from capsim.records import ACK, PACKET
from capsim.run.simulation import prepare

PAIR = Dumbbell(hosts_per_side=2)
TRAFFIC = (Batch(flow_bytes=20_000, pairs="sides"),)
TREE = Topology(
    nodes=tuple(Node(name, "host" if name in "xyz" else "switch") for name in "xyzabc"),
    edges=tuple(Edge(one, other, 1e9, 1e-6) for one, other in ("xa", "ay", "zb", "ac", "cb", "cb")),
)


def group_files(folder: Path, **texts: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name.replace("__", ".")).write_text(text)


V2 = {"memory__max": "3000", "memory__current": "1200", "memory__stat": "anon 700\ninactive_file 500\n"}
V1 = {
    "memory__limit_in_bytes": "9000",
    "memory__usage_in_bytes": "4000",
    "memory__stat": "cache 5\ntotal_inactive_file 1000\n",
}


@pytest.mark.parametrize(
    ("line", "place", "free_bytes"),
    [
        ("0::/job/step", "job/step", 3000 - 1200 + 500),
        ("0::/job/step", "job", 3000 - 1200 + 500),  # the limit of a group around it
        ("0::/", "", 3000 - 1200 + 500),  # in a container its own group is the root
        ("0::/job/step", "elsewhere", memory.UNKNOWN),
    ],
)
def test_a_control_group_limits_what_is_free(line: str, place: str, free_bytes: int, tmp_path: Path) -> None:
    group_files(tmp_path / "fs" / place, **V2)
    (tmp_path / "cgroup").write_text(line + "\n")
    assert memory._free_in_group(tmp_path / "cgroup", tmp_path / "fs") == free_bytes


def test_a_control_group_of_the_first_version_does_so_too(tmp_path: Path) -> None:
    group_files(tmp_path / "fs/memory/job", **V1)
    (tmp_path / "cgroup").write_text("12:cpu,cpuacct:/\n7:memory:/job\n0::/\n")
    assert memory._free_in_group(tmp_path / "cgroup", tmp_path / "fs") == 9000 - 4000 + 1000


def test_a_group_without_a_limit_leaves_the_machine(tmp_path: Path) -> None:
    group_files(tmp_path / "fs", **V2 | {"memory__max": "max"})
    (tmp_path / "cgroup").write_text("0::/\n")
    assert memory._free_in_group(tmp_path / "cgroup", tmp_path / "fs") == memory.UNKNOWN
    assert memory._free_in_group(tmp_path / "none", tmp_path / "fs") == memory.UNKNOWN
    assert 0 < memory.available_bytes() < memory.UNKNOWN


@pytest.mark.parametrize("known", ["_free_on_machine", "_free_in_group"])
def test_the_smaller_one_counts(known: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_free_on_machine", "_free_in_group"):
        monkeypatch.setattr(memory, name, lambda *_, name=name: 10**9 if name == known else 2 * 10**9)
    with pytest.raises(ParameterError, match=r"^it would not fit in memory: 1.5 GB needed, 1.0 GB free: less would$"):
        memory.check_fits(1_500_000_000, "it", would_fit="less would")


def test_a_table_that_grows_beyond_memory_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody can know before how long a flow without a link tries; its samples are refused when they get too many."""
    links = (LinkChange(between=("left", "right"), down_s=0.0),)
    scenario = Scenario(
        fabric=Dumbbell(hosts_per_side=2, links=links),
        traffic=TRAFFIC,
        probes=Probes(period_s=1e-6, ports=("left>*",)),
    )
    monkeypatch.setattr(memory, "available_bytes", lambda: 20 * 10**6)
    with pytest.raises(ParameterError, match=r"probes of this run would not fit in memory: .* an earlier end"):
        simulate(scenario)


CHANGE = LinkChange(between=("left", "right"))
FABRICS: list[tuple[AnyFabric, str]] = [
    (
        LeafSpine(leaves=4096, hosts_per_leaf=1, spines=4096),
        "fabric: ports = 33562624, but it must be from 1 to 26",
    ),
    (LeafSpine(leaves=4096, hosts_per_leaf=4096, spines=1), "fabric: ports = 33562624"),
    (FatTree(pods=54, hosts_per_edge=4096), "fabric: ports = "),
    (FatTree(pods=64), "fabric: ports = 393216, but it must be from 1 to 26"),
    (FatTree(pods=130), r"pods: Expected `int` <= 128, but it is 130"),
    (ParallelPaths(paths=4096, hosts_per_side=4096, links=1000 * (CHANGE,)), "1000 entries, but 406 are the most"),
    (LeafSpine(leaves=2, hosts_per_leaf=1, spines=1, oversubscription=1e-3, host_rate_bps=1e12), "oversubscription"),
]


@pytest.mark.parametrize("free_bytes", [2**62, 0])
def test_a_large_table_grows_where_it_is_if_memory_is_free(free_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wrong line: addresses are reserved that the system refuses, where the table itself would have fitted."""
    monkeypatch.setattr(world_module, "available_bytes", lambda: free_bytes)
    world = object.__new__(World)
    world.arrays, world.reserved, world.record, world.watched = {}, {}, np.zeros(1, WORLD), []
    size, places = LARGE_BYTES // PACKET.itemsize, []
    world.point("packets", aligned(size, PACKET))
    world.arrays["packets"]["next"] = 7
    for times in (2, 8):
        world.extend("packets", times * size)
        places.append(int(world.record["packets"][0]))
        assert world.record["n_packets"][0] == times * size
        assert np.array_equal(world.arrays["packets"]["next"], [7] * size + [0] * (times - 1) * size)
    assert (places[0] == places[1]) == (free_bytes > 0)


def test_a_fabric_that_takes_minutes_to_build_is_refused(subtests: pytest.Subtests) -> None:
    for fabric, line in FABRICS:
        with subtests.test(fabric=fabric, line=line), pytest.raises(ParameterError, match=line):
            prepare(Scenario(fabric=fabric, traffic=TRAFFIC).replace())


def test_the_largest_fabrics_are_known_without_building_them() -> None:
    largest = FatTree(pods=54).size()
    assert (largest.hosts, largest.ports) == (54**3 // 4, 2 * 3 * 54**3 // 4)
    assert largest.ports <= PORTS.largest < 2 * 3 * 56**3 // 4
    four = FatTree(pods=int(PODS.largest), built_pods=4).size()
    assert (four.hosts, four.ports) == (4 * 64**2, 2 * 3 * 4 * 64**2)
    assert four.ports <= PORTS.largest


def test_the_size_of_a_fabric_is_that_of_the_built_one(subtests: pytest.Subtests) -> None:
    cases = [
        LeafSpine(leaves=3, hosts_per_leaf=2, spines=4),
        FatTree(pods=4, hosts_per_edge=3),
        PAIR,
        ParallelPaths(paths=3, hosts_per_side=2),
        TREE,
    ]
    for fabric in cases:
        with subtests.test(fabric=fabric):
            built, size = fabric.build(), fabric.size()
            assert (size.hosts, size.switches, size.ports) == (built.n_hosts, built.n_switches, built.n_ports)
            assert size.leaves == len(np.unique(built.leaf_of_host))


def test_a_run_of_days_is_refused_with_what_would_fit() -> None:
    huge = Scenario(
        fabric=Dumbbell(hosts_per_side=2, rate_bps=1e13),
        traffic=(Listed(flows=200 * ((0, 2, 2**40, 0.0), (1, 3, 2**40, 0.0))),),
        end_s=4500.0,
        params={"transport": {"mss_bytes": 600}},
    )
    with pytest.raises(ParameterError, match=r"packets would cross a link, which takes \d+ days: .* or end_s = "):
        prepare(huge)
    assert prepare(huge.replace(end_s=1e-3)).end_ps == 10**9


def test_flows_of_all_entries_have_one_bound() -> None:
    with pytest.raises(ParameterError, match="flows of all entries = 120000000, but it must be from 1 to 1000"):
        prepare(Scenario(fabric=PAIR, traffic=2 * (Batch(flow_bytes=1, flows=6 * 10**7),)))


@pytest.mark.parametrize(("max_window_bytes", "fits"), [(12 * 10**6, True), (200 * 10**6, False)])
def test_windows_whose_best_unit_takes_too_long_are_refused(max_window_bytes: int, fits: bool) -> None:
    """Windows of 2^14 and 2^18 packets: 2^17 sizes of a unit are compared in half a second."""
    params: dict[str, Any] = {"layer": {"unit_size": "optimal"}, "transport": {"max_window_bytes": max_window_bytes}}
    traffic = (Listed(flows=((0, 1, 3 * 10**8, 0.0),)),)
    scenario = Scenario(fabric=PAIR, traffic=traffic, scheme="caps", params=params, short_bytes=10**9, end_s=1e-3)
    if fits:
        assert simulate(scenario).summary.unfinished_flows == 1
        return
    with pytest.raises(ParameterError, match=r"'optimal' with windows of 262144 packets: .* at most 131072 fit"):
        simulate(scenario)


def test_sums_of_round_trips_keep_their_mean_below_63_bits() -> None:
    """Ten thousand acknowledgements of 75 minutes each, all larger than 0.9 times their mean: 4.5e19 ps."""
    settings = params_of(CAPS_LAYER, sampling_s=0.0, threshold=Threshold.AVERAGE, rtt_factor=0.9)
    estimator, packet = memory_of(CAPS_LAYER, "subflow"), record(PACKET, kind=ACK)
    rtt_ps = 4500 * 10**12
    for _ in range(10_000):
        note_rtt(settings, estimator, packet, rtt_ps)
        assert max(estimator.all_rtt_ps, estimator.rtt_sum_ps) < WORD
    one_in_half_a_word = 2 * rtt_ps / WORD  # what halving an odd count changes
    assert estimator.all_rtt_ps / estimator.all_acks == pytest.approx(rtt_ps, rel=one_in_half_a_word)
    assert estimator.rtt_sum_ps / estimator.acks == pytest.approx(rtt_ps, rel=one_in_half_a_word)
    assert estimator.blocked == estimator.acks


def test_a_chunk_of_events_lasts_a_quarter_of_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever an event costs: 100 ns, then a second each."""
    clock = [0.0]
    monkeypatch.setattr(chunk_module.time, "perf_counter", lambda: clock[0])
    chunk = chunk_module.Chunk()
    for event_s, settled in ((1e-7, 2_500_000), (1.0, 1), (1e-3, 250)):
        for _ in range(30):
            clock[0] += chunk.begin() * event_s
            chunk.adapt()
        assert chunk.events == pytest.approx(settled, rel=0.01)
