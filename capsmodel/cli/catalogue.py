"""``capsmodel presets``, ``workloads`` and ``notebooks``: what comes with the package, listed, printed or copied."""

import re
import shutil
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from capsim import Scenario, load_scenario
from capsim import presets as all_presets
from capsmodel._files import check_writable
from capsmodel.checks import ParameterError, require
from capsmodel.cli.shared.output import AS_TEXT, Output, explain, print_table, say, write_whole
from capsmodel.cli.shared.table import Column
from capsmodel.datafiles import notebook_folders
from capsmodel.experiments.number_texts import size_text
from capsmodel.workloads.catalogue import FlowSizes, load_workload, workload_names, workload_source
from capsmodel.workloads.files import is_size_file, read_flow_sizes

_SENTENCE_END = re.compile(r"\.\s+(?=[A-Z])")  # not behind "Fig.", which a number follows
_TITLE = re.compile(r"^# # (.*)$", re.MULTILINE)
_RUNS = re.compile(r"\bruns\s+(?:#\s+)?in\s+(?:#\s+)?about\s+(?:#\s+)?(\d+) s\b")
_PAGE = re.compile(r"\[([^][]+)\]\(\.\./([^)#\s]+)[^)]*\)")  # a link from a notebook of the repository
_SLOW = "-slow"
_SHORT_BYTES = 100_000  # as short_bytes of a scenario


def presets(name: str | None = None, *, output: Output = AS_TEXT) -> None:
    """List the scenarios that come with the package, or print one as the TOML file that it is.

    A file of your own begins best with one of these: capsmodel presets p64 > mine.toml.

    Parameters
    ----------
    name
        A preset, such as p64.
    """
    if name is not None:
        scenario = load_scenario(name)
        if output.is_text and name in all_presets():
            say(resources.files("capsim").joinpath("presets", f"{name}.toml").read_text(encoding="utf-8").rstrip())
        else:
            print_table([_preset_row(scenario)], output=output)
        return
    rows = [_preset_row(scenario) for scenario in all_presets().values()]
    columns = [Column("preset", "preset"), Column("hosts", "hosts"), Column("about", "")]
    print_table(_with_slow(rows) if output.is_text else rows, columns=columns, output=output)
    if output.is_text:
        say("capsmodel presets NAME prints one as a TOML file; -slow: one link is slow.")


