"""Flows that begin when others are complete: to the picosecond in both engines; lists that cannot be are refused."""

from dataclasses import replace

import numpy as np
import pytest
from support.engine_setups import LEAF_SPINE, Losses, one_run, setup_of, with_losses

from capsim import LeafSpine, LinkChange, Listed, ParameterError, Scenario, load_scenario, scheme, simulate
from capsim.base.seeds import EntrySeeds
from capsim.fabric.flows import flow_list
from capsim.records import NONE
from capsim.scenario.scenario import from_dict

FABRIC = LeafSpine(leaves=2, hosts_per_leaf=2, spines=2, rate_bps=1e9, delay_s=1e-6)


def waiting(*, at_sender=False, n_flows=40, seed=5, hosts=9):
    """Return flows between random hosts, each of which waits for up to three of those listed before it."""
    rng = np.random.default_rng(seed)
    src = rng.integers(0, hosts, n_flows)
    pairs = {(flow, int(rng.integers(flow))) for flow in range(4, n_flows) for _ in range(rng.integers(4))}
    return flow_list(
        src,
        (src + rng.integers(1, hosts, n_flows)) % hosts,
        flow_bytes=rng.integers(1, 40_000, n_flows),
        start_s=np.round(rng.exponential(20e-6, n_flows), 9) * rng.integers(0, 2, n_flows),
        after=np.array(sorted(pairs)),
        after_sender=at_sender,
    )


def assert_in_order(flows, records):
    """Check that each flow that waits begins exactly `start_ps` after the last of its own is complete."""
    sender = np.broadcast_to(flows.after_sender, len(flows))
    for flow in range(len(flows)):
        others = flows.after[flows.after[:, 0] == flow, 1]
        ends = records.flows["acked_ps" if sender[flow] else "received_ps"][others]
        assert (ends != NONE).all()
        assert records.flows["begin_ps"][flow] == max(ends, default=0) + flows.start_ps[flow]
        first = records.subs[records.subs["flow"] == flow]["open_ps"].min()
        assert first == records.flows["begin_ps"][flow]
    assert records.counters["due"] == 0


@pytest.mark.parametrize("at_sender", [False, True])
@pytest.mark.parametrize("name", ["ecmp", "mptcp", "repflow"])
def test_each_flow_begins_when_the_last_it_waits_for_is_complete(name, at_sender):
    """One path, shared streams, and copies of which the first completes a flow; both engines the same."""
    flows = waiting(at_sender=at_sender)
    assert_in_order(flows, one_run(setup_of(LEAF_SPINE, flows, name)))


def test_a_warm_up_that_ends_while_nothing_is_sent():
    """The run goes on after a pause in which a flow is due and no packet under way."""
    flows = flow_list([0, 1], [4, 5], flow_bytes=[3000, 3000], start_s=[0, 1e-3], after=np.array([[1, 0]]))
    setup = setup_of(LEAF_SPINE, flows, warm_up_ps=500_000_000)
    records = one_run(setup)
    assert records.warm is not None
    assert_in_order(flows, records)


def test_the_order_of_rows_says_nothing():
    """A flow may wait for rows below it; each has the times that it has in the list the other way round."""
    rows = [(0, 2, 5_000, 0.0), (2, 1, 7_000, 1e-5), (1, 3, 9_000, 0.0)]
    down = Listed(flows=tuple(rows), after=("", "0", "0 1"))
    up = Listed(flows=tuple(rows[::-1]), after=("2 1", "2", ""))
    tables = [simulate(Scenario(fabric=FABRIC, traffic=(entry,)), engine="reference").flows for entry in (down, up)]
    assert tables[0].sort_values("input_row")["after"].tolist() == ["", "0", "0 1"]
    times = [table.sort_values("src")[["start_s", "fct_s"]].to_numpy() for table in tables]
    assert np.array_equal(*times)
    (_, first_s), (second_s, _) = times[0][[0, 2]]
    assert second_s == pytest.approx(first_s + 1e-5, abs=1e-14)


def test_what_waits_for_a_flow_that_never_ends_never_begins():
    """It is reported, with all that waits for it in turn; a flow beside them ends, and so does the run."""
    lossy = with_losses(scheme("cbr"), Losses(at_node=9, always=1))
    flows = flow_list(
        [0, 3, 4, 5],
        [3, 0, 1, 2],
        flow_bytes=[9000, 500, 400, 300],
        start_s=[0, 0, 0, 0],
        after=np.array([[2, 0], [3, 2]]),
    )
    records = one_run(setup_of(LEAF_SPINE, flows, lossy))
    assert (records.flows["begin_ps"] == NONE).tolist() == [False, False, True, True]
    assert records.flows["n_subs"].tolist() == [1, 1, 0, 0]
    down = LinkChange(between=("host0", "leaf0"), down_s=0.0)
    fabric = LeafSpine(leaves=2, hosts_per_leaf=2, spines=2, links=(down,))
    entry = Listed(flows=((0, 2, 5000, 0.0), (2, 1, 500, 0.0), (1, 3, 10, 0.0)), after=("", "0", "1"))
    cut = Scenario(fabric=fabric, traffic=(entry,), end_s=1.0)
    result = simulate(cut, engine="reference")
    assert (result.summary.unfinished_flows, result.summary.unstarted_flows) == (3, 2)
    assert result.flows["start_s"].tolist() == [0.0, np.inf, np.inf]
    assert "3 unfinished" in repr(result)


