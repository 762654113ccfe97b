"""Rows as campaigns keep them: the same ones are kept again, and no change of any number goes unseen."""

import math
from importlib import import_module
from pkgutil import iter_modules

import pandas as pd
import pyarrow as pa
import pytest

from capsmodel.checks import ParameterError
from capsmodel.experiments.results import keep_part
from capsmodel.papers import measurements
from capsmodel.papers.experiments import published_experiment
from capsmodel.papers.runs import DIGEST, check_columns, compared_columns, kept_rows, not_kept

MEASURED = {"task_id": "a", "scheme": "caps", "seed": 1, "mean_fct_s": 0.5, "losses": 3, "cpu_s": 2.0}
COLUMNS = ["mean_fct_s"]


def digest(**changed):
    return kept_rows(pd.DataFrame([MEASURED | changed]), COLUMNS)[DIGEST].item()


def test_only_what_is_compared_is_kept():
    kept = kept_rows(pd.DataFrame([MEASURED]), ["mean_fct_s", "measured_by_no_run"])
    assert list(kept) == ["task_id", DIGEST, "scheme", "seed", "mean_fct_s", "measured_by_no_run"]
    assert kept["measured_by_no_run"].isna().all()


@pytest.mark.parametrize(
    "changed", [{"losses": 4}, {"mean_fct_s": math.nextafter(0.5, 1)}, {"seed": 2}, {"timeouts": 0}, {"losses": None}]
)
def test_every_number_is_in_the_digest_whether_it_is_kept_or_not(changed):
    assert digest(**changed) != digest()


@pytest.mark.parametrize("changed", [{"cpu_s": 9.0}, {"losses": 3.0}, {"of_other_runs": None}, {"of_others": math.nan}])
def test_what_is_no_result_is_not_in_the_digest(changed):
    """Processor time, the type of a column, and columns in which only other rows of a file have values."""
    assert digest(**changed) == digest()


def test_rows_that_were_kept_stay_as_they_are_beside_new_ones():
    old, new = MEASURED, MEASURED | {"task_id": "b", "losses": 5}
    kept = kept_rows(pd.DataFrame([old]), COLUMNS)
    both = pd.concat([kept, pd.DataFrame([new])], ignore_index=True)
    expected = kept_rows(pd.DataFrame([old, new]), COLUMNS)
    pd.testing.assert_frame_equal(kept_rows(both, COLUMNS), expected)


def in_one_folder(folder, *columns):
    """Keep the same run in a file for each list of columns."""
    for number, names in enumerate(columns):
        rows = kept_rows(pd.DataFrame([MEASURED]), names)
        keep_part(pa.Table.from_pandas(rows, preserve_index=False), folder / f"{number}.parquet", tasks=[{"id": "a"}])
    return folder


def test_rows_kept_for_other_claims_are_refused(tmp_path):
    with pytest.raises(ParameterError, match=r"have no losses, which claims compare: move the file"):
        check_columns(in_one_folder(tmp_path, COLUMNS), ["a"], [*COLUMNS, "losses"])


@pytest.mark.parametrize("kept", [([*COLUMNS, "losses"],), (COLUMNS, ["losses"]), ([*COLUMNS, "measured_by_no_run"],)])
def test_rows_that_have_the_columns_are_taken(kept, tmp_path):
    """In one file, in two files together, and of a column that was looked for in vain; of no other run."""
    columns = sorted({name for names in kept for name in names})
    check_columns(in_one_folder(tmp_path, *kept), ["a"], columns)
    check_columns(tmp_path, [], ["of_other_runs"])


def test_what_is_kept_with_all_columns_is_not_kept_again(tmp_path):
    folder = in_one_folder(tmp_path, COLUMNS)
    assert not_kept(folder, ["a", "b"], COLUMNS) == ["b"]
    assert not_kept(folder, ["a", "b"], [*COLUMNS, "losses"]) == ["a", "b"]


def test_columns_are_those_of_all_claims():
    """Of caps-priority: the metrics of its claims in claims.csv, and the median that its statement names."""
    expected = [
        "fct_p50_s",
        "lost_ratio_short",
        "mean_fct_short_s",
        "mean_throughput_long_bps",
        "reordered_ratio_short",
    ]
    assert compared_columns(published_experiment("caps-priority")) == expected


def test_no_two_measurements_have_one_name():
    """Rows are kept under name, revision and arguments."""
    modules = [import_module(f"{measurements.__name__}.{found.name}") for found in iter_modules(measurements.__path__)]
    functions = {value for module in modules for value in vars(module).values() if hasattr(value, "measurement")}
    assert len({function.measurement.name for function in functions}) == len(functions)
