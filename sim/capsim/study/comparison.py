"""Several schemes on the same flows, over several seeds: a study whose only axis is the scheme.

:func:`compare` runs a scenario, :func:`estimate` a few leaves or pods of a large one in its place.
"""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from capsim.base.bounds import SEEDS
from capsim.protocols.registry import scheme as find
from capsim.results.fct import slowdown_by_size
from capsim.roles.components import Scheme
from capsim.scenario.excerpt import ExcerptOf, check_scheme
from capsim.scenario.scenario import Scenario, excerpts, load_scenario
from capsim.study.claims.design import Design
from capsim.study.file import Source
from capsim.study.study import Places, Studied, Study
from capsmodel.checks import ParameterError, require
from capsmodel.experiments.number_texts import sizes_text
from capsmodel.experiments.sweep import Done, Executor, all_cores, one_by_one
from capsmodel.queueing.settling import mean_slowdown

ESTIMATE_EDGES_BYTES = (0, 1e4, 1e5, 1e6, float("inf"))
"""Bins of flow sizes of an estimate, in bytes."""
PARTS = ("from", "to", "rest")
"""Flows that a touched leaf or pod sends, those of others that it receives, and all others."""
TOUCHED = "touched"
"""Folder of the runs with links that differ, in those of the others."""
_ALL_BYTES = (0, float("inf"))
_TAIL_FLOWS = 1000  # of a bin, below which a 99th percentile rests on fewer than ten flows
_MEAN_OF_INPUTS, _P99_OF_INPUTS = 0.06, 0.17  # `few_inputs`, of uet
_LOAD_EFFECT = 0.01  # of the load that seeds offer by chance on slowdowns, from which on it is said
_MOST_TIMEOUTS = 0.01  # share of flows, above which a few of them decide the tail


def comparison(
    scenario: Scenario | str | Path,
    *,
    schemes: Sequence[str | Scheme],
    seeds: int,
    engine: str = "compiled",
    **keys: Any,
) -> Study:
    """Return the study that compares schemes on the same flows.

    Parameters
    ----------
    scenario, schemes, seeds, engine
        As of :func:`compare`.
    **keys
        Other keys of a study, such as ``claim`` and ``panel``.

    Raises
    ------
    ParameterError
        As :func:`compare`.
    """
    require(not isinstance(schemes, str), f'schemes = {schemes!r}, but it must be a list: write ["{schemes}"]')
    described = scenario if isinstance(scenario, Scenario) else load_scenario(scenario)
    names = [find(one).name if isinstance(one, str) else one.name for one in schemes]
    require(len(names) > 0, "schemes: name at least one")
    require(len(set(names)) == len(names), f"schemes: {', '.join(names)} names one twice")
    SEEDS.check("seeds", seeds)
    by_name = dict(zip(names, schemes, strict=True))
    axis: Any = {name: one if isinstance(one, str) else name for name, one in by_name.items()}
    axis = names if list(axis.values()) == names else axis
    own = {name: one for name, one in by_name.items() if not isinstance(one, str)}
    tables = {key: one for key, one in described.to_dict().items() if key not in ("scheme", "compare", "seed")}
    head = {"title": described.name, "axes": {"scheme": axis}, "seeds": seeds, "engine": engine, "scenario": tables}
    source = Source.of_tables({**head, **keys}, name="comparison")
    return Study.of(Design(source, has_templates=False, schemes=own, first_seed=described.seed))


