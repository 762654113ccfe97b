"""The scenarios that capsim and ns-3 both run: one TOML file each, with a flow list beside it.

Both simulators read the same file. Where a fabric has several paths, the destination picks one: ns-3 has no hash of
a flow's addresses, and host routes can say the same in both.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

from capsim.hooks import Balancer, Scheme
from capsim.registry import scheme
from capsim.scenario import Scenario, load_scenario

FOLDER = Path(__file__).parent


def choose(
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
    return replace(scheme(scenario.scheme), balancer=by_destination)


def values_file(name: str) -> Path:
    """Return the file with the values of ns-3."""
    return FOLDER / "values" / f"{name}.json"
