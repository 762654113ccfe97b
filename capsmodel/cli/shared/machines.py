"""Machines that compute many runs: the cores of this one or a Dask cluster."""

from dataclasses import dataclass

from cyclopts import Group, Parameter

from capsmodel.checks import require
from capsmodel.cli.shared.options import MaybeCount
from capsmodel.experiments.sweep import Executor, all_cores, dask_cluster, one_by_one

MACHINES = Group("Machines", sort_key=30)


@Parameter(name="*", group=MACHINES)
@dataclass(frozen=True, kw_only=True)
class Machines:
    """Where runs are computed.

    Parameters
    ----------
    jobs
        Processes at the same time; all cores when left out, or -1.
    cluster
        Dask scheduler in their place, tcp://head:8786 or its scheduler file.
    """

    jobs: MaybeCount = None
    cluster: str | None = None

    def __post_init__(self) -> None:
        require(self.jobs is None or self.cluster is None, "--jobs and --cluster exclude each other: give one")

    @property
    def given(self) -> bool:
        """Return whether they are said, and not left to the command."""
        return self.jobs is not None or self.cluster is not None

    def executor(self) -> Executor:
        """Return what runs the tasks.

        Raises
        ------
        ParameterError
            If the number of processes is out of range, or Dask is not installed.
        """
        if self.cluster is not None:
            return dask_cluster(self.cluster)
        return one_by_one if self.jobs == 1 else all_cores(-1 if self.jobs is None else self.jobs)


ALL_CORES = Machines()