def _with_slow(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one row for a preset and for the one that has a slow link more."""
    names = {row["preset"] for row in rows}
    slow = {name for name in names if name.removesuffix(_SLOW) in names - {name}}
    marks = {name.removesuffix(_SLOW): f"[{_SLOW}]" for name in slow}
    return [row | {"preset": row["preset"] + marks.get(row["preset"], "")} for row in rows if row["preset"] not in slow]


def _preset_row(scenario: Scenario) -> dict[str, Any]:
    hosts, switches = scenario.fabric.node_counts()
    return {
        "preset": scenario.name,
        "fabric": scenario.fabric.kind,
        "hosts": hosts,
        "switches": switches,
        "scheme": scenario.scheme,
        "about": _SENTENCE_END.split(" ".join(scenario.notes.split()))[0].rstrip("."),
    }


def workloads(name: str | None = None, *, output: Output = AS_TEXT) -> None:
    """List the published flow-size distributions, or the points and the source of one.

    Parameters
    ----------
    name
        A distribution, such as websearch, or a CSV file of your own with the columns size_bytes,cdf.
    """
    if name is None:
        rows = [_workload_row(known, load_workload(known)) for known in workload_names()]
        print_table(rows, columns=_WORKLOAD, title="Flow-size distributions", output=output)
        if output.is_text:
            explain("websearch stands for websearch_dctcp, datamining for datamining_pfabric_pkts.")
        return
    own = is_size_file(name)
    sizes = read_flow_sizes(name) if own else load_workload(name)
    points = [
        {"size_bytes": float(size), "size": size_text(size), "cdf": float(value)}
        for size, value in zip(sizes.sizes, sizes.cdf_values, strict=True)
    ]
    if output.is_text:
        source = None if own else workload_source(name)
        print_table([_workload_row(name, sizes)], columns=_WORKLOAD, title=source.title if source else name)
        if source:
            explain(f"Source: {source.source}, {source.path} ({source.snapshot}). {source.caution}")
        say("")
    print_table(points, columns=[Column("size", "size", right=True), Column("cdf", "F(size)")], output=output)


def notebooks(folder: Path | None = None, *, output: Output = AS_TEXT) -> None:
    """List the notebooks of the course, or copy them into a folder, without outputs, to run and change them.

    Parameters
    ----------
    folder
        Made when it is missing; a notebook that is there stays, and nothing is copied.
    """
    sources, figures = notebook_folders()
    texts = {f"{file.stem}.ipynb": file.read_text(encoding="utf-8") for file in sorted(sources.glob("*.py"))}
    rows = [_lesson_row(name, text) for name, text in texts.items()]
    if folder is None:
        print_table(rows, columns=_LESSON, output=output)
        if output.is_text:
            say("capsmodel notebooks DIR copies them.")
        return
    require(output.is_text, f"--json and --csv list the notebooks: leave out {folder}")
    _copy_notebooks(texts, figures, folder)
    say(f"wrote {len(texts)} notebooks to {folder}: jupyter lab {folder / min(texts)}")
    kept = ", ".join(row["lesson"] for row in rows if row["needs"])
    explain(f"The pages docs/... that they name are in a clone of the repository, and so are the kept runs of {kept}.")


def _copy_notebooks(texts: Mapping[str, str], figures: Path, folder: Path) -> None:
    """Write notebooks into a folder, with links to pages as text, and the pictures that they name."""
    try:
        import jupytext
    except ModuleNotFoundError:
        raise ParameterError("notebooks are made with Jupytext: pip install '.[notebooks]' in a clone") from None
    require(not folder.exists() or folder.is_dir(), f"{folder} is a file: name a folder")
    there = [name for name in texts if (folder / name).exists()]
    require(not there, f"{folder / ''.join(there[:1])} exists, perhaps with your changes: name another folder")
    check_writable(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        notebook = jupytext.reads(_PAGE.sub(r"\1 (\2)", text), fmt="py:percent")
        notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
        write_whole(folder / name, jupytext.writes(notebook, fmt="ipynb"))
    shutil.copytree(figures, folder / figures.name, dirs_exist_ok=True)


_LESSON = (
    Column("lesson", "lesson"),
    Column("title", "title"),
    Column("runs_s", "runs, s", right=True),
    Column("needs", "needs"),
)


def _lesson_row(name: str, text: str) -> dict[str, Any]:
    """Return what a notebook says of itself: its title, and how long it runs on one core."""
    title, runs = _TITLE.search(text), _RUNS.search(text)
    return {
        "lesson": name.partition("_")[0],
        "file": name,
        "title": title[1] if title else "",
        "runs_s": int(runs[1]) if runs else None,
        "needs": "a clone" if 'data_path("results/' in text else "",
    }


_WORKLOAD = (
    Column("workload", "workload"),
    Column("mean", "mean size", right=True),
    Column("largest", "largest", right=True),
    Column("short_flows_pct", "flows up to 100KB, %"),
    Column("short_data_pct", "their data, %"),
)


def _workload_row(name: str, sizes: FlowSizes) -> dict[str, Any]:
    return {
        "workload": name,
        "mean_bytes": sizes.mean_bytes,
        "mean": size_text(sizes.mean_bytes),
        "largest_bytes": float(sizes.sizes[-1]),
        "largest": size_text(float(sizes.sizes[-1])),
        "short_flows_pct": 100 * sizes.flow_share_below(_SHORT_BYTES),
        "short_data_pct": 100 * sizes.byte_share_below(_SHORT_BYTES),
    }