def test_entries_keep_their_own_rows():
    """Rows of two lists and of drawn flows between them; start times and waits are those of each entry."""
    list_ = {"kind": "list", "flows": [[0, 2, 1000, 0.0], [2, 3, 1000, 2e-6]], "after": ["", "0"], "after_at": "sender"}
    batch = {"kind": "batch", "flow_bytes": 500, "pairs": "permutation"}
    tables = {"fabric": {"kind": "leaf-spine", "leaves": 2, "hosts_per_leaf": 2, "spines": 1}}
    scenario = from_dict(tables | {"traffic": [list_, batch, list_ | {"after_at": "receiver"}]})
    assert from_dict(scenario.to_dict()) == scenario
    flows = simulate(scenario, engine="reference").flows.set_index(["traffic_entry", "input_row"])
    for entry, column in ((0, "acked_fct_s"), (2, "fct_s")):
        assert flows.loc[(entry, 1), "start_s"] == pytest.approx(flows.loc[(entry, 0), column] + 2e-6, abs=1e-14)
    assert (flows.loc[1, "start_s"] == 0).all()


ROWS = ((0, 1, 10, 0.0), (1, 2, 10, 0.0), (2, 3, 10, 0.0))


def test_lists_that_cannot_be_are_refused_in_one_line(subtests):
    cases = [
        (("", "3", ""), "traffic.flows[1]: after has '3', but it must have rows of the list from 0 to 2"),
        (("", "-1", ""), "after has '-1'"),
        (("", "0,2", ""), "after has '0,2'"),
        (("", "٠", ""), "after has '٠'"),
        (("", "1" * 5000, ""), "after has '1111"),
        (("", "", "2"), "traffic.flows[2]: after lets the flow wait for itself: leave one of them out"),
        (("2", "0", "1"), "traffic.flows[0]: after lets the flow wait for itself through rows 0, 2, 1"),
        (("", "2", "0 1"), "traffic.flows[1]: after lets the flow wait for itself through rows 1, 2: leave"),
        (("", "0"), "traffic.'after' has 2 cells for 3 flows: give one for each"),
    ]
    for after, text in cases:
        with subtests.test(after=after, text=text):
            with pytest.raises(ParameterError) as caught:
                Listed(flows=ROWS, after=after).draw(FABRIC.build(), EntrySeeds(1, 0))
            assert text in str(caught.value)
            assert len(str(caught.value)) < 200
            assert "\n" not in str(caught.value)


def test_a_long_cycle_is_found_in_one_line():
    n = 2000
    rows = tuple((0, 1, 10, 0.0) for _ in range(n))
    cycle = tuple(str((row + 1) % n) for row in range(n))
    with pytest.raises(ParameterError, match=r"through rows 0, 1, 2, 3, \.\.\. \(2000 rows\)"):
        Listed(flows=rows, after=cycle).draw(FABRIC.build(), EntrySeeds(1, 0))
    chain = ("", *(str(row) for row in range(n - 1)))
    assert len(Listed(flows=rows, after=chain).draw(FABRIC.build(), EntrySeeds(1, 0)).after) == n - 1


def test_a_column_of_a_file(tmp_path):
    """The same as the key; errors name file and line."""
    (tmp_path / "flows.csv").write_text("src,dst,flow_kb,start_us,after\n0,2,3,0,\n2,1,4,10,0\n1,3,5,0,0 1\n")
    entry = '[[traffic]]\nkind = "csv"\nfile = "flows.csv"\nafter_at = "sender"\n'
    (tmp_path / "run.toml").write_text(
        f'[fabric]\nkind = "leaf-spine"\nleaves = 2\nhosts_per_leaf = 2\nspines = 1\n{entry}'
    )
    listed = load_scenario(tmp_path / "run.toml").traffic[0]
    assert (listed.after, listed.after_at) == (("", "0", "0 1"), "sender")
    for cell, text in (
        ("7", "line 3: after has '7'"),
        ("2", "line 3: after lets the flow wait for itself through rows 1, 2"),
    ):
        (tmp_path / "flows.csv").write_text(f"src,dst,flow_kb,start_us,after\n0,2,3,0,\n2,1,4,10,{cell}\n1,3,5,0,0 1\n")
        with pytest.raises(ParameterError) as caught:
            load_scenario(tmp_path / "run.toml")
        assert text in str(caught.value)
        assert "flows.csv" in str(caught.value)


def test_flows_that_wait_offer_no_load():
    """How far apart they begin is not known before; a list of flows without waits offers one as before."""
    rows = ((0, 2, 5000, 0.0), (1, 3, 5000, 1e-3))
    found = [
        simulate(Scenario(fabric=FABRIC, traffic=(Listed(flows=rows, **more),)), engine="reference").loads
        for more in ({}, {"after": ("", "0")})
    ]
    assert found[0]["offered_load_hosts"] > 0
    assert not found[1]["offered_load_hosts"] > 0


def test_a_flow_list_without_waits_is_as_before():
    flows = flow_list([0, 1], [1, 2], flow_bytes=[5, 7], start_s=[1e-3, 0.0])
    assert (flows.n_starts, len(flows.dependents), flows.waits_for.tolist()) == (2, 0, [0, 0])
    assert replace(flows, after=np.array([[1, 0]])).n_starts == 1
