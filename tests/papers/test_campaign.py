"""Campaigns: seeds are added where claims are open, runs are never repeated, and budgets and shares hold.

Runs are made up: the mean completion time of a scheme is a known one times a factor of the seed.
"""

import csv
import re
import shutil
from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from msgspec import structs

from capsmodel.checks import ParameterError
from capsmodel.experiments import sweep
from capsmodel.experiments.manifest import canonical_json
from capsmodel.experiments.progress import Progress
from capsmodel.experiments.statistics.robustness import TEXT, combination_name
from capsmodel.experiments.tables import read_table
from capsmodel.papers import campaign as campaigns
from capsmodel.papers import ledger, runs
from capsmodel.papers.campaign import Campaign, advance
from capsmodel.papers.experiments import published_experiment
from capsmodel.papers.experiments._repflow import places
from capsmodel.papers.figures._by_setting import COLOUR_OF, draw_by_setting
from capsmodel.papers.index import read_claims
from capsmodel.papers.runs import SECOND_FAMILY, Group
from capsmodel.papers.statements import Statement, compared, levels

CLAIM = "repflow-f8a"  # RepFlow's mean is 40 to 45% below TCP's, loads 0.4 to 0.8
WHOLE = published_experiment("repflow-ns3-ws")
# A few of its settings, to keep the campaign small.
SETTINGS = (TEXT, "transport.min_rto_s = 0.01", "mss_bytes = 536", "sharing.abort_losers = true")
MORE = "transport.handshake = true"


def with_settings(experiment, combinations):
    """Return the experiment with another sample of settings."""
    vars(experiment)["combinations"] = combinations
    return experiment


EXPERIMENT = with_settings(
    replace(WHOLE, statements={CLAIM: WHOLE.statements[CLAIM]}, reduced=None),
    {name: WHOLE.combinations[name] for name in SETTINGS},
)
# The same about two loads, where settings are sampled: for what does not depend on the places.
AT_TWO_LOADS = with_settings(
    replace(EXPERIMENT, statements={CLAIM: WHOLE.statements[CLAIM].at(places("websearch", (0.5, 0.8)))}),
    EXPERIMENT.combinations,
)
SMALL_PODS = 6
SECOND = Group(TEXT, "paper", SECOND_FAMILY)
COLUMNS = (
    *("mean_fct_short_s", "p99_fct_short_s", "mean_fct_long_s", "mean_fct_s"),
    *("mean_slowdown_short", "mean_slowdown_long", "p99_slowdown_short", "mean_slowdown"),
)


class MadeUp:
    """An executor that makes up the rows of runs.

    Attributes
    ----------
    ratio : callable
        ``ratio(scheme, transport)`` returns the completion time of a scheme with these parameters.
    spread : float
        Of its logarithm, independent of the other schemes.
    of_task : callable
        A factor of RepFlow's runs, by their task.
    cpu_s : float
        Processor time that a run says it took.
    unused : set of str
        Parameters of the transport that change nothing.
    """

    def __init__(self, ratio, spread=0.001, of_task=lambda task: 1.0, cpu_s=1.0, unused=frozenset()):
        self.ratio, self.spread, self.of_task, self.cpu_s, self.unused = ratio, spread, of_task, cpu_s, unused
        self.ran = []

    def __call__(self, function, batches):
        for batch in batches:
            yield [self.outcome(task) for task in batch]

    def outcome(self, task):
        self.ran.append(task.id)
        scenario, seed = task.payload["scenario"], task.payload["seed"]
        scheme, load = scenario.get("scheme", "ecmp"), scenario["traffic"][0]["load"]
        transport = scenario["params"]["transport"]
        used = scenario["params"] | {"transport": {key: transport[key] for key in transport.keys() - self.unused}}
        own = np.random.default_rng([seed, len(scheme), int(load * 10), *canonical_json(used).encode()])
        value = self.ratio(scheme, transport) * np.exp(own.normal(0, self.spread))
        value *= self.of_task(task) if scheme == "repflow" else 1.0
        row = {"task_id": [task.id], "seed": [seed]} | {column: [value * (1 + seed)] for column in COLUMNS}
        row["timeouts_short"] = [value]
        record = {"id": task.id, "measurement": "experiment-run", "revision": 1, "payload": task.payload}
        return sweep._Outcome(pa.table(row), record | {"cpu_s": self.cpu_s})


