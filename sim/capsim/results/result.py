"""Results of a run: tables, summary, completion times; saved to files and loaded from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isnan
from pathlib import Path
from textwrap import shorten
from typing import Any

import msgspec
import numpy.typing as npt
import pandas as pd

from capsim.base import schema
from capsim.engines.state import RawRecords
from capsim.fabric.listed import listed_names
from capsim.fabric.topology import Fabric
from capsim.results.fct import SIZE_EDGES_BYTES, Kind, fct_by_size, fct_cdf, fct_percentile_s
from capsim.results.files import read_manifest, read_meanings, read_table, restore, whole_folder, write_table
from capsim.results.load_record import load_columns, load_remarks, offered_line
from capsim.results.manifest import Resources
from capsim.results.prediction import beside
from capsim.results.summary import Summary, by_layer, by_operation, summarise
from capsim.results.tables import empty_table
from capsim.scenario.scenario import Scenario, from_dict
from capsmodel.checks import ParameterError, require
from capsmodel.experiments.reprs import as_html


@dataclass(frozen=True, kw_only=True, eq=False)
class Result:
    """Tables of one run; columns and units in :mod:`capsim.base.schema`.

    Attributes
    ----------
    scenario : Scenario
        What was run.
    flows, ports, units, probes, trace : DataFrame
        One row for each flow, port, coding unit, sample and line of the packet trace.
    subflows : DataFrame
        One row for each subflow, if the scenario asks for them or a flow had several.
    histograms : DataFrame
        One row for each bin with packets, if the scenario asks for histograms.
    manifest : dict
        Where it comes from (:mod:`capsim.results.manifest`).
    resources : Resources
        What it took.
    own_columns : dict
        By table: name and meaning of the columns that the components of the scheme add.
    raw_records : RawRecords, optional
        The engine's integers, which files do not keep; read them as `raw`.
    """

    scenario: Scenario
    flows: pd.DataFrame
    subflows: pd.DataFrame
    ports: pd.DataFrame
    units: pd.DataFrame
    probes: pd.DataFrame
    histograms: pd.DataFrame
    trace: pd.DataFrame
    manifest: dict[str, Any]
    resources: Resources
    raw_records: RawRecords | None = None
    own_columns: Mapping[str, dict[str, str]] = field(default_factory=dict)

    @cached_property
    def summary(self) -> Summary:
        """Return the figures that the papers report."""
        return summarise(self.flows, end_s=self.resources.simulated_s, warm_up_s=self.scenario.warm_up_s)

    @cached_property
    def layers(self) -> pd.DataFrame:
        """Return loss ratio and utilisation by layer of links; see :func:`capsim.results.summary.by_layer`."""
        return by_layer(self.ports)

    @cached_property
    def collectives(self) -> pd.DataFrame:
        """Return time and bus bandwidth of each collective; see :func:`capsim.results.summary.by_operation`."""
        n_hosts, _ = self.scenario.fabric.node_counts()
        return by_operation(self.flows, self.scenario.traffic, n_hosts=n_hosts)

    @cached_property
    def loads(self) -> dict[str, Any]:
        """Return what load was asked for and offered, and whether the backlog grows (`load_record`)."""
        return load_columns(self.manifest["load"], self.flows, end_s=self.resources.simulated_s)

    @cached_property
    def prediction(self) -> pd.DataFrame:
        """Return what the closed forms say of the run's steady state beside what it shows (`prediction`).

        A run that begins empty shows less (:func:`capsmodel.run_bias`).

        Raises
        ------
        ParameterError
            If a part of the scenario has no formula.
        """
        return beside(self.scenario, self.flows)

    def remarks(self) -> list[str]:
        """Return why the run may say little about the load asked for (`load_remarks`)."""
        counts = {name: getattr(self.summary, name) for name in ("flows", "unstarted_flows")}
        return load_remarks(pd.DataFrame([{"scheme": self.scenario.scheme, **self.loads, **counts}]))

    @property
    def raw(self) -> RawRecords:
        """Return the engine's integers.

        Raises
        ------
        ParameterError
            If the result was read from files.
        """
        if self.raw_records is None:
            raise ParameterError("this result was read from files, which hold no raw records: simulate its scenario")
        return self.raw_records

    def __repr__(self) -> str:
        """Return what a person wants to know first, on a few lines."""
        return "\n".join([self._title, *(f"  {name:<16}{value}" for name, value in facts(self).items())])

    def _repr_html_(self) -> str:
        """Return the same as a table."""
        return as_html(self._title, [{"": name, self.scenario.scheme: value} for name, value in facts(self).items()])

    @property
    def _title(self) -> str:
        return f"Result of {shorten(self.scenario.name, 65, placeholder=' ...')}"

    def fct_by_size(self, edges_bytes: Sequence[float] = SIZE_EDGES_BYTES) -> pd.DataFrame:
        """Return completion times for each bin of flow sizes; see :func:`capsim.results.fct.fct_by_size`."""
        return fct_by_size(self.flows, edges_bytes)

    def fct_percentile_s(self, percent: npt.ArrayLike, *, kind: Kind = "all") -> Any:
        """Return a percentile of completion times in seconds; see :func:`capsim.results.fct.fct_percentile_s`."""
        return fct_percentile_s(self.flows, percent, kind=kind)

    def fct_cdf(self, *, kind: Kind = "all") -> pd.DataFrame:
        """Return the empirical distribution of completion times; see :func:`capsim.results.fct.fct_cdf`."""
        return fct_cdf(self.flows, kind=kind)

    def samples(self, field: str) -> pd.DataFrame:
        """Return what the probes saw of one field: a row for each time, a column for each entity.

        Parameters
        ----------
        field : str
            As in the column ``field`` of the probes table, such as ``port.queue_packets``.

        Raises
        ------
        ParameterError
            If it was not sampled.
        """
        rows = self.probes[self.probes["field"] == field]
        sampled = ", ".join(self.probes["field"].cat.categories) or "nothing"
        require(len(rows) > 0, f"no samples of {field!r}: this run sampled {sampled}")
        entities = rows["entity"].astype(str)
        return rows.assign(entity=entities).pivot(index="time_s", columns="entity", values="value")

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
            for name, meanings in columns_of(self.scenario).items():
                frame = getattr(self, name)
                if len(frame):
                    meanings = meanings | self.own_columns.get(name, {})
                    write_table(frame, partial / f"{name}.parquet", manifest=manifest, meanings=meanings)
        return Path(folder)

    @classmethod
    def load(cls, folder: str | Path) -> "Result":
        """Return the result that :meth:`save` wrote to `folder`: all but the raw records.

        Raises
        ------
        ParameterError
            If the folder holds no whole result of one run, or one of a version with other columns.
        """
        restore(Path(folder))
        require(not Path(folder).is_file(), f"{folder} is a file: give its folder, {Path(folder).parent}")
        flows = Path(folder) / "flows.parquet"
        if not flows.is_file():
            raise ParameterError(f"{folder} holds no flows.parquet: name a folder that a result was saved to")
        manifest = read_manifest(flows)
        resources = msgspec.convert(manifest.pop("resources"), Resources)
        scenario = from_dict(manifest["parameters"]["scenario"])
        fabric, run_id, known = scenario.fabric.build(), manifest["id"], columns_of(scenario)
        frames = {
            name: _loaded(Path(folder), name, run_id, fabric, columns=list(meanings))
            for name, meanings in known.items()
        }
        extended = ["flows", "units", *(["subflows"] if len(frames["subflows"]) else [])]
        own = {name: _own_meanings(Path(folder) / f"{name}.parquet", known[name]) for name in extended}
        return cls(
            scenario=scenario, manifest=manifest, resources=resources, own_columns=own, raw_records=None, **frames
        )


def columns_of(scenario: Scenario) -> dict[str, dict[str, str]]:
    """Return the meanings of the columns of each table that a run of `scenario` has, by their names."""
    return schema.meanings(listed_names(scenario.traffic))


def _loaded(folder: Path, name: str, run_id: str, fabric: Fabric, *, columns: list[str]) -> pd.DataFrame:
    """Return one table of a saved result; tables without rows have no file."""
    path = folder / f"{name}.parquet"
    if name not in ("flows", "ports") and not path.is_file():
        return empty_table(name, fabric)
    manifest, frame = read_manifest(path), read_table(path)
    same = manifest["id"] == run_id
    require(same, f"{path.name} is of another run than flows.parquet: keep each run in a folder of its own")
    made_by = manifest["software"]["version"]
    known = [column for column in frame.columns if column in columns] == columns
    require(known, f"{path.name} was made by capsmodel {made_by} with other columns: simulate its scenario again")
    return frame


def _own_meanings(path: Path, known: Mapping[str, str]) -> dict[str, str]:
    """Return name and meaning of the columns of a file beyond those of every scheme."""
    meanings = read_meanings(path) if path.is_file() else {}
    return {column: meaning for column, meaning in meanings.items() if column not in known}


def facts(result: Result) -> dict[str, str]:
    """Return a result in a few lines, a name of at most 15 columns and a value of at most 60."""
    scenario, summary = result.scenario, result.summary
    hosts, switches = scenario.fabric.node_counts()
    lines = {
        "scheme": f"{scenario.scheme}, seed {scenario.seed}",
        "fabric": f"{scenario.fabric.kind}, {hosts} hosts, {switches} switches",
        "flows": f"{summary.flows}: {summary.short_flows} short, {summary.long_flows} long; "
        f"{summary.unfinished_flows} unfinished",
        "simulated time": f"{result.resources.simulated_s:.4g} s",
        "FCT, short": _mean_and_p99(summary.mean_fct_short_s, summary.p99_fct_short_s),
        "FCT, long": _mean_and_p99(summary.mean_fct_long_s, result.fct_percentile_s(99, kind="long")),
        "timeouts": f"{summary.timeouts}",
        "packets dropped": f"{summary.packets_dropped}",
    }
    _, _, offered = offered_line(pd.DataFrame([result.loads])).partition(": ")
    if offered:
        lines["offered load"] = offered
    return lines


def _mean_and_p99(mean_s: float, p99_s: float) -> str:
    return "none finished" if isnan(mean_s) else f"mean {1e3 * mean_s:.4g} ms, 99th percentile {1e3 * p99_s:.4g} ms"
