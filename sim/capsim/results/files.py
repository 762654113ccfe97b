"""Parquet files of results, each with its manifest inside, and folders that appear whole or not at all."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pandas as pd
import pyarrow as pa

from capsim.results.manifest import Resources
from capsmodel._files import check_writable
from capsmodel.checks import ParameterError, require
from capsmodel.experiments import tables
from capsmodel.experiments.manifest import manifest_json


class _Software(msgspec.Struct):
    """What made a file."""

    version: str


class _Parameters(msgspec.Struct):
    """What a run depends on."""

    scenario: dict[str, Any]
    scheme: dict[str, Any]


class _SchemeFile(msgspec.Struct):
    """The file that a scheme of one's own comes from."""

    file: str
    constant: str
    sha256: str


class _Manifest(msgspec.Struct):
    """What is read of a manifest: anybody may have edited it."""

    id: str
    software: _Software
    parameters: _Parameters
    resources: Resources
    scheme_file: _SchemeFile | None = None


@contextmanager
def whole_folder(folder: Path, *, made_of: frozenset[str]) -> Iterator[Path]:
    """Give a folder to write to; it takes the place of `folder` at the end, and vanishes if anything goes wrong.

    An earlier result is there until then, and again if the last step fails.

    Parameters
    ----------
    folder : Path
        Target. If it exists, it may hold only files named in `made_of`, which are replaced; a link stays a link.
    made_of : frozenset of str
        File names that belong to such a folder.
    """
    check_folder(folder, made_of=made_of)
    target = _behind_links(folder)
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name[:40]}-"))
    try:
        (partial / "new").mkdir()
        yield partial / "new"
        _exchange(partial / "new", target)
    finally:
        shutil.rmtree(partial)


def _behind_links(folder: Path) -> Path:
    return Path(os.path.realpath(folder))


def _aside(target: Path) -> Path:
    """Return where the earlier result is while the new one takes its place."""
    return target.parent / f".{target.name}.replaced-by-capsmodel"


def _exchange(new: Path, target: Path) -> None:
    try:
        if target.exists():
            shutil.rmtree(_aside(target), ignore_errors=True)  # of a process that was killed after both renames
            target.replace(_aside(target))
        new.replace(target)
    except BaseException:
        restore(target)
        raise
    shutil.rmtree(_aside(target), ignore_errors=True)


def restore(folder: Path) -> None:
    """Put back the earlier result that a process left aside when it was stopped between its two renames."""
    target = _behind_links(folder)
    if _aside(target).exists() and not target.exists():
        _aside(target).replace(target)


def check_folder(folder: Path, *, made_of: frozenset[str]) -> None:
    """Refuse, before any work is done for it, a target that could not be written at the end.

    Raises
    ------
    ParameterError
        If it is a file, holds files that are not ours, or is a folder that cannot be moved.
    OSError
        If nothing can be written there.
    """
    restore(folder)
    check_entries(folder, made_of=made_of)
    target = _behind_links(folder)
    fixed = target == Path.cwd() or target.is_mount()
    require(not fixed, f"{folder} is the current folder or a mount point, which cannot be replaced: name one in it")
    check_writable(target.parent if target.exists() else folder)


def check_entries(folder: Path, *, made_of: frozenset[str]) -> None:
    """Refuse a target that is a file, or a folder with entries that are not ours."""
    require(not folder.exists() or folder.is_dir(), f"{folder} is a file: name a folder for the results")
    foreign = sorted(entry.name for entry in folder.iterdir() if entry.name not in made_of) if folder.exists() else []
    if foreign:
        raise ParameterError(f"{folder} holds {foreign[0]!r}, which is no result: name an empty or a new folder")


def write_table(frame: pd.DataFrame, path: Path, *, manifest: dict[str, Any], meanings: dict[str, str]) -> None:
    """Write `frame` to `path` with `manifest` in the file and the meaning beside each column."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    fields = [field.with_metadata({b"meaning": meanings[field.name].encode()}) for field in table.schema]
    tables.write_table(table.cast(pa.schema(fields)), path, manifest=manifest_json(manifest))


def read_meanings(path: Path) -> dict[str, str]:
    """Return the meaning of each column of a Parquet file of a result.

    Raises
    ------
    ParameterError
        If the file is damaged: no digest covers the meanings.
    """
    fields = tables.read_table(path).schema
    try:
        return {field.name: (field.metadata or {}).get(b"meaning", b"").decode() for field in fields}
    except UnicodeDecodeError:
        raise ParameterError(f"{path} is damaged, the meaning of a column is no text: simulate again") from None


def read_manifest(path: str | Path) -> dict[str, Any]:
    """Return the manifest inside a Parquet file of a result.

    Raises
    ------
    ParameterError
        If the file is no Parquet file, is damaged, or is no table of a run; or the manifest has values of other types.
    FileNotFoundError
        If there is no such file.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"no file {str(path)!r}: give a Parquet file of a result")
    rule = "holds rows of a sweep, no table of a run: capsmodel study runs them again"
    manifest = tables.read_manifest(path, keys={"id", "software", "parameters"}, rule=rule)
    try:
        msgspec.convert(manifest, _Manifest)
    except msgspec.ValidationError as error:
        raise ParameterError(f"{path} has a manifest that no run has written, {error}: simulate again") from None
    return manifest


def read_table(path: str | Path) -> pd.DataFrame:
    """Return the table in a Parquet file of a result, after the check of its digest."""
    frame: pd.DataFrame = tables.read_table(Path(path)).to_pandas(use_threads=False)
    return frame


def same_rows(path: Path, frame: pd.DataFrame) -> bool:
    """Return whether a Parquet file of a result holds the rows of `frame`, bit for bit."""
    rows = pa.Table.from_pandas(frame, preserve_index=False)
    return tables.rows_sha256(tables.read_table(path)) == tables.rows_sha256(rows)
