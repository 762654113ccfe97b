"""Campaigns: seeds are added where claims are open, runs are never repeated, and settings count where they change runs.

Runs are made up (`made_up`).
"""

import pytest
from study.made_up import COPIES, TIMER, design, halved, run, slower

from capsim.study.campaign import SECOND_FAMILY, Campaign, Group
from capsim.study.looks import numbers_of
from capsmodel.experiments.statistics.robustness import TEXT
from capsmodel.experiments.statistics.sequential import looks


def test_a_clear_claim_takes_the_first_look_in_each_setting_and_no_run_is_made_twice(tmp_path):
    made, ran = run(tmp_path, halved)
    found = Campaign(design(), tmp_path)
    assert made == len(ran) == len(set(ran))
    assert set(found.frame["seed"]) == {1, 2, 3, 4}
    verdict = found.verdict("gain")
    assert (verdict.word, verdict.seeds, verdict.again) == ("reproduced", 4, None)
    assert 42 < min(verdict.value) <= max(verdict.value) < 44
    assert found.robustness("gain").agreeing == found.robustness("gain").decided
    assert run(tmp_path, halved)[0] == 0


def test_a_setting_that_turns_the_claim_is_named(tmp_path):
    def by_timer(scheme, scenario, seed):
        is_turned = scenario["params"]["transport"]["min_rto_s"] == 0.01
        return slower(scheme, scenario, seed) if is_turned else halved(scheme, scenario, seed)

    run(tmp_path, by_timer)
    found = Campaign(design(), tmp_path)
    assert found.verdict("gain").word == "reproduced"
    assert found.words("gain")[TIMER] == "refuted"
    assert found.robustness("gain").turned_by == (TIMER,)


def test_a_setting_whose_parameter_a_claim_does_not_use_does_not_count(tmp_path):
    """TCP sends no second copy: to stop one changes nothing."""
    found = Campaign(design(), tmp_path)
    assert COPIES in found.settings_of["gain"]
    assert COPIES not in found.settings_of["tcp"]


def test_a_refutation_needs_a_second_family_of_seeds_at_all_points_of_the_text(tmp_path):
    run(tmp_path, slower)
    found = Campaign(design(), tmp_path)
    second = found.frame[found.frame["seed"] > SECOND_FAMILY]
    assert set(second["seed"]) == {SECOND_FAMILY + number for number in (1, 2, 3, 4)}
    assert set(second["setting"]) == {TEXT}
    assert found.verdict("gain").word == "refuted"
    assert found.verdict("gain").again.seeds == 4


def test_what_other_seeds_do_not_refute_stays_open(tmp_path):
    run(tmp_path, lambda scheme, scenario, seed: (slower if seed < SECOND_FAMILY else halved)(scheme, scenario, seed))
    found = Campaign(design(), tmp_path)
    assert found.judged("gain", TEXT, sampled=False).decision.word == "refuted"
    assert found.verdict("gain").word == "open"
    assert found.verdict("gain").again.decision.word == "reproduced"


def test_an_undecided_claim_takes_seeds_to_the_limit_and_stays_open(tmp_path):
    """The ratio lies on a bound of the claim: no number of seeds decides."""
    run(tmp_path, lambda scheme, *_: 0.6 if scheme == "repflow" else 1.0, spread=0.3)
    found = Campaign(design(), tmp_path)
    assert (found.verdict("gain").word, found.verdict("gain").seeds) == ("open", 8)
    assert found.frame["seed"].max() == 8
    assert found.next_looks == []


def test_a_claim_alone_runs_its_own_points(tmp_path):
    run(tmp_path, halved, claims=["tcp"])
    assert set(Campaign(design(), tmp_path).frame["scheme"]) == {"TCP"}


def test_shares_make_each_run_of_a_look_once(tmp_path):
    parts = [run(tmp_path / str(part), halved, shard=(part, 3))[1] for part in (1, 2, 3)]
    first = Campaign(design(), tmp_path / "none")
    assert sorted(one for part in parts for one in part) == sorted(task.id for task in first.next_tasks())


def test_no_time_makes_no_run(tmp_path):
    assert run(tmp_path, halved, budget_s=0.0) == (0, [])


def test_the_text_comes_before_other_settings():
    first = Campaign(design(), design().source.folder / "none").next_looks
    assert [look.group for look in first] == [Group(TEXT, "paper")]


@pytest.mark.parametrize("most", [4, 8, 64, 100])
def test_looks_are_those_of_the_sequential_test(most):
    assert numbers_of((4, most)) == looks(most)
    assert numbers_of(5) == (5,)
