"""Contract: every experiment of the folder has a name, decides claims of its own, and runs in its small version."""

import csv
from itertools import chain

import pytest

import capsmodel as cm
from capsim import scheme
from capsim.scenario.scenario import from_dict
from capsmodel.cli import main
from capsmodel.experiments.statistics.robustness import TEXT
from capsmodel.papers.experiments import published_experiment, published_experiments
from capsmodel.papers.experiments._repflow import INITIAL_WINDOW_BYTES
from capsmodel.papers.figures import published_figures
from capsmodel.papers.index import experiment_kinds, read_by_setting, read_claims
from capsmodel.papers.ledger import computed_experiments
from capsmodel.papers.settings import settings_of

EXPERIMENTS = published_experiments()
NAMES = list(EXPERIMENTS)


def test_every_experiment_of_the_papers_is_reproduced_by_one_name():
    assert EXPERIMENTS["repflow-ns3-ws"] is published_experiment("repflow-e07-ns3-ws")
    computed, figures = computed_experiments(), published_figures()
    ids = [one.id for known in (EXPERIMENTS, computed) for one in known.values()]
    assert sorted(ids) == sorted(experiment_kinds())
    assert not EXPERIMENTS.keys() & (computed.keys() | figures.keys())
    for name in computed.keys() & figures.keys():  # one name for both means both
        assert figures[name] in computed[name].figures


@pytest.mark.parametrize("one", computed_experiments().values(), ids=lambda one: one.name)
def test_an_experiment_without_runs_tells_of_each_of_its_claims(one):
    claims = {claim.id for claim in read_claims().values() if claim.experiment_id == one.id}
    drawn = [claims & set(figure.claims) for figure in one.figures]
    assert all(drawn)
    assert claims - set().union(*drawn) == {claim.id for claim, _ in one.verdicts()}


@pytest.mark.parametrize("name", NAMES)
def test_it_decides_claims_of_its_own_at_its_own_places(name):
    experiment = EXPERIMENTS[name]
    assert experiment.title.endswith(".")
    assert "Chosen:" in experiment.about
    for claim, statement in experiment.statements.items():
        assert read_claims()[claim].experiment_id == experiment.id
        assert statement.comparisons
        assert {place for one in statement.comparisons for place in one.places} <= experiment.places.keys()
    assert set(experiment.sampled) <= experiment.places.keys()


def test_no_claim_is_decided_by_two_experiments():
    listed = list(chain.from_iterable(one.statements for one in EXPERIMENTS.values()))
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize("name", NAMES)
def test_each_setting_changes_a_run_or_what_is_measured(name):
    """A setting that nothing reads would make every claim robust."""
    experiment = EXPERIMENTS[name]
    terms = {term for one in experiment.statements.values() for term in one.simulated.terms}
    alone = {setting: one for setting, one in experiment.combinations.items() if len(one) == 1}
    for setting, combination in alone.items():
        changed = any(experiment.run(term) != experiment.run(term, setting=setting) for term in sorted(terms))
        adapted = any(
            experiment.statement(claim, TEXT, sampled=True) != experiment.statement(claim, setting, sampled=True)
            for claim in experiment.statements
        )
        assert changed or adapted, combination


@pytest.mark.parametrize("name", NAMES)
def test_the_run_of_the_text_has_the_values_that_are_declared_first(name):
    experiment = EXPERIMENTS[name]
    term = sorted(next(iter(experiment.statements.values())).simulated.terms)[0]
    scenario = from_dict(experiment.run(term)["scenario"])
    assert scenario.scheme == term[0]
    for setting, one in settings_of(experiment.id).items():
        role, _, key = setting.partition(".")
        if role == "transport":
            assert scenario.params["transport"][key] == one.values[0]
        elif role == "fabric":
            assert getattr(scenario.fabric, key) == one.values[0]


@pytest.mark.parametrize("name", NAMES)
def test_a_run_with_a_marking_queue_says_where_it_marks(name):
    """Runs that do not were made when NICs marked, and are kept: nothing may ask for them."""
    experiment = EXPERIMENTS[name]
    terms = {term for one in experiment.statements.values() for term in one.simulated.terms}
    for term in sorted(term for term in terms if hasattr(scheme(term[0]).queue.params, "at_nics")):
        for setting in experiment.combinations:
            at_nics = experiment.run(term, setting=setting)["scenario"]["params"]["queue"]["at_nics"]
            assert at_nics == ("queue.at_nics" in experiment.combinations[setting])


