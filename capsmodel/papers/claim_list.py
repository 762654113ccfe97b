"""Read the claims of the papers from their studies: what each says, where it stands and what is printed.

A study (``data/papers/studies/*.toml``, :mod:`capsim.study`) has its claims in its panels and printed tables. Claims
that no run decides are in ``<paper>-formulas.toml``: each names the function that computes it (`formula`), says why it
is not testable.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from capsmodel.datafiles import data_path
from capsmodel.experiments.printed import Printed

__all__ = ["CAUSES", "FORMULAS", "PAPER_KEYS", "Claim", "read_claims", "studies", "title_and_notes"]

PAPER_KEYS = ("caps", "mmptcp", "repflow", "cdcps", "dc2mtcp")
FORMULAS = "-formulas"
"""End of the names of those files whose claims no run decides."""
CAUSES = {
    "setting": "a setting that the paper leaves out or contradicts, and that decides",
    "workload": "sizes of flows that are those of no public table",
    "other code": "what the authors' code does and the text does not say",
    "contradiction": "the paper contradicts itself: its formula or table gives ours",
}
"""Kinds of causes of a difference, with which the text of each begins: ``"workload: ..."``."""
_CLOSED_FORMS = "capsmodel.papers.closed_forms."


@dataclass(frozen=True)
class Claim:
    """A claim of a paper.

    Attributes
    ----------
    id, paper, study, where, metric : str
        Name, key of the paper, study that has it, place in the paper, and what is compared.
    subject, baseline : str
        Schemes, or other values of axes, as the paper calls them; several are joined by ``;``.
    relation : str
        ``equal``, ``lower``, ``higher``, ``not higher``, ``close``, ``below``, ``above``, ``rising``, ``falling``; of
        formulas also ``true``, ``best at`` and ``u-shaped``: the key `is` of the study.
    printed : str
        Number, range or bound with its unit, as printed; empty for a direction.
    low, high, unit : str
        The same in parts, digits as printed; `low` and `high` are equal for a single number, empty for an open end.
    about : bool
        Whether it is printed in round figures: "about", a ratio, a difference in percent.
    by : str
        Word of size of a direction: ``significantly`` or ``much``.
    conditions, text, note : str
        Setting, the claim in words, and the reading that was chosen.
    formula, not_testable : str
        What decides it without runs, ``"module:function"``; why nothing can.
    same_as, not_claimed : str
        The claim that says the same of the same runs; why the authors do not make it: a misprint, a check of ours.
    cause : str
        Why it is not met, where that is known; begins with one of `CAUSES` and a colon.
    """

    id: str
    paper: str
    study: str
    where: str
    metric: str
    subject: str
    baseline: str
    relation: str
    printed: str
    low: str = field(init=False)
    high: str = field(init=False)
    unit: str = field(init=False)
    about: bool = field(init=False)
    by: str = ""
    conditions: str = ""
    text: str = ""
    note: str = ""
    formula: str = ""
    not_testable: str = ""
    same_as: str = ""
    not_claimed: str = ""
    cause: str = ""

    def __post_init__(self) -> None:
        said = Printed.read(self.printed, where=f"{self.id}: printed") if self.printed else Printed("", "")
        is_round = said.is_round or (bool(self.printed) and self.relation in ("lower", "higher"))
        parts = {
            "low": "" if self.relation == "below" else said.low,
            "high": "" if self.relation == "above" else said.high,
            "unit": said.unit,
            "about": is_round,
        }
        for name, value in parts.items():
            object.__setattr__(self, name, value)

    @property
    def said(self) -> Printed:
        """Return the number, range or bound with its reading error."""
        return Printed(self.low, self.high, self.unit, self.about)

    @property
    def is_counted(self) -> bool:
        """Return whether it is a claim of its own that the authors make: others are judged, and not counted."""
        return not (self.same_as or self.not_claimed)

    @property
    def has_closed_form(self) -> bool:
        """Return whether a function of :mod:`capsmodel.papers.closed_forms` decides it."""
        return self.formula.startswith(_CLOSED_FORMS)


@cache
def studies() -> Mapping[str, Path]:
    """Return the files of the papers' studies by their names.

    Examples
    --------
    >>> studies()["caps-leafspine"].name
    'caps-leafspine.toml'
    """
    return MappingProxyType({path.stem: path for path in sorted(data_path("papers/studies").glob("*.toml"))})


@cache
def title_and_notes(study: str) -> tuple[str, str]:
    """Return the title of a study, and its notes: what was chosen where the paper says nothing.

    Examples
    --------
    >>> title_and_notes("mmptcp-lt")[0]
    'MMPTCP Table 5 and Fig. 5: Limited Transmit on the 2:1 fat-tree of 256 hosts, 135 of them with long flows'
    """
    tables = tomllib.loads(studies()[study].read_text(encoding="utf-8"))
    return tables["title"], " ".join(tables.get("notes", "").split())


@cache
def read_claims() -> Mapping[str, Claim]:
    """Return every claim by its id, paper after paper, in the order of ids, numbers in them by value."""
    found = {claim.id: claim for name, path in studies().items() for claim in _claims_of(name, path)}
    return MappingProxyType({name: found[name] for name in sorted(found, key=_in_order)})


def _in_order(claim_id: str) -> tuple[int, list[tuple[int, int | str]]]:
    """Return the sort key: papers in their order, and numbers in an id by value."""
    parts = re.findall(r"\d+|\D+", claim_id)
    paper = claim_id.partition("-")[0]
    return PAPER_KEYS.index(paper), [(0, int(part)) if part.isdigit() else (1, part) for part in parts]


def _claims_of(study: str, path: Path) -> Iterator[Claim]:
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    for panel in tables.get("panel", []):
        shared = {key: value for key, value in panel.items() if key != "claims"}
        yield from (_claim(study, shared | one) for one in panel.get("claims", []))
    for table in tables.get("table", []):
        yield from (_claim(study, cell) for cell in _cells(table))
    yield from (_claim(study, one) for one in tables.get("claim", []))


def _cells(table: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the cells of a printed table: each is a claim."""
    for line in table["rows"].strip().splitlines():
        label, *cells = line.split()
        for (column, measured), printed in zip(table["columns"].items(), cells, strict=True):
            if printed == "-":
                continue
            metric, _, unit = measured.partition(" ")
            said = {key: _of_column(table.get(key, ""), column) for key in ("conditions", "text")}
            yield {
                "id": f"{table['id']}-{label.lower()}-{column}",
                "where": table["where"],
                "metric": metric,
                "subject": label,
                "is": "equal",
                "printed": f"{printed} {unit}".strip(),
                "same_as": f"{same}-{column}" if (same := table.get("same_as", {}).get(label)) else "",
                "cause": (causes := table.get("cause", {})).get(f"{label}-{column}", causes.get(column, "")),
            } | {key: text.replace(f"{{{table['axis']}}}", label) for key, text in said.items()}


def _of_column(said: str | Mapping[str, str], column: str) -> str:
    return said if isinstance(said, str) else said.get(column, "")


def _claim(study: str, row: Mapping[str, Any]) -> Claim:
    texts = ("where", "metric", "printed", "by", "conditions", "text", "note")
    known = (*texts, "formula", "not_testable", "same_as", "not_claimed", "cause")
    subject, baseline = row.get("subject", ""), row.get("baseline", "")
    if "pairs" in row:
        subject, baseline = (list(side) for side in zip(*row["pairs"], strict=True))
    return Claim(
        id=row["id"],
        paper=row["id"].partition("-")[0],
        study=study,
        subject=_words(subject),
        baseline=_words(baseline),
        relation=row["is"],
        **{"metric": "", "printed": ""} | {key: row[key] for key in known if key in row},
    )


def _words(value: Any) -> str:
    """Return what is compared in words: labels of schemes, or values of axes with their names."""
    if isinstance(value, list):
        return ";".join(dict.fromkeys(map(_words, value)))
    if isinstance(value, dict):
        return ", ".join(str(part) if axis == "scheme" else f"{axis} {part}" for axis, part in value.items())
    return str(value)
