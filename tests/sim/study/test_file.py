"""Property: a study file says what it is said to, and what cannot be meant is refused with file, key and remedy."""

import math
from dataclasses import replace

import pytest
import tomli_w

from capsim import ParameterError, Study, load_study
from capsim.study.claims.design import Design
from capsim.study.file import Source, read_study
from capsim.study.points import point_name

SCENARIO = """
fabric = { kind = "dumbbell", hosts_per_side = 2 }
traffic = [ { kind = "poisson", workload = "websearch", load = "{load}", flows = "{flows}", pairs = "sides" } ]
"""
STUDY = f"""
title = "Two schemes"
seeds = [8, 16]
[axes]
scheme = ["ecmp", "rps"]
load = [0.2, 0.6]
[unstated]
"transport.min_rto_s" = [0.2, "10ms"]
recovery = {{ soon = {{ "transport.dup_ack_threshold" = 3 }}, late = {{ "transport.dup_ack_threshold" = 9 }} }}
[let]
flows = 10
[scenario]
{SCENARIO}
[[panel]]
where = "Fig. 1"
metric = "mean_fct_short_s"
claims = [
  {{ id = "a", subject = "rps", baseline = "ecmp", is = "lower" }},
  {{ id = "b", subject = "rps", x = "load", is = "rising", at = {{ load = [0.6, 0.2] }} }},
]
"""