def compare(
    scenario: Scenario | str | Path,
    *,
    schemes: Sequence[str | Scheme],
    seeds: int = 5,
    engine: str = "compiled",
    jobs: int = 1,
    folder: str | Path | None = None,
    results: str | Path | None = None,
    executor: Executor | None = None,
    done: Done | None = None,
) -> Studied:
    """Run `scenario` with each scheme and each of `seeds` seeds.

    Parameters
    ----------
    scenario : Scenario, str or Path
        A scenario, the name of a preset or a TOML file (:func:`capsim.load_scenario`). Its scheme is
        replaced; its parameters go to the schemes as they are.
    schemes : sequence of str or Scheme
        At least one; the first is the base of the ratios.
    seeds : int
        Replicates; they use the seeds ``scenario.seed``, ``scenario.seed + 1``, ...
    engine : str
        ``compiled`` or ``reference``.
    jobs : int
        Processes that run at the same time.
    folder : str or Path, optional
        Where the row of each run is kept, so that a comparison that was interrupted goes on where it stopped.
    results : str or Path, optional
        Where the whole result of each run is saved, a folder each (``caps-seed1``), for :meth:`capsim.Result.load`.
        Runs whose rows are in `folder` are made again where their results are not.
    executor : callable, optional
        What runs them in place of `jobs` processes, such as :func:`capsmodel.experiments.sweep.dask_cluster`.
    done : callable, optional
        Called in place of a progress bar, with the tasks that have just ended.

    Returns
    -------
    Studied
        All runs, and their table.

    Raises
    ------
    ParameterError
        If a scheme is unknown or named twice, or the scenario breaks a rule.
    """
    study = comparison(scenario, schemes=schemes, seeds=seeds, engine=engine)
    execute = executor or (one_by_one if jobs == 1 else all_cores(jobs))
    kept = None if results is None else Path(results)
    with tempfile.TemporaryDirectory() as forgotten:
        rows = Path(forgotten if folder is None else folder)
        return study.run_in(Places(rows, kept), execute, done=done)


@dataclass(frozen=True, repr=False)
class Estimated:
    """Slowdowns of a large fabric, from the runs of an excerpt of it.

    Attributes
    ----------
    excerpt : Scenario
        What ran.
    of : ExcerptOf
        The large fabric and its traffic.
    compared : Studied
        Its runs, as :func:`compare` returns them.
    flows : mapping
        The flows of all seeds that count, by scheme, with the column ``seed``. Where links of some leaves or pods
        differ, those of both excerpts with the columns ``part`` (:data:`PARTS`) and ``weight``, by which each part has
        its share of the whole.
    touched : Studied, optional
        The runs of the excerpt whose first leaf or pod has the links that differ; `compared` are those of the other.
    """

    excerpt: Scenario
    of: ExcerptOf
    compared: Studied
    flows: Mapping[str, pd.DataFrame]
    touched: Studied | None = None

    def table(self, edges_bytes: Sequence[float] = ESTIMATE_EDGES_BYTES) -> pd.DataFrame:
        """Return slowdowns by scheme and size, and of all sizes, with intervals.

        Parameters
        ----------
        edges_bytes : sequence of float
            Bins of sizes, in bytes, as of :func:`capsim.results.fct.fct_by_size`.

        Returns
        -------
        DataFrame
            ``scheme``, and the columns of :func:`capsim.results.fct.slowdown_by_size`.
        """
        tables = [slowdown_by_size(flows, edges_bytes).assign(scheme=name) for name, flows in self.flows.items()]
        together = pd.concat(tables, ignore_index=True)
        return together[["scheme", *together.columns.drop("scheme")]]

    def by_part(self) -> pd.DataFrame:
        """Return slowdowns of flows from the leaves or pods whose links differ, of those to them, and of the rest.

        Returns
        -------
        DataFrame
            ``scheme``, ``part``, ``share`` of the flows of the whole, and the columns of
            :func:`capsim.results.fct.slowdown_by_size` for flows of all sizes. No row where no links differ.
        """
        rows = [
            {"scheme": name, "part": part, "share": ours["weight"].sum(), **_of_all_sizes(ours)}
            for name, flows in self.flows.items()
            if "part" in flows
            for part, ours in flows.groupby("part", sort=False)
        ]
        return pd.DataFrame(rows)

    def remarks(self) -> list[str]:
        """Return what the numbers lack: inputs of ports, load by chance, flows that had not ended, tails of few."""
        table = self.table()
        lines = [line for name, flows in self.flows.items() for line in _lacking(flows, table[table["scheme"] == name])]
        return [_inputs_line(self.of), *_load_lines(self.compared.runs), *lines]

    def __repr__(self) -> str:
        """Return what it is of, and mean and 99th percentile of all flows by scheme."""
        of, rows = self.of, self.table().groupby("scheme", sort=False).tail(1).to_dict("records")
        seeds = max(flows["seed"].nunique() for flows in self.flows.values())
        part = f"{of.blocks} of {of.of_blocks} {of.fabric.blocks().word}"
        means = (
            f"  {row['scheme']}: slowdown {row['mean_slowdown']:.3g}, p99 {row['p99_slowdown']:.3g}" for row in rows
        )
        return "\n".join([f"Estimated: slowdowns on {of.hosts:,} hosts from {part}, {seeds} seeds", *means])


