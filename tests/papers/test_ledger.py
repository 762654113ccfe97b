"""Contract: every claim has a row in the ledger, and each that was run names what decided it, and from what."""

import re
from pathlib import Path

import pytest

from capsmodel.datafiles import data_path
from capsmodel.papers.figures import published_figures
from capsmodel.papers.index import PAPER_KEYS, closed_form_claims, experiment_kinds, read_claims, read_ledger
from capsmodel.papers.ledger import ledger_csv
from capsmodel.papers.verdicts import VERDICT_WORDS

ROOT = Path(__file__).resolve().parents[2]
LEDGER = read_ledger()
FIGURES = published_figures()
# CAPS Fig. 1, 2, 4, 6(c), 8(c)-(d): head of line, order, blocking, units in packets.
AGREEMENT_EXPERIMENTS = {"caps-e01-hol", "caps-e02-ooo", "caps-e03-onoff", "caps-e06-ps-sim", "caps-e10-unit-sim"}
FIGURE_19 = {"caps-f19-rtt", "caps-f19-pb"}


def test_the_file_is_what_its_entries_give():
    assert data_path("papers/claims.csv").read_text() == ledger_csv({k: v for k, v in LEDGER.items() if v.was_run})


def test_closed_forms_and_agreement_experiments_have_been_run():
    due = {claim.id for claim in closed_form_claims()} | FIGURE_19
    due |= {claim.id for claim in read_claims().values() if claim.experiment_id in AGREEMENT_EXPERIMENTS}
    assert len(due) >= 64
    assert not [name for name in sorted(due) if not LEDGER[name].was_run]


def test_every_claim_of_a_figure_has_been_run():
    assert not [name for figure in FIGURES.values() for name in figure.claims if not LEDGER[name].was_run]


@pytest.mark.parametrize("paper", PAPER_KEYS)
def test_an_entry_that_was_not_run_is_empty_but_for_the_experiment_it_waits_for(paper):
    waiting = {claim: LEDGER[claim.id] for claim in read_claims().values() if claim.paper == paper}
    for claim, entry in waiting.items():
        if not entry.was_run:
            assert entry.verdict == "open", claim.id
            assert entry.reason.startswith(f"{claim.experiment_id}: "), claim.id
            assert claim.experiment_id in experiment_kinds(), claim.id
            filled = (entry.decided_by, entry.value, entry.interval, entry.result_id)
            assert not any(filled), claim.id


@pytest.mark.parametrize("paper", PAPER_KEYS)
def test_an_entry_that_was_run_names_what_decided_it_and_from_what(paper):
    for name, entry in LEDGER.items():
        if not entry.was_run or read_claims()[name].paper != paper:
            continue
        assert entry.verdict in VERDICT_WORDS, name
        assert entry.reason, name
        assert (" do not decide: " in entry.reason) == (entry.verdict == "open"), name
        assert re.fullmatch("[0-9a-f]{64}", entry.result_id), name
        assert len(entry.interval) in (0, 2), name
        deciding = FIGURES.get(entry.decided_by)
        assert name in deciding.claims if deciding else (ROOT / entry.decided_by).is_file(), name
