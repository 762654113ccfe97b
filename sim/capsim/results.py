"""Results of a run: tables, summary, and Parquet files that carry their own manifest."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from capsim import schema
from capsim.manifest import Resources, canonical_json
from capsim.scenario import Scenario
from capsim.state import RawRecords
from capsim.summary import Summary, summarise
from capsmodel.checks import ParameterError

KEY = b"capsmodel"


@dataclass(frozen=True, kw_only=True)
class Result:
    """Tables of one run; columns and units in :mod:`capsim.schema`.

    Attributes
    ----------
    scenario : Scenario
        What was run.
    flows, ports, units, probes, trace : DataFrame
        One row for each flow, port, coding unit, sample and line of the packet trace.
    manifest : dict
        Where it comes from (:mod:`capsim.manifest`).
    resources : Resources
        What it took.
    raw : RawRecords
        The engine's integers.
    """

    scenario: Scenario
    flows: pd.DataFrame
    ports: pd.DataFrame
    units: pd.DataFrame
    probes: pd.DataFrame
    trace: pd.DataFrame
    manifest: dict[str, Any]
    resources: Resources
    raw: RawRecords

    @cached_property
    def summary(self) -> Summary:
        """Return the figures that the papers report."""
        return summarise(self.flows, end_s=self.resources.simulated_s, warm_up_s=self.scenario.warm_up_s)

    def save(self, folder: str | Path) -> Path:
        """Write every table that has rows as a Parquet file with the manifest inside; all files appear at once.

        Parameters
        ----------
        folder : str or Path
            Made if missing; an earlier result there is replaced.

        Raises
        ------
        ParameterError
            If the folder holds anything but a result.
        """
        manifest = self.manifest | {"resources": msgspec.to_builtins(self.resources)}
        with whole_folder(Path(folder), made_of=frozenset(f"{name}.parquet" for name in schema.TABLES)) as partial:
            for name in schema.TABLES:
                frame = getattr(self, name)
                if len(frame):
                    write_table(frame, partial / f"{name}.parquet", manifest=manifest, meanings=schema.TABLES[name])
        return Path(folder)


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
    metadata = (table.schema.metadata or {}) | {KEY: canonical_json(manifest)}
    pq.write_table(table.cast(pa.schema(fields, metadata=metadata)), path, compression="zstd")


def read_manifest(path: str | Path) -> dict[str, Any]:
    """Return the manifest inside a Parquet file of a result.

    Raises
    ------
    ParameterError
        If the file is no Parquet file or carries no manifest.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"no file {str(path)!r}: give a Parquet file of a result")
    try:
        metadata = pq.read_schema(path).metadata or {}
    except pa.ArrowInvalid:
        raise ParameterError(f"{path.name} is not a Parquet file") from None
    if KEY not in metadata:
        raise ParameterError(f"{path.name} carries no manifest: it was not written by capsmodel simulate")
    manifest: dict[str, Any] = msgspec.json.decode(metadata[KEY])
    return manifest


def read_table(path: str | Path) -> pd.DataFrame:
    """Return the table in a Parquet file of a result."""
    frame: pd.DataFrame = pq.read_table(path).to_pandas()
    return frame
