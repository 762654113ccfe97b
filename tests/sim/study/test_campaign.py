"""Campaigns: seeds are added where claims are open, runs are never repeated, and settings count where they change runs.

Runs are made up (`made_up`).
"""

from contextlib import contextmanager
from dataclasses import replace

import pandas as pd
import pytest
from study.made_up import COPIES, TABLES, TIMER, MadeUp, design, halved, run, slower

from capsim import Study, scheme
from capsim.study import campaign as campaigns
from capsim.study.campaign import Campaign, advance
from capsim.study.claims.looks import numbers_of
from capsim.study.kept_runs import SECOND_FAMILY, Group
from capsmodel.checks import ParameterError
from capsmodel.experiments.progress import Progress
from capsmodel.experiments.results import finished_tasks, merge
from capsmodel.experiments.statistics.robustness import TEXT
from capsmodel.experiments.statistics.sequential import looks

TEXT_ALONE: dict[str, dict[str, object]] = {"unstated": {}}  # for what no other setting plays a part in
TIMER_ALONE = {"unstated": {"transport.min_rto_s": TABLES["unstated"]["transport.min_rto_s"]}}


def by_timer(scheme, scenario, seed):
    """Return a ratio that the least timer turns."""
    is_turned = scenario["params"]["transport"]["min_rto_s"] == 0.01
    return (slower if is_turned else halved)(scheme, scenario, seed)


@pytest.fixture(scope="module")
def turned(tmp_path_factory):
    """Return a folder with all runs by :func:`by_timer`; no test changes it."""
    folder = tmp_path_factory.mktemp("turned")
    run(folder, by_timer)
    return folder


@pytest.fixture(scope="module")
def failed(tmp_path_factory):
    """Return a folder with all runs of a claim that fails; no test changes it."""
    folder = tmp_path_factory.mktemp("failed")
    run(folder, slower)
    return folder


def test_a_clear_claim_takes_the_first_look_in_each_setting_and_no_run_is_made_twice(tmp_path):
    made, ran = run(tmp_path, halved)
    found = Campaign(design(), tmp_path)
    assert made == len(ran) == len(set(ran))
    assert set(found.frame["seed"]) == set(range(1, 9))
    verdict = found.verdict("gain")
    assert (verdict.word, verdict.seeds, verdict.again) == ("agrees", 8, None)
    assert 42 < min(verdict.value) <= max(verdict.value) < 44
    assert found.robustness("gain").agreeing == found.robustness("gain").decided
    assert run(tmp_path, halved)[0] == 0


def test_a_setting_that_turns_the_claim_is_named(turned):
    found = Campaign(design(), turned)
    assert found.verdict("gain").word == "agrees"
    assert found.words("gain")[TIMER] == "fails"
    assert found.robustness("gain").depends_on == (TIMER,)


def test_a_setting_whose_parameter_a_claim_does_not_use_does_not_count(tmp_path):
    """TCP sends no second copy: to stop one changes nothing."""
    found = Campaign(design(), tmp_path)
    assert COPIES in found.settings_of["gain"]
    assert COPIES not in found.settings_of["tcp"]


def test_what_fails_needs_a_second_family_of_seeds_at_all_points_of_the_text(failed):
    found = Campaign(design(), failed)
    second = found.frame[found.frame["seed"] > SECOND_FAMILY]
    assert set(second["seed"]) == {SECOND_FAMILY + number for number in range(1, 9)}
    assert set(second["setting"]) == {TEXT}
    assert found.verdict("gain").word == "fails"
    assert found.verdict("gain").again.seeds == 8


def test_what_fails_with_a_reconstruction_of_ones_own_is_open(failed):
    """The scheme of the study, not the one that is registered under its name."""
    rebuilt = replace(scheme("repflow"), reconstructed=True)
    found = Campaign(replace(design(), schemes={"repflow": rebuilt}), failed).verdict("gain")
    assert found.word == "open"
    assert "repflow stands in" in found.stays_open