def few_inputs(of: ExcerptOf) -> tuple[float, float]:
    r"""Return by which shares mean and 99th percentile of slowdowns are too low in an excerpt, as runs have shown.

    A port from the top tier to a block has an input for each other block. Packets of one input come one after the other
    and do not meet: of n inputs there is the share 1 - 1/n of the wait of very many. Both shares are in proportion to
    what k blocks lack of it beside L, :math:`\frac1{k-1}-\frac1{L-1}`, with the factors of the scheme that lacks most
    where whole runs are kept, at a load of 0.6 (``docs/howto/large_fabric.md``).
    """
    lacking = 1 / (of.blocks - 1) - 1 / (of.of_blocks - 1)
    return _MEAN_OF_INPUTS * lacking, _P99_OF_INPUTS * lacking


def _inputs_line(of: ExcerptOf) -> str:
    mean, p99 = (f"{100 * one:.1f}%" for one in few_inputs(of))
    here, whole, word = of.blocks - 1, of.of_blocks - 1, of.fabric.blocks().word
    ports = f"a port to one of the {word} has {here} inputs, in the whole {whole}"
    return f"inputs: {ports}: means are some {mean} too low for it, 99th percentiles {p99} (measured at a load of 0.6)"


def _load_lines(runs: pd.DataFrame) -> list[str]:
    """Return a line if the flows of all seeds together offer another load than asked for, and what that does.

    Sizes have heavy tails, so that most seeds offer less than the load and a few much more. Of two links that share
    their rates :func:`capsmodel.queueing.settling.mean_slowdown` says by how much slowdowns then differ; 25 seeds of
    four leaves (web search at a load of 0.6, 14 ms of arrivals) had half of it.
    """
    loads = runs.drop_duplicates("seed")[["offered_load_hosts", "expected_load_hosts"]].mean()
    if not loads.between(0, 1, inclusive="neither").all():
        return []
    offered, expected = loads.tolist()
    effect = mean_slowdown(offered) / mean_slowdown(expected) - 1
    if abs(effect) < _LOAD_EFFECT:
        return []
    word = "lower" if effect < 0 else "higher"
    facts = f"the seeds offer {offered:.3f} of the links of hosts by chance, {expected:.3f} is asked for"
    return [f"load: {facts}: slowdowns are up to {100 * abs(effect):.2g}% {word}, and more seeds come nearer"]


def _lacking(flows: pd.DataFrame, table: pd.DataFrame) -> list[str]:
    """Return what the numbers of a scheme lack, whose rows of the table these are."""
    rows = table.to_dict("records")
    name, whole = rows[0]["scheme"], rows[-1]
    late = float(np.average(flows["timeouts"] > 0, weights=flows.get("weight")))
    few = [sizes_text(row["above_bytes"], row["up_to_bytes"]) for row in rows if 0 < row["flows"] < _TAIL_FLOWS]
    lines = []
    if whole["unfinished_flows"]:
        lines.append(f"{name}: {whole['unfinished_flows']} of {whole['flows']} flows had not ended: raise end_s")
    if late > _MOST_TIMEOUTS:
        lines.append(f"{name}: {100 * late:.2g}% of the flows had a timeout, which decide the tail: give more seeds")
    if few:
        lines.append(f"{name}: p99 of {', '.join(few)} is of fewer than {_TAIL_FLOWS} flows: give more flows or seeds")
    return lines


def _of_all_sizes(flows: pd.DataFrame) -> dict[Any, Any]:
    return slowdown_by_size(flows, _ALL_BYTES).to_dict("records")[-1]


def parts_of(
    scenario: Scenario | str | Path, leaves: int | None = None, pods: int | None = None, blocks: int | None = None
) -> tuple[tuple[Scenario, ...], ExcerptOf]:
    """Return the excerpts, which `scenario` may be already where no number is given, and what they are of."""
    whole = scenario if isinstance(scenario, Scenario) else load_scenario(scenario)
    is_part = whole.excerpt_of is not None and (leaves, pods, blocks) == (None, None, None)
    parts = (whole,) if is_part else excerpts(whole, leaves=leaves, pods=pods, blocks=blocks)
    if (of := parts[0].excerpt_of) is None:
        raise ParameterError("this is no excerpt: name the leaves or pods to keep")
    return parts, of


