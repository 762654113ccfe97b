"""Engine = engine: a scheme that is not in the package, as a user would write it, with memory, draws and queues."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.engine_setups import CROWDED, one_run, setup_of

from capsim import (
    PASS,
    Balancer,
    FatTree,
    Layer,
    LeafSpine,
    Poisson,
    Scenario,
    Scheme,
    Sharing,
    compare,
    scheme,
    schemes,
    simulate,
)
from capsim.base import schema
from capsmodel.checks import ParameterError
from capsmodel.experiments.sweep import SweepError


@dataclass(frozen=True, kw_only=True)
class Samples:
    weight: float = 1.0


def least_queue(
    params: Any,
    own: Any,
    switch: Any,
    sub: Any,
    packet: Any,
    ports: Any,
    candidates: Any,
    now_ps: int,
    u0: float,
) -> int:
    """The shortest of all queues, beginning at a random one; counts its decisions."""
    start, best = int(u0 * len(candidates)), 0
    for offset in range(len(candidates)):
        index = (start + offset) % len(candidates)
        if offset == 0 or ports[candidates[index]].queue_bytes * params.weight < ports[candidates[best]].queue_bytes:
            best = index
    own.switch.decisions += 1
    return best


LEAST_QUEUE = replace(
    scheme("rps"),
    name="least_queue",
    summary="each packet takes the shortest queue",
    balancer=Balancer(
        name="least_queue",
        choose=least_queue,
        params=Samples(),
        memory={"switch": (("decisions", "i8"),)},
        draws=True,
    ),
)
SCENARIO = Scenario(
    fabric=LeafSpine(leaves=2, hosts_per_leaf=4, spines=3, buffer_packets=30),
    traffic=(Poisson(load=0.7, flows=15, min_bytes=1000, max_bytes=200_000, pairs="other-leaf"),),
    trace="drops",
)
SMALL = SCENARIO.replace(
    traffic=(Poisson(load=0.7, flows=25, min_bytes=1000, max_bytes=100_000, pairs="other-leaf"),), trace="off"
)


def assert_engines_agree(scenario: Scenario, own: Scheme) -> None:
    fast, slow = (simulate(scenario, scheme=own, engine=engine) for engine in ("compiled", "reference"))
    assert fast.summary.unfinished_flows == 0
    assert all(getattr(fast, name).equals(getattr(slow, name)) for name in schema.TABLES)


def test_own_balancer_runs_the_same_on_both_engines() -> None:
    assert_engines_agree(SCENARIO, LEAST_QUEUE)
    assert_engines_agree(SCENARIO.replace(fabric=FatTree(pods=4, buffer_packets=30)), LEAST_QUEUE)


def test_own_parameters_matter_and_are_in_the_id() -> None:
    other = LEAST_QUEUE.with_params(balancer={"weight": 3.0})
    results = [simulate(SCENARIO, scheme=own) for own in (LEAST_QUEUE, other)]
    assert results[0].manifest["id"] != results[1].manifest["id"]
    assert not results[0].flows.equals(results[1].flows)
    assert_engines_agree(SCENARIO, other)


def begin_counted(params: Any, own: Any, flow: Any, now_ps: int) -> int:
    """One subflow; counts."""
    own.flow.begun += 1
    return 1


def begin_weighed(params: Any, own: Any, flow: Any, now_ps: int) -> int:
    """One subflow; notes the size of the flow."""
    own.flow.weight *= flow.flow_bytes
    return 1


def one_unit_each(params: Any, own: Any, flow: Any, sub: Any, counters: Any, packet: Any, now_ps: int) -> int:
    """Every packet makes a unit, and counts for the subflow, the flow and the host."""
    unit = own.units[counters.units]
    counters.units += 1
    unit.sub = sub.id
    unit.left -= 1
    own.subflow.packets += 1
    own.flow.packets += 1
    own.host.packets += 1
    return PASS


COUNT = (("packets", "i8", 100),)
HOSTS = replace(
    scheme("ecmp"),
    name="own_hosts",
    short=replace(
        scheme("ecmp").short,
        sharing=Sharing(
            name="counted", begin=begin_counted, memory={"flow": (("begun", "i8", 5), ("other", "f8", 0.5))}
        ),
    ),
    long=replace(
        scheme("ecmp").long,
        sharing=Sharing(name="weighed", begin=begin_weighed, memory={"flow": (("weight", "f8", 2.0),)}),
        layer=Layer(
            name="one_unit_each",
            accept=one_unit_each,
            memory={"subflow": COUNT, "flow": COUNT, "host": COUNT, "unit": (("sub", "i4"), ("left", "i8", 9))},
            columns={"subflow": {"packets": "packets counted"}, "unit": {"left": "nine less one"}},
        ),
    ),
)


def test_own_memory_of_hosts_is_the_same_on_both_engines() -> None:
    """Fields of short flows lie where others of long flows do; each begins with the first values of its own."""
    setup = setup_of(*CROWDED["leaf-spine"], HOSTS)
    raw = one_run(setup)
    long, size = raw.flows["stack"] == 1, raw.flows["flow_bytes"]
    assert set(raw.own.records("flow", (0, "sharing"))["begun"][~long].tolist()) == {6}
    assert raw.own.records("flow", (1, "sharing"))["weight"][long].tolist() == (2 * size[long]).tolist()
    sent = np.where(long, raw.subs["packets_sent"], 0)
    assert (raw.own.records("subflow", (1, "layer"))["packets"] - 100)[long].tolist() == sent[long].tolist()
    assert (raw.own.records("flow", (1, "layer"))["packets"] - 100)[long].tolist() == sent[long].tolist()
    by_host = np.bincount(raw.subs["src"], sent, minlength=setup.fabric.n_hosts)
    assert (raw.own.records("host", (1, "layer"))["packets"] - 100).tolist() == by_host.tolist()
    assert set(raw.own.records("unit", (1, "layer"))["left"].tolist()) == {8}
    assert len(raw.own.records("unit", (1, "layer"))) == sent.sum() > 250


def test_own_columns_are_in_the_tables() -> None:
    """Flows whose stack has no such column have 0 in it."""
    result = simulate(SCENARIO.replace(trace="off"), scheme=HOSTS)
    flows = result.flows
    expected = np.where(flows["short"], 0, 100 + flows["packets_sent"])
    assert flows["packets"].tolist() == expected.tolist()
    assert result.own_columns == {"flows": {"packets": "packets counted"}, "units": {"left": "nine less one"}}
    assert result.units["left"].tolist() == [8] * int(flows.loc[~flows["short"], "packets_sent"].sum())


def test_own_scheme_can_be_compared_without_being_registered() -> None:
    compared = compare(SMALL, schemes=["rps", LEAST_QUEUE], seeds=2)
    assert set(compared.runs["scheme"]) == {"rps", "least_queue"}
    assert "least_queue" not in schemes()
    with pytest.raises(ParameterError, match="least_queue"):
        simulate(SCENARIO.replace(scheme="least_queue"))


def test_a_comparison_that_is_kept_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own scheme among them; the id of a run covers the scheme's parameters and hooks."""
    asked: dict[str, Any] = {"schemes": ["rps", LEAST_QUEUE], "engine": "reference", "folder": tmp_path}
    compare(SMALL, seeds=1, **asked)
    first = set(tmp_path.glob("*.parquet"))
    both = compare(SMALL, seeds=2, **asked)
    assert len(first) == 2
    assert set(tmp_path.glob("*.parquet")) > first
    monkeypatch.setattr("capsim.study.scheme_runs.simulate", None)
    pd.testing.assert_frame_equal(compare(SMALL, seeds=2, **asked).runs, both.runs)
    with pytest.raises(SweepError):  # another initial window is another run
        compare(
            SMALL, seeds=1, **asked | {"schemes": [LEAST_QUEUE.with_params(transport={"initial_window_packets": 3})]}
        )
