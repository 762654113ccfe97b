"""Property: Python blocks of the guides run as they stand, files that documents name exist, words are defined once."""

import importlib.util
import re
import tomllib
from collections import Counter
from fnmatch import fnmatch
from itertools import chain
from pathlib import Path

import pytest
from other_simulators import test_against_ns3 as ns3
from other_simulators import test_causes_of_differences as causes
from other_simulators.compare_with_ns3 import NOT_COMPARED
from other_simulators.htsim_cases import CASES as HTSIM_CASES
from other_simulators.reference_scenarios import names as ns3_scenarios
from page_tables import by_first_cell

from capsim import schemes
from capsim.roles.hooks import HOST_ROLES, ROLES
from capsmodel import __version__
from capsmodel.papers import claim_totals, claims

ROOT = Path(__file__).resolve().parents[1]
GUIDES = [ROOT / "README.md", ROOT / "docs/extending.md"]
CHANGES = (ROOT / "CHANGELOG.md").read_text()
FENCE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
BLOCKS = [
    (guide.name, number, code) for guide in GUIDES for number, code in enumerate(FENCE.findall(guide.read_text()))
]

_SPEC = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
HOOK = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(HOOK)

DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "sim/README.md"]
DOCUMENTS += chain((ROOT / "data").rglob("README.md"), (ROOT / ".github").rglob("*.md"))
DOCUMENTS += chain((ROOT / "benchmarks").glob("*.md"), (ROOT / "tests").glob("*.md"))
FOLDERS = [".ci", ".github", "benchmarks", "capsmodel", "data", "docs", "notebooks", "sim", "tests"]
THERE = [
    str(file.relative_to(ROOT))
    for file in chain(ROOT.iterdir(), *((ROOT / folder).rglob("*") for folder in FOLDERS))
    if file.suffix != ".pyc"
]
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")
SPAN = re.compile(r"`([^`\n]+)`")
NAME = re.compile(r"(\.?[\w<>*-]+/)*\.?[\w<>*.-]+(/|\.(py|md|toml|csv|cff|ipynb|txt))|(\.?[\w-]+/)+[\w-]+")
# Written by the commands beside them or by the reader, shares of a study, and a folder of ns-3.
ELSEWHERE = {
    "1/2",
    "2/2",
    "DIR/results",
    "DIR/runs",
    "SCENARIO.toml",
    "STUDY.toml",
    "out/runs",
    "runs",
    "letflow/verdicts.csv",
    "mine/verdicts.csv",
    "runs.csv",
    "sim/capsim/protocols/schemes/two_choices.py",
    "src/internet/model",
    "study.toml",
    "table.csv",
}


# Words that only this project had, and those of the field that replace them.
PRIVATE_WORDS = {
    r"sendings": "transmissions",
    r"sent again": "retransmitted",
    r"in turns?": "round robin, alternating",
    r"runs? of losses": "loss burst",
    r"famil(y|ies) of seeds": "independent seeds",
    r"(keep|same|a|the) promises?": "target failure probability",
    r"(next|last|first|each|every|any|its|all) looks?": "interim analysis",
    r"words? on (a |the |each |one |all )?claims?": "verdict",
    r"false words?": "false verdict",
    r"(other|another|both|two|our) readings?": "variant, interpretation",
    r"of print": "published",
    r"(below|above|near|nearer|towards|off) print": "the published value",
    r"in order of arrival": "first in, first out",
    r"(lost|losses come) in runs": "loss burst",
    r"own memory": "state",
    r"corners?": "best (k, r) pair",
    r"wait(s|ed)? for (a|no) timers?": "timeout",
    r"(second|first) family": "second set of seeds",
}
# Those of them that comments and docstrings have not either.
NOT_IN_CODE = (
    r"runs? of losses",
    r"famil(y|ies) of seeds",
    r"of print",
    r"own memory",
    r"(next|last|first|each|every|any|its|all) looks?",
    r"words? on (a |the |each |one |all )?claims?",
    r"false words?",
    r"(other|another|both|two|our) readings?",
)


def prose(document):
    """Return the text of a document without its blocks of code."""
    return re.sub(r"^```.*?^```", "", document.read_text(), flags=re.DOTALL | re.MULTILINE)