@pytest.fixture(autouse=True, scope="module")
def few_seeds():
    """Keep the campaign small."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(runs, "MOST_SEEDS_OF_OTHERS", 4)
        patched.setattr(runs, "MOST_SEEDS", 8)
        yield


def run(folder, made_up, experiment=EXPERIMENT, **options):
    return advance(experiment, folder, executor=made_up, **options)


def halved(scheme, transport):
    return 0.57 if scheme == "repflow" else 1.0


def refuting(scheme, transport):
    return 1.2 if scheme == "repflow" else 1.0


@pytest.fixture(scope="module")
def clear(tmp_path_factory, few_seeds):
    """Return the folder of a campaign in which the claim holds, how many runs it made, and what ran; only read it."""
    folder, made_up = tmp_path_factory.mktemp("clear"), MadeUp(halved)
    return folder, run(folder, made_up), made_up.ran


@pytest.fixture(scope="module")
def refuted(tmp_path_factory, few_seeds):
    """Return the folder of a campaign that both families of seeds refute; only read it."""
    folder = tmp_path_factory.mktemp("refuted")
    run(folder, MadeUp(refuting))
    return folder


def test_a_clear_claim_takes_four_seeds_in_each_setting_and_is_robust(clear):
    folder, made, ran = clear
    found = Campaign(EXPERIMENT, folder)
    assert made == len(ran) == len(set(ran))
    assert set(found.frame["seed"]) == {1, 2, 3, 4}
    verdict = found.verdict(CLAIM)
    assert verdict.verdict == "reproduced"
    assert 42 < min(verdict.value) <= max(verdict.value) < 44
    assert "4 seeds" in verdict.reason
    assert found.robustness(CLAIM).share == 1
    assert found.robustness(CLAIM).decided == len(EXPERIMENT.combinations)
    assert run(folder, MadeUp(halved)) == 0


def by_timer(scheme, transport):
    """Return a ratio that the least timer turns."""
    return 1.0 if scheme == "ecmp" else 1.2 if transport["min_rto_s"] == 0.01 else 0.57


def test_a_setting_that_turns_the_claim_is_named(tmp_path):
    run(tmp_path, MadeUp(by_timer), AT_TWO_LOADS)
    found = Campaign(AT_TWO_LOADS, tmp_path)
    assert found.verdict(CLAIM).verdict == "reproduced"
    assert found.robustness(CLAIM).turned_by == ("transport.min_rto_s = 0.01",)
    assert found.words(CLAIM)["transport.min_rto_s = 0.01"] == "refuted"
    assert set(found.frame["seed"]) == {1, 2, 3, 4}


def test_a_word_that_no_proven_change_explains_is_open(tmp_path, monkeypatch):
    """As of two samples on both sides of the edge of a claim, of which only one is large."""
    advance(AT_TWO_LOADS, tmp_path, executor=MadeUp(by_timer))
    monkeypatch.setattr(campaigns, "is_changed", lambda *_: False)
    found = Campaign(AT_TWO_LOADS, tmp_path)
    assert found.judged(CLAIM, "transport.min_rto_s = 0.01", sampled=True).decision.word == "refuted"
    assert found.words(CLAIM)["transport.min_rto_s = 0.01"] == "open"
    assert found.robustness(CLAIM).turned_by == ()
    rows = csv.DictReader(ledger.by_setting_csv([found]).splitlines())
    assert {row["setting"]: row["verdict"] for row in rows}["transport.min_rto_s = 0.01"] == "open"


def test_a_setting_that_changes_no_run_of_a_claim_does_not_count(tmp_path):
    """Neither ECMP nor RPS sends a second copy: to stop one changes nothing, alone or beside what changes something."""
    at = places("websearch", (0.5, 0.8))
    statement = compared(read_claims()[CLAIM], list(at), names={"RepFlow": "rps", "TCP": "ecmp"})
    together = {"transport.min_rto_s": 0.01, "sharing.abort_losers": True}
    combinations = EXPERIMENT.combinations | {combination_name(together): together}
    experiment = with_settings(replace(EXPERIMENT, statements={CLAIM: statement}), combinations)
    advance(experiment, tmp_path, executor=MadeUp(lambda scheme, transport: 0.57 if scheme == "rps" else 1.0))
    found = Campaign(experiment, tmp_path)
    counting = [TEXT, "transport.min_rto_s = 0.01", "mss_bytes = 536"]
    assert found.words(CLAIM) == dict.fromkeys(counting, "reproduced")
    assert (found.robustness(CLAIM).agreeing, found.robustness(CLAIM).decided) == (3, 3)
    rows = csv.DictReader(ledger.by_setting_csv([found]).splitlines())
    assert [row["setting"] for row in rows] == counting


def test_a_setting_that_no_run_comes_to_use_does_not_count(tmp_path):
    """All have the parameter, but no timer expires: once the runs are there, they are equal."""
    assert "transport.min_rto_s = 0.01" in Campaign(AT_TWO_LOADS, tmp_path).settings_of[CLAIM]
    run(tmp_path, MadeUp(halved, unused={"min_rto_s"}), AT_TWO_LOADS)
    found = Campaign(AT_TWO_LOADS, tmp_path)
    assert found.settings_of[CLAIM] == (TEXT, "mss_bytes = 536", "sharing.abort_losers = true")
    assert found.robustness(CLAIM).decided == 3


def test_a_setting_that_changes_what_is_read_of_the_same_runs_counts(tmp_path):
    """RepFlow's second copy is stopped or not; here, a claim of ECMP alone that is then about the tail."""
    both = ("mean_fct_short_s", "p99_fct_short_s")
    experiment = replace(
        EXPERIMENT,
        statements={CLAIM: levels(["ecmp"], [*places("websearch", (0.5,))])},
        adapted=lambda statement, values: replace(statement, column=both[values["sharing.abort_losers"]]),
    )
    with_settings(experiment, {TEXT: {}, "sharing.abort_losers = true": {"sharing.abort_losers": True}})
    assert Campaign(experiment, tmp_path).settings_of[CLAIM] == (TEXT, "sharing.abort_losers = true")


