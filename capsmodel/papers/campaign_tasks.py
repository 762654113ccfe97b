"""All runs that a campaign may make: of which settings, at which scale, with which seeds."""

from capsmodel.papers.experiments import PublishedExperiment
from capsmodel.papers.looks import Group
from capsmodel.papers.settings import TEXT
from capsmodel.papers.statements import Term
from capsmodel.papers.task_list import TaskList

__all__ = ["MOST_SEEDS", "MOST_SEEDS_OF_OTHERS", "SECOND_FAMILY", "all_tasks", "most_seeds_of"]

MOST_SEEDS, MOST_SEEDS_OF_OTHERS = 64, 16
"""Limits of the seeds in the setting of the text, and in each other."""
SECOND_FAMILY = 1000
"""What is added to 1, 2, ... to give the seeds by which a refutation is checked; more than any of the first family."""


def all_tasks(experiment: PublishedExperiment) -> dict[Group, TaskList]:
    """Return all runs of an experiment with the schemes that are simulated, up to the limits, by group.

    The text's runs at all places include those at the sampled ones, unless these have a scale of their own.
    """
    text = Group(TEXT, experiment.scale(sampled=False))
    others = {Group(setting, experiment.scale(sampled=True)): True for setting in experiment.combinations}
    found = {}
    for group, sampled in (others | {text: False, text._replace(offset=SECOND_FAMILY): False}).items():
        terms: set[Term] = set()
        for claim in experiment.statements:
            terms |= experiment.statement(claim, group.setting, sampled=sampled).simulated.terms
        seeds = range(group.offset + 1, group.offset + most_seeds_of(group.setting) + 1)
        found[group] = experiment.tasks(terms, seeds, setting=group.setting, scale=group.scale)
    return found


def most_seeds_of(setting: str) -> int:
    """Return the limit of the seeds in a setting."""
    return MOST_SEEDS if setting == TEXT else MOST_SEEDS_OF_OTHERS
