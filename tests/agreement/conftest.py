"""What agreement tests share: results of simulations, kept for the session, and comparisons that are counted."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from capsmodel.experiments.agreement import Agreement, Samples, Sides, agreement
from capsmodel.experiments.measurement import measurement_of
from capsmodel.experiments.sweep import Task, gather


def pytest_itemcollected(item: pytest.Item) -> None:
    if isinstance(item, pytest.DoctestItem):  # an example of what is measured: it simulates
        item.add_marker("agreement")


@pytest.fixture(scope="session")
def measured(results: Path, pytestconfig: pytest.Config) -> Callable[..., pd.DataFrame]:
    """Return ``measured(function, {"seed": 1}, {"seed": 2})``: the rows of one task for each payload."""
    shift = pytestconfig.getoption("fresh_seeds")
    known: dict[tuple[str, ...], pd.DataFrame] = {}

    def rows(function: Callable[..., Any], *payloads: dict[str, Any]) -> pd.DataFrame:
        fresh = ({**payload, "seed": payload["seed"] + shift} for payload in payloads)
        tasks = [Task(function, **payload) for payload in fresh]
        ids = tuple(task.id for task in tasks)
        if ids not in known:
            # A folder for each measurement: to find its tasks, `gather` reads the manifests of all parts in the folder.
            known[ids] = gather(tasks, results / measurement_of(function).name)
        return known[ids]

    return rows


@pytest.fixture
def compare(request: pytest.FixtureRequest) -> Callable[..., Agreement]:
    """Return :func:`agreement` that notes each comparison, so that they can be counted and listed."""

    def noted(model: float, samples: Samples, **how: float | Sides) -> Agreement:
        verdict = agreement(model, samples, **how)
        request.node.user_properties.append(("agreement", str(verdict)))
        return verdict

    return noted