def test_a_setting_that_changes_what_the_same_runs_are_compared_with_counts(tmp_path):
    """Here, what a model says of two copies."""
    (gain, *_) = EXPERIMENT.statements[CLAIM].at(places("websearch", (0.5,))).comparisons
    experiment = replace(
        EXPERIMENT,
        statements={CLAIM: Statement(comparisons=(replace(gain, terms=gain.terms[1:]),))},
        adapted=lambda statement, values: replace(
            statement,
            comparisons=(replace(statement.comparisons[0], added=float(values["sharing.abort_losers"])),),
        ),
    )
    with_settings(experiment, {TEXT: {}, "sharing.abort_losers = true": {"sharing.abort_losers": True}})
    assert Campaign(experiment, tmp_path).settings_of[CLAIM] == (TEXT, "sharing.abort_losers = true")


@pytest.mark.parametrize("reduced", [None, WHOLE.reduced])
def test_a_claim_about_a_tail_is_compared_where_settings_are_run_at_the_papers_scale(reduced, tmp_path):
    column = {CLAIM: replace(EXPERIMENT.statements[CLAIM], column="p99_fct_short_s")}
    experiment = with_settings(replace(EXPERIMENT, statements=column, reduced=reduced), EXPERIMENT.combinations)
    found = Campaign(experiment, tmp_path)
    assert found.settings_of[CLAIM] == (SETTINGS if reduced is None else (TEXT,))


def test_a_claim_is_refuted_when_a_second_family_of_seeds_refutes_it_too(refuted):
    """It is run with as many seeds, at all places of the text, and in no other setting."""
    found = Campaign(EXPERIMENT, refuted)
    second = found.frame[found.frame["seed"] > SECOND_FAMILY]
    assert set(second["seed"]) == {SECOND_FAMILY + number for number in (1, 2, 3, 4)}
    assert set(second["setting"]) == {TEXT}
    assert set(second["place"]) == set(places("websearch", (0.4, 0.5, 0.6, 0.7, 0.8)))
    verdict = found.verdict(CLAIM)
    assert verdict.verdict == "refuted"
    assert verdict.reason.endswith("4 other seeds refute it too")
    assert found.robustness(CLAIM).word == "refuted"
    assert run(refuted, MadeUp(refuting)) == 0


