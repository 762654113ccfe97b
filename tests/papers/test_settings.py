"""Declared settings: each word that a paper leaves open is answered, and experiments are tried in at least eight."""

import csv

import pytest

from capsim import Scenario, schemes, with_settings
from capsmodel.datafiles import data_path
from capsmodel.experiments.statistics.robustness import TEXT, combination_name
from capsmodel.papers.settings import not_varied, sampled_combinations, settings_of

with data_path("papers/experiments.csv").open(encoding="utf-8", newline="") as file:
    SIMULATED = {row["id"]: row for row in csv.DictReader(file) if row["kind"] in ("packet_sim", "testbed")}
VARIED = [name for name in SIMULATED if settings_of(name)]


def not_stated(name):
    return {item.strip() for item in SIMULATED[name]["not_stated"].strip("[]").split(";")}


@pytest.mark.parametrize("name", SIMULATED)
def test_each_word_left_open_has_a_setting_or_a_reason(name):
    answered = {item for setting in settings_of(name).values() for item in setting.items}
    assert not_stated(name) <= answered | not_varied().keys()


def test_no_setting_answers_what_nobody_asked():
    asked = set().union(*map(not_stated, SIMULATED))
    assert not_varied().keys() <= asked
    for name in VARIED:
        assert {item for one in settings_of(name).values() for item in one.items} <= asked


def test_only_what_cannot_be_simulated_or_is_decided_has_none():
    assert SIMULATED.keys() - set(VARIED) == {
        "repflow-e01-ec2",
        "repflow-e02-toy",
        "dc2mtcp-e02-gaps",
    }


@pytest.mark.parametrize("name", VARIED)
def test_values_are_few_different_and_have_a_reason(name):
    for setting in settings_of(name).values():
        assert 2 <= len(setting.values) <= 4
        assert len(set(map(str, setting.values))) == len(setting.values)
        assert len({type(value) for value in setting.values}) == 1
        assert setting.reason.endswith(".")


@pytest.mark.parametrize("name", VARIED)
def test_the_sample_has_the_text_each_alternative_and_at_least_eight(name):
    tried = sampled_combinations(name)
    assert next(iter(tried.items())) == (TEXT, {})
    assert len(tried) >= 8
    for setting in settings_of(name).values():
        for value in setting.values[1:]:
            assert tried[combination_name({setting.name: value})] == {setting.name: value}
    together = [combination for combination in tried.values() if len(combination) > 1]
    combined = {setting.name for setting in settings_of(name).values() if not setting.alone}
    assert {one for combination in together for one in combination} == combined


def test_names_of_the_simulator_are_known_to_it():
    """What stands behind a dot is a parameter of some scheme, a key of a fabric or of an entry."""
    parameters = {
        f"{role}.{key}"
        for scheme in schemes().values()
        for role in ("transport", "sharing", "layer", "congestion")
        for key in vars(getattr(scheme.short, role).params)
    } | {f"queue.{key}" for scheme in schemes().values() for key in vars(scheme.queue.params)}
    trial = Scenario(
        fabric={"kind": "leaf-spine", "leaves": 2, "hosts_per_leaf": 20, "spines": 2},
        traffic=({"kind": "poisson", "flow_bytes": 1, "flows": 1, "load": 0.1}, {"kind": "batch", "flow_bytes": 1}),
    )
    for name in VARIED:
        for setting in settings_of(name).values():
            role, _, key = setting.name.partition(".")
            if role in ("fabric", "traffic") and key != "pods":
                entry = setting.name.replace("traffic.0.spread_s", "traffic.1.spread_s")
                assert with_settings(trial, {entry: setting.values[1]}) is not None
            elif key and role not in ("fabric", "traffic"):
                assert setting.name in parameters