def _mixed(sound: pd.DataFrame, touched: pd.DataFrame, small: Scenario, of: ExcerptOf) -> pd.DataFrame:
    """Return the flows of a sound excerpt, and those of the other at its first block, each part with its share.

    Of L blocks t are touched and send t/L of the flows. Of the flows that leave their block, each of the other L - 1
    receives one in L - 1.
    """
    names = {name: block for block, names in enumerate(small.fabric.block_names()) for name in names}
    built = small.fabric.build()
    block = np.array([names[host] for host in built.node_names[: built.n_hosts]])
    both = pd.concat([sound, touched])
    leaving = float((block[both["src"]] != block[both["dst"]]).mean())
    sent = (of.touched or 0) / of.of_blocks
    received = (1 - sent) * leaving * (of.touched or 0) / (of.of_blocks - 1)
    sends, receives = block[touched["src"]] == 0, block[touched["dst"]] == 0
    ours = (touched[sends], touched[receives & ~sends], sound)
    shares = (sent, received, 1 - sent - received)
    for part, flows in zip(PARTS, ours, strict=True):
        word = of.fabric.blocks().word
        require(len(flows) > 0, f"flows = {len(both)} of all seeds, none of them {part} {word} that differ: give more")
    weighted = [
        flows.assign(part=part, weight=share / len(flows))
        for part, flows, share in zip(PARTS, ours, shares, strict=True)
    ]
    together: pd.DataFrame = pd.concat(weighted, ignore_index=True)
    return together


def estimate(
    scenario: Scenario | str | Path,
    *,
    schemes: Sequence[str | Scheme],
    leaves: int | None = None,
    pods: int | None = None,
    blocks: int | None = None,
    seeds: int = 5,
    engine: str = "compiled",
    jobs: int = 1,
    folder: str | Path | None = None,
    results: str | Path | None = None,
    executor: Executor | None = None,
    done: Done | None = None,
) -> Estimated:
    """Run a few leaves or pods of a large fabric in place of all, and return slowdowns by size with 95% intervals.

    Parameters
    ----------
    scenario : Scenario, str or Path
        The large scenario, or an excerpt of one that :func:`capsim.excerpt` has made.
    schemes : sequence of str or Scheme
        At least one.
    leaves, pods, blocks : int, optional
        How many to keep, as of :func:`capsim.excerpt`; 4 when none is given.
    seeds, engine, jobs, folder, results, executor, done
        As of :func:`compare`, which runs the excerpt.

    Returns
    -------
    Estimated
        Tables by size, and all runs. Where links of some leaves or pods differ, those of two excerpts, one of them with
        a leaf or pod whose links do (:mod:`capsim.scenario.excerpt`).

    Raises
    ------
    ParameterError
        If an excerpt would not answer for the whole, or as :func:`compare`.

    Examples
    --------
    >>> from capsim import LeafSpine, Poisson
    >>> fabric = LeafSpine(leaves=8, hosts_per_leaf=2, spines=2)
    >>> large = Scenario(fabric=fabric, traffic=(Poisson(flow_bytes=3000, load=0.3, flows=80),))
    >>> found = estimate(large, schemes=["rps"], leaves=4, seeds=2, engine="reference")
    >>> found.table()["flows"].tolist()  # up to 10 KB, 100 KB, 1 MB, above, all
    [80, 0, 0, 0, 80]
    """
    parts, of = parts_of(scenario, leaves, pods, blocks)
    require(not isinstance(schemes, str), f'schemes = {schemes!r}, but it must be a list: write ["{schemes}"]')
    for one in schemes:
        check_scheme(find(one) if isinstance(one, str) else one)
    runs: dict[str, Any] = {"engine": engine, "jobs": jobs, "executor": executor, "done": done}
    with tempfile.TemporaryDirectory() as forgotten:
        of_parts = []
        for name, small in zip(("", TOUCHED), parts, strict=False):
            rows = None if folder is None else Path(folder) / name
            kept = Path(forgotten if results is None else results) / name
            of_parts.append(compare(small, schemes=schemes, seeds=seeds, folder=rows, results=kept, **runs))
        tables = [{name: one.flows(name) for name in one.schemes} for one in of_parts]
    if results is None:
        of_parts = [replace(one, results=None) for one in of_parts]
    compared, *others = of_parts
    if not others:
        return Estimated(parts[0], of, compared, tables[0])
    flows = {name: _mixed(table, tables[1][name], parts[0], of) for name, table in tables[0].items()}
    return Estimated(parts[0], of, compared, flows, others[0])