def test_what_does_not_fail_by_other_seeds_stays_open(tmp_path):
    def ratio(scheme, scenario, seed):
        return (slower if seed < SECOND_FAMILY else halved)(scheme, scenario, seed)

    study = design(**TEXT_ALONE)
    run(tmp_path, ratio, study)
    found = Campaign(study, tmp_path)
    assert found.judged("gain", TEXT, sampled=False).decision.word == "fails"
    assert found.verdict("gain").word == "open"
    assert found.verdict("gain").again.decision.word == "agrees"


def test_what_fails_and_holds_in_another_setting_depends_on_it(tmp_path):
    """The timer of the text makes RepFlow slower, the other one faster by what is printed, or by less."""
    for factor in (0.57, 0.8):
        folder = tmp_path / str(factor)

        def ratio(scheme, scenario, seed, factor=factor):
            is_turned = scenario["params"]["transport"]["min_rto_s"] == 0.01
            return 1.0 if scheme == "ecmp" else factor if is_turned else 1.5

        run(folder, ratio, design(**TIMER_ALONE))
        found = Campaign(design(**TIMER_ALONE), folder)
        assert found.judged("gain", TEXT, sampled=False).decision.word == "fails"
        assert found.verdict("gain").again.decision.word == "fails"
        assert found.verdict("gain").word == "depends"
        assert found.robustness("gain").depends_on == (TIMER,)


def test_what_fails_counts_only_where_both_sides_are_near_print(subtests, tmp_path):
    """TCP takes 0.2 s at load 0.2, RepFlow a fifth more: the contrary says nothing if TCP is not as in the paper."""
    for printed, word in {"0.2 s": "fails", "0.24 s": "fails", "0.28 s": "open", "0.1 s": "open"}.items():
        with subtests.test(printed=printed):
            cell = {"id": "cell", "at": {"load": 0.2}, "subject": "TCP", "is": "equal", "printed": printed}
            panel = {"metric": "mean_fct_short_s", "claims": [*TABLES["panel"][0]["claims"], cell]}
            study = design(panel=[panel], **TEXT_ALONE)
            run(tmp_path, slower, study)
            found = Campaign(study, tmp_path).verdict("gain")
            assert found.word == word
            assert [one.endswith("(cell)") for one in found.not_as_printed] == [True] * (word == "open")
            assert (found.takes_seeds, "one side is not what is printed" in found.stays_open) == (0, word == "open")


def test_an_open_claim_has_the_price_of_its_next_look(tmp_path):
    study = design(seeds=[8, 32], **TEXT_ALONE)
    run(tmp_path, lambda scheme, *_: 0.62 if scheme == "repflow" else 1.0, study, spread=0.3, budget_s=0.0)
    first = Campaign(study, tmp_path).verdict("gain")
    expected_s = sum(study.expected_cpu_s(point) for point in study.points(claims=["gain"]))
    assert (first.next_seeds, first.next_cpu_s) == (8, pytest.approx(8 * expected_s))
    run(tmp_path, halved, study)
    assert Campaign(study, tmp_path).verdict("gain").next_seeds == 0


def test_the_price_of_a_setting_follows_what_it_sends(tmp_path):
    """Segments of 536 bytes are 2.7 times as many; once runs of a setting are there, they have the price of these."""
    traffic = [TABLES["scenario"]["traffic"][0] | {"flows": 1000}]
    study = design(unstated={"transport.mss_bytes": [1460, 536]}, scenario=TABLES["scenario"] | {"traffic": traffic})
    run(tmp_path, halved, replace(study, text_only=True), cpu_s=2.0)
    point, small = study.points()[0], Group("transport.mss_bytes = 536", "paper")
    assert Campaign(study, tmp_path).cost_s(Group(TEXT, "paper"), point) == 2.0
    assert 2.4 * 2.0 < Campaign(study, tmp_path).cost_s(small, point) < 2.8 * 2.0
    run(tmp_path, halved, study, cpu_s=3.0)
    assert Campaign(study, tmp_path).cost_s(small, point) == 3.0


