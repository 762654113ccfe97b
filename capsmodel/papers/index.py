"""Read ``data/papers``: one record for each paper, equation, discrepancy, claim and verdict."""

import csv
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from types import MappingProxyType
from typing import Any, Literal, cast

from capsmodel.checks import choice
from capsmodel.datafiles import data_path

PAPER_KEYS = ("caps", "mmptcp", "repflow", "cdcps", "dc2mtcp")


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


@dataclass(frozen=True)
class Claim:
    """A claim of a paper, a row of ``claims.csv``.

    Attributes
    ----------
    id, paper, where, experiment_id, metric, subject_scheme, baseline_scheme : str
        Name, paper, place, experiment that tests it, what is compared and between which schemes.
    relation : str
        ``absolute``, ``approx``, ``ratio``, ``reduction_pct``, ``increase_pct``, ``less_than``, ``greater_than``,
        ``argmax``, ``ordering``, ``trend`` or ``statement``; see ``data/papers/README.md``.
    low, high : str
        Range claimed, as printed; empty for an open end.
    unit, conditions, text : str
        Unit or direction, setting, and the claim in words.
    """

    id: str
    paper: str
    where: str
    experiment_id: str
    metric: str
    subject_scheme: str
    baseline_scheme: str
    relation: str
    low: str
    high: str
    unit: str
    conditions: str
    text: str


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


@dataclass(frozen=True)
class LedgerEntry:
    """What the ledger records about a claim: its row in ``verdicts.csv``, or the experiment that it waits for.

    Attributes
    ----------
    decided_by : str
        The figure or experiment (``capsmodel reproduce NAME``), or the test, that decides it; empty while it waits for
        its experiment.
    quantity : str
        What the value is, one of `Quantity`.
    value : tuple of float
        Our value, or both ends of our range.
    interval : tuple of float
        Low and high end of the interval of a measured value, as :class:`capsmodel.papers.verdicts.Verdict` has it;
        empty where a formula gives it exactly.
    verdict : str
        ``"reproduced"``, ``"differs in size"``, ``"refuted"``, ``"not testable"`` or ``"open"``.
    reason : str
        Setting chosen where the paper leaves one out, and what explains a difference.
    result_id : str
        SHA-256 of the table of the figure or experiment; empty where a test decides, which computes the value again.
    """

    decided_by: str
    quantity: Quantity
    value: tuple[float, ...]
    interval: tuple[float, ...]
    verdict: str
    reason: str
    result_id: str

    @property
    def was_run(self) -> bool:
        """Whether a figure, an experiment or a test has looked at the claim, decided or not."""
        return bool(self.decided_by)


@dataclass(frozen=True)
class Check:
    """The second way in which a claim was checked that is refuted by a first.

    Attributes
    ----------
    by : str
        The test that does it.
    how : str
        What it does and finds, in words.
    refutes : bool
        Whether it refutes the claim too; if not, the claim is open.
    """

    by: str
    how: str
    refutes: bool = True


@dataclass(frozen=True)
class Cost:
    """What an experiment costs, a row of ``costs.csv``.

    Attributes
    ----------
    experiment : str
        Its name.
    runs : int
        Runs that were made.
    runs_cpu_s : float
        Their processor time.
    missing_runs : int
        Runs that are missing to the first looks at all claims, in all settings that count for them.
    missing_cpu_s : float
        About the processor time of these; NaN if no run of their scale was made.
    shared_runs : int
        Further runs, made or missing, that are counted with an experiment before.
    """

    experiment: str
    runs: int
    runs_cpu_s: float
    missing_runs: int
    missing_cpu_s: float
    shared_runs: int


LEDGER_COLUMNS = tuple(field.name for field in fields(LedgerEntry))
_WAITS_FOR = {
    "packet_sim": "no runs decide it yet",
    "testbed": "measured on a testbed; no runs decide it yet",
    "codec": "not measured on the codec yet",
    "closed_form": "not computed yet",
}


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


@cache
def read_claims() -> Mapping[str, Claim]:
    """Return every claim by its id, in the order of the file."""
    return MappingProxyType({row["id"]: Claim(**row) for row in _rows("claims.csv")})


