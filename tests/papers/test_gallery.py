"""The gallery holds every figure, experiment and claim once, and nothing in it is simulated."""

from dataclasses import replace

import pytest

from capsmodel.cli import app
from capsmodel.experiments.statistics.robustness import TEXT, combination_name, differences
from capsmodel.papers import claims, gallery
from capsmodel.papers.figures import published_figures
from capsmodel.papers.figures._by_setting import draw_by_setting
from capsmodel.papers.index import PAPER_KEYS, LedgerEntry
from capsmodel.papers.studies import published_studies, simulated_studies

PICTURES = {key: gallery.pictures(key) for key in PAPER_KEYS}


def test_every_figure_and_experiment_is_there_once():
    names = [one.name for found in PICTURES.values() for one in found]
    assert len(set(names)) == len(names)
    assert {*published_figures(), *simulated_studies()} <= set(names)


def test_every_claim_is_in_a_picture_or_waits(subtests):
    for key in PAPER_KEYS:
        with subtests.test(key=key):
            shown = {row.claim.id for one in PICTURES[key] for row in one.claims}
            others = {row.claim.id for row in gallery.other_claims(key)}
            assert shown | others == {row.claim.id for row in claims(key)}
            assert not shown & others
            assert not any(row.entry.was_run for row in gallery.other_claims(key))


def test_the_command_of_a_picture_is_one(subtests):
    for one in (one for found in PICTURES.values() for one in found):
        with subtests.test(name=one.name):
            words = one.command.split()
            assert words[0] == "capsmodel"
            function, _, _ = app.parse_args(words[1:], exit_on_error=False, print_error=False)
            assert callable(function)


@pytest.mark.parametrize("name", ["caps-fig6a", "dc2mtcp-pda"])
def test_a_picture_is_drawn_without_a_run(name, monkeypatch):
    monkeypatch.setattr("capsmodel.experiments.sweep._Run", lambda *_: pytest.fail("simulates"))
    (one,) = (one for found in PICTURES.values() for one in found if one.name == name)
    assert one.draw().axes


def test_claims_by_settings_have_a_row_each_and_a_dot_for_each_difference():
    words = {"repflow-f8a": {TEXT: "holds", "mss_bytes = 536, recovery = sack": "fails"}}
    upper, lower = draw_by_setting("repflow", words).axes
    assert [text.get_text() for text in upper.get_yticklabels()] == [TEXT, "mss_bytes = 536", "recovery = sack"]
    assert upper.lines[0].get_xydata().tolist() == [[0, 0], [1, 1], [1, 2]]
    assert [text.get_text() for text in lower.get_yticklabels()] == ["repflow-f8a"]


def test_how_many_settings_are_decided_is_told_with_what_a_verdict_depends_on(subtests):
    cases = [
        ((1, 1, 1), "", ""),
        ((1, 1, 9), "", "1 of 9 decided"),
        ((1, 2, 2), "mss_bytes = 536", "depends on mss_bytes = 536 (1 of 2 settings)"),
        ((1, 2, 9), "mss_bytes = 536", "depends on mss_bytes = 536 (1 of 2 settings, 7 open)"),
    ]
    for settings, depends_on, told in cases:
        with subtests.test(settings=settings, depends_on=depends_on, told=told):
            entry = LedgerEntry("study", "", (), (), "holds", "", settings=settings, settings_word="holds")
            assert replace(entry, depends_on=depends_on).in_other_settings == told


def test_a_name_of_a_setting_lists_its_differences():
    for study in published_studies().values():
        for name, values in study.settings.items():
            assert differences(name) == [combination_name({key: value}) for key, value in values.items()]
