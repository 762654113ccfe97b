"""Rows as they are kept: the same verdicts follow from them, and no change of any number goes unseen."""

import math
from importlib import import_module
from pkgutil import iter_modules

import pandas as pd
import pytest
from study.made_up import TABLES, design, halved, run, slower

from capsim.study import measures
from capsim.study.campaign import Campaign
from capsim.study.claims.samples import compared_columns
from capsmodel.checks import ParameterError
from capsmodel.experiments.kept import DIGEST, check_columns, free_file, keep, with_digests
from capsmodel.experiments.results import finished_tasks, part_files, read_manifest
from capsmodel.experiments.tables import read_table
from capsmodel.papers import measurements
from capsmodel.papers.studies import published_studies

MEASURED = {"task_id": "a", "scheme": "caps", "seed": 1, "mean_fct_s": 0.5, "losses": 3, "cpu_s": 2.0}
COLUMNS = ["mean_fct_s"]
RECORD = {"measurement": "experiment-run", "revision": 1, "cpu_s": 2.0}


def digest(**changed):
    return with_digests(pd.DataFrame([MEASURED | changed]))[DIGEST].item()


def test_every_number_is_in_the_digest_whether_it_is_kept_or_not(subtests):
    cases = [{"losses": 4}, {"mean_fct_s": math.nextafter(0.5, 1)}, {"seed": 2}, {"timeouts": 0}, {"losses": None}]
    for changed in cases:
        with subtests.test(changed=changed):
            assert digest(**changed) != digest()


def test_what_is_no_result_is_not_in_the_digest(subtests):
    """Processor time, the type of a column, and columns in which only other rows of a file have values."""
    cases = [{"cpu_s": 9.0}, {"losses": 3.0}, {"of_other_runs": None}, {"of_others": math.nan}]
    for changed in cases:
        with subtests.test(changed=changed):
            assert digest(**changed) == digest()


def test_rows_that_were_kept_have_their_own_digest_beside_new_ones():
    old, new = MEASURED, MEASURED | {"task_id": "b", "losses": 5}
    kept = with_digests(pd.DataFrame([old])).drop(columns="losses")
    both = with_digests(pd.concat([kept, pd.DataFrame([new])], ignore_index=True))
    assert both[DIGEST].tolist() == with_digests(pd.DataFrame([old, new]))[DIGEST].tolist()


def test_a_file_that_is_there_is_never_written_again(tmp_path):
    names = []
    for _ in range(3):
        names.append(free_file(tmp_path, "study").name)
        (tmp_path / names[-1]).touch()
    assert names == ["study.parquet", "study.2.parquet", "study.3.parquet"]


def kept_in(folder, *columns, name="study"):
    """Keep the same run for each list of columns that claims compare."""
    row = with_digests(pd.DataFrame([MEASURED]))
    for names in columns:
        listed = row[["task_id", "seed", DIGEST, *(one for one in names if one in row)]]
        listed = listed.assign(**{one: math.nan for one in names if one not in row})
        keep(listed, {"a": RECORD}, folder, name=name, columns=names)
    return folder


def test_rows_kept_for_other_claims_are_refused(tmp_path):
    with pytest.raises(ParameterError, match=r"have no losses, which claims compare: move the file"):
        check_columns(kept_in(tmp_path, COLUMNS), ["a"], [*COLUMNS, "losses"])


@pytest.mark.parametrize("kept", [([*COLUMNS, "losses"],), (COLUMNS, ["losses"]), ([*COLUMNS, "measured_by_no_run"],)])
def test_rows_that_have_the_columns_are_taken(kept, tmp_path):
    """In one file, in two files together, and of a column that was looked for in vain; of no other run."""
    columns = sorted({name for names in kept for name in names})
    check_columns(kept_in(tmp_path, *kept), ["a"], columns)
    check_columns(tmp_path, [], ["of_other_runs"])


def test_what_is_kept_with_all_columns_is_not_kept_again(tmp_path):
    kept_in(tmp_path, COLUMNS, COLUMNS)
    assert [path.name for path in part_files(tmp_path)] == ["study.parquet"]
    kept_in(tmp_path, [*COLUMNS, "losses"], COLUMNS)
    assert [path.name for path in part_files(tmp_path)] == ["study.2.parquet", "study.parquet"]


def bytes_of(folder):
    return {path.name: path.read_bytes() for path in part_files(folder)}


def told(campaign):
    """Return all that the runs of a campaign say."""
    claims = list(campaign.design.claims)
    settings = {claim: (campaign.words(claim), campaign.robustness(claim)) for claim in claims}
    return {claim: campaign.verdict(claim) for claim in claims}, settings, campaign.settings_of, campaign.result_id


