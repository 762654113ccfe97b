"""What a run of a study measures: measurements by their names, and the tasks that runs are.

A study names a measurement in its table ``[measure]``, whose other keys are arguments::

    [measure]
    name = "decoding-work"
    originals = "{originals}"

Only those that are registered can be named, so that this table runs no code but that of packages; a scheme that is
named by its Python file runs that file (:mod:`capsim.roles.scheme_files`). Here are those that simulate a scenario;
each has the metrics (:mod:`capsim.study.metrics`) of its list.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import fields, replace
from typing import Any, Literal, TypeVar, get_args

from capsim.protocols.registry import scheme as find
from capsim.protocols.sharing.late_copies import LATE_COPIES, LateCopiesParams
from capsim.protocols.sharing.replicated import ReplicatedParams
from capsim.protocols.transports.newreno import NEWRENO
from capsim.protocols.transports.sack import SACK
from capsim.results.result import Result
from capsim.results.summary import Summary
from capsim.roles.components import Scheme, Transport
from capsim.run.simulation import simulate
from capsim.scenario.scenario import from_dict
from capsim.study.metrics import FCT_PERCENTILES, Run, columns
from capsmodel.checks import ParameterError, check_known, choice, require
from capsmodel.experiments.measurement import measurement, measurement_of
from capsmodel.experiments.task import Task

__all__ = ["Measuring", "TaskList", "finished_run", "measure", "register", "with_late_replicas", "with_recovery"]

Measuring = Callable[..., Any]
_KNOWN: dict[str, Measuring] = {}
KeyT = TypeVar("KeyT")


def register(*functions: Measuring) -> None:
    """Make measurements known under their names (:func:`capsmodel.experiments.measurement.measurement`).

    Raises
    ------
    ParameterError
        If a function is no measurement, or another one has its name.
    """
    for function in functions:
        name = measurement_of(function).name
        if _KNOWN.setdefault(name, function) is not function:
            raise ParameterError(f"two measurements are called {name!r}: rename one")


def measure(name: str) -> Measuring:
    """Return the measurement of a name.

    Raises
    ------
    ParameterError
        If there is none.
    """
    check_known(name, _KNOWN, f"measure.name: there is no measurement {name!r}")
    return _KNOWN[name]


class TaskList(Mapping[tuple[KeyT, int], Task]):
    """A task for each point and seed; those of a point share the work of making the first.

    Parameters
    ----------
    points : iterable
        What is run.
    seeds : iterable of int
        With which seeds.
    made : callable
        ``made(point, seed)`` returns a task; it is called once for each point that is asked for.
    """

    def __init__(self, points: Iterable[KeyT], seeds: Iterable[int], made: Callable[[KeyT, int], Task]) -> None:
        self._seeds = dict.fromkeys(seeds)
        self._known: dict[KeyT, dict[int, Task]] = {point: {} for point in points}
        self._made = made

    def __getitem__(self, key: tuple[KeyT, int]) -> Task:
        """Return the task of a point and a seed."""
        point, seed = key
        known = self._known[point]
        if seed not in known:
            if seed not in self._seeds:
                raise KeyError(key)
            known[seed] = next(iter(known.values())).with_seed(seed) if known else self._made(point, seed)
        return known[seed]

    def __iter__(self) -> Iterator[tuple[KeyT, int]]:
        """Yield all points with all seeds."""
        return ((point, seed) for point in self._known for seed in self._seeds)

    def __len__(self) -> int:
        """Return the number of tasks."""
        return len(self._known) * len(self._seeds)

    def of_seeds(self, seeds: Container[int]) -> Iterator[tuple[tuple[KeyT, int], Task]]:
        """Yield the tasks that have one of some seeds, with point and seed."""
        return ((key, self[key]) for key in self if key[1] in seeds)


RECOVERIES = {"newreno": NEWRENO, "sack": SACK}
"""Transports that a scheme over TCP can have in place of its own, by name."""
CompletionTime = Literal["sender", "receiver"]
Unfinished = Literal["", "left out"]

_SUMMARY = tuple(field.name for field in fields(Summary))
_PERCENTILES = ("p50_fct_short_s", "p95_fct_short_s", "p999_fct_short_s")
_FLOWS = (
    *("mean_fct_s", "mean_slowdown_long", "lost_ratio", "copied_ratio", "copied_sent_ratio", "goodput_bps"),
    *("timeouts_short", "lost_ratio_short", "reordered_ratio_short", *FCT_PERCENTILES),
)
_SPRAYED = ("p99_fct_s", "long_dup_ack_run_ratio")
_CODED = ("decode_s", "decode_in_order_s", "repair_share")
_MULTIPATH = (
    *("multipath_fct_short_s", "multipath_throughput_long_bps", "untimed_ratio", "once_timed_ratio"),
    *("longest_untimed_fct_s", "coded_ratio", "coded_ratio_short", "coded_ratio_long"),
)
_MMPTCP = (
    *("mean_fct_short_s", "fct_short_std_s", "completed_short", "p99_fct_s"),
    *("p50_fct_short_s", "p75_fct_short_s", "p99_fct_short_s"),
    *("mean_throughput_long_bps", "throughput_long_std_bps"),
    *("core_utilisation", "core_loss_ratio", "access_loss_ratio", "traversals"),
    *("short_flows", "timeouts_short", "timed_out_short", "fast_retransmits_short", "spurious_short"),
    *("flows_without_timeout", "flows_with_fewer_than_2_timeouts", "flows_with_more_than_2_timeouts"),
    *("flows_with_more_than_20_timeouts", "flows_with_0_fast_retx", "flows_with_1_fast_retx"),
)
_WORST_FLOW = ("most_timeouts_short", "most_fast_retransmits_short")


def with_recovery(scheme: Scheme, name: str) -> Scheme:
    """Return the scheme with another loss recovery in those of its stacks that have one of `RECOVERIES`."""
    choice("recovery", name, RECOVERIES)
    stacks = {}
    for flows in ("short", "long"):
        stack = getattr(scheme, flows)
        if stack.transport.name in RECOVERIES:
            stack = replace(stack, transport=_with_params_of(RECOVERIES[name], stack.transport))
        stacks[flows] = stack
    return replace(scheme, **stacks)


def _with_params_of(transport: Transport, other: Transport) -> Transport:
    """Return a transport with the values of those parameters that the other one has too."""
    both = {one.name for one in fields(transport.params)} & {one.name for one in fields(other.params)}
    values = {name: getattr(other.params, name) for name in both}
    return replace(transport, params=replace(transport.params, **values))


def with_late_replicas(scheme: Scheme, delay_s: float) -> Scheme:
    """Return the scheme with second copies of short flows that start so many seconds after the first, if it has any."""
    sharing = scheme.short.sharing
    if not isinstance(sharing.params, ReplicatedParams):
        return scheme
    params = LateCopiesParams(**vars(sharing.params) | {"delay_s": delay_s})
    return replace(scheme, short=replace(scheme.short, sharing=replace(LATE_COPIES, params=params)))


def finished_run(
    scenario: dict[str, Any],
    *,
    recovery: str,
    replica_delay_s: float = 0.0,
    seed: int,
    engine: str,
    unfinished: Unfinished = "",
) -> Result:
    """Return the result of a run in which all flows finish, or the others are left out on purpose.

    Parameters
    ----------
    scenario : dict
        As :meth:`capsim.Scenario.to_dict` gives it; its seed is not used.
    recovery : str
        ``"newreno"`` or ``"sack"``, loss recovery of those stacks whose transport is one of these.
    replica_delay_s : float
        How much later than the first the second copy of a flow starts, in seconds.
    seed : int
        Seed of the run.
    engine : str
        ``"compiled"`` or ``"reference"``.
    unfinished : str
        ``"left out"`` where the study says that flows which have not ended by `end_s` do not count.

    Raises
    ------
    ParameterError
        If flows are unfinished and not left out: completion times would be too good.
    """
    described = from_dict(scenario).replace(seed=seed)
    scheme = with_recovery(find(described.scheme), recovery)
    if replica_delay_s:
        scheme = with_late_replicas(scheme, replica_delay_s)
    result = simulate(described, engine=engine, scheme=scheme, progress=None)
    left = result.summary.unfinished_flows
    message = f"{described.scheme}: {left} flows are unfinished after end_s = {described.end_s:g} s: let it be more"
    require(left == 0 or unfinished == "left out", message)
    return result


def summary_row(result: Result) -> dict[str, Any]:
    """Return the row of a run: its summary, and what it took."""
    return {
        "scheme": result.scenario.scheme,
        "seed": result.scenario.seed,
        **columns(Run.of(result), (*_SUMMARY, *_PERCENTILES)),
        "traversals": result.resources.traversals,
        "cpu_s": result.resources.cpu_s,
        "id": result.manifest["id"],
    }


def _row(result: Result, *names: str) -> dict[str, Any]:
    return summary_row(result) | columns(Run.of(result), names)


@measurement("experiment-run", revision=1)
def experiment_run(
    scenario: dict[str, Any],
    *,
    recovery: str = "newreno",
    replica_delay_s: float = 0.0,
    also: str = "",
    unfinished: Unfinished = "",
    seed: int,
    engine: str = "compiled",
) -> dict[str, Any]:
    """Simulate a scenario to the end of its flows; parameters and errors as :func:`finished_run`.

    `also` names further metrics, with blanks between: those that need histograms or the packet trace.
    """
    run = finished_run(
        scenario,
        recovery=recovery,
        replica_delay_s=replica_delay_s,
        seed=seed,
        engine=engine,
        unfinished=unfinished,
    )
    return _row(run, *_FLOWS, *also.split())


@measurement("sprayed-run", revision=2)
def sprayed_run(
    scenario: dict[str, Any], *, recovery: str = "newreno", seed: int, engine: str = "compiled"
) -> dict[str, Any]:
    """Simulate a scenario likewise, with what spraying does to TCP, and windows where the scenario samples any."""
    run = finished_run(scenario, recovery=recovery, seed=seed, engine=engine)
    sampled = () if run.scenario.probes is None else ("cwnd_packets",)
    return _row(run, *_FLOWS, *_SPRAYED, *sampled)


@measurement("coded-run", revision=2)
def coded_run(
    scenario: dict[str, Any], *, recovery: str = "newreno", seed: int, engine: str = "compiled"
) -> dict[str, Any]:
    """Simulate a scenario likewise, with what coding costs; the scheme codes."""
    return _row(finished_run(scenario, recovery=recovery, seed=seed, engine=engine), *_FLOWS, *_CODED)


@measurement("multipath-run", revision=1)
def multipath_run(
    scenario: dict[str, Any], *, recovery: str = "newreno", also: str = "", seed: int, engine: str = "compiled"
) -> dict[str, Any]:
    """Simulate a scenario likewise, with its flows over several subflows, without those in the background."""
    return _row(finished_run(scenario, recovery=recovery, seed=seed, engine=engine), *_MULTIPATH, *also.split())


@measurement("mmptcp-run", revision=1)
def mmptcp_run(
    scenario: dict[str, Any], *, seed: int, completion_time: CompletionTime = "receiver", engine: str = "compiled"
) -> dict[str, float]:
    """Simulate a scenario on a fat-tree, which ends while long flows still send.

    Short flows that have not ended by then have no completion time and are left out, as in the paper, whose tables say
    how many ended. The paper does not define a completion time. The authors' code takes it at the sender, from the
    SYN-ACK to the last acknowledgement: a lost SYN costs nothing there. At the receiver it is from the first SYN to the
    last byte. Behind the queues of long flows a handshake takes some 5 ms; of `mptcp_ns3` the sender may learn several
    timeouts later that all has arrived.

    Parameters
    ----------
    scenario : dict
        As :meth:`capsim.Scenario.to_dict` gives it; its seed is not used.
    seed : int
        Seed of the run.
    completion_time : str
        ``"sender"`` or ``"receiver"``: where it is taken.
    engine : str
        ``"compiled"`` or ``"reference"``.
    """
    choice("completion_time", completion_time, get_args(CompletionTime))
    result = simulate(from_dict(scenario).replace(seed=seed), engine=engine, progress=None)
    run = Run.at_the_sender(result) if completion_time == "sender" else Run.of(result)
    return {name: float(value) for name, value in columns(run, _MMPTCP).items()}


@measurement("mmptcp-worst-flow", revision=1)
def mmptcp_worst_flow(scenario: dict[str, Any], *, runs: int, seed: int, engine: str = "compiled") -> dict[str, float]:
    """Simulate a scenario on a fat-tree with several seeds, and take the largest values of any flow of all these runs.

    A maximum grows with the number of flows, so one that is printed of 20 runs is compared with that of 20 runs. Flows
    that have not ended count as well.

    Parameters
    ----------
    scenario : dict
        As :meth:`capsim.Scenario.to_dict` gives it; its seed is not used.
    runs : int
        How many; no two seeds share one.
    seed : int
        Seed of all.
    engine : str
        ``"compiled"`` or ``"reference"``.
    """
    described = from_dict(scenario)
    seeds = range(runs * (seed - 1) + 1, runs * seed + 1)
    each = [
        columns(Run.of(simulate(described.replace(seed=one), engine=engine, progress=None)), _WORST_FLOW)
        for one in seeds
    ]
    return {name: max(row[name] for row in each) for name in _WORST_FLOW}


register(experiment_run, sprayed_run, coded_run, multipath_run, mmptcp_run, mmptcp_worst_flow)
