"""Connection matrices of htsim become lists of flows, or one clear line."""

from pathlib import Path

import pytest

from capsim import FatTree, draw_flows, load_scenario
from capsim.fabric.files import FlowFile
from capsim.scenario.connection_matrix import read_connection_matrix
from capsmodel.checks import ParameterError

FLOWS = """\
# a ring of three, and two flows beside it
Nodes 16
Connections 5
Triggers 2
0->4 id 1 start 0 size 20000 recv_done_trigger 1
4->8 id 2 trigger 1 size 20000 recv_done_trigger 2
1->5 id 3 start 1000000.5 size 300 prio 2 recv_done_trigger 2

trigger id 1 oneshot
trigger id 2 barrier count 2
8->0 id 4 trigger 2 size 20000
2->3 start 7 size 1
"""


def read(folder: Path, text: str) -> FlowFile:
    (folder / "m.cm").write_text(text, encoding="utf-8")
    return read_connection_matrix(folder / "m.cm")


def test_flows_and_triggers_are_read(tmp_path: Path) -> None:
    assert read(tmp_path, FLOWS).entry() == {
        "kind": "list",
        "flows": [
            *((0, 4, 20_000, 0.0), (4, 8, 20_000, 0.0), (1, 5, 300, 1.0000005e-6)),
            *((8, 0, 20_000, 0.0), (2, 3, 1, 7e-12)),
        ],
        "after": ["", "0", "", "1 2", ""],
        "after_at": "receiver",
        "columns": {"id": ["1", "2", "3", "4", ""], "prio": ["", "", "2", "", ""]},
    }
    assert read(tmp_path, FLOWS.replace("recv_done", "send_done")).after_at == "sender"
    plain = read(tmp_path, "0->1 start 0 size 5\r\n1->0 start 1 size 5")
    assert plain.entry() == {"kind": "list", "flows": [(0, 1, 5, 0.0), (1, 0, 5, 1e-12)]}


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    assert read(tmp_path, "\ufeff" + FLOWS).entry() == read(tmp_path, FLOWS).entry()


def test_a_scenario_names_the_file(tmp_path: Path) -> None:
    read(tmp_path, FLOWS)
    text = 'fabric = {kind = "fat-tree", pods = 4}\ntraffic = [{kind = "csv", file = "m.cm"}]'
    (tmp_path / "s.toml").write_text(text)
    scenario = load_scenario(tmp_path / "s.toml")
    flows = draw_flows(scenario.traffic, FatTree(pods=4).build(), seed=1, short_bytes=1)
    assert flows.src[flows.waits_for > 0].tolist() == [4, 8]


def changed(old: str, new: str) -> str:
    assert FLOWS.count(old) == 1
    return FLOWS.replace(old, new)