def named_files(document):
    """Return the words in code spans that look like a file or folder; ``<paper>`` stands for any name."""
    words = chain.from_iterable(span.split() for span in SPAN.findall(prose(document)))
    return sorted({re.sub(r"<\w+>", "*", word.rstrip("/")) for word in words if NAME.fullmatch(word)} - ELSEWHERE)


def test_files_that_a_document_names_exist(subtests):
    """A link from the folder of the document, a name in a code span from any folder that the text speaks of."""
    for document in DOCUMENTS:
        with subtests.test(document=document):
            links = [link for link in LINK.findall(prose(document)) if "://" not in link]
            assert [link for link in links if not (document.parent / link).exists()] == []
            names = named_files(document)
            assert [name for name in names if not any(fnmatch("/" + path, "*/" + name) for path in THERE)] == []


def test_names_of_files_are_found():
    names = [name for document in DOCUMENTS for name in named_files(document)]
    assert {"data/papers/*.toml", "caps_fig9a.py", "capsim/roles/hooks.py", "tests/agreement", ".ci/run"} <= set(names)


def test_a_word_of_the_glossary_is_defined_once():
    glossary = (ROOT / "docs/glossary.md").read_text()
    words = re.findall(r"\*\*(.+?)\*\*", glossary)
    assert len(words) == len({word.lower() for word in words}) > 60
    heads = re.findall(r"(?:^- |; )(\$[^:;\n]+?)(?: \(([\d, ]+)\))?:", glossary, re.MULTILINE)
    symbols = [(symbol, lessons) for head, lessons in heads for symbol in re.findall(r"\$[^$]+\$", head)]
    assert len(symbols) == len(set(symbols)) > 60
    defined = re.compile(r"\*blocked\*\s+(#\s+)?(when|if)\b")
    sources = chain(*((ROOT / folder).rglob("*.[mp][dy]") for folder in ("capsmodel", "sim", "notebooks", "docs")))
    assert [str(file) for file in sources if defined.search(file.read_text())] == []


def test_pages_for_users_have_few_words():
    """As ``wc -w`` counts them, code and links too; what a build writes into the pages is in no file."""
    pages = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.rst"), ROOT / "sim/README.md"]
    words = {str(page.relative_to(ROOT)): len(page.read_text().split()) for page in pages}
    del words["docs/extending.md"]  # for developers
    assert sum(words.values()) <= 18_300, sorted(words.items(), key=lambda item: -item[1])[:10]


def test_each_table_of_results_is_shown_and_linked_on_a_page():
    """A reader on GitHub sees the file, one of the site the table."""
    pages = "".join(document.read_text() for document in DOCUMENTS)
    names = sorted(file.stem for file in (ROOT / "docs/tables").iterdir())
    assert sorted(re.findall(r"^:file: (?:\.\./)?tables/(\w+)\.csv$", pages, re.MULTILINE)) == names
    assert set(re.findall(r"\]\((?:\.\./)?tables/(\w+)\.csv\)", pages)) == set(names)


def private_words(texts, words):
    """Return which of some words each text has, of those that have any."""
    private = re.compile(rf"\b({'|'.join(words)})\b".replace(" ", r"\s+"), re.IGNORECASE)
    found = {str(path): [match[0] for match in private.finditer(text)] for path, text in texts.items()}
    return {path: of_text for path, of_text in found.items() if of_text}


def test_texts_have_the_words_of_the_field():
    """In documents but the release notes, and in the texts of notebooks; code, options and identifiers keep theirs."""
    texts = {document: SPAN.sub("", prose(document)) for document in DOCUMENTS if document.name != "CHANGELOG.md"}
    for notebook in (ROOT / "notebooks/src").glob("*.py"):
        lines = re.findall(r"^# (.*)$", notebook.read_text(), re.MULTILINE)
        texts[notebook] = SPAN.sub("", "\n".join(lines))
    assert len(texts) > 40
    assert private_words(texts, PRIVATE_WORDS) == {}


def test_code_has_some_words_of_the_field():
    sources = chain.from_iterable((ROOT / folder).rglob("*.py") for folder in ("capsmodel", "sim"))
    assert set(NOT_IN_CODE) < set(PRIVATE_WORDS)
    assert private_words({path: path.read_text() for path in sources}, NOT_IN_CODE) == {}


