"""Read ``data/papers``: one record for each paper, equation, discrepancy and verdict."""

import csv
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from types import MappingProxyType
from typing import Any, Literal, cast

from capsmodel.checks import choice
from capsmodel.datafiles import data_path
from capsmodel.experiments.statistics.nearest import TriedSetting
from capsmodel.experiments.statistics.robustness import Robustness
from capsmodel.papers.claim_list import PAPER_KEYS, read_claims


@dataclass(frozen=True)
class Equation:
    """A formula of a paper and the functions that compute it.

    Attributes
    ----------
    paper, number : str
        Key of the paper and the equation's number in it, ``"Eq. 4"``; an unnumbered one has ``u``, its section and a
        name instead: ``"u (VI-B) redundancy"``.
    meaning : str
        What it gives.
    functions : tuple of str
        Dotted names; empty when the package does not compute it.
    reason : str
        Why it does not; empty otherwise.
    """

    paper: str
    number: str
    meaning: str
    functions: tuple[str, ...]
    reason: str = ""


@dataclass(frozen=True)
class Discrepancy:
    """A place where a paper contradicts itself: its number in the list of all papers, a text, and claims."""

    paper: str
    item: int
    text: str
    evidence: tuple[str, ...]


Quantity = Literal[
    "",
    "ratio",
    "difference",
    "reduction, %",
    "relative distance",
    "Kendall's tau",
    "first and last",
    "place of the least",
]
"""What a value of ours is: what the claim names, in its unit, if empty. Ratios and differences are the subject over,
or minus, each baseline; the reduction is one minus the ratio."""


UNTRIED = "settings untried"
"""Mark of a claim that fails or is absent, most of whose settings are not decided."""


@dataclass(frozen=True)
class LedgerEntry:
    """What the ledger records about a claim: its row in ``verdicts.csv``, or the study that it waits for.

    Attributes
    ----------
    decided_by : str
        The study or figure (``capsmodel study NAME``), or the test, that decides it; empty before its first runs.
    quantity : str
        What the value is, one of `Quantity`.
    value : tuple of float
        Our value, or both ends of our range.
    interval : tuple of float
        Low and high end of the interval of a measured value, as :class:`capsmodel.papers.verdicts.Verdict` has it;
        empty where a formula gives it exactly.
    verdict : str
        One of ``VERDICT_WORDS`` (:mod:`capsmodel.experiments.words`).
    reason : str
        Setting chosen where the paper leaves one out, and what explains a difference.
    result_id : str
        SHA-256 of the table of the figure or study; empty where a test decides, which computes the value again.
    about : str
        What of the runs value, interval and verdict are about, such as the median of runs; empty where no runs decide,
        and of a figure that judges its own.
    seeds : int
        Of the interim analysis that decided, or of the last one; 0 where no runs decide.
    points : str
        Value and interval of each point: ``ECMP, load 0.6: 0.83 (0.8, 0.86); ...``.
    skewness : tuple of float
        The least and the largest skewness of the samples of the points.
    times_printed : float
        The factor by which the worst point is off what is printed; 0 where nothing has a factor.
    next_seeds : int
        Seeds of the next interim analysis of an open claim; 0 if there is none.
    next_cpu_h : float
        About what the runs that it lacks take, in hours of one processor.
    takes_seeds : int
        Seeds that would decide an open claim if further ones scatter as those that were run; before the first runs
        those of its first interim analysis. 0 if no number does.
    takes_cpu_h : float
        About what the runs that are missing for them take, in hours of one processor.
    settings : tuple of float
        Settings with the verdict of the text at the sampled points, settings with any verdict, and all that were tried.
    settings_word : str
        That verdict.
    depends_on : str
        What turns it, ``;`` between.
    begins : str
        ``from empty`` where runs that decide it are not at the load that they name
        (:meth:`capsim.study.claims.design.Design.begins`).
    """

    decided_by: str
    quantity: Quantity
    value: tuple[float, ...]
    interval: tuple[float, ...]
    verdict: str
    reason: str
    result_id: str = ""
    about: str = ""
    seeds: int = 0
    points: str = ""
    skewness: tuple[float, ...] = ()
    times_printed: float = 0.0
    next_seeds: int = 0
    next_cpu_h: float = 0.0
    takes_seeds: int = 0
    takes_cpu_h: float = 0.0
    settings: tuple[float, ...] = ()
    settings_word: str = ""
    depends_on: str = ""
    begins: str = ""

    @property
    def marked_verdict(self) -> str:
        """Return the verdict with its marks: ``agrees, from empty`` of runs that are not at their load.

        That a claim fails or an effect is absent is said of all settings that a paper leaves open. Where fewer than
        half of those that count are decided, the verdict has the mark `UNTRIED`.
        """
        return ", ".join(filter(None, (self.verdict, self.begins, UNTRIED if self.is_untried else "")))

    @property
    def is_untried(self) -> bool:
        """Whether it fails or is absent while most of the settings that count are not decided."""
        return self.verdict in ("fails", "absent") and 2 * self.robustness.decided < self.robustness.settings

    @property
    def robustness(self) -> Robustness:
        """Return how the verdict fares in other settings."""
        agreeing, decided, tried = map(int, self.settings or (0, 0, 0))
        depends_on = tuple(filter(None, self.depends_on.split("; ")))
        return Robustness(agreeing, decided, depends_on, tried, self.settings_word)

    @property
    def in_other_settings(self) -> str:
        """Return in which settings the verdict holds, in words; empty where there is one alone."""
        robustness = self.robustness
        if robustness.settings < 2:
            return ""
        few = f"{robustness.decided} of {robustness.settings} decided"
        return robustness.beside(self.verdict) if robustness.decided > 1 else few

    @property
    def was_run(self) -> bool:
        """Whether a figure, a study or a test has analysed the claim, decided or not."""
        return bool(self.decided_by)


