"""Executors of a sweep: this process, the cores of this machine, or a cluster."""

import asyncio
import json
import socket
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import joblib

from capsmodel._interrupts import in_background
from capsmodel.checks import ParameterError, require

_ANSWER_S = 10  # a scheduler answers within milliseconds; one on a busy machine, within seconds
Batch = Sequence[Any]
Outcomes = list[Any]
Executor = Callable[[Callable[[Batch], Outcomes], Iterable[Batch]], Iterable[Outcomes]]
"""Applies a function to every batch and yields what it returns in any order, as it comes. A cluster is one of these.

A batch that is asked for is claimed: an executor that asks for a few at a time shares a folder with other sweeps."""


def all_cores(jobs: int = -1) -> Executor:
    """Return an executor over `jobs` processes of this machine; -1 means as many as it has cores.

    Raises
    ------
    ParameterError
        If `jobs` is neither -1 nor a whole number from 1 to twice the cores (or 8): more are slower and fill the
        memory.
    """
    most = max(8, 2 * joblib.cpu_count())
    is_known = jobs == -1 or jobs in range(1, most + 1)
    require(is_known, f"jobs = {jobs}, but it must be a whole number from 1 to {most} here, or -1 for all cores")

    def execute(function: Callable[[Batch], Outcomes], batches: Iterable[Batch]) -> Iterable[Outcomes]:
        pool = joblib.Parallel(n_jobs=int(jobs), return_as="generator_unordered")
        try:
            yield from pool(joblib.delayed(function)(batch) for batch in batches)
        except BrokenProcessPool:
            raise ChildProcessError(
                "a worker process was killed, by a person or for want of memory: run again, with fewer processes if"
                " memory is short; what had ended is kept where a folder was named"
            ) from None

    return execute


def dask_cluster(address: str, *, waiting: int = 4) -> Executor:
    """Return an executor over the workers of a Dask cluster, which the caller has started.

    Parameters
    ----------
    address : str
        Of the scheduler, such as ``tcp://head:8786``, or the name of the file that ``dask scheduler --scheduler-file``
        writes.
    waiting : int
        Batches that are at the cluster at a time, for each of its threads: some run, the others wait there.

    Raises
    ------
    ParameterError
        If the extra ``cluster`` is not installed.

    Notes
    -----
    Rows come back here and are stored here; workers need capsmodel installed, and no common folder. A batch of a
    worker that is lost is run again by another.
    """
    require(find_spec("distributed") is not None, "a cluster needs Dask: install dask and distributed")

    def execute(function: Callable[[Batch], Outcomes], batches: Iterable[Batch]) -> Iterable[Outcomes]:
        from distributed import as_completed

        with _connected(address) as client:
            threads = max(1, sum(client.nthreads().values()))
            rest = iter(batches)
            running = as_completed(_sent(client, function, islice(rest, waiting * threads)))
            for future in running:
                yield _outcome(future)
                for more in _sent(client, function, islice(rest, 1)):
                    running.add(more)

    return execute


@contextmanager
def _connected(address: str) -> Iterator[Any]:
    from distributed import Client

    file = Path(address)
    try:
        place = str(json.loads(file.read_text(encoding="utf-8"))["address"]) if file.is_file() else address
        _check_listens(place)
        in_background(lambda: asyncio.run(_check_answers(place)), name="Dask scheduler").result()
        client = Client(place, timeout=f"{_ANSWER_S}s")
    except Exception as error:  # what answers there may be anything, and so may be what Dask makes of it
        raise ParameterError(
            f"no Dask scheduler at {address}: {_reason(error)}; start one with dask scheduler"
        ) from None
    with client:
        yield client


def _check_listens(address: str) -> None:
    """Raise OSError if nothing listens at an address: a client would try again for seconds before it says so."""
    from distributed.comm.addressing import get_address_host_port, parse_address

    if parse_address(address)[0] in ("tcp", "tls"):
        socket.create_connection(get_address_host_port(address), timeout=_ANSWER_S).close()


async def _check_answers(address: str) -> None:
    """Raise an error unless a scheduler answers in time: a client would wait for ever for whoever only listens.

    A web server's answer is read as the length of what follows, which no memory holds.
    """
    from distributed.core import rpc
    from distributed.security import Security

    arguments = Security().get_connection_args("client")
    async with asyncio.timeout(_ANSWER_S), rpc(address, timeout=_ANSWER_S, connection_args=arguments) as scheduler:
        identity = await scheduler.identity()
    require(identity.get("type") == "Scheduler", f"a {identity.get('type')} answers there")


def _reason(error: Exception) -> str:
    """Return in a line why there is no scheduler."""
    if isinstance(error, TimeoutError):
        return f"nothing answered in {_ANSWER_S} s"
    if isinstance(error, MemoryError):
        return "another service answers there"
    return " ".join(str((isinstance(error, OSError) and error.strerror) or error).split())


def _outcome(future: Any) -> Outcomes:
    from distributed import CancelledError, KilledWorker

    try:
        outcomes: Outcomes = future.result()
    except (CancelledError, KilledWorker) as error:
        lost = (
            "lost the workers that ran a task" if isinstance(error, KilledWorker) else "ended while tasks were running"
        )
        raise ChildProcessError(f"the cluster {lost}: run again; what had ended is kept") from None
    return outcomes


def _sent(client: Any, function: Callable[[Batch], Outcomes], batches: Iterable[Batch]) -> list[Any]:
    return [client.submit(function, batch, pure=False) for batch in batches]


def one_by_one(function: Callable[[Batch], Outcomes], batches: Iterable[Batch]) -> Iterable[Outcomes]:
    """Execute in this process, in order: for a debugger and for functions that are not importable elsewhere."""
    return map(function, batches)


@contextmanager
def closed_at_end(results: Iterable[Outcomes]) -> Iterator[Iterable[Outcomes]]:
    """Give `results`; whatever ends the loop over them, the processes behind them are told to stop at once."""
    try:
        yield results
    finally:
        if isinstance(results, Generator):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # joblib's, that results are left unused
                results.close()
