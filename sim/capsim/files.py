"""Parquet files of results, each with its manifest inside, and folders that appear whole or not at all."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from capsim.manifest import canonical_json
from capsmodel.checks import ParameterError, require
from capsmodel.experiments import tables


@contextmanager
def whole_folder(folder: Path, *, made_of: frozenset[str]) -> Iterator[Path]:
    """Give a folder to write to; it takes the place of `folder` at the end, and vanishes if anything goes wrong.

    Parameters
    ----------
    folder : Path
        Target. If it exists, it may hold only files named in `made_of`, which are replaced.
    made_of : frozenset of str
        File names that belong to such a folder.
    """
    check_folder(folder, made_of=made_of)
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}-"))
    try:
        (partial / "new").mkdir()
        yield partial / "new"
        if folder.exists():
            folder.replace(partial / "old")
        (partial / "new").replace(folder)
    finally:
        shutil.rmtree(partial)


def check_folder(folder: Path, *, made_of: frozenset[str]) -> None:
    """Refuse a target that is a file, or a folder with files that are not ours."""
    if folder.exists() and not folder.is_dir():
        raise ParameterError(f"{folder} is a file: name a folder for the results")
    foreign = sorted(entry.name for entry in folder.iterdir() if entry.name not in made_of) if folder.exists() else []
    if foreign:
        raise ParameterError(f"{folder} holds {foreign[0]!r}, which is no result: name an empty or a new folder")


def write_table(frame: pd.DataFrame, path: Path, *, manifest: dict[str, Any], meanings: dict[str, str]) -> None:
    """Write `frame` to `path` with `manifest` in the file and the meaning beside each column."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    fields = [field.with_metadata({b"meaning": meanings[field.name].encode()}) for field in table.schema]
    tables.write_table(table.cast(pa.schema(fields)), path, manifest=canonical_json(manifest))


def read_manifest(path: str | Path) -> dict[str, Any]:
    """Return the manifest inside a Parquet file of a result.

    Raises
    ------
    ParameterError
        If the file is no Parquet file, is damaged, or is no table of a run.
    FileNotFoundError
        If there is no such file.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"no file {str(path)!r}: give a Parquet file of a result")
    manifest = tables.read_manifest(path)
    of_a_run = {"id", "software", "parameters"} <= manifest.keys()
    require(of_a_run, f"{path} holds rows of a sweep, no table of a run: capsmodel reproduce runs them again")
    return manifest


def read_table(path: str | Path) -> pd.DataFrame:
    """Return the table in a Parquet file of a result, after the check of its digest."""
    frame: pd.DataFrame = tables.read_table(Path(path)).to_pandas()
    return frame