def test_an_open_claim_has_the_seeds_that_would_decide_it_and_their_price(tmp_path):
    """A gain of 40 to 45% is printed, and these seeds scatter too much to say that 43% is one; each run takes 2 s."""
    study = design(seeds=[8, 8], **TEXT_ALONE)
    run(tmp_path, lambda scheme, *_: 0.57 if scheme == "repflow" else 1.0, study, spread=0.03, cpu_s=2.0)
    found = Campaign(study, tmp_path).verdict("gain")
    assert (found.word, found.next_seeds, found.stays_open) == ("open", 0, "")
    assert found.takes_seeds > 8
    assert found.takes_cpu_s == pytest.approx(2.0 * 4 * (found.takes_seeds - 8))


def test_an_undecided_claim_takes_seeds_to_the_limit_and_stays_open(tmp_path):
    """The ratio lies on a bound of the claim: no number of seeds decides."""
    study = design(**TIMER_ALONE)
    run(tmp_path, lambda scheme, *_: 0.6 if scheme == "repflow" else 1.0, study, spread=0.3)
    found = Campaign(study, tmp_path)
    assert (found.verdict("gain").word, found.verdict("gain").seeds) == ("open", 16)
    assert found.frame["seed"].max() == 16
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


def test_looks_are_those_of_the_sequential_test(subtests):
    for most in [8, 16, 64, 100]:
        with subtests.test(most=most):
            assert numbers_of((8, most)) == looks(most)
            assert numbers_of(5) == (5,)


def test_a_word_that_no_proven_change_explains_is_open(turned, monkeypatch):
    """As of two samples on both sides of the edge of a claim, of which only one is large."""
    monkeypatch.setattr(campaigns, "is_changed", lambda *_, **__: False)
    found = Campaign(design(), turned)
    assert found.judged("gain", TIMER, sampled=True).decision.word == "fails"
    assert found.words("gain")[TIMER] == "open"
    assert found.robustness("gain").depends_on == ()


def test_a_setting_that_no_run_comes_to_use_does_not_count(tmp_path):
    """All have the parameter, but no timer expires: once the runs are there, they are equal."""
    assert TIMER in Campaign(design(), tmp_path / "none").settings_of["gain"]
    advance([design()], tmp_path, executor=MadeUp(halved, unused="min_rto_s"))
    assert not any("min_rto_s" in setting for setting in Campaign(design(), tmp_path).settings_of["gain"])


def test_a_setting_that_changes_what_is_read_of_the_same_runs_counts(tmp_path):
    """TCP sends no second copy: its runs are those of the text, but a claim is then about the tail."""
    panel = [{"metric": "{read}", "claims": [{"id": "tcp", "subject": {"load": 0.5}, "baseline": {"load": 0.2}}]}]
    panel[0]["claims"][0] |= {"at": {"scheme": "TCP"}, "is": "higher"}
    read = "{'p99_fct_short_s' if sharing.abort_losers else 'mean_fct_short_s'}"
    found = Campaign(design(panel=panel, let={"read": read}), tmp_path)
    assert COPIES in found.settings_of["tcp"]


def test_what_fails_waits_for_the_second_family(failed, tmp_path):
    seconds = Campaign(design(), failed).tasks[Group(TEXT, "paper", SECOND_FAMILY)]
    firsts = finished_tasks(failed).keys() - {task.id for task in seconds.values()}
    merge([failed], task_ids=firsts, out=tmp_path / "first.parquet")
    found = Campaign(design(), tmp_path)
    assert (found.verdict("gain").word, found.verdict("gain").again.seeds) == ("open", 0)
    assert [look.group for look in found.next_looks] == [Group(TEXT, "paper", SECOND_FAMILY)]
    assert {task.payload["seed"] for task in found.next_tasks()} == {SECOND_FAMILY + number for number in range(1, 9)}