@dataclass(frozen=True)
class Check:
    """The second way in which a claim was checked that fails by a first.

    Attributes
    ----------
    by : str
        The test that does it.
    how : str
        What it does and finds, in words.
    fails : bool
        Whether the claim fails by it too; if not, the claim is open.
    """

    by: str
    how: str
    fails: bool = True


DISTANCES = {"up to 1.25 times": 1.25, "up to 2 times": 2.0, "up to 5 times": 5.0, "beyond 5 times": float("inf")}
"""Factors by which values differ from what is printed, by what they are called."""
NO_FACTOR = "no factor"
"""What differs, and is no ratio and no value above 0."""


def distance_of(times_printed: float) -> str:
    """Return the first of `DISTANCES` that a factor does not exceed, or `NO_FACTOR` for 0.

    Examples
    --------
    >>> distance_of(1.3), distance_of(0.0)
    ('up to 2 times', 'no factor')
    """
    return next(name for name, most in DISTANCES.items() if times_printed <= most) if times_printed else NO_FACTOR


PRICES = {
    "within 1 CPU hour": 1.0,
    "within 10 CPU hours": 10.0,
    "within 100 CPU hours": 100.0,
    "beyond 100 CPU hours": float("inf"),
}
"""Processor time that the missing runs of an open claim take, in hours, by what it is called."""
NO_PRICE = "not by more seeds"
"""What is open, and no number of seeds decides."""
OPEN_FOR = (*PRICES, NO_PRICE)


def open_for(entry: LedgerEntry) -> str:
    """Return what an open claim takes: the first of `PRICES` that its runs do not exceed, or `NO_PRICE`.

    Examples
    --------
    >>> open_for(LedgerEntry("caps-fattree", "", (), (), "open", "", takes_seeds=64, takes_cpu_h=2.5))
    'within 10 CPU hours'
    """
    return next(name for name, most in PRICES.items() if entry.takes_cpu_h <= most) if entry.takes_seeds else NO_PRICE