def test_a_claim_that_other_seeds_do_not_refute_stays_open(tmp_path):
    """By the second family the size is missed, not the direction; nothing is left to run."""
    made_up = MadeUp(refuting, of_task=lambda task: 0.8 / 1.2 if task.payload["seed"] > SECOND_FAMILY else 1.0)
    run(tmp_path, made_up, AT_TWO_LOADS)
    found = Campaign(AT_TWO_LOADS, tmp_path)
    verdict = found.verdict(CLAIM)
    assert verdict.verdict == "open"
    assert verdict.reason.startswith("4 seeds do not decide: ")
    assert verdict.reason.endswith("these seeds refute it, but 4 others give 'differs in size'")
    assert found.next_looks == []


def test_a_refutation_waits_for_the_second_family(tmp_path, refuted):
    others = {task.id for task in Campaign(EXPERIMENT, refuted).tasks[SECOND].values()}
    for file in refuted.glob("*.parquet"):
        if file.stem not in others:
            (tmp_path / file.name).symlink_to(file)
    found = Campaign(EXPERIMENT, tmp_path)
    assert found.verdict(CLAIM).verdict == "open"
    assert found.verdict(CLAIM).reason.endswith("these seeds refute it, but no others were run yet")
    assert [look.group for look in found.next_looks] == [SECOND]
    assert {task.payload["seed"] for task in found.next_tasks()} == {SECOND_FAMILY + number for number in (1, 2, 3, 4)}


def test_only_a_refutation_takes_seeds_of_the_second_family(tmp_path):
    run(tmp_path, MadeUp(lambda scheme, transport: 0.8 if scheme == "repflow" else 1.0), AT_TWO_LOADS)
    found = Campaign(AT_TWO_LOADS, tmp_path)
    assert found.verdict(CLAIM).verdict == "differs in size"
    assert found.frame["seed"].max() <= runs.MOST_SEEDS < SECOND_FAMILY


def on_bound(scheme, transport):
    return 0.6 * 1.0016 if scheme == "repflow" else 1.0


def test_an_undecided_claim_takes_seeds_to_the_limit_of_its_setting_and_stays_open(tmp_path):
    """The ratio lies on a bound of the claim: no number of seeds decides."""
    run(tmp_path, MadeUp(on_bound, spread=0.3), AT_TWO_LOADS)
    found = Campaign(AT_TWO_LOADS, tmp_path)
    seeds = found.frame.groupby("setting")["seed"].max()
    assert seeds[TEXT] == 8
    assert set(seeds.drop(TEXT)) == {4}
    assert found.verdict(CLAIM).verdict == "open"
    assert found.verdict(CLAIM).reason.startswith("8 seeds do not decide")


def test_other_settings_are_tried_at_sampled_places_only(clear):
    frame = Campaign(EXPERIMENT, clear[0]).frame
    assert set(frame.loc[frame["setting"] == TEXT, "place"]) == set(places("websearch", (0.4, 0.5, 0.6, 0.7, 0.8)))
    assert set(frame.loc[frame["setting"] != TEXT, "place"]) == set(places("websearch", (0.5, 0.8)))
    assert set(frame["scheme"]) == {"ecmp", "repflow"}


def test_the_text_comes_first_seed_by_seed(tmp_path):
    tasks = Campaign(EXPERIMENT, tmp_path / "empty").next_tasks()
    assert [task.payload["seed"] for task in tasks] == sorted(list(range(1, 5)) * 10)
    by_text = EXPERIMENT.tasks({("repflow", "websearch 0.4")}, [1]).values()
    assert {task.id for task in by_text} <= {task.id for task in tasks}


def test_looks_in_other_settings_are_one_sweep_which_shares_divide(tmp_path):
    """Each look is whole before the next begins: where the time ends in between, few are left half done."""
    run(tmp_path, MadeUp(halved), with_settings(replace(AT_TWO_LOADS), {TEXT: {}}))
    found = Campaign(AT_TWO_LOADS, tmp_path)
    others = [setting for setting in SETTINGS if setting != TEXT]
    assert [look.group.setting for look in found.next_looks] == others
    ids = [task.id for task in found.next_tasks()]
    settings_of = {task.id: group.setting for group, tasks in found.tasks.items() for task in tasks.values()}
    assert list(dict.fromkeys(settings_of[name] for name in ids)) == others
    shares = [task.id for part in (1, 2, 3) for task in found.next_tasks((part, 3))]
    assert sorted(shares) == sorted(ids)


