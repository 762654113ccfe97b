"""Contract: a claim is printed whole by its id, with its points, its settings and the command that computes it."""

import json
import re

from cli.commands import printed, refused

from capsim.study.campaign import Campaign
from capsmodel import papers
from capsmodel.cli import app, equations
from capsmodel.cli.shared.claim_texts import points_of
from capsmodel.datafiles import data_path
from capsmodel.papers.claim_list import PAPER_KEYS, read_claims
from capsmodel.papers.gallery import pictures
from capsmodel.papers.studies import published_studies

ROWS = {row.claim.id: row for row in papers.claims()}
STUDY = "repflow-mn-dm"
BY_FORMULA = "Computed by: capsmodel equations --numbers --paper caps; the function is capsmodel.papers"


def in_one_line(text):
    return " ".join(text.split())


def test_every_claim_is_found_by_its_id_and_names_what_computes_it(monkeypatch):
    """A command that exists, but for claims that nothing can compute."""
    assert len(ROWS) == 792
    monkeypatch.setattr(equations, "claim_rows", lambda: tuple(ROWS.values()))
    without = {name for name in ROWS if not equations._command(*equations._rows_of(name))}
    assert without == {name for name, claim in read_claims().items() if claim.not_testable}
    commands = {equations._command(row).partition(";")[0] for row in ROWS.values()} - {""}
    by_name = {line.split()[1]: line for line in commands}
    for name, line in by_name.items():
        function, arguments, _ = app.parse_args(line.split()[1:], exit_on_error=False, print_error=False)
        assert function.__name__ == name
        assert arguments.args or arguments.kwargs
    assert by_name.keys() == {"study", "equations"}


def test_a_claim_of_a_study_is_printed_with_its_points_and_its_command(capsys):
    row = next(row for row in ROWS.values() if row.entry.seeds and row.claim.study == STUDY and row.claim.printed)
    text = in_one_line(printed(f"claims {row.claim.id}", capsys))
    points = points_of(row.entry)
    assert len(points) == len(row.entry.points.split("; ")) > 0
    for point in points:
        assert point["point"].split(",")[0] in text
        assert f"{point['ours']} {point['from']} {point['to']}" in text
    assert text.startswith(f"{row.claim.id}: {row.entry.verdict}")
    assert in_one_line(row.claim.text) in text
    assert f"Decided with {row.entry.seeds} seeds" in text or f"{row.entry.seeds} seeds do not decide" in text
    assert f"Computed by: capsmodel study {row.claim.id}" in text


def test_the_list_of_open_claims_says_what_would_decide_each(capsys):
    """Seeds with their price, a study in place of a figure, or in the reason what else would or why no seeds do."""
    listed = printed("claims --verdict open", capsys).strip().split("\n\n")
    texts = [in_one_line(one) for one in listed if ": open" in one.partition("\n")[0]]
    assert len(texts) == sum(row.entry.verdict == "open" for row in ROWS.values())
    for text in texts:
        told = ("To decide it: ", "Next interim analysis: ", " would (", " would. (", "no number of seeds decides it: ")
        assert any(one in text for one in told), text


def test_a_claim_that_no_study_decides_says_what_does(subtests, capsys):
    cases = [
        (
            "caps-optk-0.2",
            [
                "fails",
                "Ours: 61 packets",
                BY_FORMULA,
            ],
        ),
        (
            "caps-f9a-r",
            ["holds", BY_FORMULA],
        ),
        ("repflow-f1-mean", ["not testable", "round trips between two machines"]),
    ]
    for name, told in cases:
        with subtests.test(name=name, told=told):
            text = in_one_line(printed(f"claims {name}", capsys))
            assert text.startswith(f"{name}: {told[0]}")
            assert all(words in text for words in told)


def test_a_claim_says_what_would_decide_it_and_the_cause_where_it_is_known(capsys):
    """The command for an open claim exists, and asks for the seeds that it names."""
    waiting = next(row for row in ROWS.values() if row.entry.takes_seeds and row.entry.next_seeds and row.entry.was_run)
    text = in_one_line(printed(f"claims {waiting.claim.id}", capsys))
    command = f"capsmodel study {waiting.claim.id} --seeds {waiting.entry.takes_seeds}"
    assert f"To decide it: about {waiting.entry.takes_seeds} seeds" in text
    assert f"scatter as these: {command}" in text
    *_, arguments, _ = app.parse_args(command.split()[1:], exit_on_error=False, print_error=False)
    assert arguments.arguments["seeds"] == waiting.entry.takes_seeds
    known = next(row for row in ROWS.values() if row.claim.cause)
    assert f"Cause: {in_one_line(known.claim.cause)}." in in_one_line(printed(f"claims {known.claim.id}", capsys))


def test_a_claim_is_the_same_row_in_json_as_in_the_list(capsys):
    (one,) = json.loads(printed("claims caps-f17a-rps --json", capsys))
    listed = {row["id"]: row for row in json.loads(printed("claims --paper caps --all --json", capsys))}
    assert one == listed["caps-f17a-rps"]


def test_words_by_setting_are_those_of_the_kept_runs(capsys):
    """Of all claims of a study, and of one of them."""
    campaign = Campaign(published_studies()[STUDY], data_path("results/runs"))
    words = {claim: campaign.words(claim) for claim in campaign.design.claims}
    expected = [(claim, setting, word) for claim, each in words.items() for setting, word in each.items()]
    rows = json.loads(printed(f"claims --by-setting {STUDY} --json", capsys))
    assert [(row["claim"], row["setting"], row["verdict"]) for row in rows] == expected
    assert all(row["least"] <= row["largest"] and row["seeds"] >= 2 for row in rows if row["least"] is not None)
    one = expected[-1][0]
    assert json.loads(printed(f"claims --by-setting {one} --json", capsys)) == [r for r in rows if r["claim"] == one]
    robust = ROWS[one].entry.robustness
    assert sum(word != "open" for word in words[one].values()) == robust.decided


def test_words_by_setting_are_drawn(tmp_path, capsys):
    file = tmp_path / "fig.png"
    assert f"wrote {file}" in printed(f"claims --by-setting {STUDY} --plot {file}", capsys)
    assert file.read_bytes().startswith(b"\x89PNG")


def test_what_verdicts_hang_on_lists_the_least_robust_first(capsys):
    rows = json.loads(printed("claims --depends-on --json", capsys))
    assert {row["claim"] for row in rows} == {
        row.claim.id for row in ROWS.values() if row.entry.settings and row.entry.settings[1] > 1
    }
    shares = [row["agreeing"] / row["decided"] for row in rows]
    assert shares == sorted(shares)
    assert all(row["depends_on"] == ROWS[row["claim"]].entry.depends_on for row in rows)


def test_a_figure_or_a_study_of_the_gallery_names_its_claims(capsys):
    """Each name that `gallery` takes; a claim that has the name of its study is that claim."""
    drawn = {one.name: [row.claim.id for row in one.claims] for paper in PAPER_KEYS for one in pictures(paper)}
    assert {"caps-fig9b", "repflow-fig6", "caps-fattree", "caps-numbers"} < set(drawn)
    for name in drawn.keys() - ROWS.keys():
        assert [row.claim.id for row in equations._rows_of(name)] == drawn[name]
    assert [row.claim.id for row in equations._rows_of("mmptcp-t1-100")] == ["mmptcp-t1-100"]
    text = printed("claims repflow-fig4", capsys)
    assert [name in drawn["repflow-fig4"] for name in re.findall(r"^(\S+): ", text, re.MULTILINE)] == [True] * 3
    assert "did you mean caps-fig9b" in refused("claims caps-fig9bb", capsys)
