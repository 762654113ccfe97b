"""Contract: schemes, presets and workloads list what there is, and NAME tells all of one."""

import csv
import io
import json
import re
import tomllib
from pathlib import Path

import pytest
from cli.commands import printed, refused

from capsim import Poisson, Scenario, load_scenario, presets, schemes
from capsim.roles.catalogue import components
from capsim.roles.hooks import ROLES
from capsim.scenario.scenario import from_dict
from capsmodel import load_workload, workload_names
from capsmodel.experiments.number_texts import quantity

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))


def schemes_of_all_components():
    """Yield the names of schemes each of which has a component that none before it has."""
    seen = set()
    for name, one in sorted(schemes().items()):
        parts = {(part.role, part.name) for _, part in components(one)}
        if not parts <= seen:
            seen |= parts
            yield name


def test_every_parameter_of_a_scheme_is_listed_with_a_meaning_and_can_be_set(subtests, capsys):
    """Of each component; what a scheme lists is the same wherever a component stands."""
    shown = set()
    for name in schemes_of_all_components():
        with subtests.test(name=name):
            rows = json.loads(printed(f"schemes {name} --json", capsys))
            names = {row["name"] for row in rows}
            text = "" if names <= shown else printed(f"schemes {name}", capsys)
            shown |= {one for one in names if one in text}
            assert names <= shown
            for row in rows:
                assert row["meaning"]
                changed = schemes()[name].with_params(**{row["role"]: {row["name"]: row["default"]}})
                assert changed == schemes()[name]
            assert {row["role"] for row in rows} >= {"transport"}


def test_bounds_and_choices_are_those_that_are_checked(capsys):
    rows = {row["setting"]: row for row in json.loads(printed("schemes caps --json", capsys))}
    assert rows["transport.min_rto_s"]["allowed"] == "0 or 1us to 4500s"
    assert rows["layer.unit_size"]["allowed"] == "window or optimal or fixed"
    assert rows["transport.mss_bytes"]["shown"] == "1460B"


def test_a_preset_is_printed_as_the_file_that_it_is(capsys):
    listed = json.loads(printed("presets --json", capsys))
    assert [row["preset"] for row in listed] == list(presets())
    for name in presets():
        assert from_dict(tomllib.loads(printed(f"presets {name}", capsys))) == load_scenario(name)


def cells_of(file):
    return [("".join(cell["source"]), cell["cell_type"]) for cell in json.loads(file.read_text("utf-8"))["cells"]]


def test_notebooks_are_listed_with_the_time_that_each_says_and_what_it_needs(capsys):
    rows = json.loads(printed("notebooks --json", capsys))
    assert [row["file"] for row in rows] == [file.name for file in NOTEBOOKS]
    for row, file in zip(rows, NOTEBOOKS, strict=True):
        texts = [text for text, _ in cells_of(file)]
        assert texts[0].startswith(f"# {row['title']}\n")
        assert f"runs in about {row['runs_s']} s on one core" in " ".join(texts[0].split())
        assert (row["needs"] == "a clone") == ("data/results" in texts[0] or file.name.startswith("14"))
    shown = printed("notebooks", capsys)
    assert all(row["title"] in shown for row in rows)
    assert "list the notebooks: leave out course" in refused("notebooks course --json", capsys)


def test_notebooks_are_copied_as_they_are_and_never_over_others(capsys, tmp_path):
    """But for links to pages, which lie elsewhere: they become text with the path in the repository."""
    place = tmp_path / "course"
    assert f"wrote {len(NOTEBOOKS)} notebooks to {place}: jupyter lab " in printed(["notebooks", place], capsys)
    assert [file.name for file in sorted(place.glob("*.ipynb"))] == [file.name for file in NOTEBOOKS]
    for file in NOTEBOOKS:
        copied, ours = cells_of(place / file.name), cells_of(file)
        assert [cell for cell in copied if cell[1] == "code"] == [cell for cell in ours if cell[1] == "code"]
        texts, links = (json.dumps(cells) for cells in (copied, ours))
        for link, words, page in re.findall(r"(\[([^][]+)\]\(\.\./([^)#]+)[^)]*\))", links):
            links = links.replace(link, f"{words} ({page})")
        assert texts == links
        assert "](.." not in texts
    texts = "".join(text for file in NOTEBOOKS for text, _ in cells_of(file))
    assert {*re.findall(r"\(figures/(.*?)\)", texts)} <= {file.name for file in (place / "figures").iterdir()}
    mine = place / NOTEBOOKS[1].name
    for file in place.glob("*.ipynb"):
        file.unlink()
    mine.write_text("mine")
    assert f"{mine} exists, perhaps with your changes: name another folder" in refused(["notebooks", place], capsys)
    assert [*place.glob("*.ipynb")] == [mine]
    assert f"{mine} is a file: name a folder" in refused(["notebooks", mine], capsys)


