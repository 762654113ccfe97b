"""Machines that compute many runs: the cores of this one or a Dask cluster."""

from dataclasses import dataclass

from cyclopts import Group, Parameter

from capsmodel.cli.shared.options import Count
from capsmodel.experiments.sweep import Executor, all_cores, dask_cluster, one_by_one

MACHINES = Group("Machines", sort_key=30)


@Parameter(name="*", group=MACHINES)
@dataclass(frozen=True, kw_only=True)
class Machines:
    """Where runs are computed.

    Parameters
    ----------
    jobs
        Processes at the same time; -1 for all cores.
    cluster
        Address of a Dask scheduler, such as tcp://head:8786, or its scheduler file; its workers run what --jobs would.
    """

    jobs: Count = -1
    cluster: str | None = None

    def executor(self) -> Executor:
        """Return what runs the tasks.

        Raises
        ------
        ParameterError
            If the number of processes is out of range, or Dask is not installed.
        """
        if self.cluster is not None:
            return dask_cluster(self.cluster)
        return one_by_one if self.jobs == 1 else all_cores(self.jobs)


ALL_CORES = Machines()
