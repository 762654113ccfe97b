"""Rows of runs that are kept: of a point the last file that has it counts."""

from pathlib import Path

import pandas as pd

from capsmodel.experiments.kept import free_file, newest_rows


def test_a_point_is_read_from_the_last_file_that_has_it(tmp_path: Path) -> None:
    """All its rows, also where these are fewer; points stay in their order. Catches rows of before a correction."""
    first = {"case": ["a", "a", "b", "b"], "scheme": "x", "seed": [1, 2, 1, 2], "time": [1.0, 2.0, 3.0, 4.0]}
    for rows in (first, {"case": ["b", "a"], "scheme": ["y", "x"], "seed": 1, "time": [5.0, 6.0], "more": 0}):
        pd.DataFrame(rows).to_parquet(free_file(tmp_path, "study"))
    found = newest_rows(tmp_path, "study", ["case", "scheme"])
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["study.2.parquet", "study.parquet"]
    assert found.to_dict("list") == {
        "case": ["a", "b", "b", "b"],
        "scheme": ["x", "x", "x", "y"],
        "seed": [1, 1, 2, 1],
        "time": [6.0, 3.0, 4.0, 5.0],
    }
