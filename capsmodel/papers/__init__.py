"""The five papers: every equation and the function that computes it, every claim and its verdict.

============== =========================== ==============================================
Quantity       Name                        Source
============== =========================== ==============================================
papers         `papers`, `cite`            ``data/papers/*.toml``
equations      `equations`                 the same; a test walks them both ways
discrepancies  `discrepancies`             the same
claims         `claims`                    ``data/papers/studies/*.toml``, their verdicts ``data/papers/verdicts.csv``
totals         `claim_totals`              claims by verdict and paper
causes         `claim_causes`              claims that are not met, by cause and paper
settings       `nearest_settings`          the setting in which a printed size is missed least
settings       `settings_of_paper`         what each does to all sizes of a paper, ``data/papers/settings.csv``
numbers        `numbers`                   the claims among them that a closed form decides
============== =========================== ==============================================

Keys of the papers: caps, mmptcp, repflow, cdcps, dc2mtcp.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from capsmodel.checks import choice
from capsmodel.experiments.statistics.nearest import SettingForAll, TriedSetting, nearest, settings_for_all
from capsmodel.experiments.words import VERDICT_WORDS
from capsmodel.papers.claim_list import CAUSES, PublishedClaim, read_claims
from capsmodel.papers.index import (
    DISTANCES,
    NO_FACTOR,
    OPEN_FOR,
    Discrepancy,
    Equation,
    LedgerEntry,
    Paper,
    chosen,
    distance_of,
    open_for,
    read_ledger,
    read_papers,
    read_settings,
)

__all__ = [
    "ClaimRow",
    "Discrepancy",
    "Equation",
    "LedgerEntry",
    "Paper",
    "PublishedClaim",
    "cite",
    "claim_causes",
    "claim_totals",
    "claims",
    "discrepancies",
    "equations",
    "nearest_settings",
    "numbers",
    "papers",
    "settings_of_paper",
]


NOT_MET = ("holds in part", "differs", "absent", "fails", "depends")
"""Verdicts on claims that are not met as they are made."""
NOT_KNOWN = "not known"


@dataclass(frozen=True)
class ClaimRow:
    """A claim and what the ledger records about it."""

    claim: PublishedClaim
    entry: LedgerEntry


def papers() -> tuple[Paper, ...]:
    """Return the five papers with everything that is indexed.

    Examples
    --------
    >>> [paper.key for paper in papers()]
    ['caps', 'mmptcp', 'repflow', 'cdcps', 'dc2mtcp']
    """
    return read_papers()


def equations(paper: str | None = None) -> tuple[Equation, ...]:
    """Return the equations of one paper or of all, numbered and unnumbered.

    Parameters
    ----------
    paper : str, optional
        Key of one paper.

    Returns
    -------
    tuple of Equation
        In the order of the paper.

    Raises
    ------
    ParameterError
        If `paper` is unknown.

    Examples
    --------
    >>> equations("caps")[1].functions[0]
    'capsmodel.coding.decoding.decode_prob'
    """
    return tuple(equation for one in chosen(paper) for equation in one.equations)


def discrepancies(paper: str | None = None) -> tuple[Discrepancy, ...]:
    """Return the places where one paper, or any, contradicts itself.

    Parameters
    ----------
    paper : str, optional
        Key of one paper.

    Returns
    -------
    tuple of Discrepancy
        Each with the claims that show it.

    Raises
    ------
    ParameterError
        If `paper` is unknown.

    Examples
    --------
    >>> len(discrepancies())
    49
    """
    return tuple(item for one in chosen(paper) for item in one.discrepancies)


def claims(paper: str | None = None, verdict: str | None = None) -> tuple[ClaimRow, ...]:
    """Return the published claims with what the ledger records about them.

    Parameters
    ----------
    paper : str, optional
        Key of one paper; all by default.
    verdict : str, optional
        Only claims with this verdict; all by default, including those that do not reproduce.

    Returns
    -------
    tuple of ClaimRow
        In the order of their ids, paper after paper.

    Raises
    ------
    ParameterError
        If `paper` or `verdict` is unknown.

    Examples
    --------
    >>> next(row.entry.value for row in claims("caps", "fails") if row.claim.id == "caps-optk-0.2")
    (61.0,)
    """
    if verdict is not None:
        choice("verdict", verdict, VERDICT_WORDS)
    wanted = {one.key for one in chosen(paper)}
    ledger = read_ledger()
    rows = (ClaimRow(claim, ledger[claim.id]) for claim in read_claims().values() if claim.paper in wanted)
    return tuple(row for row in rows if verdict in (None, row.entry.verdict))


def claim_totals(rows: Sequence[ClaimRow]) -> list[dict[str, Any]]:
    """Return the number of claims for each verdict and paper: those that differ by distance too, open ones by price.

    Claims that say the same as another one, and those that the authors do not make, are not counted.

    Parameters
    ----------
    rows : sequence of ClaimRow
        Such as those of :func:`claims`.

    Examples
    --------
    >>> rows = claim_totals(claims("cdcps"))
    >>> [(row["verdict"], row["cdcps"]) for row in rows if row["verdict"] in ("not testable", "claims")]
    [('not testable', 0), ('claims', 53)]
    """
    line = _counter([row for row in rows if row.claim.is_counted])
    lines = []
    for verdict in VERDICT_WORDS:
        lines.append(line("verdict", verdict, partial(_has_verdict, verdict=verdict)))
        if verdict == "differs":
            parts = (*DISTANCES, NO_FACTOR)
            lines += [line("verdict", f"  {name}", partial(_differs_by, distance=name)) for name in parts]
        if verdict == "open":
            lines += [line("verdict", f"  {name}", partial(_is_open_for, price=name)) for name in OPEN_FOR]
    return [*lines, line("verdict", "claims", lambda _: True)]


def claim_causes(rows: Sequence[ClaimRow]) -> list[dict[str, Any]]:
    """Return the number of claims that are not met for each cause and paper; those that count, as in the totals.

    Parameters
    ----------
    rows : sequence of ClaimRow
        Such as those of :func:`claims`.

    Examples
    --------
    >>> [row["cause"] for row in claim_causes(claims("repflow"))]
    ['setting', 'workload', 'other code', 'contradiction', 'not known']
    """
    not_met = [row for row in rows if row.claim.is_counted and row.entry.verdict in NOT_MET]
    line = _counter(not_met)
    return [line("cause", name, partial(_has_cause, cause=name)) for name in (*CAUSES, NOT_KNOWN)]


def _has_cause(row: ClaimRow, cause: str) -> bool:
    return (row.claim.cause.partition(":")[0] or NOT_KNOWN) == cause


def _counter(rows: Sequence[ClaimRow]) -> Callable[[str, str, Callable[[ClaimRow], bool]], dict[str, Any]]:
    """Return a function that gives a line of a table: its name under a head, and how many claims of each paper."""
    papers = list(dict.fromkeys(row.claim.paper for row in rows))

    def line(head: str, name: str, chosen: Callable[[ClaimRow], bool]) -> dict[str, Any]:
        counts = Counter(row.claim.paper for row in rows if chosen(row))
        several = {"all": counts.total()} if len(papers) > 1 else {}
        return {head: name, **{paper: counts[paper] for paper in papers}, **several}

    return line


def _has_verdict(row: ClaimRow, verdict: str) -> bool:
    return row.entry.verdict == verdict


def _differs_by(row: ClaimRow, distance: str) -> bool:
    return row.entry.verdict == "differs" and distance_of(row.entry.times_printed) == distance


def _is_open_for(row: ClaimRow, price: str) -> bool:
    return row.entry.verdict == "open" and open_for(row.entry) == price


def nearest_settings(paper: str | None = None) -> dict[str, TriedSetting]:
    """Return for each printed size that was run in several settings the one in which ours is nearest to it.

    Parameters
    ----------
    paper : str, optional
        Key of one paper; all by default.

    Returns
    -------
    dict of TriedSetting
        By the id of the claim. It has the factors by which ours is off, there and in the text's setting.

    Raises
    ------
    ParameterError
        If `paper` is unknown.

    Examples
    --------
    >>> nearest_settings("mmptcp")["mmptcp-t4-d9-sd"].setting
    'oversubscription = 4'
    """
    return dict(nearest(_tried(paper)))


def settings_of_paper(paper: str) -> list[SettingForAll]:
    """Return what each setting does to all printed sizes of a paper that were run in it, the largest gain first.

    Parameters
    ----------
    paper : str
        Key of the paper.

    Returns
    -------
    list of SettingForAll
        How many sizes it moves towards print and away from it, and the mean factors by which ours are off.

    Raises
    ------
    ParameterError
        If `paper` is unknown.

    Examples
    --------
    >>> [one.away for one in settings_of_paper("mmptcp") if one.setting == "oversubscription = 4"]
    [0]
    """
    return list(settings_for_all(_tried(paper)))


def _tried(paper: str | None) -> list[TriedSetting]:
    known, of = read_claims(), {one.key for one in chosen(paper)}
    return [one for one in read_settings() if known[one.id].paper in of]


def numbers(paper: str | None = None) -> tuple[ClaimRow, ...]:
    """Return the published claims that a closed form or a paper's own table decides, each with our value and verdict.

    Parameters
    ----------
    paper : str, optional
        Key of one paper; all by default.

    Returns
    -------
    tuple of ClaimRow
        Those of :func:`claims` that name a formula of :mod:`capsmodel.papers.closed_forms`.

    Raises
    ------
    ParameterError
        If `paper` is unknown.

    Examples
    --------
    >>> [row.entry.value for row in numbers("mmptcp") if row.claim.id == "mmptcp-s24-19"]
    [(19.0,)]
    """
    return tuple(row for row in claims(paper) if row.claim.has_closed_form)


def cite(paper: str | None = None, *, style: Literal["bibtex", "text"] = "bibtex") -> str:
    """Return references to one paper or all, as BibTeX or as text.

    Parameters
    ----------
    paper : str, optional
        Key of one paper.
    style : {"bibtex", "text"}, optional
        Form of the reference.

    Returns
    -------
    str
        One reference, or all with a blank line between; data that a paper's own text lacks are left out.

    Raises
    ------
    ParameterError
        If `paper` or `style` is unknown.

    Examples
    --------
    >>> print(cite("repflow", style="text"))
    Hong Xu, Baochun Li. RepFlow: Minimizing Flow Completion Times with Replicated Flows in Data Centers. \