def smaller(scenario):
    return scenario.replace(fabric=structs.replace(scenario.fabric, pods=SMALL_PODS))


def is_small(task):
    return task.payload["scenario"]["fabric"]["pods"] == SMALL_PODS


def at_reduced_scale():
    return with_settings(replace(EXPERIMENT, reduced=smaller), EXPERIMENT.combinations)


def test_settings_are_compared_at_the_reduced_scale_with_the_text_at_that_scale(tmp_path):
    """At the paper's scale the claim holds; smaller, it fails in all settings, which is none that turns it."""
    made_up = MadeUp(lambda scheme, transport: 1.0, of_task=lambda task: 1.1 if is_small(task) else 0.57)
    advance(at_reduced_scale(), tmp_path, executor=made_up)
    found = Campaign(at_reduced_scale(), tmp_path)
    by_scale = found.frame.groupby("scale")
    assert set(by_scale.get_group("paper")["setting"]) == {TEXT}
    assert set(by_scale.get_group("paper")["place"]) == set(places("websearch", (0.4, 0.5, 0.6, 0.7, 0.8)))
    assert set(by_scale.get_group("reduced")["setting"]) == set(EXPERIMENT.combinations)
    assert set(by_scale.get_group("reduced")["place"]) == set(places("websearch", (0.5, 0.8)))
    assert found.verdict(CLAIM).verdict == "reproduced"
    assert found.words(CLAIM) == dict.fromkeys(EXPERIMENT.combinations, "reproduced")
    assert found.robustness(CLAIM).turned_by == ()
    assert found.robustness(CLAIM).word == "reproduced"
    assert advance(at_reduced_scale(), tmp_path, executor=made_up) == 0


def test_what_a_setting_changes_at_the_reduced_scale_is_carried_over(tmp_path):
    """Twice the 1.1 that the text has there is twice the 0.57 that it has at the paper's scale: above TCP's."""

    def ratio(scheme, transport):
        return 2.0 if scheme == "repflow" and transport["min_rto_s"] == 0.01 else 1.0

    made_up = MadeUp(ratio, of_task=lambda task: 1.1 if is_small(task) else 0.57)
    advance(at_reduced_scale(), tmp_path, executor=made_up)
    found = Campaign(at_reduced_scale(), tmp_path)
    assert found.robustness(CLAIM).turned_by == ("transport.min_rto_s = 0.01",)
    (interval, *_) = found.judged(CLAIM, "transport.min_rto_s = 0.01", sampled=True).decision.intervals.values()
    assert interval.low < 2 * 0.57 < interval.high < 2 * 1.1


@pytest.mark.parametrize(("ratio", "others"), [(0.57, "reproduced"), (1.1, "open")])
def test_signs_of_the_reduced_scale_count_if_the_text_has_its_word_there(ratio, others, tmp_path):
    """RepFlow has fewer timeouts at the paper's scale; where it has more in the reduced fabric, that says nothing."""
    fewer = replace(EXPERIMENT.statements[CLAIM], column="timeouts_short", direction="lower")
    experiment = with_settings(replace(at_reduced_scale(), statements={CLAIM: fewer}), EXPERIMENT.combinations)
    made_up = MadeUp(lambda *_: 1.0, of_task=lambda task: ratio if is_small(task) else 0.57)
    advance(experiment, tmp_path, executor=made_up)
    assert Campaign(experiment, tmp_path).words(CLAIM) == dict.fromkeys(EXPERIMENT.combinations, others) | {
        TEXT: "reproduced"
    }


def test_the_reduced_scale_asks_for_no_more_seeds_than_the_text_has(tmp_path, monkeypatch):
    """Four decide its claim; in another setting the ratio is the bound, 40% less within 5%."""
    monkeypatch.setattr(runs, "MOST_SEEDS_OF_OTHERS", 8)

    def ratio(scheme, transport):
        return 0.62 / 0.57 if scheme == "repflow" and transport["min_rto_s"] == 0.01 else 1.0

    advance(at_reduced_scale(), tmp_path, executor=MadeUp(ratio, spread=0.003, of_task=lambda task: 0.57))
    found = Campaign(at_reduced_scale(), tmp_path)
    assert found.verdict(CLAIM).verdict == "reproduced"
    assert found.words(CLAIM)["transport.min_rto_s = 0.01"] == "open"
    assert set(found.frame["seed"]) == {1, 2, 3, 4}


