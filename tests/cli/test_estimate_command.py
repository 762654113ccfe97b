"""Contract: what estimate prints of an excerpt is what compare runs, and what it refuses."""

import csv
import json
import math
from dataclasses import replace
from math import nan
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from cli.commands import printed, refused, succeeded

from capsim import ParameterError, estimate, excerpt, load_scenario, load_study, simulate
from capsim.scenario.scenario import excerpts
from capsim.study.comparison import PARTS
from capsmodel.experiments.statistics.intervals import mean_interval

LARGE = """
[fabric]
kind = "leaf-spine"
leaves = 8
hosts_per_leaf = 2
spines = 2

[[traffic]]
kind = "poisson"
flow_bytes = 3000
load = 0.3
flows = 60
"""


@pytest.fixture
def large(tmp_path: Path) -> Path:
    file = tmp_path / "large.toml"
    file.write_text(LARGE, encoding="utf-8")
    return file


RUN = ["--schemes", "ecmp,rps", "--seeds", "2", "--engine", "reference", "--jobs", "1"]


def test_estimate_is_of_the_runs_that_the_excerpt_gives(large: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All flows of both seeds together, the interval from their two means. Wrong line: a mean of other flows."""
    rows = json.loads(printed(["estimate", large, "--leaves", "4", *RUN, "--json"], capsys))
    whole = next(row for row in rows if row["scheme"] == "rps" and row["sizes"] == "all")
    runs = [simulate(excerpt(str(large)).replace(seed=seed), scheme="rps", engine="reference") for seed in (1, 2)]
    slowdowns = [run.flows["slowdown"] for run in runs]
    assert whole["flows"] == sum(len(one) for one in slowdowns) == 60
    assert whole["mean_slowdown"] == pytest.approx(sum(one.sum() for one in slowdowns) / 60, rel=1e-12)
    assert whole["p99_slowdown"] == max(one.max() for one in slowdowns)
    assert [row["flows"] for row in rows if row["scheme"] == "ecmp"] == [60, 0, 0, 0, 60]
    logs = mean_interval([math.log(one.mean()) for one in slowdowns])
    width = whole["mean_slowdown"] * (logs.high - logs.value)
    assert whole["mean_slowdown_half_width"] == pytest.approx(width, rel=1e-9)


def test_the_command_prints_what_the_function_returns(
    large: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of the whole and of its excerpt. Wrong line: other seeds or sizes in Python, or results that are not kept."""
    rows = json.loads(printed(["estimate", large, "--leaves", "4", *RUN, "--json"], capsys))
    keys = {"schemes": ["ecmp", "rps"], "seeds": 2, "engine": "reference"}
    found = estimate(large, leaves=4, **keys, results=tmp_path / "kept")
    again = estimate(excerpt(str(large), leaves=4), **keys)
    for name in ("mean_slowdown", "p99_slowdown"):
        assert found.table()[name].dropna().tolist() == [row[name] for row in rows if row[name] is not None]
    assert found.table().equals(again.table())
    assert found.compared.flows("rps")["slowdown"].equals(found.flows["rps"]["slowdown"])
    assert repr(found).splitlines()[0] == "Estimated: slowdowns on 16 hosts from 4 of 8 leaves, 2 seeds"
    few = "p99 of 0-10KB, all is of fewer than 1000 flows: give more flows or seeds"
    assert again.remarks()[2:] == [f"ecmp: {few}", f"rps: {few}"]


@pytest.mark.parametrize(
    ("offered", "line"),
    [
        ([0.5, 0.7, 0.6], []),
        (
            [0.4, 0.6, 0.5],
            ["offer 0.500 of the links of hosts by chance, 0.600 is asked for: slowdowns are up to 25% lower"],
        ),
        ([1.0, 1.2, 1.1], []),
        ([nan, nan, nan], []),
    ],
)
def test_remarks_say_what_the_load_of_the_seeds_does(large: Path, offered: list[float], line: list[str]) -> None:
    """By hand: 3 for 4 of two links that share. Each seed once. Wrong line: a load of one seed, or of each scheme."""
    found = estimate(large, schemes=["ecmp"], leaves=4, seeds=1, engine="reference")
    seeds = pd.DataFrame({"seed": [1, 2, 3], "offered_load_hosts": offered, "expected_load_hosts": 0.6})
    runs = pd.concat([seeds.assign(scheme="ecmp"), seeds.iloc[:1].assign(scheme="rps")])
    lines = replace(found, compared=replace(found.compared, runs=runs)).remarks()
    of_load = [one for one in lines if "by chance" in one]
    assert len(of_load) == len(line)
    assert all(part in one for one, part in zip(of_load, line, strict=True))


def test_remarks_say_which_flows_decide_a_tail_or_had_not_ended(large: Path) -> None:
    """By hand: of four flows one that counts thrice of six. Wrong line: a share of rows where they have weights."""
    found = estimate(large, schemes=["ecmp"], leaves=4, seeds=1, engine="reference")
    four = found.flows["ecmp"].iloc[:4].assign(timeouts=[2, 0, 0, 0], finished=[True, True, True, False])
    lines = replace(found, flows={"ecmp": four.assign(weight=[3, 1, 1, 1])}).remarks()
    assert "ecmp: 50% of the flows had a timeout, which decide the tail: give more seeds" in lines
    assert "ecmp: 1 of 4 flows had not ended: raise end_s" in lines
    assert not any("timeout" in line or "not ended" in line for line in found.remarks())


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ({"schemes": "ecmp"}, "schemes = 'ecmp', but it must be a list"),
        ({"schemes": ["ecmp", "conga"]}, "scheme = 'conga': its switches learn by pair of leaves"),
        ({"schemes": ["ecmp"], "leaves": 5}, "leaves = 5, but an excerpt has at most half of the 8 leaves"),
    ],
)
def test_the_function_refuses_before_it_runs(large: Path, keys: dict[str, Any], line: str) -> None:
    with pytest.raises(ParameterError, match=line):
        estimate(large, **keys)


