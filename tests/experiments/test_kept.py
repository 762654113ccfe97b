"""Rows of runs that are kept: each file is written once."""

from pathlib import Path

from capsmodel.experiments.kept import free_file


def test_no_file_that_is_there_is_written_again(tmp_path: Path) -> None:
    """Also where one of another study begins with the same name."""
    (tmp_path / "study_more.parquet").touch()
    for _ in range(3):
        free_file(tmp_path, "study").touch()
    assert {path.name for path in tmp_path.iterdir()} == {
        "study.parquet", "study.2.parquet", "study.3.parquet", "study_more.parquet",
    }  # fmt: skip
