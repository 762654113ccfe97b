"""Property and contract: scenarios survive TOML, presets are sound, and each broken rule is one line naming its key."""

import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from capsim import (
    Balancer,
    Batch,
    Dumbbell,
    LeafSpine,
    LinkChange,
    Listed,
    Poisson,
    Probes,
    Result,
    Scenario,
    draw_flows,
    load_scenario,
    load_study,
    presets,
    scheme,
    schemes,
    simulate,
)
from capsim.base.seeds import Purpose, engine_seed, sequence
from capsim.run.simulation import prepare
from capsim.scenario.scenario import checked, from_dict
from capsmodel.checks import ParameterError

SMALL = """
[fabric]
kind = "leaf-spine"
leaves = 2
hosts_per_leaf = 2
spines = 2

[[traffic]]
kind = "poisson"
workload = "solar2022"
load = 0.5
flows = 10
"""


def test_a_preset_is_sound_and_survives_toml(subtests: pytest.Subtests) -> None:
    for name in presets():
        with subtests.test(name=name):
            scenario = load_scenario(name)
            assert scenario.name == name
            assert scenario.notes, "a preset says where its settings come from"
            assert from_dict(tomllib.loads(scenario.to_toml())) == scenario
            fabric = scenario.fabric.build()
            assert len(draw_flows(scenario.traffic, fabric, seed=1, short_bytes=scenario.short_bytes)) > 0


def test_presets_compare_schemes_that_exist() -> None:
    asked = {name for preset in presets() if (written := load_scenario(preset).compare) for name in written.schemes}
    assert asked <= {*schemes(), "all"}


def test_there_are_presets_of_all_papers_that_simulate() -> None:
    papers = {name.split("-")[0] for name in presets()}
    assert papers >= {"caps", "cdcps", "mmptcp", "repflow", "p64", "websearch"}


def test_quantities_may_carry_units() -> None:
    typed = from_dict(
        tomllib.loads(SMALL.replace("leaves = 2", 'leaves = 2\nrate_bps = "10Gbps"\ndelay_s = "20us"', 1))
    )
    assert (typed.fabric.rate_bps, typed.fabric.delay_s) == (10e9, 20e-6)


def test_everything_survives_toml() -> None:
    scenario = Scenario(
        fabric=LeafSpine(
            leaves=2,
            hosts_per_leaf=2,
            spines=2,
            buffer_bytes=64_000,
            links=(LinkChange(between=("leaf0", "spine*"), down_s=0.1, up_s=0.2),),
        ),
        traffic=(Batch(flow_bytes=5, pairs="permutation"), Listed(flows=((0, 1, 1000, 0.5),))),
        params={"transport": {"min_rto_s": 0.01, "limited_transmit": False}},
        probes=Probes(period_s=1e-3, ports=("leaf0>*",), flows=(0,)),
        trace="drops",
    )
    assert from_dict(tomllib.loads(scenario.to_toml())) == scenario == checked(scenario)


BROKEN = [
    ("kind = 'leaf-spine'", "kind = 'ring'", "fabric.kind: Invalid value 'ring'"),
    ("leaves = 2", "leaves = 0", "fabric.leaves"),
    ("leaves = 2", "leaves = 2.5", "fabric.leaves"),
    ("leaves = 2", "leafs = 2", "fabric"),
    ("leaves = 2", "leaves = 2\nrate_bps = 'fast'", "rate_bps: 'fast' is not a rate"),
    ("leaves = 2", "leaves = 2\nrate_bps = 0", "fabric.rate_bps"),
    ("leaves = 2", "leaves = 2\nbuffer_packets = 0", "fabric.buffer_packets"),
    ("leaves = 2", "leaves = 2\nlinks = [{between = ['leaf0']}]", "fabric.links[0].between"),
    ("load = 0.5", "load = -0.5", "traffic[0].load"),
    ("load = 0.5", "laod = 0.5", "traffic[0]: unknown key `laod`"),
    ("load = 0.5", "load = 0.5\npairs = 'all'", "traffic[0].pairs"),
    ("flows = 10", "flows = 0", "traffic[0].flows"),
    ("[fabric]", "seed = -1\n[fabric]", "seed"),
    ("[fabric]", "sede = 1\n[fabric]", "unknown key `sede`"),
    ("[fabric]", "end_s = 0\n[fabric]", "end_s"),
    ("[fabric]", "trace = 'all'\n[fabric]", "trace"),
    ("[fabric]", "[fabric", "is not TOML"),
]