def test_workloads_are_listed_and_the_points_of_one_are_its_own(capsys):
    listed = list(csv.DictReader(io.StringIO(printed("workloads --csv", capsys))))
    assert [row["workload"] for row in listed] == list(workload_names())
    points = json.loads(printed("workloads websearch --json", capsys))
    assert [point["cdf"] for point in points] == load_workload("websearch").cdf_values.tolist()
    assert "HKUST-SING" in printed("workloads websearch", capsys)


def test_a_file_of_sizes_is_looked_into_as_published_ones_are(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.csv").write_text("size_bytes,cdf\n1KB,50\n1MB,100\n")
    points = json.loads(printed("workloads mine.csv --json", capsys))
    assert [(point["size_bytes"], point["cdf"]) for point in points] == [(1000, 0), (1000, 0.5), (1e6, 1)]
    assert "250.8KB" in printed("workloads mine.csv", capsys)  # half on 1 KB, half even up to 1 MB


def test_a_quantity_is_shown_as_an_option_takes_it():
    """What is shown can be typed: the scenario of the text is that of the number."""
    for value in (12.5e-6, 1e-9, 0.2, 60.0, 0.0):
        shown = quantity("start_s", value)
        entry = {"kind": "poisson", "workload": "websearch", "load": 0.5, "flows": 1, "start_s": shown}
        fabric = {"kind": "dumbbell", "hosts_per_side": 1}
        scenario = from_dict({"fabric": fabric, "traffic": [entry]})
        assert isinstance(scenario, Scenario)
        assert isinstance(scenario.traffic[0], Poisson)
        assert scenario.traffic[0].start_s == value


@pytest.mark.parametrize("name", ["ecmp", "caps", "mmptcp_ns3", "conga+dctcp"])
def test_parameters_are_explained_one_by_one(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Catches the text of the line before, and 2^40 bytes for what has no bound."""
    shown = " ".join(" ".join(printed(f"schemes {name} {role}", capsys).split()) for role in ROLES)
    assert "as above" not in shown
    assert "1099511627776" not in shown
    assert ("initial_ssthresh_bytes arbitrarily high" in shown) == (name != "mmptcp_ns3")


def test_a_part_of_a_scheme_is_explained_alone(capsys):
    assert printed("schemes caps layer", capsys).startswith("layer: caps (short flows)\nparameter")
    assert printed("schemes uet layer", capsys) == "layer: none, which has no parameters\n"
    rows = json.loads(printed("schemes caps layer --json", capsys))
    assert {row["role"] for row in rows} == {"layer"}
    assert "PART = 'lay': did you mean layer? There are transport, " in refused("schemes caps lay", capsys)


def test_a_scheme_and_the_list_of_presets_fit_one_screen(capsys, monkeypatch, subtests):
    """24 lines, one for the prompt: presets of 80 columns, a scheme of 100."""
    monkeypatch.setenv("COLUMNS", "80")
    shown = printed("presets", capsys).splitlines()
    assert len(shown) < 24
    assert all(len(line) <= 80 for line in shown)
    assert sum(line.count("-slow]") + 1 for line in shown[2:-1]) == len(presets())
    monkeypatch.setenv("COLUMNS", "100")
    for name in schemes():
        with subtests.test(name=name):
            assert len(printed(f"schemes {name}", capsys).splitlines()) < 24
