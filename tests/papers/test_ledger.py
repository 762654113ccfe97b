"""Contract: every claim stands once and has at most one verdict, and each that was run names what decided it."""

import csv
import re
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from capsmodel.datafiles import data_path
from capsmodel.experiments.words import VERDICT_WORDS
from capsmodel.papers import NOT_MET, claim_causes, claim_totals, claims, ledger
from capsmodel.papers.claim_list import CAUSES, FORMULAS, read_claims, studies
from capsmodel.papers.figures import published_figures
from capsmodel.papers.index import PAPER_KEYS, LedgerEntry, read_checks, read_ledger, read_settings, read_verdicts
from capsmodel.papers.ledger import CLOSED_FORM_TEST, in_regime, settings_csv, verdicts_csv
from capsmodel.papers.studies import published_studies, simulated_studies

ROOT = Path(__file__).resolve().parents[2]
LEDGER = read_ledger()
CLAIMS = read_claims()
FIGURES = published_figures()


def deciding(name):
    """Return the claims that a figure or a study decides."""
    if name in FIGURES:
        return FIGURES[name].claims
    return [claim.id for claim in CLAIMS.values() if claim.study == name]


def test_the_file_is_what_its_entries_give():
    assert data_path("papers/verdicts.csv").read_text() == verdicts_csv(read_verdicts())


def test_settings_are_those_of_claims_and_the_file_is_what_they_give():
    tried = read_settings()
    assert data_path("papers/settings.csv").read_text() == settings_csv(tried)
    assert {one.id for one in tried} <= CLAIMS.keys()
    assert all(one.factor >= 1 and one.in_text >= 1 and one.seeds >= 2 for one in tried)


def test_what_differs_by_more_than_twice_has_a_cause_or_settings_that_were_tried():
    tried = {one.id for one in read_settings()}
    far = [row for row in claims(verdict="differs") if row.entry.times_printed > 2]
    known = [row for row in far if row.claim.cause or row.claim.id in tried or row.entry.in_other_settings]
    assert len(known) == len(far)
    assert len(far) > 90


def test_what_is_absent_outside_the_papers_regime_is_open():
    """One claim prints a size that ours differs from, and another one names it as what it needs."""
    entry = LedgerEntry("study", "", (1.0,), (), "absent", "chosen")
    regime = CLAIMS["dc2mtcp-f5-2"].regime
    for verdict, word in {"differs": "open", "agrees": "absent", "open": "absent"}.items():
        found = in_regime({"dc2mtcp-f5-2": entry, regime: replace(entry, verdict=verdict, value=(99.62,))})
        assert found["dc2mtcp-f5-2"].verdict == word
    held = in_regime({"dc2mtcp-f5-2": replace(entry, verdict="holds"), regime: replace(entry, verdict="differs")})
    assert held["dc2mtcp-f5-2"].verdict == "holds"
    assert "not the paper's regime" in LEDGER["dc2mtcp-f5-2"].reason


def test_a_regime_is_a_printed_size_of_the_same_paper():
    for claim in CLAIMS.values():
        if claim.regime:
            assert CLAIMS[claim.regime].paper == claim.paper
            assert CLAIMS[claim.regime].printed


def test_what_fails_in_few_settings_says_so():
    untried = {name for name, entry in LEDGER.items() if entry.is_untried}
    assert {LEDGER[name].verdict for name in untried} <= {"fails", "absent"}
    for name in untried:
        entry = LEDGER[name]
        assert entry.marked_verdict.endswith("settings untried")
        assert f"{entry.robustness.settings - entry.robustness.decided}" in entry.in_other_settings or (
            f"of {entry.robustness.settings} decided" in entry.in_other_settings
        )
    assert not LEDGER["caps-optk-0.2"].is_untried  # its formula has no settings


def test_a_claim_has_one_place_and_at_most_one_verdict():
    found = [name for path in studies().values() for name in ids_in(tomllib.loads(path.read_text(encoding="utf-8")))]
    with data_path("papers/verdicts.csv").open(newline="", encoding="utf-8") as file:
        verdicts = [row["id"] for row in csv.DictReader(file)]
    cells = [claim.id for claim in CLAIMS.values() if claim.id not in found]
    assert len(found) == len(set(found))
    assert {*found, *cells} == CLAIMS.keys() == LEDGER.keys()
    assert len(CLAIMS) == 792
    assert verdicts == list(CLAIMS)


def ids_in(tables):
    """Yield the ids of all claims of a study but for those of its printed tables."""
    for holder in tables.get("panel", []):
        yield from (claim["id"] for claim in holder.get("claims", []))
    yield from (claim["id"] for claim in tables.get("claim", []))


def test_a_claim_says_in_one_way_how_it_is_decided():
    """By runs; or by a formula, or by nothing at all."""
    for claim in CLAIMS.values():
        ways = sum(map(bool, (claim.formula, claim.not_testable)))
        assert ways == claim.study.endswith(FORMULAS), claim.id


def test_a_claim_is_decided_by_one_figure(monkeypatch):
    claims = [name for figure in FIGURES.values() for name in figure.claims]
    assert len(claims) == len(set(claims))
    figure = FIGURES["caps-fig9a"]
    again = replace(figure, module="caps_again")
    monkeypatch.setattr(ledger, "published_figures", lambda: {one.name: one for one in (figure, again)})
    with pytest.raises(ValueError, match=r"^claims of two figures: caps-f9a-r$"):
        ledger.decided()


