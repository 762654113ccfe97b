"""``capsmodel simulate`` and ``capsmodel rerun``: one run, and the same run again from its result."""

import sys
from pathlib import Path
from typing import Any, Literal

from capsim import Result, Scenario, schema, write_pcap
from capsim import scheme as find
from capsim.clock import to_s
from capsim.estimate import trace_size_bytes
from capsim.fabric.topology import ports_like
from capsim.files import check_folder, read_manifest, read_table, same_rows
from capsim.results import columns_of
from capsim.run import compile_if_needed, prepare, run_prepared
from capsim.scenario import from_dict
from capsim.state import Setup
from capsmodel._files import check_writable
from capsmodel._version import __version__
from capsmodel.checks import ParameterError, require
from capsmodel.cli._options import Flag
from capsmodel.cli._output import console, print_table
from capsmodel.cli._progress import simulated_time, waiting
from capsmodel.cli._scenario import Engine, ScenarioOptions, scenario_from, with_scheme

_PARQUET = frozenset(f"{name}.parquet" for name in schema.TABLES)


def simulate(
    scenario: str | None = None,
    *,
    options: ScenarioOptions | None = None,
    scheme: str | None = None,
    engine: Engine = "compiled",
    trace: Literal["off", "drops", "packets"] | None = None,
    out: Path | None = None,
    pcap: Path | None = None,
    pcap_ports: str | None = None,
    json: Flag = False,
    csv: Flag = False,
) -> None:
    """Run a scenario and print its summary.

    Parameters
    ----------
    scenario
        TOML file, or the name of a preset such as p64; without it the flags describe the run, from 8 leaves,
        8 spines, 64 hosts at 1 Gbps and 1000 web-search flows at load 0.5.
    scheme
        One of capsmodel schemes.
    engine
        compiled (fast) or reference (SimPy, to be read and stepped through); both give the same records.
    trace
        Packets to record: none, the dropped ones, or all.
    out
        Folder for the tables, as Parquet files with their manifest inside.
    pcap
        Capture file with the headers of all packets, for Wireshark; turns --trace packets on.
    pcap_ports
        Where they are captured, such as 'host0>*,*>host0'; on the NICs of all hosts, each packet once, when left out.
    json, csv
        Print the summary in this form.
    """
    chosen = with_scheme(scenario_from(scenario, options or ScenarioOptions()), scheme)
    level = trace if pcap is None else _level_of_capture(trace)
    if level is not None:
        chosen = chosen.replace(trace=level)
    if out is not None:
        check_folder(out, made_of=_PARQUET)
    setup = prepare(chosen)
    patterns = None if pcap_ports is None else pcap_ports.split(",")
    _check_capture(pcap, patterns, setup)
    result = _run(chosen, setup, engine)
    try:
        if out is not None:
            result.save(out)
        if pcap is not None:
            write_pcap(result, pcap, ports=patterns)
    finally:  # a disk that is full by now takes the tables, not the figures
        _print(result, json=json, csv=csv)


def _level_of_capture(trace: str | None) -> str:
    require(trace in (None, "packets"), f"--pcap needs all packets: leave out --trace {trace}")
    return "packets"


def _check_capture(pcap: Path | None, patterns: list[str] | None, setup: Setup) -> None:
    """Refuse, before the run, a capture that could not be written after it."""
    if pcap is None:
        require(patterns is None, "--pcap-ports says where packets are captured: add --pcap FILE")
        return
    require(not pcap.is_dir(), f"{pcap} is a folder: name a file for the packets")
    check_writable(pcap.parent)
    require(pcap.parent.is_dir(), f"there is no folder {pcap.parent}: make it first")
    ports_like(setup.fabric.port_names, patterns or (), where="--pcap-ports")


def _print(result: Result, *, json: bool, csv: bool) -> None:
    chosen = result.scenario
    values: dict[str, Any] = result.summary.to_dict()
    if json or csv:
        print_table([values], as_json=json, as_csv=csv)
        return
    title = f"{chosen.name}: {chosen.scheme}, seed {chosen.seed}"
    print_table([{"figure": name, "value": value} for name, value in values.items()], title=title)
    console().print(_resources_line(result))


def _run(scenario: Scenario, setup: Setup, engine: Engine) -> Result:
    if scenario.trace == "packets":
        mss_bytes = setup.scheme.long.transport.params.mss_bytes
        size = trace_size_bytes(scenario, setup.fabric, setup.flows, mss_bytes=mss_bytes)
        print(f"the packet trace will take about {size / 1e6:.0f} MB of memory", file=sys.stderr)
    with waiting("loading the engine; a scheme is compiled once, in under 30 s"):
        compiled = compile_if_needed(setup.scheme, engine=engine)
    if compiled and sys.stderr.isatty():
        print("compiled; the next run finds the machine code on disk", file=sys.stderr)
    with simulated_time(to_s(int(setup.flows.start_ps[-1]))) as progress:
        return run_prepared(scenario, setup, engine=engine, progress=progress)


def _resources_line(result: Result) -> str:
    used = result.resources
    dropped = int(result.ports["packets_dropped"].sum())
    per_second = used.traversals / used.cpu_s / 1e6 if used.cpu_s else 0.0
    return (
        f"{used.traversals} link traversals, {used.events} events, {used.simulated_s:.6g} s simulated, "
        f"{used.cpu_s:.2f} CPU s ({per_second:.2f} M traversals/s) after {used.loading_cpu_s:.2f} s of loading, "
        f"{used.peak_memory_bytes / 1e6:.0f} MB peak memory, {dropped} packets dropped"
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
    find(scenario.scheme)
    result = _run(scenario, prepare(scenario), engine)
    same_id = result.manifest["id"] == manifest["id"]
    differing = [] if same_id else ["parameters or code of the scheme"]
    tables = _tables_of_run(file, manifest["id"], scenario)
    differing += [path.name for path, table in tables.items() if not same_rows(path, getattr(result, table))]
    if differing:
        console().print(f"{file.name}: differs in {', '.join(differing)}")
        raise SystemExit(1)
    names = ", ".join(path.name for path in tables)
    console().print(f"{file.name}: identical, run {manifest['id'][:12]}; compared {names}")


def _tables_of_run(file: Path, run_id: str, scenario: Scenario) -> dict[Path, str]:
    """Return `file` and the tables of its run beside it, each with the table that its columns are of."""
    beside = [file.parent / f"{name}.parquet" for name in schema.TABLES]
    others = [path for path in beside if path.is_file() and not path.samefile(file)]
    return {path: _table_name(path, scenario) for path in [file, *others] if read_manifest(path)["id"] == run_id}


def _table_name(path: Path, scenario: Scenario) -> str:
    columns = list(read_table(path).columns)
    for name, meanings in columns_of(scenario).items():
        if columns == list(meanings):
            return name
    raise ParameterError(f"{path} has the columns of no table of a run: give a file that capsmodel simulate wrote")