def test_an_experiment_without_a_reduced_scale_runs_the_text_once(clear):
    frame = Campaign(EXPERIMENT, clear[0]).frame
    assert set(frame["scale"]) == {"paper"}
    assert not frame.duplicated(["setting", "scheme", "place", "seed"]).any()


def test_equal_runs_of_two_settings_run_once(clear):
    """TCP has no second copy to stop, so its runs are those of the text."""
    folder, _, ran = clear
    frame = Campaign(EXPERIMENT, folder).frame
    ids = frame[frame["scheme"] == "ecmp"].groupby("setting")["task_id"].apply(set)
    assert ids["sharing.abort_losers = true"] <= ids[TEXT]
    assert max(Counter(ran).values()) == 1


def test_no_seed_is_begun_when_the_time_is_over(tmp_path):
    made_up = MadeUp(lambda scheme, transport: 0.57)
    assert run(tmp_path, made_up, budget_s=0.0) == 0
    assert made_up.ran == []
    with pytest.raises(ParameterError, match="budget_s = nan"):
        run(tmp_path, made_up, budget_s=float("nan"))


def test_progress_names_the_experiment_and_each_of_its_runs(tmp_path, capsys):
    """The last runs of the first look are those of the fourth seed."""
    run(tmp_path, MadeUp(halved), AT_TWO_LOADS, progress=Progress(log=True))
    lines = [line for line in re.split("[\\r\\n]+", capsys.readouterr().err) if line]
    assert all(line.startswith("repflow-ns3-ws: ") for line in lines)
    runs = {line.partition("the last one: ")[2].strip() for line in lines}
    assert {f"repflow, websearch 0.5, {TEXT}, seed 4", f"ecmp, websearch 0.5, {TEXT}, seed 4"} <= runs


@pytest.mark.parametrize("cpu_s", [1.0, 1000.0])
def test_the_look_that_costs_least_for_a_claim_comes_first(tmp_path, cpu_s):
    """Once its runs are known to be dear, the second look of the first waits for the first look of the other."""
    first = with_settings(replace(AT_TWO_LOADS, sampled=()), {TEXT: {}})
    about = published_experiment("repflow-ns3-dm").statements["repflow-f9"].at(places("datamining", (0.5, 0.8)))
    other = with_settings(replace(first, statements={"repflow-f9": about}), {TEXT: {}})
    at_bound = MadeUp(on_bound, spread=0.3, cpu_s=cpu_s)
    advance([first, other], tmp_path, executor=at_bound)
    seeds = {
        task.id: (number, seed)
        for number, one in enumerate((first, other))
        for tasks in Campaign(one, tmp_path).tasks.values()
        for (_, seed), task in tasks.items()
    }
    order = [seeds[task] for task in at_bound.ran]
    assert len(order) == len(set(at_bound.ran))
    look = 4 * 2 * 2  # four seeds of two schemes at two loads
    assert [number for number, _ in order[:look]] == [0] * look
    assert {number for number, _ in order[look : 2 * look]} == ({0} if cpu_s == 1.0 else {1})


def test_shares_divide_a_look_and_may_be_resumed(tmp_path):
    """Three shares in folders of their own run each run of the look once; one more time, nothing."""
    made_up = MadeUp(halved)
    for part in (1, 2, 3):
        assert run(tmp_path / str(part), made_up, shard=(part, 3)) > 0
        assert run(tmp_path / str(part), made_up, shard=(part, 3)) == 0
    assert len(made_up.ran) == len(set(made_up.ran)) == 4 * 5 * 2
    for part in (2, 3):
        for file in (tmp_path / str(part)).glob("*.parquet"):
            file.rename(tmp_path / "1" / file.name)
    assert Campaign(EXPERIMENT, tmp_path / "1").verdict(CLAIM).verdict == "reproduced"


