"""The ledger: the verdict on every claim, from kept runs and formulas, and what it depends on.

``python -m capsmodel.papers.ledger data out/runs`` adds the runs that are new to ``data/results/runs`` and writes
``data/papers/verdicts.csv``, and ``settings.csv`` beside it: by how much values are off print in each setting.
"""

import csv
import io
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

from capsim.study.campaign import Campaign
from capsim.study.claims.decide import ABOUT
from capsim.study.claims.looks import points_there
from capsim.study.claims.samples import Statement
from capsim.study.kept_runs import MOST_SEEDS_OF_OTHERS
from capsmodel._files import atomic_writer
from capsmodel.experiments.manifest import table_id
from capsmodel.experiments.statistics.nearest import TriedSetting
from capsmodel.experiments.statistics.robustness import TEXT
from capsmodel.papers.claim_list import read_claims
from capsmodel.papers.closed_forms import closed_form_verdicts
from capsmodel.papers.figures import published_figures
from capsmodel.papers.index import LEDGER_COLUMNS, SETTING_COLUMNS, LedgerEntry, waiting
from capsmodel.papers.studies import is_testbed, published_studies

__all__ = [
    "CLOSED_FORM_TEST",
    "decided",
    "decided_by_runs",
    "in_regime",
    "settings_csv",
    "tried_settings",
    "update",
    "verdicts_csv",
]

SECONDS_PER_HOUR = 3600
CLOSED_FORM_TEST = "tests/published/test_closed_form_claims.py"


def decided() -> dict[str, LedgerEntry]:
    """Return an entry for each claim that a closed form decides: the test that computes it, or the figure with it.

    Raises
    ------
    ValueError
        If two figures show one claim: which of them the ledger names would hang on their order.
    """
    figures = published_figures()
    by_figure = Counter(claim for figure in figures.values() for claim in figure.claims)
    if twice := [claim for claim, count in by_figure.items() if count > 1]:
        raise ValueError(f"claims of two figures: {', '.join(twice)}")
    entries = {name: replace(entry, decided_by=CLOSED_FORM_TEST) for name, entry in closed_form_verdicts().items()}
    for figure in figures.values():
        result = table_id(figure.compute())
        verdicts = figure.verdicts().items()
        entries |= {name: replace(entry, decided_by=figure.name, result_id=result) for name, entry in verdicts}
    return entries


def decided_by_runs(campaigns: Sequence[Campaign]) -> dict[str, LedgerEntry]:
    """Return an entry for each claim of these studies, analysed or not."""
    return {claim: _of_runs(campaign, claim) for campaign in campaigns for claim in campaign.design.claims}


def _of_runs(campaign: Campaign, claim_id: str) -> LedgerEntry:
    verdict = campaign.verdict(claim_id)
    prices: dict[str, Any] = {
        "next_seeds": verdict.next_seeds,
        "next_cpu_h": float(f"{verdict.next_cpu_s / SECONDS_PER_HOUR:.2g}"),
        "takes_seeds": verdict.takes_seeds,
        "takes_cpu_h": float(f"{verdict.takes_cpu_s / SECONDS_PER_HOUR:.2g}"),
    }
    if not verdict.seeds:
        return replace(waiting(campaign.design.name), **prices)
    settings = campaign.robustness(claim_id)
    return LedgerEntry(
        decided_by=campaign.design.name,
        quantity=verdict.quantity,
        value=verdict.value,
        interval=verdict.interval,
        verdict=verdict.word,
        reason="; ".join(_remarks(campaign, claim_id)),
        result_id=campaign.result_id,
        about=ABOUT,
        seeds=verdict.seeds,
        points="; ".join(f"{name}: {one.value:.4g} ({one.low:.4g}, {one.high:.4g})" for name, one in verdict.points),
        skewness=_ends(verdict.skewness),
        times_printed=float(f"{verdict.times_printed:.3g}"),
        **prices,
        settings=(settings.agreeing, settings.decided, settings.settings),
        settings_word=settings.word,
        depends_on="; ".join(settings.depends_on),
        begins=campaign.design.begins(claim_id),
    )


def _ends(values: Mapping[str, float]) -> tuple[float, ...]:
    ends = (min(values.values()), max(values.values())) if values else ()
    return tuple(float(f"{one:.3g}") for one in ends)


