"""``capsmodel simulate`` and ``capsmodel rerun``: one run, and the same again."""

import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import pandas as pd
from cyclopts import Parameter

from capsim import Result, Scenario, write_pcap
from capsim import scheme as find
from capsim.base import schema
from capsim.engines.state import Setup
from capsim.fabric.topology import ports_like
from capsim.results.fct import finished_flows
from capsim.results.files import check_folder, read_manifest, read_table, same_rows
from capsim.results.load_record import offered_line
from capsim.results.plots import plot_cdf
from capsim.results.result import columns_of
from capsim.roles.scheme_files import same_source
from capsim.run.needs import reference_remarks, trace_size_bytes
from capsim.run.simulation import prepare, run_watched
from capsim.scenario.profile import Filled, filled, setting_remarks
from capsim.scenario.scenario import from_dict
from capsim.study.metrics import Run, columns
from capsmodel import __version__
from capsmodel._files import check_writable, file_to_write
from capsmodel.checks import ParameterError, require
from capsmodel.cli.shared.options import Texts, Time, probed
from capsmodel.cli.shared.output import AS_TEXT, OUTPUT, Output, caution, explain, print_table, say, write_whole
from capsmodel.cli.shared.run_output import (
    BY_LAYER,
    BY_OPERATION,
    BY_SIZE,
    layer_rows,
    mean_above_p99,
    records,
    shown,
    size_rows,
)
from capsmodel.cli.shared.scenario import (
    RUN,
    SCENARIO,
    Engine,
    ScenarioOptions,
    profile_lines,
    scenario_from,
    with_scheme,
)
from capsmodel.cli.shared.table import Column
from capsmodel.experiments.number_texts import number
from capsmodel.plotting import check_figure_path

Trace = Literal["off", "drops", "packets"]
_PARQUET = frozenset(f"{name}.parquet" for name in schema.TABLES)


def simulate(
    scenario: Annotated[str | None, Parameter(group=SCENARIO)] = None,
    *,
    scheme: Annotated[str | None, Parameter(group=RUN)] = None,
    engine: Annotated[Engine | None, Parameter(group=RUN)] = None,
    options: ScenarioOptions | None = None,
    probe: Annotated[Texts, Parameter(group=OUTPUT)] = (),
    probe_field: Annotated[Texts, Parameter(group=OUTPUT)] = (),
    probe_period: Annotated[Time, Parameter(group=OUTPUT)] = 1e-4,
    trace: Annotated[Trace | None, Parameter(group=OUTPUT)] = None,
    out: Annotated[Path | None, Parameter(group=OUTPUT)] = None,
    plot: Annotated[Path | None, Parameter(group=OUTPUT)] = None,
    flows_csv: Annotated[Path | None, Parameter(group=OUTPUT)] = None,
    pcap: Annotated[Path | None, Parameter(group=OUTPUT)] = None,
    pcap_ports: Annotated[str | None, Parameter(group=OUTPUT)] = None,
    output: Output = AS_TEXT,
) -> None:
    """Run a scenario and print its summary.

    Parameters
    ----------
    scenario
        TOML file or preset, such as p64; without it flags change 64 hosts at 1 Gbps under 1000 web-search flows of
        load 0.5.
    scheme
        One of capsmodel schemes (ecmp), several, rps+dctcp, or FILE.py:SCHEME.
    engine
        compiled (fast) or reference (SimPy, to be read): the same records.
    probe
        Queue, leaf*-spine0, or flow, flow3, to sample; may be repeated.
    probe_field
        What of it, port.bytes_out or sub.cwnd_bytes; may be repeated.
    probe_period
        Time between two samples.
    trace
        Packets that DIR/trace.parquet has.
    out
        Folder DIR for the tables, as Parquet files with their manifest inside.
    plot
        File for a picture of the completion times (.pdf, .png or .svg).
    flows_csv
        CSV file for the flows.
    pcap
        Capture file with the headers of all packets, for Wireshark.
    pcap_ports
        Where they are captured, 'host0>*,*>host0' (the NICs of all hosts).
    """
    chosen = with_scheme(scenario_from(scenario, options or ScenarioOptions()), scheme)
    level = trace if pcap is None else _level_of_capture(trace)
    require(out is not None or pcap is not None or trace in (None, "off"), "--trace is kept in DIR: give --out DIR")
    if level is not None:
        chosen = chosen.replace(trace=level)
    if probe or probe_field:
        require(out is not None, "--probe: samples are kept in DIR/probes.parquet: give --out DIR")
        chosen = chosen.replace(probes=probed(probe, probe_field, probe_period) | _histograms_of(chosen))
    _check_places(out, plot, flows_csv)
    ran = filled(chosen, find(chosen.scheme))
    chosen = ran.scenario
    setup = prepare(chosen)
    patterns = None if pcap_ports is None else pcap_ports.split(",")
    _check_capture(pcap, patterns, setup)
    result = _run(chosen, setup, engine)
    try:
        if out is not None:
            result.save(out)
        if pcap is not None:
            write_pcap(result, pcap, ports=patterns)
        _write(result, plot, flows_csv)
    finally:  # a disk that is full by now takes the tables, not the figures
        _print(result, ran, output)
    if engine is None and result.manifest["engine"] == "reference":
        explain(
            "run by the reference engine, for nothing is compiled yet; --engine compiled compiles, half a minute once"
        )
    if out is not None and output.is_text:
        say(f"wrote {', '.join(sorted(path.name for path in out.iterdir()))} to {out}")


