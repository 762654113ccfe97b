"""Engine = engine: a scheme that is not in the package, as a user would write it, with memory, draws and queues."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from capsim import Balancer, FatTree, LeafSpine, Poisson, Scenario, Scheme, compare, schema, scheme, schemes, simulate
from capsmodel.checks import ParameterError
from capsmodel.experiments.sweep import SweepError


@dataclass(frozen=True, kw_only=True)
class Samples:
    weight: float = 1.0


def least_queue(
    params: Any,
    state: Any,
    switch: Any,
    conn: Any,
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
    state.decisions += 1
    return best


LEAST_QUEUE = replace(
    scheme("rps"),
    name="least_queue",
    summary="each packet takes the shortest queue",
    balancer=Balancer(
        name="least_queue", choose=least_queue, params=Samples(), state=(("decisions", "i8"),), draws=True
    ),
)
SCENARIO = Scenario(
    fabric=LeafSpine(leaves=2, hosts_per_leaf=4, spines=3, buffer_packets=30),
    traffic=(Poisson(workload="websearch", load=0.7, flows=40, pairs="other-leaf"),),
    trace="drops",
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


def test_own_scheme_can_be_compared_without_being_registered() -> None:
    compared = compare(SCENARIO.replace(trace="off"), schemes=["rps", LEAST_QUEUE], seeds=2)
    assert set(compared.runs["scheme"]) == {"rps", "least_queue"}
    assert "least_queue" not in schemes()
    with pytest.raises(ParameterError, match="least_queue"):
        simulate(SCENARIO.replace(scheme="least_queue"))


def test_a_comparison_that_is_kept_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own scheme among them; the id of a run covers the scheme's parameters and hooks."""
    asked: dict[str, Any] = {"schemes": ["rps", LEAST_QUEUE], "engine": "reference", "folder": tmp_path}
    scenario = SCENARIO.replace(trace="off")
    compare(scenario, seeds=1, **asked)
    first = set(tmp_path.glob("*.parquet"))
    both = compare(scenario, seeds=2, **asked)
    assert len(first) == 2
    assert set(tmp_path.glob("*.parquet")) > first
    monkeypatch.setattr("capsim.runs.simulate", None)
    pd.testing.assert_frame_equal(compare(scenario, seeds=2, **asked).runs, both.runs)
    with pytest.raises(SweepError):  # another initial window is another run
        compare(
            scenario, seeds=1, **asked | {"schemes": [LEAST_QUEUE.with_params(transport={"initial_window_packets": 3})]}
        )
