"""Agreement: what fails by the runs of a figure is looked at again with other seeds, by the same judge."""

import pytest

from capsmodel.papers.claim_list import read_claims
from capsmodel.papers.figures import published_figure
from capsmodel.papers.index import read_checks

OTHER_SEEDS = 1000  # added to those of the figure
# What a claim rests on, of all runs of its figure: one rate in each unit of lambda, and eight seeds. In the runs of the
# figure the mean distances there lie 9 to 24 standard errors of eight runs above the limit of 0.1; 4 prove it.
_ENDS = {"bursts_per_s": (5, 400), "seed": range(1, 9)}
CASES = {"caps-f19-rtt": ("caps-fig19", _ENDS), "caps-f19-pb": ("caps-fig19", _ENDS)}


@pytest.mark.parametrize("claim", CASES)
def test_other_seeds_say_what_the_record_says(claim, measured):
    name, wanted = CASES[claim]
    figure = published_figure(name)
    tasks = [task for task in figure.tasks() if all(task.payload[key] in values for key, values in wanted.items())]
    (function,) = {task.function for task in tasks}
    payloads = [{**task.payload, "seed": task.payload["seed"] + OTHER_SEEDS} for task in tasks]
    verdict = figure.judges[claim](read_claims()[claim], figure.table(measured(function, *payloads)))
    assert (verdict.verdict == "fails") == read_checks()[claim].fails, verdict.reason


def test_these_are_the_checks_that_the_record_names():
    named = {
        claim for claim, one in read_checks().items() if one.by == "tests/agreement/test_refuted_by_other_seeds.py"
    }
    assert named == set(CASES)
