"""Contract: ``capsmodel predict`` prints what predict_fct says, marks bounds, and puts packets beside it."""

import json

import pytest
from cli.commands import printed, refused, succeeded

from capsim import load_scenario, model_inputs

BASE = "predict --profile 100g --nic round_robin --fabric leaf-spine:2x2x2"


def rows(line, capsys):
    return json.loads(printed(f"{line} --json", capsys))


def test_values_are_those_of_the_model(capsys):
    (row,) = rows("predict websearch-load-60 --schemes dctcp --loads 0.3", capsys)
    model = model_inputs(load_scenario("websearch-load-60"), scheme="dctcp").predict(0.3)
    assert row["short_mean_s"] == model.short.mean_s
    assert row["short_p99_s"] == model.short.quantile_s(0.99)
    assert row["long_mean_slowdown"] == model.long.mean_slowdown
    assert (row["short_rests_on"], row["long_rests_on"]) == ("fitted", "fitted")
    assert row["simulated_short_mean_s"] is None


def test_each_scheme_and_load_has_a_row_and_bounds_are_marked(capsys):
    found = rows(f"{BASE} --schemes uet,ecmp --loads 0.2,0.4", capsys)
    assert [(row["scheme"], row["load"]) for row in found] == [("uet", 0.2), ("uet", 0.4), ("ecmp", 0.2), ("ecmp", 0.4)]
    text = printed(f"{BASE} --schemes uet,ecmp --loads 0.2", capsys)
    assert all(("> " in line) == ("ecmp " in line) for line in text.splitlines() if line.startswith(("uet ", "ecmp ")))


def test_explain_prints_terms_that_add_up(capsys):
    found = rows(f"{BASE} --schemes dctcp --loads 0.4 --explain", capsys)
    (row,) = rows(f"{BASE} --schemes dctcp --loads 0.4", capsys)
    total = {kind: sum(each["value"] for each in found if each["flows"] == kind) for kind in ("short", "long")}
    assert total == pytest.approx({"short": row["short_mean_s"], "long": row["long_mean_slowdown"]})


def test_check_simulates_from_the_steady_state(capsys):
    line = f"{BASE} --workload solar2022 --schemes ecmp --loads 0.2 --check 0.2 --flows 40 --engine reference"
    (row,) = rows(line, capsys)
    assert row["simulated_flows"] == 40
    assert row["simulated_short_mean_s"] > 0.5 * row["short_mean_s"]


def test_latex_has_a_line_for_each_row(capsys):
    lines = printed(f"{BASE} --schemes rps_pq --loads 0.2,0.4 --latex", capsys).splitlines()
    assert [line.split(" & ")[:2] for line in lines if line.startswith("rps")] == [
        [r"rps\_pq", "0.2"],
        [r"rps\_pq", "0.4"],
    ]
    assert r"$>$" in lines[4]


def test_plot_is_written(capsys, tmp_path):
    printed(f"{BASE} --schemes uet,ecmp --loads 0.2 --plot {tmp_path}/p.svg", capsys)
    assert (tmp_path / "p.svg").stat().st_size > 1000


def test_a_load_beyond_what_was_compared_is_named(capsys):
    assert "load 0.8: beyond 0.7" in succeeded(f"{BASE} --schemes uet --loads 0.5,0.8", capsys).err


@pytest.mark.parametrize(
    ("rest", "text"),
    [
        ("--schemes mptcp", "mptcp has no formula"),
        ("--load 0.3 --loads 0.2", "--load and --loads ask for the same"),
        ("--loads 0.2 --check 0.3", "--check 0.3 is none of the loads"),
        ("--loads 0.99", "load = 0.99: links of hosts are asked for 1.0"),
        ("--latex --csv", "--latex and --json or --csv exclude each other"),
    ],
)
def test_bad_input_is_one_line(rest, text, capsys):
    assert text in refused(f"{BASE} {rest}", capsys)