def _remarks(campaign: Campaign, claim_id: str) -> list[str]:
    """Return the interpretation that was chosen, what stands in for the paper's, and what other seeds say."""
    claim, verdict = campaign.design.claims[claim_id], campaign.verdict(claim_id)
    remarks = [claim.note] if claim.note else []
    remarks += ["the testbed is simulated in packets"] if is_testbed(campaign.design.name) else []
    rebuilt = campaign.design.reconstructed(claim_id)
    remarks += [f"reconstructed: {rebuilt}"] if rebuilt else []
    if verdict.again is not None:
        seeds, second = verdict.again.seeds, verdict.again.decision.word
        others = f"{seeds} others give {second!r}" if seeds else "no others were run yet"
        fails_too = second == "fails"
        remarks += [f"it fails by {seeds} other seeds too" if fails_too else f"it fails by these seeds, but {others}"]
    if verdict.not_as_printed:
        remarks += [f"not near what is printed of it: {', '.join(verdict.not_as_printed)}"]
    remarks += [verdict.stays_open] if verdict.stays_open else []
    return remarks


def in_regime(entries: Mapping[str, LedgerEntry]) -> dict[str, LedgerEntry]:
    """Return entries in which what is absent or fails is open where our runs are not in the paper's regime.

    A claim may name another one that prints it (its `regime`); it is not ours if that one differs.
    """
    claims = read_claims()
    return {name: _by_regime(entry, claims[name].regime, entries) for name, entry in entries.items()}


def _by_regime(entry: LedgerEntry, regime: str, entries: Mapping[str, LedgerEntry]) -> LedgerEntry:
    if not regime or entry.verdict not in ("absent", "fails") or entries[regime].verdict != "differs":
        return entry
    ours = _cell(tuple(float(f"{value:.3g}") for value in entries[regime].value))
    why = f"not the paper's regime, in which {regime} is {read_claims()[regime].printed}: ours is {ours}"
    reason = f"no number of seeds decides it: {why}"
    return replace(entry, verdict="open", reason="; ".join(filter(None, (entry.reason, reason))))


def tried_settings(campaign: Campaign) -> Iterator[TriedSetting]:
    """Yield by how much printed sizes are off in each setting other than the text's that was run, claim by claim.

    The value is the median of the runs that are there, two at least, at the sampled points of the study, carried over
    from its reduced scale if it has one (:mod:`capsim.study.claims.looks`). It needs no interval and gives no verdict:
    a setting in which a value is near print is a lead, to be run by itself.
    """
    for claim in campaign.simulated:
        in_text, _ = _off(campaign, claim, TEXT)
        for setting in campaign.settings_of[claim][1:] if in_text else ():
            factor, seeds = _off(campaign, claim, setting)
            if factor:
                yield TriedSetting(claim, setting, in_text, factor, seeds)


def _off(campaign: Campaign, claim: str, setting: str) -> tuple[float, int]:
    """Return the factor by which the median of the runs is off print, and how many these are; 0 where it has none."""
    seeds, points = points_there(campaign.evidence(claim, setting, sampled=True), MOST_SEEDS_OF_OTHERS)
    statement = Statement(campaign.design, claim, setting, sampled=True)
    is_known = points and not any(one.is_silent for one in points)
    factor = statement.times_printed(one.median for one in points) if is_known else 0.0
    return float(f"{factor:.3g}"), seeds


def verdicts_csv(entries: Mapping[str, LedgerEntry]) -> str:
    """Return ``verdicts.csv`` with these entries, in the order of the claims."""
    rows = ([name, *map(_cell, astuple(entries[name]))] for name in read_claims() if name in entries)
    return _csv_of([("id", *LEDGER_COLUMNS), *rows])


def settings_csv(tried: Iterable[TriedSetting]) -> str:
    """Return ``settings.csv`` with these rows."""
    return _csv_of([SETTING_COLUMNS, *map(astuple, tried)])


def _csv_of(rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _cell(value: str | int | tuple[float, ...]) -> str:
    if isinstance(value, tuple):
        return " ".join(f"{number:.10g}" for number in value)
    return str(value) if value else ""


def update(data: Path, results: Path) -> None:
    """Compute everything that decides a claim, keep the runs, and write the verdicts.

    Parameters
    ----------
    data : pathlib.Path
        The folder ``data`` of a checkout.
    results : pathlib.Path
        A folder of studies with runs that are new, such as what ``capsmodel study NAME --out`` writes.
    """
    kept = data / "results" / "runs"
    kept.mkdir(exist_ok=True)
    for design in published_studies().values():
        Campaign(design, results).keep(kept)
    campaigns = [Campaign(design, kept) for design in published_studies().values()]
    tried = (row for campaign in campaigns for row in tried_settings(campaign))
    written = {
        "verdicts": verdicts_csv(in_regime(decided() | decided_by_runs(campaigns))),
        "settings": settings_csv(tried),
    }
    for name, text in written.items():
        with atomic_writer(data / "papers" / f"{name}.csv") as file:
            file.write(text.encode())


if __name__ == "__main__":
    update(Path(sys.argv[1]), Path(sys.argv[2]))