Proc. IEEE INFOCOM, pp. 1581-1589, 2014.
    """
    choice("style", style, ("bibtex", "text"))
    form = reference_text if style == "text" else bibtex
    return "\n\n".join(form(one) for one in chosen(paper))


def reference_text(paper: Paper) -> str:
    """Return a reference to a paper as a line of text."""
    place = [paper.venue, f"vol. {paper.volume}" * bool(paper.volume), f"pp. {paper.pages}" * bool(paper.pages)]
    place += [str(paper.year or ""), f"doi:{paper.doi}" * bool(paper.doi)]
    parts = [", ".join(paper.authors), paper.title, ", ".join(part for part in place if part)]
    return ". ".join(part for part in parts if part) + "."


def bibtex(paper: Paper) -> str:
    """Return a reference to a paper as BibTeX."""
    kind = "misc" if not paper.venue else "inproceedings" if paper.venue.startswith("Proc.") else "article"
    fields = {
        "author": " and ".join(paper.authors),
        "title": f"{{{paper.title}}}",
        "booktitle" if kind == "inproceedings" else "journal": paper.venue,
        "volume": paper.volume,
        "pages": paper.pages.replace("-", "--"),
        "year": str(paper.year or ""),
        "doi": paper.doi,
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@{kind}{{{paper.key},", *lines, "}"])