def test_a_broken_rule_is_one_line_with_its_key(subtests: pytest.Subtests, tmp_path: Path) -> None:
    for old, new, named in BROKEN:
        with subtests.test(old=old, new=new, named=named):
            text = SMALL.replace('"', "'")
            assert old in text
            file = tmp_path / "broken.toml"
            file.write_text(text.replace(old, new, 1), encoding="utf-8")
            with pytest.raises(ParameterError) as raised:
                load_scenario(file)
            assert named in str(raised.value)
            assert str(raised.value).startswith(("broken.toml", "rate_bps"))
            assert "\n" not in str(raised.value)


def test_a_struct_made_in_python_is_checked_too() -> None:
    wrong = Scenario(fabric=Dumbbell(hosts_per_side=0), traffic=(Poisson(flow_bytes=1, load=1.0, flows=1),))
    with pytest.raises(ParameterError, match=r"fabric.hosts_per_side: .*>= 1"):
        checked(wrong)


@pytest.mark.parametrize("load", [60, 10.1, 0, -0.5])
def test_a_load_that_is_a_percentage_is_refused_wherever_it_is_given(load: float) -> None:
    """60 in Python ran as sixty times the capacity, which the command refused."""
    wrong = Scenario(fabric=Dumbbell(hosts_per_side=1), traffic=(Poisson(flow_bytes=1, load=load, flows=1),))
    rule = f"it is the offered payload over the capacity; {load:g}% is {load / 100:g}"
    for given in (lambda: checked(wrong), lambda: from_dict(wrong.to_dict())):
        with pytest.raises(ParameterError, match=r"traffic\[0\].load: Expected `float` [<>]= ") as refused:
            given()
        assert (rule in str(refused.value)) == (load > 10)


def test_a_flow_file_is_read_from_the_folder_of_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "flows.csv").write_text("src,dst,bytes,start_s\n0,1,1000,0.5\n", encoding="utf-8")
    head = SMALL.split("[[traffic]]", maxsplit=1)[0]
    (tmp_path / "one.toml").write_text(head + "[[traffic]]\nkind = 'csv'\nfile = 'flows.csv'\n", encoding="utf-8")
    assert load_scenario(tmp_path / "one.toml").traffic == (Listed(flows=((0, 1, 1000, 0.5),)),)
    (tmp_path / "two.toml").write_text(head + "[[traffic]]\nkind = 'csv'\npath = 'flows.csv'\n", encoding="utf-8")
    with pytest.raises(ParameterError, match="kind and file"):
        load_scenario(tmp_path / "two.toml")


def test_streams_differ_by_purpose_entry_and_seed() -> None:
    states = [
        sequence(seed, purpose, entry=entry).generate_state(2).tobytes()
        for seed in (1, 2)
        for purpose in Purpose
        for entry in (0, 1)
    ]
    assert len(set(states)) == len(states)
    assert 0 <= engine_seed(5, Purpose.HASHES) < 2**63


def test_the_example_of_the_simulators_guide_is_sound(tmp_path: Path) -> None:
    guide = (Path(__file__).parents[3] / "sim" / "README.md").read_text(encoding="utf-8")
    file = tmp_path / "example.toml"
    file.write_text(guide.split("```toml\n")[1].split("```")[0], encoding="utf-8")
    assert prepare(load_scenario(file)).flows.counted.sum() == 2000


