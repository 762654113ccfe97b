"""Identity: what :class:`Trace` selects, by the counters of ports and flows of the same run, and what it refuses."""

from pathlib import Path

import numpy as np
import pytest

from capsim import (
    FatTree,
    LeafSpine,
    LinkChange,
    ParallelPaths,
    ParameterError,
    Poisson,
    Result,
    Scenario,
    Trace,
    simulate,
)
from capsim.fabric.kinds import AnyFabric

FABRICS: dict[str, AnyFabric] = {
    "leaf-spine": LeafSpine(leaves=2, hosts_per_leaf=3, spines=3, buffer_packets=20),
    "fat-tree": FatTree(pods=2, buffer_packets=20),
    "parallel-paths": ParallelPaths(paths=3, hosts_per_side=3, buffer_packets=20),
}


def traced_run(fabric: AnyFabric, *, trace: str = "packets", scheme: str = "caps") -> Result:
    traffic = (Poisson(workload="websearch", load=0.6, flows=12, pairs="other-leaf"),)
    return simulate(Scenario(fabric=fabric, traffic=traffic, trace=trace), scheme=scheme)


@pytest.fixture(scope="module", params=FABRICS)
def result(request: pytest.FixtureRequest) -> Result:
    return traced_run(FABRICS[request.param])


@pytest.fixture(scope="module")
def trace(result: Result) -> Trace:
    return Trace.of(result)


def test_packets_sent_are_those_that_the_flows_count(result: Result, trace: Trace) -> None:
    data = len(trace.sent("data")) + len(trace.sent("coded"))
    assert data == result.flows["packets_sent"].sum() > 500
    assert len(trace.sent()) == data + len(trace.sent("ack"))


def test_layers_divide_all_packets_as_the_counters_of_their_ports_do(result: Result, trace: Trace) -> None:
    ports = result.ports
    assert set(trace.layers) == set(ports["layer"])
    for layer in trace.layers:
        counted = ports[ports["layer"] == layer]
        refused = len(trace.at(layer, event="dropped"))
        assert refused == counted["packets_dropped"].sum()
        assert len(trace.at(layer, event="enqueued")) == counted["packets_in"].sum() - refused
        assert len(trace.at(layer, event="arrived")) == counted["packets_out"].sum()
    assert sum(len(trace.at(layer)) for layer in trace.layers) == len(trace.lines)


def test_what_arrives_at_hosts_has_crossed_the_last_layer(result: Result, trace: Trace) -> None:
    ports = result.ports
    downlinks = ports[ports["name"].str.contains(">host")]
    assert len(trace.arrived()) == downlinks["packets_out"].sum()
    assert set(trace.arrived("ack")["packet"]) == {"ack"}
    assert set(trace.arrived()["port"]) <= set(downlinks["name"])


def test_a_line_has_the_layer_and_the_path_of_its_port(result: Result) -> None:
    places = result.ports.set_index("name")
    ours = result.trace[["layer", "path"]].astype({"layer": str}).to_numpy()
    assert np.array_equal(ours, places.loc[result.trace["port"], ["layer", "path"]].astype({"layer": str}).to_numpy())


def test_sprayed_data_take_each_path_about_equally_often() -> None:
    middle = Trace.of(traced_run(FABRICS["leaf-spine"], scheme="rps")).at("leaf>spine", event="enqueued", packet="data")
    counts = middle["path"].value_counts()
    assert sorted(counts.index) == [0, 1, 2]
    assert counts.min() > 0.8 * counts.mean()


def test_the_trace_of_a_loaded_result_is_the_same(result: Result, trace: Trace, tmp_path: Path) -> None:
    again = Trace.of(Result.load(result.save(tmp_path / "out")))
    assert again.layers == trace.layers
    assert again.sent("coded").equals(trace.sent("coded"))


def test_a_packet_without_a_route_is_at_no_layer() -> None:
    change = LinkChange(between=("leaf0", "*spine*"), down_s=5e-3)
    cut = LeafSpine(leaves=2, hosts_per_leaf=3, spines=3, links=(change,))
    traffic = (Poisson(workload="websearch", load=0.6, flows=12, pairs="other-leaf"),)
    result = simulate(
        Scenario(fabric=cut, traffic=traffic, trace="packets", end_s=0.5), scheme="ecmp", engine="reference"
    )
    lost = result.trace[result.trace["reason"] == "no route"]
    assert len(lost) > 0
    assert (set(lost["port"]), set(lost["layer"]), set(lost["path"])) == ({""}, {""}, {-1})


def test_what_is_not_there_is_an_error(trace: Trace) -> None:
    with pytest.raises(ParameterError, match=r"layer = 'tor>spine', but there are host>"):
        trace.at("tor>spine")
    with pytest.raises(ParameterError, match=r"event = 'lost', but there are enqueued, dropped, arrived"):
        trace.at(trace.layers[0], event="lost")
    with pytest.raises(ParameterError, match=r"packet = 'acks', but there are data, ack"):
        trace.sent("acks")


@pytest.mark.parametrize("level", ["off", "drops"])
def test_a_run_without_all_packets_has_no_trace_to_read(level: str) -> None:
    with pytest.raises(ParameterError, match=rf"trace = '{level}', which records not all packets: set 'packets'"):
        Trace.of(traced_run(FABRICS["parallel-paths"], trace=level))