@pytest.mark.parametrize("most", [64, 512, 1024, 4096])
def test_no_seed_is_in_both_families(most, tmp_path):
    tasks = Campaign(design(seeds=(8, most)), tmp_path).tasks
    seeds = {group.offset: {seed for _, seed in listed} for group, listed in tasks.items() if group.setting == TEXT}
    assert len(seeds[0]) == len(seeds[max(SECOND_FAMILY, most)]) == most
    assert {group.offset for group in tasks} == seeds.keys()
    assert min(seeds[max(SECOND_FAMILY, most)]) == max(SECOND_FAMILY, most) + 1


def test_only_what_fails_takes_seeds_of_the_second_family(tmp_path):
    study = design(**TEXT_ALONE)
    run(tmp_path, lambda scheme, *_: 0.8 if scheme == "repflow" else 1.0, study)
    found = Campaign(study, tmp_path)
    assert found.verdict("gain").word == "differs"
    assert found.frame["seed"].max() < SECOND_FAMILY


def test_other_settings_are_tried_at_sampled_points_only(tmp_path):
    study = design(unstated_at={"load": [0.5]})
    run(tmp_path, halved, study, claims=["gain"])
    frame = Campaign(study, tmp_path).frame
    assert set(frame.loc[frame["setting"] == TEXT, "load"]) == {0.2, 0.5}
    assert set(frame.loc[frame["setting"] != TEXT, "load"]) == {0.5}
    assert set(frame["scale"]) == {"paper"}
    assert not frame.duplicated(["setting", "scheme", "load", "seed"]).any()


def test_a_ratio_that_its_means_contradict_is_open_and_says_so(tmp_path):
    """Faster in all runs but one, whose flows of RepFlow wait so long that its mean is the higher one."""
    alone = design(**TEXT_ALONE)
    run(tmp_path, lambda scheme, _, seed: (40.0 if seed == 3 else 0.57) if scheme == "repflow" else 1.0, alone)
    verdict = Campaign(alone, tmp_path).verdict("gain")
    assert (verdict.word, verdict.seeds) == ("open", 16)
    assert "the median of runs and the ratio of their means" in verdict.stays_open
    run(tmp_path / "all", halved, alone)
    assert Campaign(alone, tmp_path / "all").verdict("gain").word == "agrees"


def test_trends_are_tried_at_all_points_in_other_settings(tmp_path):
    """A timer may turn the middle of a series and leave its ends: with two places it would be said to rise as well."""
    loads = [0.2, 0.3, 0.4, 0.5]
    rises = {"id": "rises", "subject": "TCP", "is": "rising", "x": "load"}
    panel = [{"metric": "mean_fct_short_s", "claims": [rises]}]
    axes = TABLES["axes"] | {"load": loads}
    study = design(unstated_at={"load": [0.2, 0.5]}, axes=axes, panel=panel)

    def bent(scheme, scenario, seed):  # the mean is this times the load
        load = scenario["traffic"][0]["load"]
        short_timer = scenario.get("params", {}).get("transport", {}).get("min_rto_s") == 0.01
        return {0.2: 1.0, 0.3: 2.0, 0.4: 0.3, 0.5: 0.5}[load] if short_timer else 1.0

    run(tmp_path, bent, study)
    found = Campaign(study, tmp_path)
    assert set(found.frame.loc[found.frame["setting"] == TIMER, "load"]) == set(loads)
    assert found.words("rises")[TEXT] == "holds"
    assert found.words("rises")[TIMER] != "holds"


def test_the_text_comes_first_seed_by_seed(tmp_path):
    tasks = Campaign(design(), tmp_path / "none").next_tasks()
    assert [task.payload["seed"] for task in tasks] == sorted([*range(1, 9)] * 4)


