"""Contract: every claim has one row and at most one verdict, and each that was run names what decided it."""

import csv
import re
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from capsmodel.datafiles import data_path
from capsmodel.experiments.words import VERDICT_WORDS
from capsmodel.papers import ledger
from capsmodel.papers.experiments import published_experiments
from capsmodel.papers.figures import published_figures
from capsmodel.papers.index import (
    PAPER_KEYS,
    closed_form_claims,
    experiment_kinds,
    read_checks,
    read_claims,
    read_ledger,
    read_verdicts,
)
from capsmodel.papers.ledger import CLOSED_FORM_TEST, verdicts_csv
from capsmodel.papers.verdicts import registered_claims

ROOT = Path(__file__).resolve().parents[2]
LEDGER = read_ledger()
FIGURES = published_figures()
EXPERIMENTS = published_experiments()
DECIDING = {name: figure.claims for name, figure in FIGURES.items()}
DECIDING |= {name: tuple(one.statements) for name, one in EXPERIMENTS.items()}
# CAPS Fig. 1, 2, 4, 6(c), 8(c)-(d): head of line, order, blocking, units in packets.
AGREEMENT_EXPERIMENTS = {"caps-e01-hol", "caps-e02-ooo", "caps-e03-onoff", "caps-e06-ps-sim", "caps-e10-unit-sim"}
FIGURE_19 = {"caps-f19-rtt", "caps-f19-pb"}


def ids_in(name):
    with data_path(f"papers/{name}").open(newline="", encoding="utf-8") as file:
        return [row["id"] for row in csv.DictReader(file)]


def test_the_file_is_what_its_entries_give():
    assert data_path("papers/verdicts.csv").read_text() == verdicts_csv(read_verdicts())


def test_a_claim_has_one_row_and_at_most_one_verdict():
    claims, verdicts = ids_in("claims.csv"), ids_in("verdicts.csv")
    assert len(claims) == len(set(claims)) == len(read_claims()) == len(LEDGER)
    assert len(verdicts) == len(set(verdicts)) == len(read_verdicts())
    assert verdicts == [name for name in claims if LEDGER[name].was_run]


def test_a_claim_is_decided_in_one_place():
    judged = [*registered_claims(), *(name for figure in FIGURES.values() for name in figure.judges)]
    by_experiments = [name for name, entry in read_verdicts().items() if entry.decided_by in EXPERIMENTS]
    assert len(judged) == len(set(judged))
    assert not set(judged) & set(by_experiments), "a verdict stands once: take the judge of the figure away"
    assert {*judged, *by_experiments} == set(read_verdicts())


def test_a_claim_is_decided_by_one_figure(monkeypatch, tmp_path):
    claims = [name for figure in FIGURES.values() for name in figure.claims]
    assert len(claims) == len(set(claims))
    figure = FIGURES["caps-fig9a"]
    again = replace(figure, module="caps_again")
    monkeypatch.setattr(ledger, "published_figures", lambda: {one.name: one for one in (figure, again)})
    with pytest.raises(ValueError, match=r"^claims of two figures: caps-f9a-r$"):
        ledger.decided(tmp_path)


def test_every_refuted_claim_was_refuted_in_two_ways():
    """By two families of seeds in an experiment, otherwise by its judge and by the check that the record names."""
    refuted = {name: entry for name, entry in LEDGER.items() if entry.verdict == "refuted"}
    by_seeds = {name for name, entry in refuted.items() if entry.decided_by in EXPERIMENTS}
    assert [name for name in by_seeds if not refuted[name].reason.endswith(" other seeds refute it too")] == []
    assert refuted.keys() - by_seeds == {name for name, check in read_checks().items() if check.refutes}
    for name, check in read_checks().items():
        assert (ROOT / check.by).is_file()
        assert LEDGER[name].verdict == ("refuted" if check.refutes else "open")


@pytest.mark.parametrize("paper", PAPER_KEYS)
def test_the_index_of_a_paper_holds_no_second_list_of_numbers(paper):
    index = tomllib.loads(data_path(f"papers/{paper}.toml").read_text(encoding="utf-8"))
    tables = {name for name, value in index.items() if isinstance(value, list) and isinstance(value[0], dict)}
    assert tables == {"equation", "discrepancy"}


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
        pattern = "" if entry.decided_by == CLOSED_FORM_TEST else "[0-9a-f]{64}"
        assert re.fullmatch(pattern, entry.result_id), name
        assert len(entry.interval) in (0, 2), name
        deciding = DECIDING.get(entry.decided_by)
        assert name in deciding if deciding else (ROOT / entry.decided_by).is_file(), name
