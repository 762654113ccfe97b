"""What an experiment costs: processor time of the runs that are there, and about that of its first looks.

A claim that its first look decides needs no more; those that it leaves open double their seeds at each further one.
"""

from collections.abc import Container, Iterator, Mapping, Sequence

import numpy as np

from capsmodel.experiments.statistics.sequential import FIRST_LOOK_SEEDS
from capsmodel.experiments.sweep import Task
from capsmodel.papers.campaign import Campaign
from capsmodel.papers.index import Cost
from capsmodel.papers.looks import Group
from capsmodel.papers.settings import TEXT
from capsmodel.papers.statements import Term

__all__ = ["cost", "costs"]


def costs(campaigns: Sequence[Campaign]) -> list[Cost]:
    """Return the cost of each campaign; runs that several share are those of the first."""
    counted: set[str] = set()
    found = []
    for campaign in campaigns:
        found.append(cost(campaign, counted))
        counted |= campaign.ids | {task.id for *_, task in _first_looks(campaign)}
    return found


def cost(campaign: Campaign, counted: Container[str] = ()) -> Cost:
    """Return what a campaign costs, but for runs whose ids are counted already.

    A missing run is taken to cost what those of its scheme and place did at the same scale, in other settings and with
    other seeds; where there is none, what those of its place did, or all of its scale.
    """
    there = {task.id: campaign.cpu_s[task.id] for *_, task in campaign.there}
    known = _mean_costs_s(campaign)
    missing = {
        task.id: next((known[kind] for kind in _kinds(group, term) if kind in known), np.nan)
        for group, term, task in _first_looks(campaign)
        if task.id not in campaign.cpu_s
    }
    shared = {one for one in there | missing if one in counted}
    made_s, missing_s = ([cpu_s for one, cpu_s in some.items() if one not in shared] for some in (there, missing))
    counts = len(made_s), float(sum(made_s)), len(missing_s), float(sum(missing_s))
    return Cost(campaign.experiment.name, *counts, len(shared))


def _first_looks(campaign: Campaign) -> Iterator[tuple[Group, Term, Task]]:
    """Yield the runs of the first look at each claim: in the setting of the text, and at the sampled places in all."""
    experiment = campaign.experiment
    for claim in experiment.statements:
        looks = [(TEXT, False), *((setting, True) for setting in campaign.settings_of[claim])]
        for setting, sampled in looks:
            group = Group(setting, experiment.scale(sampled=sampled))
            for term in experiment.statement(claim, setting, sampled=sampled).simulated.terms:
                for seed in range(1, FIRST_LOOK_SEEDS + 1):
                    yield group, term, campaign.tasks[group][term, seed]


def _mean_costs_s(campaign: Campaign) -> Mapping[tuple[str, ...], float]:
    found: dict[tuple[str, ...], list[float]] = {}
    for group, term, task in campaign.there:
        for kind in _kinds(group, term):
            found.setdefault(kind, []).append(campaign.cpu_s[task.id])
    return {kind: float(np.mean(times_s)) for kind, times_s in found.items()}


def _kinds(group: Group, term: Term) -> list[tuple[str, ...]]:
    """Return the kinds of runs that one belongs to, the narrowest first."""
    scheme, place = term
    return [(group.scale, place, scheme), (group.scale, place), (group.scale,)]
