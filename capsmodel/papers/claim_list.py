"""The claims of the papers, as their studies have them: what each says, where it stands and what is printed.

A study (``data/papers/studies/*.toml``, read by :mod:`capsim.study.file`) has its claims in its panels and printed
tables. Claims that no run decides are in ``<paper>-formulas.toml``: each names the function that computes it
(`formula`), or says why it is not testable.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from capsim.study.file import Claim, PrintedCell, RelationName, Source, claims_of, read_study
from capsmodel.datafiles import data_path
from capsmodel.experiments.printed import Printed

__all__ = ["CAUSES", "FORMULAS", "PAPER_KEYS", "PublishedClaim", "read_claims", "studies", "title_and_notes"]

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
_AS_IN_THE_STUDY = (
    *("where", "metric", "printed", "by", "conditions", "text", "note", "formula", "not_testable"),
    *("same_as", "not_claimed", "cause", "regime"),
)
_CLOSED_FORMS = "capsmodel.papers.closed_forms."


@dataclass(frozen=True)
class PublishedClaim:
    """A claim of a paper: that of its study (:class:`capsim.study.file.Claim`) in words, with what is printed in parts.

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
        Setting, the claim in words, and the interpretation that was chosen.
    formula, not_testable : str
        What decides it without runs, ``"module:function"``; why nothing can.
    same_as, not_claimed : str
        The claim that says the same of the same runs; why the authors do not make it: a misprint, a check of ours.
    cause : str
        Why it is not met, where that is known; begins with one of `CAUSES` and a colon.
    regime : str
        The claim of a printed size without which this one has nothing to gain.
    """

    id: str
    paper: str
    study: str
    where: str
    metric: str
    subject: str
    baseline: str
    relation: RelationName
    printed: str
    low: str = ""
    high: str = ""
    unit: str = ""
    about: bool = False
    by: Literal["", "significantly", "much"] = ""
    conditions: str = ""
    text: str = ""
    note: str = ""
    formula: str = ""
    not_testable: str = ""
    same_as: str = ""
    not_claimed: str = ""
    cause: str = ""
    regime: str = ""

    @classmethod
    def of(cls, study: str, claim: Claim) -> "PublishedClaim":
        """Return the claim of a study."""
        name, relation = claim.id, claim.is_
        printed = Printed.read(claim.printed, where=f"{name}: printed") if claim.printed else Printed("", "")
        subject, baseline = map(
            _words, zip(*claim.pairs, strict=True) if claim.pairs else (claim.subject, claim.baseline)
        )
        return cls(
            id=name,
            paper=name.partition("-")[0],
            study=study,
            subject=claim.row if isinstance(claim, PrintedCell) else subject,
            baseline=baseline,
            relation=relation,
            low="" if relation == "below" else printed.low,
            high="" if relation == "above" else printed.high,
            unit=printed.unit,
            about=printed.is_round or (bool(claim.printed) and relation in ("lower", "higher")),
            **{key: getattr(claim, key) for key in _AS_IN_THE_STUDY},
        )

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
    file = _source(study).file
    return file.title, " ".join(file.notes.split())


@cache
def _source(study: str) -> Source:
    return read_study(studies()[study], alone=True)


@cache
def read_claims() -> Mapping[str, PublishedClaim]:
    """Return every claim by its id, paper after paper, in the order of ids, numbers in them by value."""
    claims = {one.id: PublishedClaim.of(study, one) for study in studies() for one in claims_of(_source(study))}
    return MappingProxyType({name: claims[name] for name in sorted(claims, key=_in_order)})


def _in_order(claim_id: str) -> tuple[int, list[tuple[int, int | str]]]:
    """Return the sort key: papers in their order, and numbers in an id by value."""
    parts = re.findall(r"\d+|\D+", claim_id)
    paper = claim_id.partition("-")[0]
    return PAPER_KEYS.index(paper), [(0, int(part)) if part.isdigit() else (1, part) for part in parts]


def _words(value: Any) -> str:
    """Return what is compared in words: labels of schemes, or values of axes with their names."""
    if isinstance(value, list | tuple):
        return ";".join(dict.fromkeys(map(_words, value)))
    if isinstance(value, dict):
        return ", ".join(str(part) if axis == "scheme" else f"{axis} {part}" for axis, part in value.items())
    return str(value)
