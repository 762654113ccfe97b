"""The index of equations compared with the docstrings in both directions, and its bibliographic data."""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from typing import Any

import pytest

import capsmodel
from capsmodel import papers
from capsmodel.checks import ParameterError
from capsmodel.experiments.words import VERDICT_WORDS
from capsmodel.papers.claim_list import PAPER_KEYS, read_claims

NUMBERED = re.compile(r"\b(caps|mmptcp|repflow|cdcps|dc2mtcp) Eq\.\s((?:\d+(?:-\d+)?)(?:(?:, |/)\d+(?:-\d+)?)*)")
UNNUMBERED = re.compile(r"\b(caps|mmptcp|repflow|cdcps|dc2mtcp) u \(([^)]*)\)([^.;:\n]*)")
INDEXED = {key: {row.number: row for row in papers.equations(key)} for key in PAPER_KEYS}


def docstrings() -> Iterator[tuple[str, str]]:
    """Yield the name and docstring of every module, function, class and method of the package."""
    for info in pkgutil.walk_packages(capsmodel.__path__, "capsmodel."):
        if info.name.endswith("__main__"):
            continue
        module = importlib.import_module(info.name)
        yield info.name, module.__doc__ or ""
        for name, member in vars(module).items():
            if (inspect.isfunction(member) or inspect.isclass(member)) and member.__module__ == info.name:
                yield f"{info.name}.{name}", member.__doc__ or ""
                for part, method in vars(member).items() if inspect.isclass(member) else ():
                    if inspect.isfunction(method):
                        yield f"{info.name}.{name}.{part}", method.__doc__ or ""


DOCSTRINGS = dict(docstrings())


def numbered(text: str) -> set[tuple[str, str]]:
    """Return (paper, "Eq. n") for every numbered equation that a text cites, ranges spelt out."""
    found = set()
    for paper, listed in NUMBERED.findall(" ".join(text.split())):
        for part in re.split(r", |/", listed):
            first, _, last = part.partition("-")
            found |= {(paper, f"Eq. {n}") for n in range(int(first), int(last or first) + 1)}
    return found


def unnumbered(text: str) -> set[tuple[str, str, str]]:
    """Return (paper, place, name) for every formula without a number that a text cites."""
    return {(paper, place, name.strip()) for paper, place, name in UNNUMBERED.findall(text)}


def resolve(dotted: str) -> Any:
    module, _, name = dotted.rpartition(".")
    return getattr(importlib.import_module(module), name)


def references(function: Any) -> str:
    _, _, tail = inspect.cleandoc(function.__doc__).partition("References\n----------\n")
    return tail.partition("\nExamples\n")[0]


ROWS = [(row.paper, row.number, name) for row in papers.equations() for name in row.functions]


def cites(name: str, paper: str, number: str) -> bool:
    text = references(resolve(name))
    if number.startswith("Eq."):
        return (paper, number) in numbered(text)
    return f"{paper} {number}" in " ".join(text.split())


def test_each_indexed_function_exists_and_cites_its_equation() -> None:
    assert [row for row in ROWS if not cites(row[2], *row[:2])] == []


def is_indexed(paper: str, place: str, text: str) -> bool:
    """Return whether the index has a formula without a number; in tables its name is cut off or left out."""
    known = [number for number in INDEXED[paper] if number.startswith(f"u ({place}")]
    in_table = not text or text.startswith(("`", ",")) or "  " in text
    return bool(known) and (in_table or any(f"u ({place}) {text}".startswith(number) for number in known))


def test_no_docstring_cites_an_equation_that_the_index_lacks() -> None:
    unknown = {
        name: [one for one in numbered(text) if one[1] not in INDEXED[one[0]]]
        + [one for one in unnumbered(text) if not is_indexed(*one)]
        for name, text in DOCSTRINGS.items()
    }
    assert {name: cited for name, cited in unknown.items() if cited} == {}


def test_docstrings_of_the_package_are_found() -> None:
    cited = [name for name, text in DOCSTRINGS.items() if numbered(text) or unnumbered(text)]
    assert len(cited) >= 40
    assert len(ROWS) >= 70


def test_an_equation_has_a_reason_only_without_a_function() -> None:
    for row in papers.equations():
        assert bool(row.functions) != bool(row.reason), row


def test_every_numbered_equation_of_the_papers_is_indexed() -> None:
    for paper, last in {"caps": 7, "repflow": 14, "cdcps": 7, "dc2mtcp": 10}.items():
        assert {f"Eq. {n}" for n in range(1, last + 1)} <= INDEXED[paper].keys()
    for paper in PAPER_KEYS:
        assert len(INDEXED[paper]) == len(papers.equations(paper)), "a number is indexed twice"


def test_discrepancies_count_through_and_point_to_evidence_that_exists() -> None:
    rows = papers.discrepancies()
    assert [row.item for row in rows] == list(range(1, 50))
    assert {name for row in rows for name in row.evidence} <= set(read_claims())


def test_what_a_claim_says_holds_no_remark_of_ours() -> None:
    """What we compute, and where the paper contradicts itself, stands in the verdict and in the discrepancies."""
    ours = re.compile(r"discrepancy|\(formula:|\(formula \d|not reproduced|\(impossible|\btext says")
    assert [key for key, claim in read_claims().items() if ours.search(f"{claim.conditions}; {claim.text}")] == []


def test_claims_are_filtered_by_paper_and_verdict() -> None:
    everything = papers.claims()
    assert len(everything) == len(read_claims())
    words = {row.entry.verdict for row in everything}
    assert words == set(VERDICT_WORDS)
    assert sum(len(papers.claims(verdict=word)) for word in words) == len(everything)
    assert {row.claim.paper for row in papers.claims("cdcps")} == {"cdcps"}
    with pytest.raises(ParameterError, match="verdict"):
        papers.claims(verdict="maybe")
    with pytest.raises(ParameterError, match="paper"):
        papers.equations("tcp")


def test_numbers_are_the_claims_of_closed_forms() -> None:
    everything = papers.claims()
    numbers = papers.numbers()
    assert [row for row in everything if row in numbers] == list(numbers)
    assert {row.claim.formula.partition(":")[0].rpartition(".")[0] for row in numbers} == {
        "capsmodel.papers.closed_forms"
    }
    assert [row for paper in PAPER_KEYS for row in papers.numbers(paper)] == list(numbers)
    with pytest.raises(ParameterError, match="paper"):
        papers.numbers("tcp")


def test_references_name_every_paper() -> None:
    text, bibtex = papers.cite(), papers.cite(style="bibtex")
    for paper in papers.papers():
        assert paper.title in text
        assert f"{{{paper.key}," in bibtex
    assert "doi = {10.1109/TNET.2019.2945863}" in papers.cite("caps", style="bibtex")
    assert "@inproceedings{repflow," in bibtex
    assert "@misc{dc2mtcp," in bibtex
    with pytest.raises(ParameterError, match="style"):
        papers.cite(style="html")