def test_a_key_or_kind_that_is_not_there_is_told_with_those_that_are(subtests):
    cases = [
        ({"nosuch": 1}, "unknown key `nosuch`: there are fabric, traffic, name"),
        (
            {"fabric": {"kind": "fattree"}},
            "fabric.kind: Invalid value 'fattree': there are leaf-spine, fat-tree, parallel-paths, dumbbell, topology, "
            "file",
        ),
        ({"fabric": {"kind": "dumbbell", "hosts": 1}}, "fabric: unknown key `hosts`: there are buffer_packets"),
        ({"traffic": [{"kind": "poisson", "laod": 1}]}, "traffic[0]: unknown key `laod`: there are workload"),
        (
            {"traffic": [{"kind": "batch", "scheme": "rps"}]},
            "spread_s; scheme is a key of the file itself: write it above the first line in brackets",
        ),
        (
            {"traffic": [{"kind": "poison"}]},
            "traffic[0].kind: Invalid value 'poison': there are poisson, batch, on-off, incast, collective, list, csv",
        ),
        (
            {"probes": {"period_s": 1, "port": []}},
            "probes: unknown key `port`: there are period_s, fields, ports, flows, switches, histograms",
        ),
    ]
    for tables, told in cases:
        with subtests.test(tables=tables, told=told):
            whole = {"fabric": {"kind": "dumbbell", "hosts_per_side": 1}, "traffic": []} | tables
            with pytest.raises(ParameterError) as caught:
                from_dict(whole)
            assert told in str(caught.value)


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    """As PowerShell and older editors of Windows write it."""
    (tmp_path / "plain.toml").write_text(SMALL, encoding="utf-8")
    (tmp_path / "marked.toml").write_text(SMALL, encoding="utf-8-sig")
    assert load_scenario(tmp_path / "marked.toml") == load_scenario(tmp_path / "plain.toml")
    study = "title = 'x'\nscenario = 'marked.toml'\nseeds = 2\n[axes]\nscheme = ['ecmp', 'rps']\n"
    (tmp_path / "study.toml").write_text(study, encoding="utf-8-sig")
    assert load_study(tmp_path / "study.toml").name == "study"


def test_a_scenario_is_read_from_tables_too() -> None:
    assert load_scenario(tomllib.loads(SMALL)) == from_dict(tomllib.loads(SMALL))
    assert simulate(tomllib.loads(SMALL), engine="reference").summary.flows == 10


def test_one_entry_is_no_tuple_of_entries() -> None:
    entry = Poisson(load=0.1, flows=2, flow_bytes=100)
    with pytest.raises(ParameterError, match=r"^traffic is a Poisson, but it must be a tuple .* traffic=\(Poisson"):
        simulate(Scenario(fabric=Dumbbell(hosts_per_side=2), traffic=entry))  # type: ignore[arg-type]


def test_a_key_of_a_link_is_told_with_those_of_links():
    fabric = {"kind": "dumbbell", "hosts_per_side": 1, "links": [{"between": ["a", "b"], "down": 1}]}
    with pytest.raises(
        ParameterError, match=r"fabric.links\[0\]: unknown key `down`: there are rate_bps, .*down_s, up_s, between"
    ):
        from_dict({"fabric": fabric, "traffic": []})


NUMPY = [
    ({"load": 0.3}, {"load": np.linspace(0.3, 0.6, 2)[0]}),
    ({"load": 0.5}, {"load": np.float32(0.5), "start_s": np.float64(0.0), "exact_load": np.bool_(False)}),
    ({"load": 0.3, "flows": 4}, {"load": 0.3, "flows": np.int64(4), "hosts": None}),
    ({"flows_per_s": 1000.0, "hosts": 3}, {"flows_per_s": np.float64(1000), "hosts": np.int16(3)}),
    (
        {"load": 0.3, "flow_bytes": None, "flow_bytes_cdf": ((1000.0, 0.25), (3000.0, 1.0))},
        {"load": 0.3, "flow_bytes": None, "flow_bytes_cdf": np.array([[1000, 0.25], [3000, 1]])},
    ),
    (
        {"load": 0.3, "flow_bytes": None, "flow_bytes_cdf": ((1000.0, 0.25), (3000.0, 1.0))},
        {
            "load": 0.3,
            "flow_bytes": None,
            "flow_bytes_cdf": tuple(zip(np.array([1000.0, 3000.0]), [0.25, 1.0], strict=True)),
        },
    ),
]