@pytest.mark.parametrize("name", [name for name in NAMES if EXPERIMENTS[name].reduced])
def test_the_reduced_scale_has_fewer_hosts_and_the_same_settings(name):
    experiment = EXPERIMENTS[name]
    place = experiment.sampled[0]
    statements = [one.simulated for one in experiment.statements.values()]
    term = next(term for one in statements for term in sorted(one.terms) if term[1] == place)
    for setting in experiment.combinations:
        whole = from_dict(experiment.run(term, setting=setting)["scenario"])
        small = from_dict(experiment.run(term, setting=setting, scale="reduced")["scenario"])
        assert small.fabric.node_counts()[0] <= whole.fabric.node_counts()[0] / 3
        assert small.params == whole.params
        assert small.fabric.rate_bps == whole.fabric.rate_bps
        assert [type(one) for one in small.traffic] == [type(one) for one in whole.traffic]


def test_the_initial_window_of_repflow_stays_12_kb_with_any_segment_size():
    experiment = EXPERIMENTS["repflow-ns3-ws"]
    for setting in (TEXT, "mss_bytes = 536"):
        transport = experiment.run(("ecmp", "websearch 0.4"), setting=setting)["scenario"]["params"]["transport"]
        window_bytes = transport["initial_window_packets"] * transport["mss_bytes"]
        assert INITIAL_WINDOW_BYTES - transport["mss_bytes"] < window_bytes <= INITIAL_WINDOW_BYTES


def test_schemes_and_settings_of_a_place_have_the_same_flows():
    """Common random numbers: the seed and the traffic are those of the other scheme."""
    experiment = EXPERIMENTS["caps-incast2"]
    one, other = (experiment.run((scheme, "60 flows"))["scenario"] for scheme in ("caps", "rps"))
    assert one["traffic"] == other["traffic"]
    assert one["fabric"] == other["fabric"]


@pytest.mark.parametrize("name", ["caps-incast1", "mmptcp-thr-benson", "repflow-overhead"])
def test_the_small_version_runs_and_judges_nothing(name, tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["reproduce", name, "--quick", "--jobs", "1", "--out", str(tmp_path)])
    assert stop.value.code in (0, None)
    assert "judge no claim" in " ".join(capsys.readouterr().out.split())
    with (tmp_path / f"{name}-quick.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) >= 4
    assert all(float(row["mean_fct_short_s"]) > 0 for row in rows)
    if not name.startswith("mmptcp"):  # whose long flows never end
        assert all(float(row["unfinished_flows"]) == 0 for row in rows)
    if name == "repflow-overhead":
        assert all(0 < float(row["copied_ratio"]) < float(row["copied_sent_ratio"]) < 1 for row in rows)


def test_a_campaign_without_time_tells_that_nothing_is_decided(tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["reproduce", "repflow-overhead", "--budget", "0s", "--out", str(tmp_path)])
    assert stop.value.code in (0, None)
    printed = " ".join(capsys.readouterr().out.split())
    assert "of 17 claims 17 open; 128 runs are missing for the next look" in printed
    assert not list(tmp_path.glob("*.csv"))


def test_what_claims_hang_on_is_listed_from_the_record(monkeypatch, capsys):
    known = {
        "repflow-f8a": {TEXT: "reproduced", "mss_bytes = 536": "refuted"},
        "repflow-f8c": {TEXT: "refuted", "mss_bytes = 536": "refuted"},
    }
    for module in ("settings", "index"):
        monkeypatch.setattr(f"capsmodel.papers.{module}.read_by_setting", lambda: known)
    monkeypatch.setattr("capsmodel.cli.equations.read_by_setting", lambda: known)
    with pytest.raises(SystemExit):
        main(["claims", "--hangs-on", "--csv"])
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert [(row["claim"], row["turned_by"]) for row in rows] == [
        ("repflow-f8a", "mss_bytes = 536"),
        ("repflow-f8c", ""),
    ]
    assert [row["agreeing"] + "/" + row["decided"] for row in rows] == ["1/2", "2/2"]


def test_the_record_is_drawn_and_nothing_else_has_this_figure(monkeypatch, tmp_path, capsys):
    known = {"repflow-f8a": {TEXT: "reproduced", "mss_bytes = 536": "refuted"}}
    for module in ("papers.settings", "papers.index", "cli.equations"):
        monkeypatch.setattr(f"capsmodel.{module}.read_by_setting", lambda: known)
    file = tmp_path / "settings.png"
    with pytest.raises(SystemExit) as stop:
        main(["claims", "--hangs-on", "--paper", "repflow", "--plot", str(file)])
    assert stop.value.code in (0, None)
    assert file.read_bytes().startswith(b"\x89PNG")
    capsys.readouterr()
    for arguments in (
        ["claims", "--plot", str(file)],
        ["claims", "--hangs-on", "--paper", "caps", "--plot", str(file)],
    ):
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        assert stop.value.code == 2
        assert "--plot" in capsys.readouterr().err


def test_the_record_has_known_claims_and_settings():
    for claim, words in read_by_setting().items():
        experiment = published_experiment(read_claims()[claim].experiment_id)
        assert words.keys() <= experiment.combinations.keys()


def test_an_unknown_experiment_is_reported():
    with pytest.raises(cm.ParameterError, match="no experiment 'repflow-fig99'"):
        published_experiment("repflow-fig99")
