"""Property and contract: scenarios survive TOML, presets are sound, and each broken rule is one line naming its key."""

import tomllib
from pathlib import Path

import pytest

from capsim import (
    Batch,
    Dumbbell,
    LeafSpine,
    LinkChange,
    Listed,
    Poisson,
    Probes,
    Scenario,
    draw_flows,
    load_scenario,
    presets,
    schemes,
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
workload = "websearch"
load = 0.5
flows = 10
"""


@pytest.mark.parametrize("name", presets())
def test_a_preset_is_sound_and_survives_toml(name: str) -> None:
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


@pytest.mark.parametrize(("old", "new", "named"), BROKEN)
def test_a_broken_rule_is_one_line_with_its_key(old: str, new: str, named: str, tmp_path: Path) -> None:
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
    assert len(prepare(load_scenario(file)).flows.src) == 4000


@pytest.mark.parametrize(
    ("tables", "told"),
    [
        ({"nosuch": 1}, "unknown key `nosuch`: there are fabric, traffic, name"),
        (
            {"fabric": {"kind": "fattree"}},
            "fabric.kind: Invalid value 'fattree': there are leaf-spine, fat-tree, parallel-paths, dumbbell, topology, "
            "file",
        ),
        ({"fabric": {"kind": "dumbbell", "hosts": 1}}, "fabric: unknown key `hosts`: there are buffer_packets"),
        ({"traffic": [{"kind": "poisson", "laod": 1}]}, "traffic[0]: unknown key `laod`: there are workload"),
        (
            {"traffic": [{"kind": "poison"}]},
            "traffic[0].kind: Invalid value 'poison': there are poisson, batch, on-off, incast, collective, list, csv",
        ),
        (
            {"probes": {"period_s": 1, "port": []}},
            "probes: unknown key `port`: there are period_s, fields, ports, flows, switches, histograms",
        ),
    ],
)
def test_a_key_or_kind_that_is_not_there_is_told_with_those_that_are(tables, told):
    whole = {"fabric": {"kind": "dumbbell", "hosts_per_side": 1}, "traffic": []} | tables
    with pytest.raises(ParameterError) as caught:
        from_dict(whole)
    assert told in str(caught.value)


def test_a_key_of_a_link_is_told_with_those_of_links():
    fabric = {"kind": "dumbbell", "hosts_per_side": 1, "links": [{"between": ["a", "b"], "down": 1}]}
    with pytest.raises(
        ParameterError, match=r"fabric.links\[0\]: unknown key `down`: there are rate_bps, .*down_s, up_s, between"
    ):
        from_dict({"fabric": fabric, "traffic": []})