def test_every_claim_that_fails_does_so_in_two_ways():
    """By two families of seeds in a study, otherwise by its formula and by the check that the record names."""
    failing = {name: entry for name, entry in LEDGER.items() if entry.verdict == "fails"}
    by_seeds = {name for name, entry in failing.items() if entry.decided_by in simulated_studies()}
    assert [name for name in by_seeds if "other seeds too" not in failing[name].reason] == []
    assert failing.keys() - by_seeds == {name for name, check in read_checks().items() if check.fails}
    for name, check in read_checks().items():
        assert (ROOT / check.by).is_file()
        assert LEDGER[name].verdict == ("fails" if check.fails else "open")


def test_what_differs_by_a_factor_does_so_and_what_agrees_hardly():
    """What is measured agrees within 10%, what a formula gives within its reading error; orders of magnitude apart."""
    claims = read_claims()
    sizes = [name for name in LEDGER if claims[name].unit != "orders of magnitude"]
    agreeing = [LEDGER[name].times_printed for name in sizes if LEDGER[name].verdict == "agrees"]
    assert max(agreeing) < 1.25
    simulated = [entry for entry in LEDGER.values() if entry.decided_by in simulated_studies()]
    factors = [entry.times_printed for entry in simulated if entry.verdict == "differs" and entry.times_printed]
    assert len(factors) > 100
    assert sum(factor > 1.1 for factor in factors) > 0.9 * len(factors)


def test_what_is_not_counted_says_why_and_its_twin_is_counted():
    claims = read_claims()
    twins = {name: claim.same_as for name, claim in claims.items() if claim.same_as}
    assert all(claims[twin].is_counted for twin in twins.values())
    assert all(LEDGER[name].verdict == LEDGER[twin].verdict for name, twin in twins.items())
    assert len(twins) + sum(bool(claim.not_claimed) for claim in claims.values()) == len(claims) - sum(
        claim.is_counted for claim in claims.values()
    )


def test_an_open_claim_that_may_take_seeds_has_a_price():
    waiting = [entry for entry in LEDGER.values() if entry.verdict == "open" and entry.next_seeds]
    assert len(waiting) > 20
    assert all(
        entry.next_seeds > entry.seeds or "other seeds" in entry.reason or "these seeds" in entry.reason
        for entry in waiting
    )
    assert {entry.next_seeds for entry in LEDGER.values() if entry.verdict not in ("open",)} <= {0}


def test_a_cause_is_of_a_known_kind_and_of_no_claim_that_is_met():
    """Some are of claims that fewer seeds than those of the first look are kept of, and so are open."""
    found = {name: claim.cause for name, claim in CLAIMS.items() if claim.cause}
    assert len(found) > 100
    for name, cause in found.items():
        kind, _, why = cause.partition(": ")
        assert kind in CAUSES, name
        assert why, name
        assert LEDGER[name].verdict in (*NOT_MET, "open"), name
    assert {claim: one.cause for study in published_studies().values() for claim, one in study.claims.items()} == {
        claim.id: claim.cause for claim in CLAIMS.values() if claim.study in published_studies()
    }


def test_causes_are_counted_once_as_the_words_are():
    words = {row["verdict"]: row["all"] for row in claim_totals(claims())}
    assert sum(row["all"] for row in claim_causes(claims())) == sum(words[name] for name in NOT_MET)


def test_each_open_claim_says_what_would_decide_it_or_why_nothing_does():
    for name, entry in LEDGER.items():
        is_open = entry.verdict == "open"
        assert bool(entry.takes_seeds) <= is_open, name
        if is_open and entry.decided_by in simulated_studies() and not entry.takes_seeds:
            assert re.search(r"no number of seeds decides it: .|would not decide it: .", entry.reason), name
        elif is_open and not entry.takes_seeds:
            assert entry.reason, name


def test_the_index_of_a_paper_holds_no_second_list_of_numbers(subtests):
    for paper in PAPER_KEYS:
        with subtests.test(paper=paper):
            index = tomllib.loads(data_path(f"papers/{paper}.toml").read_text(encoding="utf-8"))
            tables = {name for name, value in index.items() if isinstance(value, list) and isinstance(value[0], dict)}
            assert tables == {"equation", "discrepancy"}


def test_every_claim_with_a_formula_has_been_run():
    assert not [name for name, claim in CLAIMS.items() if claim.formula and not LEDGER[name].was_run]


def test_every_claim_of_a_figure_has_been_run():
    assert not [name for figure in FIGURES.values() for name in figure.claims if not LEDGER[name].was_run]


def test_an_entry_that_was_not_run_says_what_it_waits_for(subtests):
    for paper in PAPER_KEYS:
        with subtests.test(paper=paper):
            waiting = {claim: LEDGER[claim.id] for claim in CLAIMS.values() if claim.paper == paper}
            for claim, entry in waiting.items():
                if not entry.was_run:
                    assert entry.verdict == "open", claim.id
                    assert entry.reason == f"{claim.study}: no runs decide it yet", claim.id
                    filled = (entry.decided_by, entry.value, entry.interval, entry.result_id, entry.seeds)
                    assert not any(filled), claim.id
                    assert entry.takes_seeds == entry.next_seeds > 0 < entry.takes_cpu_h, claim.id


def test_an_entry_that_was_run_names_what_decided_it_and_from_what(subtests):
    for paper in PAPER_KEYS:
        with subtests.test(paper=paper):
            for name, entry in LEDGER.items():
                if not entry.was_run or CLAIMS[name].paper != paper:
                    continue
                assert entry.verdict in VERDICT_WORDS, name
                is_formula = entry.decided_by == CLOSED_FORM_TEST
                assert re.fullmatch("" if is_formula else "[0-9a-f]{64}", entry.result_id), name
                assert len(entry.interval) in (0, 2), name
                assert bool(entry.seeds) == bool(entry.points) == (entry.decided_by in simulated_studies()), name
                assert (ROOT / entry.decided_by).is_file() if is_formula else name in deciding(entry.decided_by), name