def _check_places(out: Path | None, plot: Path | None, flows_csv: Path | None) -> None:
    """Refuse, before the run, what could not be written after it."""
    if plot is not None:
        check_figure_path(plot)
    if flows_csv is not None:
        check_writable(file_to_write(flows_csv).parent)
    if out is not None:
        check_folder(out, made_of=_PARQUET)


def _write(result: Result, plot: Path | None, flows_csv: Path | None) -> None:
    if flows_csv is not None:
        write_whole(flows_csv, result.flows.to_csv(index=False))
    if plot is not None:
        plot_cdf(result, plot)


def _histograms_of(scenario: Scenario) -> dict[str, bool]:
    """Return what ``--probe`` leaves as it is."""
    return {"histograms": scenario.probes is not None and scenario.probes.histograms}


def _level_of_capture(trace: str | None) -> str:
    require(trace in (None, "packets"), f"--pcap needs all packets: leave out --trace {trace}")
    return "packets"


def _check_capture(pcap: Path | None, patterns: list[str] | None, setup: Setup) -> None:
    """Refuse, before the run, a capture that could not be written after it."""
    if pcap is None:
        require(patterns is None, "--pcap-ports says where packets are captured: add --pcap FILE")
        return
    require(not pcap.is_dir(), f"{pcap} is a folder: name a file for the packets")
    check_writable(file_to_write(pcap).parent)
    require(pcap.parent.is_dir(), f"there is no folder {pcap.parent}: make it first")
    ports_like(setup.fabric.port_names, patterns or (), where="--pcap-ports")


def _print(result: Result, ran: Filled, output: Output) -> None:
    chosen, summary = result.scenario, result.summary
    values: dict[str, Any] = summary.to_dict()
    caution(*result.remarks(), *setting_remarks([(ran.scenario, ran.scheme)]))
    if not output.is_text:
        print_table([values], output=output)
        return
    if not chosen.warm_up_s:  # without one it is the mean throughput of long flows
        del values["mean_goodput_long_bps"]
    rows = [
        {"metric": shown(name).words, "value": number(value * shown(name).factor), "unit": shown(name).shown_unit}
        for name, value in values.items()
    ]
    rows.insert(1 + list(values).index("mean_fct_long_s"), _timed_out_long(result))
    columns = [
        Column("metric", f"{chosen.scheme}, seed {chosen.seed}"),
        Column("value", "value", right=True),
        Column("unit", ""),
    ]
    print_table(rows, columns=columns, title=f"{chosen.name}: summary")
    explain(*filter(None, [offered_line(pd.DataFrame([result.loads]))]), *profile_lines([ran]))
    say("")
    print_table(size_rows(result.fct_by_size()), columns=BY_SIZE, title="Completion times (FCT) by flow size")
    say("")
    print_table(layer_rows(result.layers), columns=BY_LAYER, title="Links by layer, since the end of the warm-up")
    say("")
    if len(result.collectives):
        print_table(records(result.collectives), columns=BY_OPERATION, title="Collective operations")
        explain(*_operations_lines(result))
        say("")
    if summary.mean_fct_short_s > summary.p99_fct_short_s:
        explain(mean_above_p99(chosen.scheme))
    explain(_resources_line(result))