@pytest.fixture
def in_file(tmp_path):
    def read(text, **others):
        for name, more in others.items():
            (tmp_path / f"{name}.toml").write_text(more, encoding="utf-8")
        (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
        return Design(read_study(tmp_path / "mine.toml"))

    return read


def everything(design):
    """Make all that a study says, where each rule is checked."""
    for claim in design.claims:
        design.comparisons(claim)
    for setting in design.settings:
        for point in design.points(setting):
            design.arguments(point, setting)
    return design


def test_a_study_is_its_axes_settings_and_claims(in_file):
    design = everything(in_file(STUDY))
    assert [point_name(point) for point in design.points()] == [
        "rps, load 0.2",
        "ecmp, load 0.2",
        "rps, load 0.6",
        "ecmp, load 0.6",
    ]
    assert list(design.settings) == [
        "as the text",
        "transport.min_rto_s = 10ms",
        "recovery = late",
        "transport.min_rto_s = 10ms, recovery = late",
    ]
    assert design.claims["a"].where == "Fig. 1"
    assert design.comparisons("a")[0].name == "rps against ecmp, load 0.2"


def test_claims_of_a_second_panel_are_those_of_the_study(in_file):
    """Wrong line: claims of the first panel only, so that seeds from 4 to 16 are refused as where there is no claim."""
    first = '[[panel]]\nwhere = "Fig. 0"\nmetric = "p99_fct_short_s"\n'
    design = everything(in_file(STUDY.replace("[[panel]]", first + "[[panel]]")))
    assert list(design.claims) == ["a", "b"]


def test_the_points_of_a_trend_are_in_the_order_of_their_axis(in_file):
    rising = in_file(STUDY).comparisons("b")
    assert [dict(one.points[0])["load"] for one in sorted(rising, key=lambda one: one.place)] == [0.2, 0.6]
    assert len({one.series for one in rising}) == 1


def test_what_cannot_be_meant_is_refused_with_file_key_and_remedy(subtests, in_file):
    cases = [
        ("load = [0.2, 0.6]", "load = []", "mine.toml: axes.load: give a list of values"),
        ("load = [0.2, 0.6]", "load = [0.2, 0.2]", "axes.load holds a value twice"),
        ("load = [0.2, 0.6]", "load = [0.2, [1]]", "axes.load: give a list of values"),
        ("load = [0.2, 0.6]", "seed = [1, 2]", "seed: say how many seeds"),
        ('"{load}"', '"{laod}"', r"scenario.traffic\[0\].load: {laod}|unknown name laod: did you mean load"),
        ("flows = 10", 'flows = "{flows}"', "flows depends on itself"),
        ('["ecmp", "rps"]', '{ ecmp = "ecmp", rps = "rsp" }', "mine.toml: scenario: scheme = 'rsp': did you mean rps"),
        ("[axes]", "[axis]", "unknown key axis: did you mean axes"),
        ('where = "Fig. 1"', 'wher = "Fig. 1"', r"panel\[0\]: unknown key wher: did you mean where"),
        ('id = "a"', 'idd = "a"', r"claims\[0\]: unknown key idd: did you mean id"),
        ('is = "lower"', 'is = "smaller"', "claims.0..is: 'smaller' is none of its values: there are equal, lower, "),
        ('id = "b"', 'id = "a"', "two claims have the id a"),
        ('baseline = "ecmp"', 'baseline = "ECMP"', "scheme has no value 'ECMP': did you mean ecmp"),
        ("load = [0.6, 0.2]", "load = [0.6, 0.3]", r"b.at.load: load has no value 0.3"),
        ("at = { load = [0.6, 0.2]", "at = { lod = [0.6, 0.2]", "there is no axis lod: did you mean load"),
        ("load = [0.6, 0.2]", "load = []", "is empty, so that nothing is selected"),
        ('"rps", baseline = "ecmp"', "{ load = true }", "load has no value True"),
        ("seeds = [8, 16]", 'seeds = "many"', "mine.toml: seeds"),
        ("seeds = [8, 16]", 'vary = ["recover"]', "vary: recover is not in .unstated.: did you mean recovery"),
        ('scheme = ["ecmp", "rps"]', "scheme = { ECMP = 3 }", "axes.scheme.ECMP: name the scheme"),
        ("load = [0.2, 0.6]", "load = { low = 0.2, high = [0.6] }", "axes.load.high: give its value, or a table"),
        (
            "hosts_per_side = 2",
            "hosts_per_side = 0",
            r"scenario: fabric[.:] ?hosts_per_side",
        ),
    ]
    for old, new, told in cases:
        with subtests.test(old=old, new=new, told=told):
            assert old in STUDY
            with pytest.raises(ParameterError, match=told) as refused:
                everything(in_file(STUDY.replace(old, new, 1)))
            assert "mine.toml" in str(refused.value)
            assert "\n" not in str(refused.value)


def study_of(axes, *, scenario=None, **keys):
    """Return a small study with other axes, in which the load is 0.5."""
    one = {"kind": "poisson", "workload": "websearch", "load": 0.5, "flows": 10, "pairs": "sides"}
    tables = {"fabric": {"kind": "dumbbell", "hosts_per_side": 2}, "traffic": [one | (scenario or {})]}
    return Study(scenario=tables, axes=axes, **keys)


USED = "write {{{0}}} where the scenario has it, or name what it sets, as in transport.min_rto_s"


def test_an_axis_that_no_run_uses_is_refused_however_many_values_it_has(subtests):
    """The table would say a load that no run has."""
    cases = [[0.8], [0.8, 0.9], {"high": 0.8}, {"high": 0.8, "low": 0.1}]
    for values in cases:
        with subtests.test(values=values):
            with pytest.raises(ParameterError) as refused:
                study_of({"scheme": ["ecmp"], "load": values})
            assert str(refused.value) == f"study.toml: axes.load changes no run: {USED.format('load')}"
            study = study_of({"scheme": ["ecmp"], "load": values}, scenario={"load": "{load}"})
            loads = [study.design.described(point).scenario.traffic[0].load for point in study.design.points()]
            assert loads == list(values.values() if isinstance(values, dict) else values)


def test_a_name_that_no_run_uses_is_refused_wherever_it_is_set(subtests):
    cases = [
        ({"Scheme": ["rps"]}, {}, "axes.Scheme changes no run: did you mean scheme"),
        ({"laod": [1]}, {"scenario": {"load": "{load}"}, "let": {"load": 0.1}}, "axes.laod .*: did you mean load"),
        ({"gap": ["1ms"]}, {"let": {"unused": "{gap}"}}, "axes.gap changes no run"),
        ({"gap": ["1ms"]}, {"notes": "{gap}"}, "axes.gap changes no run"),
        ({"links": {"slow": {"raet": 1}}}, {}, "axes.links: raet changes no run"),
        ({"links": {"slow": {"fabric.raet_bps": 1}}}, {}, "raet_bps"),
        ({"links": {"slow": {"seed": 1}}}, {}, "axes.links: seed: say how many seeds"),
        ({"seed": [1]}, {}, "axes.seed: say how many seeds"),
        ({"scheme": ["ecmp"]}, {"unstated": {"gap": [1, 2]}}, "unstated.gap changes no run"),
        ({"end_s": [1, 2]}, {}, "axes.end_s changes no run"),
    ]
    for axes, keys, told in cases:
        with subtests.test(axes=axes, keys=keys, told=told):
            with pytest.raises(ParameterError, match=told) as refused:
                study_of({"scheme": ["ecmp"], **axes}, **keys)
            assert "\n" not in str(refused.value)


def test_a_name_is_used_that_reaches_a_run_by_any_way(subtests):
    cases = [
        ({"load": [0.1]}, {"scenario": {"load": "{both}"}, "let": {"both": "{2 * load}"}}),
        ({"gap": ["1ms"], "transport.min_rto_s": ["{gap}"]}, {}),
        ({"timer": {"short": {"gap": "1ms", "transport.min_rto_s": "{gap}"}}}, {}),
        ({"traffic.load": [0.1]}, {}),
        ({"run": {"one": {"end_s": 9.0}}}, {}),
    ]
    for axes, keys in cases:
        with subtests.test(axes=axes, keys=keys):
            design = study_of({"scheme": ["ecmp"], **axes}, **keys).design
            without = study_of({"scheme": ["ecmp"]}).design
            assert design.arguments(design.points()[0]) != without.arguments(without.points()[0])


def test_the_axis_of_a_measurement_must_be_an_argument_of_it():
    measure = {"name": "experiment-run", "scenario": "{case}"}
    with pytest.raises(ParameterError, match=r"axes\.cas changes no run: did you mean case"):
        Study(axes={"cas": [1]}, measure=measure, let={"case": 1})


def test_a_parameter_of_one_scheme_is_an_axis_in_any_order_of_the_schemes(subtests):
    """The first scheme is the base of the ratios, and it need not have the parameter."""
    cases = [["ecmp", "caps"], ["caps", "ecmp"], ["ecmp", "rps", "caps"]]
    for schemes in cases:
        with subtests.test(schemes=schemes):
            study = study_of({"scheme": schemes, "layer.max_overhead": [0.1, 0.9]})
            assert len(study.design.points()) == 2 * len(schemes)
            with pytest.raises(ParameterError, match=r"layer\.max_overhead: no scheme of the study has this parameter"):
                study_of({"scheme": ["ecmp", "rps"], "layer.max_overhead": [0.1, 0.9]})


def test_two_values_that_give_the_same_runs_are_refused(subtests):
    """One point would stand in the table under two names; with other schemes the value may make no difference."""
    cases = [
        ({"transport.min_rto_s": ["10ms", 0.01, "0.01s"]}, "'10ms' and 0.01"),
        ({"transport.min_rto_s": ["10ms", "20ms", "0.01s"]}, "'10ms' and '0.01s'"),
        ({"scheme": ["ecmp", "letflow"], "balancer.gap_s": ["100us", "1ms", "0.1ms"]}, "'100us' and '0.1ms'"),
        ({"case": {"one": {"traffic.load": 0.2}, "two": {"traffic.load": 0.2}}}, "'one' and 'two'"),
        ({"flows": [4.2, 4.4]}, "4.2 and 4.4"),
        ({"scheme": {"A": "rps", "B": "rps"}}, "'A' and 'B'"),
    ]
    for axes, twice in cases:
        with (
            subtests.test(axes=axes, twice=twice),
            pytest.raises(ParameterError, match=f"axes.{[*axes][-1]}: {twice} give the same runs: leave one out"),
        ):
            study_of({"scheme": ["ecmp"], **axes}, scenario={"flows": "{int(flows)}"}, let={"flows": 10})


def test_what_is_no_toml_is_refused_in_one_line(subtests, in_file):
    cases = ["seeds = ", "\x00", "a = [" * 5000, "seeds = 1" + "0" * 5000]
    for text in cases:
        with subtests.test(text=text):
            with pytest.raises(ParameterError, match=r"mine\.toml") as refused:
                in_file(text)
            assert "\n" not in str(refused.value)


def test_a_study_that_extends_another_has_its_tables_but_not_its_claims(in_file):
    child = 'extends = "base.toml"\nvary = ["recovery"]\n[axes]\nload = [0.4]\n[let]\nflows = 20\n[[claim]]\n'
    child += 'id = "c"\nmetric = "timeouts"\nsubject = "rps"\nbaseline = "ecmp"\nis = "lower"\n'
    design = everything(in_file(child, base=STUDY))
    assert list(design.claims) == ["c"]
    assert list(design.settings) == ["as the text", "recovery = late"]
    assert design.arguments(design.points()[0])["scenario"]["traffic"][0]["flows"] == 20
    assert design.source.file.seeds == (8, 16)
    assert design.source.file.title == ""


def test_a_study_may_leave_out_an_inherited_scale(in_file):
    base = STUDY + "\n[reduced]\nflows = 5\n"
    assert in_file('extends = "base.toml"', base=base).has_reduced
    assert not in_file('extends = "base.toml"\nreduced = false', base=base).has_reduced
    with pytest.raises(ParameterError, match=r"mine\.toml: reduced = true says nothing"):
        in_file("reduced = true")


def test_a_chain_of_studies_has_an_end(in_file):
    parents = {
        "one": 'extends = "two.toml"',
        "two": 'extends = "three.toml"',
        "three": 'extends = "four.toml"',
        "four": STUDY,
    }
    with pytest.raises(ParameterError, match="extends at most 3 others"):
        in_file('extends = "one.toml"', **parents)
    with pytest.raises(ParameterError, match="extends at most 3 others"):
        in_file('extends = "mine.toml"')


def test_digests_tell_an_edited_parent(in_file):
    child = 'extends = "base.toml"'
    before = in_file(child, base=STUDY).source.sha256
    assert in_file(child, base=STUDY).source.sha256 == before
    assert in_file(child, base=STUDY + "\n# edited\n").source.sha256 != before


def test_each_cell_of_a_printed_table_is_a_claim_with_its_unit():
    tables = {
        "axes": {"scheme": {"TCP": "ecmp", "RPS": "rps"}, "load": [0.2, 0.6]},
        "scenario": "p64",
        "table": [
            {
                "id": "t3",
                "where": "Table 3",
                "axis": "scheme",
                "at": {"load": 0.6},
                "columns": {"fct": "mean_fct_short_s ms", "to": "timeouts"},
                "times": {"to": 20},
                "text": {"fct": "mean FCT of {scheme}"},
                "note": {"to": "of {scheme} over 20 runs"},
                "conditions": "256 hosts",
                "rows": "TCP 66.50 -\nRPS 29.7 12\n",
            }
        ],
    }
    design = Design(Source.of_tables(tables))
    assert {one.id: (one.printed, one.times) for one in design.claims.values()} == {
        "t3-tcp-fct": ("66.50 ms", 1.0),
        "t3-rps-fct": ("29.7 ms", 1.0),
        "t3-rps-to": ("12", 20),
    }
    assert [(one.text, one.note, one.conditions) for one in design.claims.values()] == [
        ("mean FCT of TCP", "", "256 hosts"),
        ("mean FCT of RPS", "", "256 hosts"),
        ("", "of RPS over 20 runs", "256 hosts"),
    ]
    assert [dict(p) for one in design.comparisons("t3-tcp-fct") for p in one.points] == [{"scheme": "TCP", "load": 0.6}]
    tables["table"][0]["rows"] = "TCP 66.50"
    with pytest.raises(ParameterError, match=r"TCP has 1 cells, but there are 2 columns"):
        list(Design(Source.of_tables(tables)).claims)


def test_parameters_are_those_of_all_schemes_of_the_file_and_of_what_is_run_if_they_were_changed(in_file):
    """A claim alone, or the setting of the text alone, has fewer schemes than the file."""
    text = STUDY.replace('["ecmp", "rps"]', '{ ecmp = "ecmp", rps = "rps", other = "{other_is}" }')
    design = in_file(
        text.replace("[unstated]", '[unstated]\nother_is = ["ecmp", "repflow"]\n"sharing.copies" = [2, 3]')
    )
    Study.of(design.about("b"))
    Study.of(replace(design, text_only=True))
    with pytest.raises(ParameterError, match=r"sharing\.copies: no scheme of the study has this parameter"):
        Study.of(replace(design, changed={"sharing.copies": 3}).about("b"))
    without = in_file(STUDY.replace("[unstated]", '[unstated]\n"sharing.copies" = [2, 3]'))
    with pytest.raises(ParameterError, match=r"sharing\.copies: no scheme of the study has this parameter"):
        Study.of(without)


def test_a_name_with_a_unit_is_changed_to_a_number_as_the_file_has_it(subtests, in_file):
    """A template computes with it, so that a text with a unit would be no number."""
    for value, expected in [("100us", 2e-4), (1e-4, 2e-4), ("{2 * 1e-4}", 4e-4)]:
        with subtests.test(value=value, expected=expected):
            text = STUDY.replace("[let]", "[let]\ngap_s = 1e-3").replace('[0.2, "10ms"]', '["{2 * gap_s}", "10ms"]')
            design = replace(in_file(text), changed={"gap_s": value})
            params = design.described(design.points()[0]).scenario.params
            assert params["transport"]["min_rto_s"] == pytest.approx(expected)


def test_a_field_of_the_scenario_is_set_as_any_other_setting(tmp_path):
    """Catches a value that is taken and changes no run."""
    tables = {"fabric": {"kind": "dumbbell", "hosts_per_side": 2}, "traffic": [{"kind": "batch", "flow_bytes": 1000}]}
    file = tmp_path / "mine.toml"
    file.write_text(tomli_w.dumps({"axes": {"scheme": ["ecmp"]}, "scenario": tables}))
    design = load_study(file, end_s="1ms", nic="round_robin").design
    scenario = design.described(design.points()[0]).scenario
    assert (scenario.end_s, scenario.nic) == (1e-3, "round_robin")
    with pytest.raises(ParameterError, match=r"^seed = 3: the seeds of a study are 1, 2, \.\.\."):
        load_study(file, seed=3)


def test_a_value_of_an_axis_sets_keys_of_the_scenario_too(tmp_path):
    """Traffic as a whole among them; a name that templates use stays a name."""
    tables = {"fabric": {"kind": "dumbbell", "hosts_per_side": 2}, "traffic": [{"kind": "batch", "flow_bytes": "{of}"}]}
    incast = {"kind": "incast", "flow_bytes": 5000, "senders_per_round": 3, "receiver": 0}
    case = {"batch": {"of": 1000, "warm_up_s": 1e-6}, "incast": {"of": 7, "traffic": [incast], "traffic.0.rounds": 2}}
    file = tmp_path / "mine.toml"
    file.write_text(tomli_w.dumps({"axes": {"case": case, "scheme": ["ecmp"]}, "scenario": tables}))
    design = load_study(file).design
    batch, incast = (design.described(point).scenario for point in design.points())
    assert (batch.traffic[0].flow_bytes, batch.warm_up_s) == (1000, 1e-6)
    assert (incast.traffic[0].flow_bytes, incast.traffic[0].rounds, incast.warm_up_s) == (5000, 2, 0.0)


def test_a_claim_is_marked_where_its_runs_are_not_at_their_load(subtests, in_file):
    cases = [
        (10, "", "from empty"),
        (10, "as printed, Section V-A", ""),
        (100_000, "", ""),
    ]
    for flows, length, mark in cases:
        with subtests.test(flows=flows, length=length, mark=mark):
            design = in_file(f'length = "{length}"\n' + STUDY.replace("flows = 10", f"flows = {flows}"))
            assert {design.begins(claim) for claim in design.claims} == {mark}


def test_a_steady_start_is_not_marked_and_the_point_farthest_from_its_load_decides(in_file):
    steady = in_file(STUDY.replace('flows = "{flows}"', 'flows = "{flows}", start = "steady"'))
    assert (steady.settled("a"), steady.begins("a")) == (1.0, "")
    light, both = (in_file(STUDY.replace("load = [0.2, 0.6]", f"load = {loads}")) for loads in ("[0.2]", "[0.2, 0.6]"))
    assert both.settled("a") < light.settled("a") < 1


def test_a_list_of_flows_has_no_load_to_reach(in_file):
    traffic = 'traffic = [{ kind = "list", flows = [[0, 1, 20_000, 0.0]] }]'
    rated = next(line for line in STUDY.splitlines() if line.startswith("traffic"))
    listed = in_file(STUDY.replace(rated, f"{traffic}\nwarm_up_s = '{{load}}'").replace("flows = 10", "other = 1"))
    assert all(math.isnan(listed.settled(claim)) and not listed.begins(claim) for claim in listed.claims)


def test_a_length_that_names_no_place_is_refused(subtests, in_file):
    for length in ["as printed", "as printed, ", "Section V"]:
        with (
            subtests.test(length=length),
            pytest.raises(
                ParameterError, match=r'mine\.toml: length = .* must name the place, as in "as printed, Section'
            ),
        ):
            in_file(f'length = "{length}"\n' + STUDY)