@pytest.mark.parametrize("ratio", [halved, slower])
def test_kept_rows_give_the_same_verdicts_and_ask_for_the_same_runs(ratio, tmp_path):
    """In the setting of the text and in the others, second families of seeds included; there are no other runs."""
    run(tmp_path / "runs", ratio)
    before = Campaign(design(), tmp_path / "runs")
    before.keep(tmp_path)
    after = Campaign(design(), tmp_path)
    assert told(after) == told(before)
    assert after.ids == before.ids
    assert after.next_looks == before.next_looks == []
    assert after.cpu_s == before.cpu_s
    assert run(tmp_path, ratio)[0] == 0


def test_kept_rows_hold_points_and_what_is_compared_and_no_arguments(tmp_path):
    run(tmp_path / "runs", halved)
    Campaign(design(name="mine"), tmp_path / "runs").keep(tmp_path)
    (path,) = part_files(tmp_path)
    assert (path.name, read_manifest(path)["tasks"]) == ("mine.parquet", "rows")
    places = [f"mine.{name}" for name in ("setting", "scale", "scheme", "load")]
    recorded = {"task_id", "seed", DIGEST, "measurement", "revision", "cpu_s"}
    assert set(read_table(path).column_names) == {*places, *recorded, "mean_fct_short_s"}
    assert not any("payload" in task for task in finished_tasks(tmp_path).values())


def other_labels():
    """The same runs by other names of schemes, of which one claim compares the tail."""
    scheme = {"First": "ecmp", "Second": "repflow"}
    claims = [{"id": "other", "subject": "Second", "baseline": "First", "is": "lower"}]
    panel = [{"metric": "p99_fct_short_s", "claims": claims}]
    return design(name="other", axes=TABLES["axes"] | {"scheme": scheme}, panel=panel)


def test_a_run_of_two_studies_is_kept_with_what_either_compares(tmp_path):
    """They call its schemes by other names: each file has the places of its own study."""
    run(tmp_path / "runs", halved)
    studies = (design(name="one"), other_labels())
    before = [Campaign(study, tmp_path / "runs") for study in studies]
    assert before[0].ids == before[1].ids
    for campaign in before:
        campaign.keep(tmp_path)
    assert [path.name for path in part_files(tmp_path)] == ["one.parquet", "other.parquet"]
    after = [Campaign(study, tmp_path) for study in studies]
    assert [told(campaign) for campaign in after] == [told(campaign) for campaign in before]
    first = bytes_of(tmp_path)
    for campaign in after:
        campaign.keep(tmp_path)
    assert bytes_of(tmp_path) == first


def test_a_run_that_another_study_has_kept_with_all_columns_is_not_kept_twice(tmp_path):
    run(tmp_path / "runs", halved)
    for name in ("one", "two"):
        Campaign(design(name=name), tmp_path / "runs").keep(tmp_path)
    assert [path.name for path in part_files(tmp_path)] == ["one.parquet"]
    two = Campaign(design(name="two"), tmp_path)
    assert two.verdict("gain").word == "agrees"
    assert two.ids == Campaign(design(name="one"), tmp_path).ids


def test_runs_made_later_are_kept_in_a_file_of_their_own(tmp_path):
    run(tmp_path / "runs", halved, claims=["tcp"])
    Campaign(design(), tmp_path / "runs").keep(tmp_path)
    first = bytes_of(tmp_path)
    run(tmp_path / "runs", halved)
    Campaign(design(), tmp_path / "runs").keep(tmp_path)
    assert [path.name for path in part_files(tmp_path)] == ["study.2.parquet", "study.parquet"]
    assert bytes_of(tmp_path)["study.parquet"] == first["study.parquet"]
    in_files = [set(read_table(path)["task_id"].to_pylist()) for path in part_files(tmp_path)]
    assert not in_files[0] & in_files[1]
    assert in_files[0] | in_files[1] == Campaign(design(), tmp_path / "runs").ids


def test_of_a_study_that_was_not_run_nothing_is_kept(tmp_path):
    Campaign(design(), tmp_path / "runs").keep(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_claim_of_another_metric_needs_the_runs_again(tmp_path):
    run(tmp_path / "runs", halved)
    Campaign(design(), tmp_path / "runs").keep(tmp_path)
    with pytest.raises(ParameterError, match="have no p99_fct_short_s, which claims compare"):
        Campaign(other_labels(), tmp_path).verdict("other")


def test_columns_are_those_of_all_claims():
    """Of caps-priority: the metrics of its claims, the median among them."""
    expected = [
        "fct_p50_s",
        "lost_ratio_short",
        "mean_fct_short_s",
        "mean_throughput_long_bps",
        "reordered_ratio_short",
    ]
    assert compared_columns(published_studies()["caps-priority"]) == expected


def test_no_two_measurements_have_one_name():
    """Rows are kept under name, revision and arguments."""
    listed = iter_modules(measurements.__path__)
    modules = [measures, *(import_module(f"{measurements.__name__}.{found.name}") for found in listed)]
    values = {value for module in modules for value in vars(module).values() if callable(value)}
    functions = {value for value in values if hasattr(value, "measurement") and not isinstance(value, type)}
    assert len({function.measurement.name for function in functions}) == len(functions) > 10
