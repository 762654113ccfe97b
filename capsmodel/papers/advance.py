"""Run experiments until their claims are decided, the cheapest ones first, or the time is over."""

import time
from collections.abc import Container, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from capsmodel.experiments.sweep import Executor, Progress, end_of, run_sweep
from capsmodel.papers.campaign import Campaign
from capsmodel.papers.experiments import PublishedExperiment

__all__ = ["advance"]


def advance(
    experiments: PublishedExperiment | Sequence[PublishedExperiment],
    folder: Path,
    *,
    budget_s: float = np.inf,
    shard: tuple[int, int] = (1, 1),
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> int:
    """Run what the claims of experiments need next, until all are decided, at their limits, or the time is over.

    Of the next looks of all experiments, those that take the least processor time for each open claim come first, so
    that a budget decides as many as it can. Those of one experiment in several settings are one sweep.

    Parameters
    ----------
    experiments : PublishedExperiment or sequence of them
        What is run.
    folder : Path
        Where runs are kept; those already there are not run again.
    budget_s : float
        Time after which no further run is begun, in seconds.
    shard : (int, int)
        Share i of n of each look's runs, from 1. What the other shares find is not there, so a share ends with the
        looks that the folder asks for when it begins.
    executor, progress
        As in :func:`capsmodel.experiments.sweep.run_sweep`; label and names of runs are those of the experiment.

    Returns
    -------
    int
        Runs made.

    Raises
    ------
    ParameterError
        If `budget_s` is negative or NaN.
    """
    end_s, made = end_of(budget_s), 0
    listed = [experiments] if isinstance(experiments, PublishedExperiment) else experiments
    campaigns = [Campaign(experiment, folder) for experiment in listed]
    ended: set[int] = set()
    while (left_s := end_s - time.monotonic()) > 0 and (open_ := _cheapest(campaigns, ended)):
        number, found = open_
        shown = replace(progress or Progress(), label=found.experiment.name, named=found.name_of)
        tasks = found.next_tasks(shard)
        made += run_sweep(tasks, folder, executor=executor, progress=shown, budget_s=left_s).ran
        campaigns[number] = Campaign(found.experiment, folder, found.tasks, found.measured)
        ended |= {number} if shard != (1, 1) else set()
    return made


def _cheapest(campaigns: Sequence[Campaign], ended: Container[int]) -> tuple[int, Campaign] | None:
    """Return the campaign whose next looks cost least for each claim, and its number; None if no look is left."""
    costs_s = {number: one.next_cost_s() for number, one in enumerate(campaigns) if number not in ended}
    number = min(costs_s, key=lambda one: costs_s[one], default=None)
    return None if number is None or np.isinf(costs_s[number]) else (number, campaigns[number])