def test_a_change_of_the_verdict_rules_has_a_dated_row():
    """Catches a row without a date, before or since, and one that is not in its place."""
    history = (ROOT / "data/papers/rules_history.md").read_text()
    table = history[history.index("|---|---|---|---|\n") :].split("\n\n")[0].splitlines()[1:]
    rows = [re.fullmatch(r"\| (\d{4}-\d\d-\d\d)(?:, later)? \| ([^|]+) \| ([^|]+) \|[^|]*\|", line) for line in table]
    assert [line for line, row in zip(table, rows, strict=True) if row is None] == []
    dates = [row[1] for row in rows]
    assert dates == sorted(dates)
    assert len(dates) > 50


def test_changes_and_citation_have_the_version_and_its_date():
    """CITATION.cff has no date until CHANGELOG.md has one."""
    newest, date = re.search(r"^## (\S+) \((unreleased|\d{4}-\d\d-\d\d)\)$", CHANGES, re.MULTILINE).groups()
    fields = dict(re.findall(r"^(version|date-released): *(\S+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE))
    released = {} if date == "unreleased" else {"date-released": date}
    assert newest == __version__
    assert fields == {"version": __version__, **released}


def test_the_gate_runs_on_the_oldest_and_the_newest_python():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = [line.rpartition(" ")[2] for line in project["classifiers"] if ":: Python :: 3." in line]
    (matrix,) = re.findall(r"^ *python: \[(.*)\]$", (ROOT / ".github/workflows/ci.yml").read_text(), re.MULTILINE)
    assert re.findall(r"[\d.]+", matrix) == [named[0], named[-1]]
    assert project["requires-python"] == f">={named[0]}"


def test_hooks_have_the_pinned_versions():
    hooks = re.findall(r"\[(\w+==\S+)\]", (ROOT / ".pre-commit-config.yaml").read_text())
    assert hooks
    assert set(hooks) <= set((ROOT / "constraints.txt").read_text().split())


def test_no_file_is_large():
    """Pre-commit refuses one above 2 MB; a clone without it is noticed here."""
    sizes = {path: (ROOT / path).stat().st_size for path in THERE if (ROOT / path).is_file()}
    assert [path for path, size in sizes.items() if size > 2_000_000 and not path.endswith((".nbi", ".nbc"))] == []


@pytest.mark.parametrize("address", ["", "https://example.org/capsmodel"])
def test_the_readme_of_the_index_has_no_relative_link(address):
    """Each becomes a link to the file in the tag of the version, or text where the project has no address."""
    shown = HOOK.for_the_index((ROOT / "README.md").read_text(), address, "0.1.0")
    links = re.findall(r"\]\(([^)]+)\)", shown)
    assert [link for link in links if "://" not in link] == []
    ours = [re.fullmatch(rf"{address}/(blob|raw)/v0\.1\.0/(.+)", link) for link in links if address]
    kinds = Counter(found[1] for found in ours if found and (ROOT / found[2].partition("#")[0]).is_file())
    assert (kinds["raw"], kinds["blob"] > 10) == ((1, True) if address else (0, False))
    assert len(shown.splitlines()) > 90


def test_the_address_of_the_project_stands_in_its_citation():
    assert HOOK.repository('title: x\nrepository-code: "https://example.org/x/"\n') == "https://example.org/x"
    assert HOOK.repository("title: x\n") == ""


def test_the_guides_have_examples():
    assert {name for name, _, _ in BLOCKS} == {"README.md", "extending.md"}


@pytest.mark.parametrize(("name", "number", "code"), BLOCKS)
def test_python_block_runs(name, number, code):
    exec(compile(code, f"{name}, block {number}", "exec"), {"__name__": "guide"})
    assert code.strip()


def test_the_readme_counts_schemes_and_claims():
    readme = (ROOT / "README.md").read_text()
    assert f"{len(schemes())} schemes" in readme
    totals = {row["verdict"]: row["all"] for row in claim_totals(claims())}
    every, are_open = totals["claims"], totals["open"]
    counts = f"{every} claims of the five papers are in a ledger, {every - are_open} with a verdict"
    assert counts in readme
    assert f"{are_open} open" in readme
    assert len(readme.splitlines()) <= 120


NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


def test_counts_of_roles_and_papers_are_those_of_the_packages(subtests):
    cases = [
        ("sim/README.md", "has a component for each of {roles} *roles*. The {hosts} of hosts are a *stack*"),
        ("docs/howto/own_scheme.md", "A scheme is a combination of {roles} components"),
        ("docs/howto/own_scheme.md", "The {hosts} of hosts are a *stack*"),
        ("docs/glossary.md", "CAPS has {caps}, each a scheme of the simulator"),
        ("README.md", "all of them check what {papers} papers print"),
        ("docs/index.md", "holds the formulas of {papers} papers"),
    ]
    for name, sentence in cases:
        with subtests.test(name=name, sentence=sentence):
            counts = {
                "roles": len(ROLES),
                "hosts": len(HOST_ROLES),
                "caps": sum(each == "caps" or each.startswith("caps_") for each in schemes()),
                "papers": len({row.claim.paper for row in claims()}),
            }
            text = " ".join((ROOT / name).read_text().split())
            assert sentence.format(**{key: NUMBERS[count] for key, count in counts.items()}) in text


def test_the_table_of_roles_has_them_all():
    page = (ROOT / "sim/README.md").read_text()
    table = re.search(r"^\| role \| decides \|.*?\n\n", page, re.DOTALL | re.MULTILINE)[0]
    assert re.findall(r"^\| (\w+) \|", table, re.MULTILINE)[1:] == [*ROLES]


VALIDATION = (ROOT / "docs/validation.md").read_text()


def test_agreement_with_other_simulators_is_told_as_it_is_tabled():
    """Three texts say one thing, and its counts are those of the tables and of the tests that hold them."""
    of_ns3, of_htsim = by_first_cell("ns3_times"), by_first_cell("htsim")
    assert sorted(of_ns3) == sorted(ns3_scenarios())
    assert sorted(of_htsim) == sorted(HTSIM_CASES)
    equal = {name for name, row in of_ns3.items() if len(set(row[0].split(" of "))) == 1}
    assert equal == ns3.EXACT
    means = {name: abs(float(row[3]) - 1) for name, row in of_ns3.items() if name not in {*equal, *NOT_COMPARED}}
    packets = by_first_cell("ns3_packets")
    lossless = [off for name, off in means.items() if packets.get(name, ["0 / 0"])[0].startswith("0 /")]
    assert max(lossless) <= 0.01
    assert max(means.values()) <= 0.05
    within = sum(abs(float(row[2]) - 1) <= 0.01 for row in of_htsim.values())
    told = (
        f"{len(equal)} of {len(of_ns3)} scenarios agree with ns-3 in every completion time to the picosecond and "
        f"{len(means)} more in their means, within 1% without losses and 5% with; with htsim means agree within 1% in "
        f"{within} of {len(of_htsim)} cases."
    )
    for name in ("README.md", "docs/which_simulator.md", "CHANGELOG.md"):
        assert told in " ".join((ROOT / name).read_text().split()), name
    page = " ".join(VALIDATION.split())
    assert f"of {len(of_ns3)} scenarios, {len(equal)} agree in every completion time" in page
    assert f"and {len(means)} more in their means: within 1% without losses, within 5% with losses" in page
    assert f"Means agree within 1% in {within} of {len(of_htsim)} cases" in page


def test_the_scenarios_that_the_rules_of_ns3_explain_are_counted():
    explained = (causes.test_newreno_with_its_rules_is_that_of_ns3, causes.test_dctcp_with_its_rules_is_that_of_ns3)
    names = {name for test in explained for mark in test.pytestmark for name in mark.args[1]}
    assert not names & ns3.EXACT
    assert f"{len(names)} scenarios more agree to the picosecond" in " ".join(VALIDATION.split())


def test_an_address_that_moved_leads_to_a_page_and_no_page_is_there():
    (table,) = re.findall(r"^MOVED = \{\n(.*?)^\}", (ROOT / "docs/conf.py").read_text(), re.DOTALL | re.MULTILINE)
    moved = dict(re.findall(r'"(.+)": "(.+)"', table))
    pages = {path.rpartition(".")[0] for path in THERE if path.endswith((".md", ".rst"))}
    assert set(moved.values()) <= pages
    assert set(moved) & pages == set()
