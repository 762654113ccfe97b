"""The scenarios that capsim and ns-3 both run: one TOML file each, with a flow list beside it.

Both simulators read the same file. Where a fabric has several paths, the destination picks one: ns-3 has no hash of
a flow's addresses, and host routes can say the same in both.

Which packet is lost at a full queue decides the course of a lossy run. A scenario with ``compare.seeds`` is therefore
run that many times, and run r starts flow i later by r i microseconds: the same traffic, other collisions.
"""

import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from capsim import Balancer, FlowList, Listed, Scenario, Scheme, draw_flows, load_scenario, scheme
from capsim.base.clock import PS_PER_S

FOLDER = Path(__file__).parent
SHIFT_PS = 10**6


def choose(
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
    """Return the path that the number of the receiving host names."""
    return packet.target % len(candidates)


def names() -> list[str]:
    """Return the names of the scenarios."""
    return sorted(path.stem for path in (FOLDER / "scenarios").glob("*.toml"))


def scenario_of(name: str) -> Scenario:
    """Return a scenario by its name."""
    return load_scenario(FOLDER / "scenarios" / f"{name}.toml")


def scheme_of(scenario: Scenario) -> Scheme:
    """Return the scheme of the scenario, with the path picked by the destination."""
    by_destination = Balancer(name="by_destination", choose=choose, reads_queues=False)
    return replace(scheme(scenario.scheme), balancer=by_destination).with_params(**scenario.params)


def flows_of(scenario: Scenario, run: int) -> FlowList:
    """Return the flows of run number `run`, from 0 on."""
    fabric = scenario.fabric.build()
    flows = draw_flows(scenario.traffic, fabric, seed=scenario.seed, short_bytes=scenario.short_bytes)
    return replace(flows, start_ps=flows.start_ps + run * SHIFT_PS * np.arange(len(flows)))


def in_run(scenario: Scenario, run: int) -> Scenario:
    """Return the scenario with the flows of run number `run`."""
    flows = flows_of(scenario, run)
    starts = (flows.start_ps / PS_PER_S).tolist()
    rows = zip(flows.src.tolist(), flows.dst.tolist(), flows.flow_bytes.tolist(), starts, strict=True)
    return scenario.replace(traffic=(Listed(flows=tuple(rows)),))


def runs(scenario: Scenario) -> int:
    """Return how often a scenario is run."""
    return scenario.compare.seeds if scenario.compare else 1


def inputs_sha256(scenario: Scenario) -> str:
    """Return a hash of what ns-3 reads: all of the scenario but its name and notes."""
    text = json.dumps(scenario.replace(name="", notes="").to_dict(), sort_keys=True)
    return sha256(text.encode()).hexdigest()


def values_file(name: str) -> Path:
    """Return the file with the values of ns-3."""
    return FOLDER / "values" / f"{name}.json"