@pytest.mark.parametrize(("plain", "numpy"), NUMPY)
def test_a_run_of_numpys_numbers_is_that_of_pythons(plain: dict[str, Any], numpy: dict[str, Any]) -> None:
    """Catches numbers of NumPy that no manifest holds, or that give the same run another id."""
    common = {"flow_bytes": 2000, "flows": 5}
    usual = Scenario(
        fabric=LeafSpine(leaves=2, hosts_per_leaf=2, spines=2, rate_bps=1e9, delay_s=1e-6),
        traffic=(Poisson(**common | plain),),
        seed=3,
        probes=Probes(flows=(0, 1)),
        params={"transport": {"min_rto_s": 0.01, "dup_ack_threshold": 4}},
    )
    other = Scenario(
        fabric=LeafSpine(
            leaves=np.int64(2), hosts_per_leaf=2, spines=np.uint8(2), rate_bps=np.float64(1e9), delay_s=1e-6
        ),
        traffic=(Poisson(**common | numpy),),
        seed=np.arange(4)[3],
        end_s=np.float64(100.0),
        probes=Probes(flows=np.arange(2)),
        params={"transport": {"min_rto_s": np.float64(0.01), "dup_ack_threshold": np.int64(4)}},
    )
    found, expected = (simulate(each, engine="reference") for each in (other, usual))
    assert found.flows.equals(expected.flows)
    assert found.manifest["parameters"] == expected.manifest["parameters"]
    assert found.manifest["id"] == expected.manifest["id"]
    assert other.to_toml() == usual.to_toml()


def test_parameters_may_be_numpys_numbers() -> None:
    plain = scheme("sack").with_params(transport={"dup_ack_threshold": 5, "min_rto_s": 0.01})
    numpy = scheme("sack").with_params(transport={"dup_ack_threshold": np.int64(5), "min_rto_s": np.float32(0.01)})
    assert numpy.long.transport.params == replace(plain.long.transport.params, min_rto_s=float(np.float32(0.01)))
    assert type(numpy.long.transport.params.dup_ack_threshold) is int


@dataclass(frozen=True)
class Shift:
    """Parameters of a balancer of one's own."""

    paths: int = 1
    far: bool = True


def shifted(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return params.paths % len(candidates)


def test_parameters_of_an_own_component_may_be_numpys_numbers() -> None:
    def run(params: Shift) -> Result:
        balancer = Balancer(name="shifted", choose=shifted, params=params)
        return simulate(tomllib.loads(SMALL), scheme=replace(scheme("rps"), balancer=balancer), engine="reference")

    assert run(Shift(np.int64(1), np.bool_(True))).manifest["id"] == run(Shift()).manifest["id"]


def test_a_run_within_its_warm_up_is_refused() -> None:
    """It would have tables of dashes and no word."""
    scenario = load_scenario(tomllib.loads(SMALL) | {"warm_up_s": "6s", "end_s": "5s"})
    with pytest.raises(
        ParameterError, match=r"^warm_up_s = 6, but the run ends at end_s = 5: no flow would be counted"
    ):
        simulate(scenario)


def test_what_is_no_number_is_told_with_its_key() -> None:
    entry = Poisson(load=object(), flow_bytes=1000, flows=2)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r"^load: <object .* has the type object, but it must be a number"):
        checked(Scenario(fabric=Dumbbell(hosts_per_side=1), traffic=(entry,)))
