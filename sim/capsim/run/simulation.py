"""Run a scenario: the one call between a description and its results."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from capsim.base.clock import PS_PER_S, to_ps, to_s
from capsim.base.seeds import Purpose, engine_seed
from capsim.engines.probes import chosen_fields
from capsim.engines.state import RawRecords, Setup
from capsim.fabric.flows import FlowList
from capsim.fabric.listed import listed_columns, pinned_paths
from capsim.fabric.topology import Fabric, ports_like
from capsim.fabric.traffic import draw_flows
from capsim.protocols.registry import scheme as find
from capsim.results import conservation, tables
from capsim.results.ideal import ideal_fct_s
from capsim.results.load_record import load_record
from capsim.results.manifest import Resources, Stopwatch, make_manifest, peak_memory_bytes, run_parameters
from capsim.results.result import Result
from capsim.results.tables import empty_table, has_subflows, histograms_table, probes_table, subflows_table
from capsim.roles.components import Scheme
from capsim.roles.scheme_files import is_reference, source_of
from capsim.run import needs
from capsim.run.hook_errors import check_hooks, hook_errors
from capsim.run.hook_failures import run_hooks
from capsim.scenario.entry_stacks import entry_schemes, scheme_of_run
from capsim.scenario.excerpt import check_scheme
from capsim.scenario.profile import filled
from capsim.scenario.scenario import Hosts, Scenario, load_scenario
from capsmodel.checks import ParameterError, generator, require

Progress = Callable[[float], None]
PACKET_BYTES = 1460
# With six links each way 0.36 M link traversals, 4 to 8 s of the reference engine; compiling the loop takes 30 s
PACKETS_SOONER_THAN_COMPILED = 30_000


class Loading(NamedTuple):
    """Whether the engine was compiled or machine code was on disk, and the processor time of it, in seconds."""

    compiled: bool
    cpu_s: float


def simulate(
    scenario: Scenario | str | Path | Mapping[str, Any],
    *,
    rng: np.random.Generator | int | None = None,
    engine: str | None = None,
    scheme: Scheme | str | None = None,
    progress: Progress | Literal["bar"] | None = "bar",
) -> Result:
    """Run a scenario and return its tables.

    Parameters
    ----------
    scenario : Scenario, str, Path or mapping
        What to run: a scenario, or what makes one (:func:`capsim.load_scenario`): the name of a preset, a TOML file, or
        tables as in such a file.
    rng : Generator or int, optional
        Draws the seed of the run in place of ``scenario.seed``; the result's scenario holds what was drawn.
    engine : str, optional
        ``compiled`` (Numba) or ``reference`` (SimPy); both give identical records. When left out, the compiled one; as
        long as it is not compiled, which takes half a minute once, the other one for runs of up to 30,000 packets
        without probes and trace.
    scheme : Scheme or str, optional
        In place of the one that the scenario names: a name (:func:`capsim.schemes`), a file and the name of a scheme in
        it (``"two_choices.py:SCHEME"``), or a scheme of one's own. The result's scenario names the scheme that ran.
    progress : callable or None, optional
        Called now and then with the simulated time in seconds. When left out, a run of more than two seconds has a bar
        on a terminal or in a notebook, elsewhere a line once a minute; None shows nothing, for parts of longer work.

    Returns
    -------
    Result
        Tables, summary, manifest and resources.

    Raises
    ------
    ParameterError
        If the scenario breaks a rule or would not fit in memory, there is no such scheme, or a hook of one's own fails.
    FileNotFoundError
        If there is neither a preset nor a file of the name given.
    ConservationError
        If packets or bytes do not add up, which is a defect of the simulator or the scheme.

    Examples
    --------
    >>> from capsim import Batch, Dumbbell
    >>> traffic = (Batch(flows=2, flow_bytes=50_000, pairs="sides"),)
    >>> result = simulate(Scenario(fabric=Dumbbell(hosts_per_side=2), traffic=traffic), engine="reference")
    >>> result.summary.flows, result.summary.unfinished_flows
    (2, 0)

    A preset with another scheme: ``simulate("websearch-load-60", scheme="rps")``.
    """
    described = scenario if isinstance(scenario, Scenario) else load_scenario(scenario)
    chosen = scheme if isinstance(scheme, Scheme) else find(described.scheme if scheme is None else scheme)
    seed = described.seed if rng is None else int(generator(rng).integers(2**63))
    wanted = described.scheme if scheme is None else scheme
    name = wanted if isinstance(wanted, str) and is_reference(wanted) else chosen.name
    scenario = filled(described.replace(scheme=name, seed=seed), chosen).scenario
    setup = prepare(scenario, scheme=chosen)
    if progress == "bar":
        return run_watched(scenario, setup, engine=engine)
    return run_prepared(scenario, setup, engine=engine, progress=progress)


def run_watched(scenario: Scenario, setup: Setup, *, engine: str | None) -> Result:
    """Do what :func:`run_prepared` does, and show how far it is."""
    from capsmodel.experiments.progress import simulated_time, waiting  # Rich takes a tenth of a second to load

    chosen = chosen_engine(setup, engine)
    with waiting("compiling the scheme, once: 15 s to 2 min"):
        loading = compile_if_needed(setup.scheme, engine=chosen)
    with simulated_time(to_s(int(setup.flows.start_ps[setup.flows.n_starts - 1]))) as progress:
        return run_prepared(scenario, setup, engine=chosen, progress=progress, loading=loading)


def run_prepared(
    scenario: Scenario,
    setup: Setup,
    *,
    engine: str | None,
    progress: Progress | None = None,
    loading: Loading | None = None,
) -> Result:
    """Run what :func:`prepare` made of `scenario`, check that nothing is lost, and return the tables.

    `loading` is what :func:`compile_if_needed` returned, where it was called before.
    """
    source = source_of(scenario.scheme) if is_reference(scenario.scheme) else None
    scenario = scenario.replace(scheme=setup.scheme.name)
    parameters = run_parameters(scenario, setup.scheme, setup.entry_schemes)
    engine = chosen_engine(setup, engine)
    ready = loading or compile_if_needed(setup.scheme, engine=engine)
    watch = Stopwatch()
    raw = run_hooks(setup, engine=engine, progress=_in_seconds(progress))
    cpu_s = watch.cpu_s()
    conservation.check(raw, setup.fabric)
    load = load_record(scenario.traffic, setup.fabric, setup.flows)
    manifest = make_manifest(parameters, engine=engine, load=load, drawn=setup.fabric.drawn)
    if source is not None:
        manifest["scheme_file"] = source
    return _result(scenario, setup, raw, manifest=manifest, loading=ready, cpu_s=cpu_s)


def chosen_engine(setup: Setup, engine: str | None) -> str:
    """Return the engine of a run for which none is asked: the one that is done first.

    How many samples and lines of a trace there will be is not known before; the compiled engine watches its memory.
    """
    if engine is not None:
        return engine
    packets = int(np.sum(-(-setup.flows.flow_bytes // PACKET_BYTES)))
    if packets > PACKETS_SOONER_THAN_COMPILED or setup.probe_ps or setup.trace:
        return "compiled"
    from capsim.engines.compiled.functions import loop_is_kept

    return "compiled" if loop_is_kept() else "reference"


def compile_if_needed(scheme: Scheme, *, engine: str) -> Loading:
    """Make the engine ready for `scheme`: what was compiled now, the next process finds on disk."""
    if engine != "compiled":
        return Loading(compiled=False, cpu_s=0.0)
    from capsim.engines.compiled.engine import is_compiled

    watch = Stopwatch()
    with hook_errors(scheme):
        compiled = not is_compiled(scheme)
    return Loading(compiled=compiled, cpu_s=watch.cpu_s())


def _in_seconds(progress: Progress | None) -> Callable[[int], None] | None:
    return None if progress is None else lambda now_ps: progress(now_ps / PS_PER_S)


def prepare(scenario: Scenario, *, scheme: Scheme | None = None) -> Setup:
    """Return what the engines need: fabric, flows, scheme, seeds, probes.

    Raises
    ------
    ParameterError
        If the scenario cannot be run, would not fit in memory, or has a profile that is not filled in.
    """
    unfilled = f"profile = {scenario.profile!r} is not filled in: capsim.scenario.profile.filled does it"
    require(not scenario.profile, unfilled)
    warm_up = f"warm_up_s = {scenario.warm_up_s:g}, but the run ends at end_s = {scenario.end_s:g}"
    require(scenario.warm_up_s < scenario.end_s, f"{warm_up}: no flow would be counted, give a shorter warm-up")
    needs.check_fabric(scenario)
    fabric = scenario.fabric.build(seed=scenario.seed)
    needs.check_traffic(scenario, fabric)
    flows = draw_flows(scenario.traffic, fabric, seed=scenario.seed, short_bytes=scenario.short_bytes)
    chosen = scheme_of_run(scenario, scheme or find(scenario.scheme))
    if scenario.excerpt_of is not None:
        check_scheme(chosen)
    of_entries = entry_schemes(scenario.traffic, scenario.params)
    for each in (chosen, *of_entries.values()):
        check_hooks(each)
    needs.check_run(scenario, fabric, flows, chosen)
    hosts = scenario.hosts or Hosts()
    setup = Setup(
        fabric=fabric,
        flows=flows,
        scheme=chosen,
        entry_schemes=of_entries,
        pinned=pinned_paths(scenario.traffic, flows, fabric),
        hash_seed=engine_seed(scenario.seed, Purpose.HASHES),
        spray_seed=engine_seed(scenario.seed, Purpose.SPRAYING),
        tie_seed=engine_seed(scenario.seed, Purpose.TIES),
        jitter_seed=engine_seed(scenario.seed, Purpose.HOST_JITTER),
        loss_seed=engine_seed(scenario.seed, Purpose.LOSSES),
        end_ps=to_ps(scenario.end_s),
        link_bytes=scenario.link_bytes,
        count_in_service=scenario.count_in_service,
        ordered=scenario.ties == "scheduled",
        host_jitter_ps=to_ps(scenario.host_jitter_s),
        flow_jitter_ps=to_ps(hosts.flow_jitter_s),
        encode_ps=to_ps(hosts.encode_s_per_packet),
        decode_ps=to_ps(hosts.decode_s_per_packet),
        trace=needs.TRACE_LEVELS[scenario.trace],
        warm_up_ps=to_ps(scenario.warm_up_s),
        payload=scenario.payload,
        **_probed(scenario, fabric, flows),
    )
    chosen_fields(setup)
    if scenario.payload:
        from capsim.engines.payload import check_payload  # loads the codec

        check_payload(setup)
    return setup


def _probed(scenario: Scenario, fabric: Fabric, flows: FlowList) -> dict[str, Any]:
    """Return what is sampled, as fields of a set-up."""
    probes = scenario.probes
    if probes is None:
        return {}
    numbers = tuple(range(len(flows))) if probes.flows == "all" else probes.flows
    late = [flow for flow in numbers if flow >= len(flows)]
    if late:
        raise ParameterError(f"probes.flows: {late[0]}, but flows are numbered 0 to {len(flows) - 1}")
    switches = fabric.node_names[fabric.n_hosts :]
    return {
        "probe_ps": max(1, to_ps(probes.period_s)) if probes.fields or probes.ports or numbers else 0,
        "probe_fields": probes.fields,
        "probe_ports": tuple(ports_like(fabric.port_names, probes.ports, where="probes.ports")),
        "probe_flows": numbers,
        "probe_switches": tuple(ports_like(switches, probes.switches, where="probes.switches", what="switches")),
        "histograms": probes.histograms,
    }


def _result(
    scenario: Scenario,
    setup: Setup,
    raw: RawRecords,
    *,
    manifest: dict[str, Any],
    loading: Loading,
    cpu_s: float,
) -> Result:
    ideal, with_subflows = ideal_of_stacks(setup), has_subflows(raw, request=scenario.subflows)
    flows = tables.flows_table(raw, setup, ideal_fct_s=ideal)
    flows = tables.with_columns(flows, listed_columns(scenario.traffic, setup.flows))
    resources = Resources(
        traversals=int(raw.counters["traversals"][0]),
        events=int(raw.counters["events"][0]),
        simulated_s=int(raw.counters["now_ps"][0]) / PS_PER_S,
        cpu_s=cpu_s,
        loading_cpu_s=loading.cpu_s,
        compiled=loading.compiled,
        peak_memory_bytes=peak_memory_bytes(),
    )
    return Result(
        scenario=scenario,
        flows=tables.without_unneeded(flows, end_s=resources.simulated_s),
        subflows=subflows_table(raw, setup) if with_subflows else empty_table("subflows", setup.fabric),
        ports=tables.ports_table(raw, setup),
        units=tables.units_table(raw, setup),
        probes=probes_table(raw, setup),
        histograms=histograms_table(raw, setup),
        trace=tables.trace_table(raw.trace, raw.subs, setup.fabric),
        manifest=manifest,
        resources=resources,
        raw_records=raw,
        own_columns=tables.own_meanings(setup, subflows=with_subflows),
    )


def ideal_of_stacks(setup: Setup) -> npt.NDArray[np.float64]:
    """Return over flows the ideal completion time with the packet sizes of each flow's stack, in seconds."""
    number, _ = setup.flow_classes
    times = np.empty(len(number))
    sizes = [(stack.transport.params.mss_bytes, stack.transport.params.header_bytes) for stack in setup.stacks]
    for mss_bytes, header_bytes in dict.fromkeys(sizes):
        ours = np.isin(number, [index for index, size in enumerate(sizes) if size == (mss_bytes, header_bytes)])
        ideal = ideal_fct_s(
            setup.flows, setup.fabric, mss_bytes=mss_bytes, header_bytes=header_bytes, link_bytes=setup.link_bytes
        )
        times[ours] = ideal[ours]
    return times
