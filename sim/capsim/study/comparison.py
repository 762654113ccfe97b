"""Several schemes on the same flows, over several seeds: a study whose only axis is the scheme."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from capsim.base.bounds import SEEDS
from capsim.protocols.registry import scheme as find
from capsim.roles.components import Scheme
from capsim.scenario.scenario import Scenario, load_scenario
from capsim.study.claims.design import Design
from capsim.study.file import Source
from capsim.study.study import Places, Studied, Study
from capsmodel.checks import require
from capsmodel.experiments.sweep import Done, Executor, all_cores, one_by_one


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