def test_nothing_is_known_of_an_empty_folder(tmp_path):
    found = Campaign(EXPERIMENT, tmp_path / "none")
    assert found.frame.empty
    verdict = found.verdict(CLAIM)
    assert (verdict.verdict, verdict.value, verdict.interval) == ("open", (), ())
    assert found.robustness(CLAIM).decided == 0


def test_the_ledger_takes_over_verdicts_and_their_settings(tmp_path, monkeypatch, clear):
    """From a copy of the runs alone, and with the kept runs again: what is committed decides."""
    results, kept = clear[0], tmp_path / "kept"
    kept.mkdir()
    monkeypatch.setattr(ledger, "published_experiments", lambda: {EXPERIMENT.name: EXPERIMENT})
    (found,) = ledger.keep_experiments(results, kept)
    entries = ledger.decided_by_experiments([found])
    assert entries.keys() == {CLAIM}
    assert (entries[CLAIM].verdict, entries[CLAIM].decided_by) == ("reproduced", "repflow-ns3-ws")
    assert ledger.decided_by_experiments([Campaign(EXPERIMENT, kept)]) == entries
    rows = list(csv.DictReader(ledger.by_setting_csv([found]).splitlines()))
    assert [(row["id"], row["setting"], row["verdict"], row["seeds"]) for row in rows] == [
        (CLAIM, setting, "reproduced", "4") for setting in EXPERIMENT.combinations
    ]


def test_runs_of_two_experiments_are_kept_once_with_what_either_compares(tmp_path, monkeypatch, clear):
    """So that the ledger of both is made again from one folder."""
    other = replace(
        EXPERIMENT, id="repflow-e08-ns3-dm", statements={"repflow-f8b-high": WHOLE.statements["repflow-f8b-high"]}
    )
    both = {one.name: one for one in (EXPERIMENT, with_settings(other, EXPERIMENT.combinations))}
    monkeypatch.setattr(ledger, "published_experiments", lambda: both)
    ledger.keep_experiments(clear[0], tmp_path)
    (file,) = tmp_path.iterdir()
    assert {"mean_slowdown_short", "p99_slowdown_short"} <= set(read_table(file).column_names)


def test_runs_made_later_are_kept_in_a_file_of_their_own(tmp_path, monkeypatch, clear):
    """First those of four settings, then those of one more, at last none."""
    results, kept = tmp_path / "results", tmp_path / "kept"
    shutil.copytree(clear[0], results)
    kept.mkdir()
    more = with_settings(replace(EXPERIMENT), {name: WHOLE.combinations[name] for name in (*SETTINGS, MORE)})
    for experiment, files in ((EXPERIMENT, 1), (EXPERIMENT, 1), (more, 2), (more, 2)):
        before = {file: file.read_bytes() for file in kept.iterdir()}
        run(results, MadeUp(halved), experiment)
        monkeypatch.setattr(ledger, "published_experiments", lambda one=experiment: {one.name: one})
        (found,) = ledger.keep_experiments(results, kept)
        assert len(list(kept.iterdir())) == files
        assert all(file.read_bytes() == content for file, content in before.items())
        assert Campaign(experiment, kept).result_id == found.result_id
    first, second = (read_table(kept / f"repflow-ns3-ws{number}.parquet") for number in ("", ".2"))
    assert not set(first["task_id"].to_pylist()) & set(second["task_id"].to_pylist())


def test_of_an_experiment_that_was_not_run_nothing_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(ledger, "published_experiments", lambda: {EXPERIMENT.name: EXPERIMENT})
    (found,) = ledger.keep_experiments(tmp_path / "none", tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert ledger.decided_by_experiments([found]) == {}
    assert ledger.by_setting_csv([found]).splitlines() == ["id,setting,verdict,seeds"]


def test_a_figure_shows_each_claim_in_each_setting():
    words = {"a": {TEXT: "reproduced", "x = 1": "refuted"}, "b": {TEXT: "open"}}
    above, axes = draw_by_setting("test", words).axes
    cells = axes.images[0].get_array()
    order = list(COLOUR_OF)
    assert [order[int(cell)] for cell in cells.compressed()] == ["reproduced", "refuted", "open"]
    assert [text.get_text() for text in above.get_yticklabels()] == [TEXT, "x = 1"]
    assert above.lines[0].get_xydata().tolist() == [[0, 0], [1, 1]]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["a", "b"]