def test_looks_in_other_settings_are_one_sweep_which_shares_divide(tmp_path):
    """Each look is whole before the next begins: where the time ends in between, few are left half done."""
    run(tmp_path, halved, replace(design(), text_only=True))
    found = Campaign(design(), tmp_path)
    others = [look.group.setting for look in found.next_looks]
    assert others == [setting for setting in found.design.settings if setting != TEXT]
    ids = [task.id for task in found.next_tasks()]
    first = {}
    for number, setting in enumerate(others):
        for task in found.tasks[Group(setting, "paper")].values():
            first.setdefault(task.id, number)
    assert [first[name] for name in ids] == sorted(first[name] for name in ids)
    shares = [task.id for part in (1, 2, 3) for task in found.next_tasks((part, 3))]
    assert sorted(shares) == sorted(ids)


def at_reduced_scale(**changed):
    return design(reduced={"fabric.hosts_per_side": 1}, unstated_at={"load": [0.5]}, **changed)


def is_small(scenario):
    return scenario["fabric"]["hosts_per_side"] == 1


def by_scale(scheme, scenario, seed):
    """At the paper's scale RepFlow's flows are faster, in the smaller fabric slower."""
    return 1.0 if scheme == "ecmp" else 1.1 if is_small(scenario) else 0.57


def test_settings_are_compared_at_the_reduced_scale_with_the_text_at_that_scale(tmp_path):
    """Smaller, the claim fails in all settings, which is none that turns it."""
    run(tmp_path, by_scale, at_reduced_scale(), claims=["gain"])
    found = Campaign(at_reduced_scale(), tmp_path)
    frames = found.frame.groupby("scale")
    assert set(frames.get_group("paper")["setting"]) == {TEXT}
    assert set(frames.get_group("paper")["load"]) == {0.2, 0.5}
    assert set(frames.get_group("reduced")["setting"]) == set(found.design.settings)
    assert set(frames.get_group("reduced")["load"]) == {0.5}
    assert found.verdict("gain").word == "agrees"
    assert set(found.words("gain").values()) == {"agrees"}
    assert found.robustness("gain").depends_on == ()
    assert run(tmp_path, by_scale, at_reduced_scale(), claims=["gain"])[0] == 0


def test_what_a_setting_changes_at_the_reduced_scale_is_carried_over(tmp_path):
    """Twice the 1.1 that the text has there is twice the 0.57 that it has at the paper's scale: above TCP's."""

    def ratio(scheme, scenario, seed):
        is_turned = scheme == "repflow" and scenario["params"]["transport"]["min_rto_s"] == 0.01
        return by_scale(scheme, scenario, seed) * (2 if is_turned else 1)

    run(tmp_path, ratio, at_reduced_scale(), claims=["gain"])
    found = Campaign(at_reduced_scale(), tmp_path)
    assert TIMER in found.robustness("gain").depends_on
    (interval,) = found.judged("gain", TIMER, sampled=True).decision.intervals.values()
    assert interval.low < 2 * 0.57 < interval.high < 2 * 1.1


@pytest.mark.parametrize(("small", "others"), [(0.57, "holds"), (1.1, "open")])
def test_signs_of_the_reduced_scale_count_if_the_text_has_its_word_there(small, others, tmp_path):
    """RepFlow has fewer timeouts at the paper's scale; where it has more in the reduced fabric, that says nothing."""
    claims = [{"id": "fewer", "subject": "RepFlow", "baseline": "TCP", "is": "lower"}]
    study = at_reduced_scale(panel=[{"metric": "timeouts_short", "claims": claims}])
    run(tmp_path, lambda scheme, scenario, seed: 1.0 if scheme == "ecmp" else small if is_small(scenario) else 0.57,
        study)  # fmt: skip
    words = Campaign(study, tmp_path).words("fewer")
    assert words.pop(TEXT) == "holds"
    assert set(words.values()) == {others}