def _operations_lines(result: Result) -> list[str]:
    """Return a line with mean, longest and 99th percentile of the times of operations, as far as they differ."""
    names = ("mean_collective_s", "longest_collective_s", "p99_collective_s")
    mean_s, longest_s, p99_s = columns(Run.of(result), names).values()
    if not longest_s > mean_s:
        return []  # the table has the time of the only one
    tail = f", the 99th percentile is {number(1e3 * p99_s)} ms" if p99_s < longest_s else ""
    return [f"They take {number(1e3 * mean_s)} ms in the mean, the longest {number(1e3 * longest_s)} ms{tail}."]


def _timed_out_long(result: Result) -> dict[str, str]:
    """Return the line about long flows that says what ``timeout_ratio_short`` says about short ones."""
    done = finished_flows(result.flows, kind="long")
    share = (done["winner_timeouts"] > 0).mean()
    return {"metric": "long flows with a timeout", "value": number(100 * share), "unit": "%"}


def _run(scenario: Scenario, setup: Setup, engine: Engine | None) -> Result:
    if scenario.trace == "packets":
        mss_bytes = setup.scheme.long.transport.params.mss_bytes
        size = trace_size_bytes(scenario, setup.fabric, setup.flows, mss_bytes=mss_bytes)
        print(f"the packet trace will take about {size / 1e6:.0f} MB of memory", file=sys.stderr)
    if engine == "reference":
        caution(*reference_remarks([scenario]))
    result = run_watched(scenario, setup, engine=engine)
    if result.resources.compiled and sys.stderr.isatty():
        print("compiled; the next run finds the machine code on disk", file=sys.stderr)
    return result


def _resources_line(result: Result) -> str:
    used = result.resources
    dropped = int(result.ports[["packets_dropped", "packets_lost"]].to_numpy().sum())
    per_second = used.traversals / used.cpu_s / 1e6 if used.cpu_s else 0.0
    before = "compiling" if used.compiled else "loading"
    return (
        f"{used.traversals} link traversals, {used.events} events, {used.simulated_s:.6g} s simulated, "
        f"{used.cpu_s:.2f} CPU s ({per_second:.2f} M traversals/s) after {used.loading_cpu_s:.2f} s of {before}, "
        f"{used.peak_memory_bytes / 1e6:.0f} MB peak memory, {dropped} packets of all flows dropped"
    )


def rerun(file: Path, *, engine: Engine = "compiled") -> None:
    """Run again what made FILE, from the manifest inside it, and compare bit for bit.

    Exit status 0 if FILE and the other tables of its run in its folder are equal, 1 if not. FILE may have any name.

    Parameters
    ----------
    file
        A Parquet file of a result, such as out/flows.parquet.
    engine
        Either engine must give the same tables.
    """
    manifest = read_manifest(file)
    made_by = manifest["software"]["version"]
    if made_by != __version__:
        raise ParameterError(
            f"{file.name} was made by capsmodel {made_by}, this is {__version__}: install that version"
        )
    scenario = from_dict(manifest["parameters"]["scenario"])
    if "scheme_file" in manifest:
        scenario = scenario.replace(scheme=same_source(manifest["scheme_file"], Path(), file.parent))
    find(scenario.scheme)
    result = _run(scenario, prepare(scenario), engine)
    same_id = result.manifest["id"] == manifest["id"]
    differing = [] if same_id else ["parameters or code of the scheme"]
    tables = _tables_of_run(file, manifest["id"], scenario)
    differing += [path.name for path, table in tables.items() if not same_rows(path, getattr(result, table))]
    if differing:
        say(f"{file.name}: differs in {', '.join(differing)}")
        raise SystemExit(1)
    names = ", ".join(path.name for path in tables)
    say(f"{file.name}: identical, run {manifest['id'][:12]}; compared {names}")


def _tables_of_run(file: Path, run_id: str, scenario: Scenario) -> dict[Path, str]:
    """Return `file` and the tables of its run beside it, each with the table that its columns are of."""
    beside = [file.parent / f"{name}.parquet" for name in schema.TABLES]
    others = [path for path in beside if path.is_file() and not path.samefile(file)]
    return {path: _table_name(path, scenario) for path in [file, *others] if read_manifest(path)["id"] == run_id}


def _table_name(path: Path, scenario: Scenario) -> str:
    columns = list(read_table(path).columns)
    for name, meanings in columns_of(scenario).items():
        if [column for column in columns if column in meanings] == list(meanings):  # a scheme may add its own
            return name
    raise ParameterError(f"{path} has the columns of no table of a run: give a file that capsmodel simulate wrote")