LEDGER_COLUMNS = tuple(field.name for field in fields(LedgerEntry))
SETTING_COLUMNS = tuple(field.name for field in fields(TriedSetting))


@dataclass(frozen=True)
class Paper:
    """Bibliographic data as the paper's own text carries them, and everything indexed of it."""

    key: str
    title: str
    authors: tuple[str, ...]
    venue: str
    year: int | None
    volume: str
    pages: str
    doi: str
    equations: tuple[Equation, ...]
    discrepancies: tuple[Discrepancy, ...]


def _tuples(record: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in record.items()}


def _read_paper(key: str) -> Paper:
    data = tomllib.loads(data_path(f"papers/{key}.toml").read_text(encoding="utf-8"))
    return Paper(
        key=data["key"],
        title=data["title"],
        authors=tuple(data["authors"]),
        venue=data.get("venue", ""),
        year=data.get("year"),
        volume=data.get("volume", ""),
        pages=data.get("pages", ""),
        doi=data.get("doi", ""),
        equations=tuple(Equation(key, **_tuples(row)) for row in data["equation"]),
        discrepancies=tuple(Discrepancy(key, **_tuples(row)) for row in data["discrepancy"]),
    )


@cache
def read_papers() -> tuple[Paper, ...]:
    """Return the five papers with all that is indexed of them."""
    return tuple(_read_paper(key) for key in PAPER_KEYS)


def _rows(name: str) -> list[dict[str, str]]:
    with data_path(f"papers/{name}").open(encoding="utf-8", newline="") as file:
        return cast(list[dict[str, str]], list(csv.DictReader(file)))


def _entry(row: Mapping[str, str]) -> LedgerEntry:
    cells: dict[str, Any] = {name: row[name] for name in LEDGER_COLUMNS}
    numbers = {name: tuple(map(float, row[name].split())) for name in ("value", "interval", "skewness", "settings")}
    counts = {name: int(row[name] or 0) for name in ("seeds", "next_seeds", "takes_seeds")}
    reals = {name: float(row[name] or 0) for name in ("times_printed", "next_cpu_h", "takes_cpu_h")}
    return LedgerEntry(**(cells | numbers | counts | reals))


def waiting(study: str) -> LedgerEntry:
    """Return the entry of a claim before the first runs of its study."""
    return LedgerEntry("", "", (), (), "open", f"{study}: no runs decide it yet")


@cache
def read_verdicts() -> Mapping[str, LedgerEntry]:
    """Return what ``verdicts.csv`` records about each claim, by its id, in the order of the file."""
    return MappingProxyType({row["id"]: _entry(row) for row in _rows("verdicts.csv")})


@cache
def read_settings() -> tuple[TriedSetting, ...]:
    """Return how far the printed sizes are off in the settings that were run, as ``settings.csv`` has it."""
    return tuple(
        TriedSetting(row["id"], row["setting"], float(row["in_text"]), float(row["factor"]), int(row["seeds"]))
        for row in _rows("settings.csv")
    )


@cache
def read_checks() -> Mapping[str, Check]:
    """Return what ``checks.toml`` records: the second way of claims that fail by no study, by their id."""
    rows = tomllib.loads(data_path("papers/checks.toml").read_text(encoding="utf-8"))["check"]
    return MappingProxyType({claim: Check(**row) for row in rows for claim in row.pop("claims")})


@cache
def read_ledger() -> Mapping[str, LedgerEntry]:
    """Return what the ledger records about every claim, by its id, in the order of the claims.

    A claim without a row in ``verdicts.csv``, new since the last ``make ledger``, is open; the reason names its study.
    """
    verdicts = read_verdicts()
    return MappingProxyType(
        {claim.id: verdicts.get(claim.id) or waiting(claim.study) for claim in read_claims().values()}
    )


def chosen(paper: str | None) -> Sequence[Paper]:
    """Return the papers asked for: one by its key, or all."""
    if paper is None:
        return read_papers()
    choice("paper", paper, PAPER_KEYS)
    return [one for one in read_papers() if one.key == paper]
