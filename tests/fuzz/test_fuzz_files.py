"""Property: a damaged file is refused in one clear line or means what it meant: no other rows, no other exception."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import outcome

from capsim import Batch, Dumbbell, Result, Scenario, Topology, simulate
from capsim.fabric.files import read_flow_csv, read_graph
from capsim.scenario.connection_matrix import read_connection_matrix
from capsmodel.experiments.results import merge
from capsmodel.experiments.sweep import Task, measurement, one_by_one, run_sweep
from capsmodel.workloads.files import read_flow_sizes

pytestmark = pytest.mark.agreement

FLOWS = b"src,dst,bytes,start_s,job\n0,1,1000,0.5,a\n1,0,2000,1e-3,b\n0,1,1,0,c\n"


@measurement("square", revision=1)
def square(*, number):
    """Return one row."""
    return {"square": number**2, "root": number**0.5}


def damaged(content, where, mask, cut):
    """Return `content` with one byte changed, or cut short."""
    place = where % len(content)
    if cut:
        return content[:place]
    return content[:place] + bytes([content[place] ^ mask]) + content[place + 1 :]


damage = {"where": st.integers(0, 10**6), "mask": st.integers(1, 255), "cut": st.booleans()}


@pytest.fixture(scope="module")
def part(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweep")
    run_sweep([Task(square, number=number) for number in range(50)], folder, executor=one_by_one, tasks_per_file=50)
    (path,) = folder.glob("*.parquet")
    return path.read_bytes(), merge([folder])


@given(**damage)
def test_a_part_of_a_sweep(part, tmp_path_factory, where, mask, cut):
    content, rows = part
    folder = tmp_path_factory.mktemp("fuzz")
    (folder / "part.parquet").write_bytes(damaged(content, where, mask, cut))
    found = outcome(lambda: merge([folder]))
    if found is not None:
        pd.testing.assert_frame_equal(found, rows)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    traffic = (Batch(flows=3, flow_bytes=20_000, pairs="sides"),)
    result = simulate(Scenario(fabric=Dumbbell(hosts_per_side=2), traffic=traffic), engine="reference")
    folder = result.save(tmp_path_factory.mktemp("run") / "out")
    return {path.name: path.read_bytes() for path in folder.iterdir()}, Result.load(folder)


@given(name=st.sampled_from(["flows.parquet", "ports.parquet"]), **damage)
def test_a_file_of_a_run(run, tmp_path_factory, name, where, mask, cut):
    files, whole = run
    folder = tmp_path_factory.mktemp("fuzz")
    for other, content in files.items():
        (folder / other).write_bytes(damaged(content, where, mask, cut) if other == name else content)
    found = outcome(lambda: Result.load(folder))
    if found is not None:
        pd.testing.assert_frame_equal(found.flows, whole.flows)
        pd.testing.assert_frame_equal(found.ports, whole.ports)


@given(where=st.integers(0, len(FLOWS)), noise=st.one_of(st.binary(max_size=40), st.text(max_size=20).map(str.encode)))
def test_a_list_of_flows(tmp_path_factory, where, noise):
    path = tmp_path_factory.mktemp("fuzz") / "flows.csv"
    path.write_bytes(FLOWS[:where] + noise + FLOWS[where:])
    found = outcome(lambda: read_flow_csv(path))
    if found is not None:
        assert all(tuple(map(type, row)) == (int, int, int, float) for row in found.flows)
        assert all(len(cells) == len(found.flows) for cells in found.table.extra.values())


MATRIX = b"""Nodes 3
Connections 3
Triggers 1
0->1 id 1 start 0 size 20 send_done_trigger 1
1->2 id 2 start 10 size 20 send_done_trigger 1
2->0 trigger 1 size 9
trigger id 1 barrier count 2
"""
NOISE = [b" ", b"\n", b"->", b"trigger 2", b"trigger id 9 oneshot", b"recv_done_trigger 2"]


@given(
    where=st.integers(0, len(MATRIX)),
    cut=st.integers(0, 12),
    noise=st.one_of(st.binary(max_size=20), st.sampled_from(NOISE)),
)
def test_a_connection_matrix(tmp_path_factory, where, cut, noise):
    path = tmp_path_factory.mktemp("fuzz") / "m.cm"
    path.write_bytes(MATRIX[:where] + noise + MATRIX[where + cut :])
    found = outcome(lambda: read_connection_matrix(path))
    if found is not None:
        assert all(tuple(map(type, row)) == (int, int, int, float) for row in found.flows)
        assert len(found.cells("after")) == len(found.flows)


SIZES = b"size_kb;cdf\n# measured\n1;0.25\n2.5;0.5\n10MB;1\n"


@given(**damage)
def test_sizes(tmp_path_factory, where, mask, cut):
    """Whatever a byte more or less makes of the file, it is refused, or each of its rows is a point."""
    path = tmp_path_factory.mktemp("fuzz") / "sizes.csv"
    path.write_bytes(damaged(SIZES, where, mask, cut))
    found = outcome(lambda: read_flow_sizes(path))
    if found is not None:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
        rows = [line for line in lines if line.strip(" ;") and not line.lstrip().startswith("#")]
        assert len(found.sizes) == len(rows)  # with the heads: the first size is a step of two points


NODES = b"name,kind,tier\nx,host,\ny,host,\ns,switch,\nt,switch,1\n"
LINKS = b"a,b,rate_gbps,delay_s,buffer_packets\nx,s,1,1e-6,9\ny,s,10Gbps,2us,\ns,t,1,0,\n"


@given(in_nodes=st.booleans(), **damage)
def test_a_graph(tmp_path_factory, in_nodes, where, mask, cut):
    """Whatever a byte more or less makes of the files, it is refused or it is a fabric that can be built."""
    paths = [tmp_path_factory.mktemp("fuzz") / name for name in ("nodes.csv", "links.csv")]
    for path, content in zip(paths, (NODES, LINKS), strict=True):
        hit = (path.name == "nodes.csv") == in_nodes
        path.write_bytes(damaged(content, where, mask, cut) if hit else content)
    found = outcome(lambda: read_graph(*paths))
    if found is not None:
        fabric = Topology(nodes=found[0], edges=found[1]).build()
        assert (fabric.n_hosts, fabric.n_ports) == (2, 6)
