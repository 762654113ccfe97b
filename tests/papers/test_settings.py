"""Declared settings: each word that a paper leaves open is answered, and studies are tried in at least eight."""

import csv
import tomllib

from capsmodel.datafiles import data_path
from capsmodel.experiments.statistics.robustness import TEXT, combination_name
from capsmodel.papers.studies import experiment_name, published_studies

with data_path("papers/experiments.csv").open(encoding="utf-8", newline="") as file:
    SIMULATED = {row["id"]: row for row in csv.DictReader(file) if row["kind"] in ("packet_sim", "testbed")}
STUDIES = published_studies()
VARIED = [
    name
    for name in SIMULATED
    if experiment_name(name) in STUDIES and STUDIES[experiment_name(name)].source.file.scenario
]
OF_MECHANISMS = {  # measurements of single mechanisms, which can vary their arguments alone
    *("caps-e01-hol", "caps-e02-ooo", "caps-e03-onoff", "caps-e06-ps-sim", "caps-e10-unit-sim", "caps-e33-bursts"),
    *("caps-e34-unit-shape", "repflow-e02-toy"),
}
NOT_SIMULATED = {"repflow-e01-ec2", "dc2mtcp-e02-gaps", "dc2mtcp-e10-failures"}


def not_stated(name):
    return {item.strip() for item in SIMULATED[name]["not_stated"].strip("[]").split(";")}


def answered(name):
    axes = STUDIES[experiment_name(name)].unstated.values()
    return {item for axis in axes for item in (axis.said.item, *axis.said.items) if item}


def not_varied():
    rows = tomllib.loads(data_path("papers/not_varied.toml").read_text(encoding="utf-8"))["not_varied"]
    return {item for row in rows for item in row["items"]}


def test_each_word_left_open_has_a_setting_or_a_reason(subtests):
    for name in VARIED:
        with subtests.test(name=name):
            assert not_stated(name) <= answered(name) | not_varied()


def test_no_setting_answers_what_nobody_asked():
    asked = set().union(*map(not_stated, SIMULATED))
    assert not_varied() <= asked
    for name in VARIED:
        assert answered(name) <= asked


def test_only_what_cannot_be_simulated_or_is_decided_has_none():
    assert SIMULATED.keys() - set(VARIED) == OF_MECHANISMS | NOT_SIMULATED


def test_values_are_few_different_and_have_a_reason(subtests):
    for name in VARIED:
        with subtests.test(name=name):
            for axis in STUDIES[experiment_name(name)].unstated.values():
                assert 2 <= len(axis.values) <= 4
                assert axis.said.why.endswith(".")


def test_the_sample_has_the_text_each_alternative_and_at_least_eight(subtests):
    for name in VARIED:
        with subtests.test(name=name):
            study = STUDIES[experiment_name(name)]
            tried = study.settings
            assert next(iter(tried.items())) == (TEXT, {})
            assert len(tried) >= 8
            for axis in study.unstated.values():
                for value in list(axis.values)[1:]:
                    assert tried[combination_name({axis.name: value})] == {axis.name: value}
            together = [combination for combination in tried.values() if len(combination) > 1]
            combined = {axis.name for axis in study.unstated.values() if not axis.alone}
            assert {one for combination in together for one in combination} == combined
