"""Contract: a lesson says what it teaches and how long it runs, has exercises, and is what its source gives."""

import json
import re
from pathlib import Path

from capsmodel.symbolic import DERIVATIONS

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
SOURCES = sorted((NOTEBOOKS / "src").glob("*.py"))
CELL = re.compile(r"^# %%(?P<head>.*)\n(?P<text>(?:(?!# %%).*\n?)*)", re.MULTILINE)
DISPLAYS = re.compile(r'DERIVATIONS\["(?P<name>\w+)"\]\(\)')
FOLDED = {"source_hidden": True, "outputs_hidden": True}


def cells(source):
    """Return the code of a source, cell by cell."""
    found = CELL.finditer(source.read_text(encoding="utf-8"))
    return [cell["text"].strip() for cell in found if "[markdown]" not in cell["head"]]


def code_cells(source):
    """Return the code cells of the notebook of a source."""
    notebook = json.loads((NOTEBOOKS / f"{source.stem}.ipynb").read_text(encoding="utf-8"))
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def test_every_notebook_has_its_source():
    assert {path.stem for path in NOTEBOOKS.glob("*.ipynb")} == {path.stem for path in SOURCES}
    assert [int(path.stem[:2]) for path in SOURCES] == list(range(1, len(SOURCES) + 1))


def test_a_notebook_says_what_it_teaches_and_has_exercises(subtests):
    for source in SOURCES:
        with subtests.test(source=source):
            text = re.sub(r"\n#(?! %%) ?", " ", source.read_text(encoding="utf-8"))
            assert "**After this notebook** you can " in text
            assert re.search(r"\bruns in about \d+ s on one core", text)
            exercises = text.partition("## Exercises")[2].partition("# %%")[0]
            assert {"1. ", "2. ", "3. "} <= set(re.findall(r"\d\. ", exercises))
            assert "| symbol" not in text, "all lessons have the symbols of one table, in docs/glossary.md"
            asserted = text.partition(" The text of this notebook, asserted.")[2]
            assert "## " not in asserted
            assert 1 <= len(re.findall(r"\bassert ", asserted)) <= 10


def test_a_notebook_was_run_from_its_source_and_its_solutions_and_assertions_are_folded(subtests):
    for source in SOURCES:
        with subtests.test(source=source):
            found = code_cells(source)
            assert ["".join(cell["source"]).strip() for cell in found] == cells(source)
            folded = [cell for cell in found if cell["metadata"].get("jupyter") == FOLDED]
            assert all(cell["metadata"]["tags"] == ["hide-cell"] for cell in folded)
            assert found[-2:] == folded[-2:]


def test_a_lesson_displays_its_derivations_which_the_package_has(subtests):
    """A line of a derivation that is changed is seen in the lesson, whose notebook is then written again."""
    for source in SOURCES:
        with subtests.test(source=source):
            displayed = {
                call["name"]: "".join(cell["outputs"][-1]["data"]["text/latex"])
                for cell in code_cells(source)
                if (call := DISPLAYS.fullmatch("".join(cell["source"]).strip()))
            }
            assert displayed
            assert displayed == {name: DERIVATIONS[name]()._repr_latex_() for name in displayed}
            assert "Derivation(" not in source.read_text(encoding="utf-8"), "a derivation stands in capsmodel.symbolic"


def test_every_picture_has_a_text_in_its_place(subtests):
    for source in SOURCES:
        with subtests.test(source=source):
            drawn = [
                cell
                for cell in code_cells(source)
                if any("image/png" in out.get("data", {}) for out in cell["outputs"])
            ]
            texts = [cell["metadata"].get("mystnb", {}).get("image", {}).get("alt", "") for cell in drawn]
            assert [text for text in texts if len(text) < 30] == []


def prose_words(source):
    """Return how many words the texts of a lesson have."""
    texts = [cell["text"] for cell in CELL.finditer(source.read_text(encoding="utf-8")) if "[markdown]" in cell["head"]]
    return len(" ".join(texts).replace("#", "").split())


def test_a_notebook_needs_only_what_is_installed(subtests):
    for source in SOURCES:
        with subtests.test(source=source):
            text = source.read_text(encoding="utf-8")
            assert re.findall(r"sys\.path|\.\./tests|^(?:from|import) (?:agreement|tests)\b", text, re.MULTILINE) == []


def test_lessons_are_short_each_and_together():
    words = {source.stem: prose_words(source) for source in SOURCES}
    assert {stem: count for stem, count in words.items() if count > 1_200} == {}
    assert sum(words.values()) <= 11_500