def _entry(row: Mapping[str, str]) -> LedgerEntry:
    cells: dict[str, Any] = {name: row[name] for name in LEDGER_COLUMNS}
    numbers = {name: tuple(map(float, row[name].split())) for name in ("value", "interval")}
    return LedgerEntry(**(cells | numbers))


def _waiting(claim: Claim) -> LedgerEntry:
    waits_for = _WAITS_FOR[experiment_kinds()[claim.experiment_id]]
    return LedgerEntry("", "", (), (), "open", f"{claim.experiment_id}: {waits_for}", "")


@cache
def read_verdicts() -> Mapping[str, LedgerEntry]:
    """Return what ``verdicts.csv`` records about each claim that has been run, by its id, in the order of the file."""
    return MappingProxyType({row["id"]: _entry(row) for row in _rows("verdicts.csv")})


@cache
def read_by_setting() -> Mapping[str, Mapping[str, str]]:
    """Return what ``by_setting.csv`` records: for each claim run in several settings, its verdict in each by name."""
    found: dict[str, dict[str, str]] = {}
    for row in _rows("by_setting.csv"):
        found.setdefault(row["id"], {})[row["setting"]] = row["verdict"]
    return MappingProxyType(found)


@cache
def read_skewness() -> Mapping[str, tuple[float, float]]:
    """Return what ``skewness.csv`` records: the least and the largest skewness of the samples of each claim."""
    return MappingProxyType({row["id"]: (float(row["least"]), float(row["most"])) for row in _rows("skewness.csv")})


@cache
def read_costs() -> Sequence[Cost]:
    """Return what ``costs.csv`` records: what each experiment costs; runs that several share are those of the first."""
    return tuple(
        Cost(
            row["experiment"],
            int(row["runs"]),
            float(row["runs_cpu_s"]),
            int(row["missing_runs"]),
            float(row["missing_cpu_s"]),
            int(row["shared_runs"]),
        )
        for row in _rows("costs.csv")
    )


@cache
def read_checks() -> Mapping[str, Check]:
    """Return what ``checks.toml`` records: the second way of claims that no experiment refutes, by their id."""
    rows = tomllib.loads(data_path("papers/checks.toml").read_text(encoding="utf-8"))["check"]
    return MappingProxyType({claim: Check(**row) for row in rows for claim in row.pop("claims")})


@cache
def read_ledger() -> Mapping[str, LedgerEntry]:
    """Return what the ledger records about every claim, by its id, in the order of ``claims.csv``.

    A claim that has not been run has no row in ``verdicts.csv``: it is open, and the reason names its experiment.
    """
    found = read_verdicts()
    return MappingProxyType({claim.id: found.get(claim.id) or _waiting(claim) for claim in read_claims().values()})


@cache
def experiment_kinds() -> Mapping[str, str]:
    """Return closed_form, packet_sim, testbed or codec for every experiment by its id."""
    return MappingProxyType({row["id"]: row["kind"] for row in _rows("experiments.csv")})


@cache
def experiment_sections() -> Mapping[str, str]:
    """Return where each experiment stands in its paper, figures and sections, by its id."""
    return MappingProxyType({row["id"]: row["where"] for row in _rows("experiments.csv")})


def experiment_name(experiment_id: str) -> str:
    """Return the name of an experiment in commands: its id without the number.

    Examples
    --------
    >>> experiment_name("repflow-e07-ns3-ws")
    'repflow-ns3-ws'
    """
    return re.sub(r"-e\d+-", "-", experiment_id)


def name_of(name_or_id: str) -> str:
    """Return the name of an experiment for its id, and anything else as it is: commands take both."""
    return experiment_name(name_or_id) if name_or_id in experiment_kinds() else name_or_id


@cache
def closed_form_claims() -> tuple[Claim, ...]:
    """Return the claims that a closed form tests."""
    kinds = experiment_kinds()
    return tuple(claim for claim in read_claims().values() if kinds.get(claim.experiment_id) == "closed_form")


def chosen(paper: str | None) -> Sequence[Paper]:
    """Return the papers asked for: one by its key, or all."""
    if paper is None:
        return read_papers()
    choice("paper", paper, PAPER_KEYS)
    return [found for found in read_papers() if found.key == paper]
