"""Which settings count for a claim: a parameter that nothing in its runs comes to use changes none of them."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace

from pandas import DataFrame

from capsmodel.experiments.results import TASK_COLUMN
from capsmodel.experiments.statistics.sequential import FIRST_LOOK_SEEDS
from capsmodel.experiments.sweep import Task
from capsmodel.papers.experiments import PublishedExperiment
from capsmodel.papers.kept_rows import DIGEST
from capsmodel.papers.looks import Group
from capsmodel.papers.statements import Term

__all__ = ["counting_settings"]


def counting_settings(
    experiment: PublishedExperiment, tasks: Mapping[Group, Mapping[tuple[Term, int], Task]], measured: DataFrame
) -> dict[str, Sequence[str]]:
    """Return the settings that count for each claim: those whose runs, as it compares them, no earlier one has.

    Equal runs agree, which says nothing.

    Parameters
    ----------
    experiment : PublishedExperiment
        Whose claims.
    tasks : mapping
        Its runs, as :func:`capsmodel.papers.campaign_tasks.all_tasks` gives them.
    measured : DataFrame
        Rows of those that were made. Runs of the first look are the same if they measured the same, by their digests;
        before they are made, if their tasks are equal.

    Returns
    -------
    dict
        Names of combinations, in the order of the experiment, by claim; the text's is the first of each.
    """
    outcomes = _outcomes(measured)
    found: dict[str, Sequence[str]] = {}
    for claim_id in experiment.statements:
        first: dict[Hashable, str] = {}
        for setting in experiment.combinations:
            runs = tasks[Group(setting, experiment.scale(sampled=True))]
            first.setdefault(_compared(experiment, claim_id, setting, runs, outcomes), setting)
        found[claim_id] = tuple(first.values())
    return found


def _compared(
    experiment: PublishedExperiment,
    claim_id: str,
    setting: str,
    tasks: Mapping[tuple[Term, int], Task],
    outcomes: Mapping[str, str],
) -> Hashable:
    """Return the statement of a claim in a setting, with the runs of the first look in place of terms."""
    statement = experiment.statement(claim_id, setting, sampled=True).simulated
    seeds = range(1, FIRST_LOOK_SEEDS + 1)

    def run(term: Term, seed: int) -> str:
        name = tasks[term, seed].id
        return outcomes.get(name, name)

    runs = tuple(
        (replace(one, name="", terms=()), sign, *(run(term, seed) for seed in seeds))
        for one in statement.comparisons
        for sign, term in one.terms
    )
    return replace(statement, comparisons=()), runs


def _outcomes(measured: DataFrame) -> Mapping[str, str]:
    """Return the digest of all that each run has measured, by the id of its task."""
    return {} if measured.empty else dict(zip(measured[TASK_COLUMN], measured[DIGEST], strict=True))