BAD = [
    ("", "m.cm holds no flow"),
    ("Nodes 4\n", "m.cm holds no flow"),
    (changed("2->3", "2->"), "line 12: '' is no whole number"),
    (changed("2->3", "2->2"), "line 12: 2->2, but a flow needs two hosts"),
    (changed("2->3", "2->-3"), "line 12: host = -3, but it must be from 0 to"),
    (changed("2->3", "2->16"), "line 12: host 16, but Nodes 16 has hosts from 0 to 15"),
    (changed("size 1\n", "size 0\n"), "line 12: size: a flow of size 0 never ends, which no list"),
    (changed("size 1\n", "size 2MB\n"), "line 12: size: '2MB' is no whole number"),
    (changed("size 1\n", "size\n"), "line 12: size: '' is no whole number"),
    (changed("size 1\n", f"size {'9' * 5000}\n"), "line 12: size: '9999"),
    (changed("size 1\n", ""), "line 12: no size: give the bytes of the flow"),
    (changed("start 7", "start 7us"), "line 12: start: '7us' is no number of picoseconds"),
    (changed("start 7", "start -7"), "line 12: start: '-7' is no number of picoseconds"),
    (changed("start 7", "start nan"), "line 12: start: 'nan' is no number of picoseconds"),
    (changed("start 7", f"start {'9' * 40}"), "line 12: start: '9999"),
    (changed("start 7", ""), "line 12: a flow has either a start or a trigger"),
    (changed("start 7", "start 7 trigger 1"), "line 12: a flow has either a start or a trigger"),
    (changed("start 7", "start 7 start 8"), "line 12: start stands twice"),
    (changed("start 7", "start 7 addon"), "line 12: unknown word 'addon'"),
    (changed("start 7", "start 7 id 0"), "line 12: id: id = 0, but it must be from 1 to"),
    (changed("start 7", "start 7 id 4"), "line 12: a second flow with id 4"),
    (changed("Connections 5", "Connections 4"), "m.cm: Connections 4, but the file has 5"),
    (changed("Triggers 2", "Triggers 1"), "m.cm: Triggers 1, but the file has 2"),
    (changed("Triggers 2\n", ""), "m.cm: Triggers 0, but the file has 2"),
    (changed("Triggers 2", "Triggers 2\nFailures 1"), "m.cm: Failures 1, but the file has 0"),
    (changed("Nodes 16", "Nodes 16\nNodes 16"), "line 3: a second Nodes"),
    (changed("Nodes 16", "Nodes -1"), "line 2: Nodes = -1, but it must be from 0"),
    (changed("Nodes 16", "Nodes"), "line 2: 'Nodes' is no line of a connection matrix"),
    (changed("# a ring", "\0 ring"), "is no line of a connection matrix"),
    (changed("count 2", ""), "line 10: a barrier has a count"),
    (changed("count 2", "count 3"), "line 11: trigger 2 (barrier) needs 3 flows to fire, but 2 let it"),
    (changed("barrier count 2", "oneshot"), "line 11: trigger 2 (oneshot) needs 1 flow to fire, but 2 let it"),
    (changed("barrier count 2", "multishot"), "line 10: what a multishot trigger starts depends on"),
    (changed("barrier count 2", "count 2"), "line 10: a trigger has an id and is oneshot or barrier"),
    (changed("trigger id 2", "trigger id 1"), "line 10: a second trigger 1"),
    (changed("trigger id 2", "trigger id 3"), "line 11: trigger 2, but no line 'trigger id 2 ...'"),
    (
        changed("size 20000 recv_done_trigger 1", "size 20000"),
        "trigger 1 (oneshot) needs 1 flow to fire, but 0",
    ),
    (
        changed("size 20000 recv_done_trigger 2", "size 20000 send_done_trigger 2"),
        "a list of flows has one after_at",
    ),
    (changed("start 0", "trigger 2"), "line 5: after lets the flow wait for itself through rows"),
    (f"{FLOWS}failure switch_type TOR switch_id 0 link_id 1", "line 13: a list of flows has no failures"),
]


def test_what_no_list_of_flows_says_is_refused(subtests: pytest.Subtests, tmp_path: Path) -> None:
    for text, fault in BAD:
        with subtests.test(text=text, fault=fault):
            with pytest.raises(ParameterError) as raised:
                read(tmp_path, text)
            assert str(raised.value).startswith("m.cm")
            assert fault in str(raised.value)
            assert len(str(raised.value)) < 300
            assert "\n" not in str(raised.value)


def test_a_barrier_of_too_many_pairs_is_refused(tmp_path: Path) -> None:
    lines = ["0->1 start 0 size 1 send_done_trigger 1", "1->0 trigger 1 size 1"] * 3200
    with pytest.raises(ParameterError, match=r"^m.cm: its triggers make 10240000 pairs, but 10000000"):
        read(tmp_path, "\n".join(["Triggers 1", *lines, "trigger id 1 barrier count 3200"]))


def test_all_bad_lines_are_named(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"^m.cm line 1: ") as raised:
        read(tmp_path, "0->1 size 5\n1->0 start 1\nx")
    assert [note.partition(":")[0] for note in raised.value.__notes__] == ["m.cm line 2", "m.cm line 3"]