def test_the_reduced_scale_asks_for_no_more_seeds_than_the_text_has(tmp_path):
    """Eight decide its claim; in another setting the ratio is on the bound, 40% less."""

    def ratio(scheme, scenario, seed):
        is_bound = scheme == "repflow" and scenario["params"]["transport"]["min_rto_s"] == 0.01
        return (0.605 if is_bound else 0.57) if scheme == "repflow" else 1.0

    run(tmp_path, ratio, at_reduced_scale(), claims=["gain"], spread=0.01)
    found = Campaign(at_reduced_scale(), tmp_path)
    assert found.verdict("gain").word == "agrees"
    assert found.words("gain")[TIMER] == "open"
    assert set(found.frame["seed"]) == set(range(1, 9))


def test_a_tail_is_compared_where_settings_are_run_at_the_papers_scale(tmp_path):
    panel = [{"metric": "p99_fct_short_s", "claims": TABLES["panel"][0]["claims"]}]
    assert len(Campaign(design(panel=panel), tmp_path).settings_of["gain"]) > 1
    assert Campaign(at_reduced_scale(panel=panel), tmp_path).settings_of["gain"] == (TEXT,)


@pytest.mark.parametrize("cpu_s", [0.01, 1000.0])
def test_the_look_that_costs_least_for_a_claim_comes_first(tmp_path, cpu_s):
    """Once its runs are known to be dear, the second look of the first waits for the first look of the other."""
    claims = TABLES["panel"][0]["claims"][:1]
    panel = [{"metric": "mean_fct_short_s", "claims": claims}]
    first = design(name="first", unstated={}, panel=panel)
    other = design(name="other", unstated={}, panel=panel, axes=TABLES["axes"] | {"load": [0.3, 0.6]})
    made_up = MadeUp(lambda scheme, *_: 0.6 if scheme == "repflow" else 1.0, spread=0.3, cpu_s=cpu_s)
    advance([first, other], tmp_path, executor=made_up)
    numbers = {
        task.id: number
        for number, one in enumerate((first, other))
        for tasks in Campaign(one, tmp_path).tasks.values()
        for task in tasks.values()
    }
    order = [numbers[task] for task in made_up.ran]
    assert len(made_up.ran) == len(set(made_up.ran))
    look = 8 * 2 * 2  # eight seeds of two schemes at two loads
    assert order[:look] == [0] * look
    assert set(order[look : 2 * look]) == ({0} if cpu_s < 1 else {1})


def test_progress_names_the_study_and_each_of_its_runs(tmp_path, monkeypatch):
    """The last runs of the first look are those of the eighth seed; all looks share the minutes of one log."""
    looks, runs = [], set()

    @contextmanager
    def recorded(**look):
        looks.append(look)
        yield lambda ended, last: runs.add(last)

    monkeypatch.setattr("capsmodel.experiments.progress.counted", recorded)
    made_up = MadeUp(halved)

    def one_by_one(function, batches):
        return ([made_up.outcome(task) for task in batch] for batch in batches)

    advance([design(name="mine", unstated={})], tmp_path, executor=one_by_one, progress=Progress(label="any"))
    assert {look["label"] for look in looks} == {"mine"}
    assert len({id(look["minutes"]) for look in looks}) == 1
    assert looks[0]["minutes"] is not None
    assert {f"{scheme}, load 0.5, {TEXT}, seed 8" for scheme in ("RepFlow", "TCP")} <= runs


def test_advance_merges_each_run_once(tmp_path, monkeypatch):
    """Not all that is there at each interim analysis; what it finds is the same."""
    merged = []

    def noted(sources, *, task_ids):
        merged.extend(task_ids)
        return merge(sources, task_ids=task_ids)

    monkeypatch.setattr("capsim.study.kept_runs.merge", noted)
    run(tmp_path, lambda *_: 1.0, design(**TIMER_ALONE), spread=0.3)
    assert sorted(merged) == sorted(set(merged))
    assert len(merged) > 2 * 32
    study = Campaign(design(**TIMER_ALONE), tmp_path)
    half = Campaign(study.design, tmp_path, earlier=study.measured[::2])
    pd.testing.assert_frame_equal(half.measured, study.measured)


def test_a_budget_is_a_time(tmp_path):
    with pytest.raises(ParameterError, match="budget_s = nan"):
        run(tmp_path, halved, budget_s=float("nan"))