SLOW_LINK = """
[[fabric.links]]
between = ["leaf6", "spine1"]
rate_bps = 1e8
"""


def test_flows_at_a_leaf_whose_links_differ_are_of_a_second_excerpt(
    large: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By hand: flows of the first leaf of one excerpt, and all of the other, with their shares of the whole.

    Of 8 leaves one sends an eighth of the flows, and receives a seventh of what the others send beyond their leaf.
    Wrong line: flows of a sound leaf beside the other, a share of the excerpt.
    """
    large.write_text(LARGE.replace("[[traffic]]", f"{SLOW_LINK}\n[[traffic]]"), encoding="utf-8")
    rows = json.loads(printed(["estimate", large, *RUN, "--out", tmp_path / "out", "--json"], capsys))
    whole = load_scenario(large)
    tables = []
    for small in excerpts(whole):
        runs = [simulate(small.replace(seed=seed), scheme="rps", engine="reference").flows for seed in (1, 2)]
        tables.append(pd.concat(runs).assign(leaf=lambda flows: flows["src"] // 2, to=lambda flows: flows["dst"] // 2))
    sound, touched = tables
    sent = touched[touched["leaf"] == 0]
    received = touched[(touched["leaf"] != 0) & (touched["to"] == 0)]
    both = pd.concat(tables)
    share = 7 / 8 / 7 * (both["leaf"] != both["to"]).mean()
    means = [one["slowdown"].mean() for one in (sent, received, sound)]
    shares = [1 / 8, share, 7 / 8 - share]
    of_rps = {row["part"]: row for row in rows if row["scheme"] == "rps" and row["sizes"] == "all"}
    assert [of_rps[part]["flows"] for part in PARTS] == [len(one) for one in (sent, received, sound)]
    assert [of_rps[part]["mean_slowdown"] for part in PARTS] == pytest.approx(means)
    assert [of_rps[part]["share"] for part in PARTS] == pytest.approx(shares)
    assert of_rps["all"]["mean_slowdown"] == pytest.approx(sum(a * b for a, b in zip(means, shares, strict=True)))
    kept = pd.read_csv(tmp_path / "out" / "by_part.csv")
    assert kept[kept["scheme"] == "rps"]["mean_slowdown"].tolist() == pytest.approx(means)
    text = " ".join(printed(["estimate", large, *RUN], capsys).split())
    assert "links of 1 of 8 leaves differ: a second excerpt has one of them" in text
    assert "rps, by leaves or pods whose links differ" in text
    assert "--write writes one excerpt" in refused(["estimate", large, "--write", tmp_path / "small.toml"], capsys)


def test_a_part_without_flows_is_refused(large: Path) -> None:
    """One flow in the excerpt is at most in one part. Wrong line: a mean of no flow."""
    text = LARGE.replace("[[traffic]]", f"{SLOW_LINK}\n[[traffic]]").replace("flows = 60", "flows = 2")
    large.write_text(text, encoding="utf-8")
    with pytest.raises(ParameterError, match=r"none of them (from|to) leaves that differ: give more"):
        estimate(large, schemes=["rps"], seeds=1, engine="reference")


def test_estimate_prints_the_cost_first_and_then_nothing_with_costs(
    large: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = " ".join(printed(["estimate", large, *RUN, "--costs"], capsys).split())
    assert "16 hosts, 8 leaves; excerpt of 4 leaves (8 hosts), 50% of the traffic; 2 seeds of ecmp, rps" in text
    assert "CPU s a seed" in text
    assert "slowdown" not in text


def test_estimate_writes_the_excerpt_which_it_takes_again(
    large: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small = tmp_path / "small.toml"
    succeeded(["estimate", large, "--leaves", "4", "--write", small], capsys)
    assert load_scenario(small) == excerpt(str(large), leaves=4)
    assert "excerpt of 4 leaves" in printed(["estimate", small, *RUN, "--costs"], capsys)
    assert "this is an excerpt already" in refused(["estimate", small, "--leaves", "4", *RUN], capsys)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--leaves", "3", *RUN], "leaves = 3, but an excerpt has at least 4"),
        (["--pods", "4", *RUN], "a leaf-spine is cut into leaves: give leaves = 4"),
        (["--schemes", "ecmp,conga"], "scheme = 'conga': its switches learn by pair of leaves"),
        (["--set", "traffic.pairs=permutation", *RUN], "traffic.pairs = 'permutation', but an excerpt moves partners"),
        ([], "--schemes is missing"),
        (["--costs", "--json", *RUN], "--costs prints text: leave out --json and --csv"),
        (["--costs", "--write", "small.toml"], "--write runs nothing: leave out --costs and --out"),
    ],
)
def test_estimate_refuses(large: Path, words: list[str], line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert line in " ".join(refused(["estimate", large, *words], capsys).split())


def test_a_study_takes_an_excerpt(large: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = tmp_path / "study.toml"
    head = 'engine = "reference"\nseeds = 1\n[axes]\nscheme = ["ecmp"]\n[scenario]\nexcerpt = { leaves = 4 }\n'
    tables = LARGE.replace("[fabric]", "[scenario.fabric]").replace("[[traffic]]", "[[scenario.traffic]]")
    study.write_text(head + tables, encoding="utf-8")
    succeeded(["study", study, "--out", tmp_path / "out", "--jobs", "1"], capsys)
    (row,) = csv.DictReader((tmp_path / "out" / "runs.csv").read_text(encoding="utf-8").splitlines())
    small = load_study(study).design
    (point,) = small.points()
    assert small.described(point).scenario.excerpt_of.of_blocks == 8
    result = simulate(small.described(point).scenario, engine="reference")
    assert (int(row["flows"]), float(row["mean_slowdown"])) == (30, pytest.approx(result.flows["slowdown"].mean()))