def test_nothing_is_known_of_an_empty_folder(tmp_path):
    found = Campaign(design(), tmp_path / "none")
    assert found.frame.empty
    verdict = found.verdict("gain")
    assert (verdict.word, verdict.value, verdict.interval, verdict.seeds) == ("open", (), (), 0)
    assert found.robustness("gain").decided == 0


def test_verdicts_have_metric_printed_size_and_level_and_are_a_table_in_latex(tmp_path):
    """Catches a table of means in place of words, and a CSV that does not say what is printed."""
    study = design(level=0.02, **TEXT_ALONE)
    run(tmp_path / "runs", halved, study)
    studied = Study.of(study).results([tmp_path / "runs"])
    rows = studied.verdicts()
    gain = rows[rows["id"] == "gain"]
    assert gain["metric"].unique().tolist() == ["mean FCT, short"]
    assert gain["printed"].unique().tolist() == ["40..45 %"]
    assert (gain["level"] == 0.98).all()
    lines = studied.to_latex().splitlines()
    assert lines[2].endswith(r"verdict & ours (98\% interval) \\")
    assert [line.split(" & ")[:3] for line in lines if line.startswith("gain")] == [
        ["gain", "mean FCT, short", r"40..45 \%"]
    ] * len(gain)
    assert all(f" & {word} & " in line for word, line in zip(rows["word"], lines[4:], strict=False))
    assert "mean FCT, short, ms" in studied.to_latex(["mean_fct_short_s"])


def test_an_open_claim_has_the_bound_across_which_its_interval_lies(tmp_path):
    """A reduction by 40 to 45%, in round figures, ends at 38%: a ratio of 0.62."""

    def on_the_bound(scheme, scenario, seed):
        return 0.62 if scheme == "repflow" else 1.0

    study = design(**TEXT_ALONE)
    run(tmp_path / "runs", on_the_bound, study, spread=0.02)
    studied = Study.of(study).results([tmp_path / "runs"])
    rows = studied.verdicts().set_index("id")
    assert set(rows.loc[["gain"], "word"]) == {"open"}
    assert set(rows.loc[["gain"], "bound"]) == {"0.62"}
    assert set(rows.loc[["tcp"], "bound"]) == {""}
    lines = studied.to_latex().splitlines()
    assert lines[2].endswith(r" & bound \\")
    assert all(line.endswith(r" & 0.62 \\") for line in lines if line.startswith("gain"))


@pytest.mark.parametrize(("unstated", "settings"), [(TEXT_ALONE, 1), (TIMER_ALONE, 2)])
def test_costs_are_those_of_the_next_analysis_and_of_all_seeds(unstated, settings, tmp_path):
    """Catches a price that stops at the first of 8 and 16 seeds, or counts what decided claims do not take."""
    study = Study.of(design(**unstated))
    before = study.costs(tmp_path)
    assert (before["runs"], before["missing_runs"], before["most_runs"]) == (0, 4 * 8, settings * 4 * 16)
    assert before["most_cpu_s"] == pytest.approx(2 * settings * before["missing_cpu_s"])
    run(tmp_path / "runs", halved, study.design)
    after = study.costs(tmp_path)
    assert (after["runs"], after["missing_runs"], after["most_runs"]) == (settings * 4 * 8, 0, 0)


def test_what_fails_once_may_take_all_seeds_of_the_second_set(tmp_path):
    study = Study.of(design(**TEXT_ALONE))
    gain = TABLES["panel"][0]["claims"][0]
    contrary = {"metric": "mean_fct_short_s", "claims": [gain | {"is": "higher", "printed": "20 %"}]}
    run(tmp_path / "runs", slower, design(**TEXT_ALONE, panel=[contrary]))
    costs = study.costs(tmp_path)
    assert (costs["runs"], costs["missing_runs"], costs["most_runs"]) == (4 * 8, 4 * 8, 4 * 16)
