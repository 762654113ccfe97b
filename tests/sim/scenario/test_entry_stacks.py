"""Traffic entries whose hosts run the stacks of other schemes, on the switches of one."""

from dataclasses import replace

import numpy as np
import pytest
from support.engine_setups import CROWDED, differences, one_run, setup_of

from capsim import ParameterError, compare, scheme, simulate, with_settings
from capsim.engines import run
from capsim.run.simulation import prepare
from capsim.scenario.scenario import from_dict
from capsim.study.scheme_runs import RunPoint, run_task


def side_by_side(fabric, name, other):
    """Return a set-up in which every second flow runs the stack of another scheme."""
    kind, flows = CROWDED[fabric]
    tags = (np.arange(len(flows)) % 2).astype(np.int16)
    base = setup_of(kind, replace(flows, tag=tags), name)
    return replace(base, entry_schemes={1: setup_of(kind, flows, other).scheme})


@pytest.mark.parametrize(
    ("fabric", "name", "other"),
    [
        ("leaf-spine", "ecmp", "sack"),
        ("fat-tree", "rps", "mptcp"),
        ("leaf-spine", "caps", "dctcp"),
        ("fat-tree", "repflow", "caps_decode"),
    ],
)
def test_engines_agree(fabric, name, other):
    assert differences(side_by_side(fabric, name, other)) == []


def test_each_flow_runs_the_stack_of_its_entry():
    setup = side_by_side("leaf-spine", "ecmp", "mptcp")
    flows = run(setup).flows
    assert [setup.stacks[number].sharing.name for number in flows["stack"]] == ["single", "mptcp"] * (len(flows) // 2)
    assert flows["n_subs"][::2].max() == 1
    assert flows["n_subs"][1::2].max() == 8
    assert (flows["received_ps"] > 0).all()


def test_the_same_stack_on_all_entries_is_the_plain_run():
    kind, flows = CROWDED["leaf-spine"]
    tags = (np.arange(len(flows)) % 2).astype(np.int16)
    plain = setup_of(kind, replace(flows, tag=tags), "rps")
    mixed = replace(plain, entry_schemes={1: replace(scheme("ecmp"), short=plain.scheme.short, long=plain.scheme.long)})
    assert np.array_equal(run(plain).trace, run(mixed).trace)


# -- as a scenario says it


def mixture(scheme_name, **entries):
    """Return a scenario of short and of long flows, whose entries may name stacks of their own."""
    kinds = {"short": {"flow_bytes": 30_000, "flows": 12}, "long": {"flow_bytes": 400_000, "flows": 4}}
    traffic = [
        {"kind": "batch", "pairs": "other-leaf", **kind, **({"stack": entries[name]} if name in entries else {})}
        for name, kind in kinds.items()
    ]
    fabric = {"kind": "leaf-spine", "leaves": 2, "hosts_per_leaf": 4, "spines": 3, "buffer_packets": 20}
    params = {"transport": {"min_rto_s": 2e-3}}
    return from_dict(
        {"fabric": fabric, "traffic": traffic, "scheme": scheme_name, "params": params, "trace": "packets"}
    )


def test_entries_that_name_stacks_run_as_set_up_by_hand():
    """Short flows by CAPS's hosts, long ones by MPTCP's, on switches that spray; parameters hold for both."""
    scenario = mixture("rps", short="caps", long="mptcp")
    mixed = prepare(scenario)
    named = {0: scheme("caps"), 1: scheme("mptcp")}
    by_hand = {entry: each.with_params(transport={"min_rto_s": 2e-3}) for entry, each in named.items()}
    plain = prepare(mixture("rps"))
    assert plain.entry_schemes == {}
    trace = one_run(mixed).trace
    assert np.array_equal(trace, run(replace(plain, entry_schemes=by_hand)).trace)
    assert not np.array_equal(trace, run(plain).trace)
    assert run(mixed).flows["n_subs"].reshape(-1).max() == 8


def test_the_stack_of_the_scheme_itself_changes_nothing_but_the_name():
    plain, named = (simulate(mixture("rps", **of)) for of in ({}, {"long": "rps"}))
    assert plain.flows.equals(named.flows)
    assert "stacks" not in plain.manifest["parameters"]
    assert named.manifest["parameters"]["stacks"]["1"]["long"]["transport"]["min_rto_s"] == 2e-3


def test_parameters_that_a_stack_lacks_are_of_the_others():
    """No ECMP host codes; a parameter that nobody has is refused as ever."""
    scenario = mixture("caps", long="ecmp")
    numbers = vars(scheme("caps").short.layer.params).items()
    name, value = next((name, value) for name, value in numbers if type(value) is float)
    with_layer = scenario.replace(params=scenario.params | {"layer": {name: value}})
    assert prepare(with_layer).entry_schemes[1].long == prepare(scenario).entry_schemes[1].long
    with pytest.raises(ParameterError, match=r"layer\.nothing is not a parameter"):
        prepare(scenario.replace(params={"layer": {"nothing": 1}}))


def test_a_stack_that_is_none_is_refused_in_one_line():
    named = with_settings(mixture("ecmp"), {"traffic.1.stack": "mptcp"})
    assert prepare(named).entry_schemes[1].name == "mptcp"
    with pytest.raises(ParameterError, match=r"^traffic\[1\]\.stack = 'tcp': did you mean mptcp\? capsmodel") as error:
        prepare(mixture("ecmp", long="tcp"))
    assert "\n" not in str(error.value)


def test_a_list_of_flows_may_name_a_stack_too(tmp_path):
    (tmp_path / "f.csv").write_text("src,dst,bytes,start_s\n0,4,3000,0\n")
    tables = mixture("rps").to_dict() | {"traffic": [{"kind": "csv", "file": "f.csv", "stack": "mptcp"}]}
    scenario = from_dict(tables, folder=tmp_path)
    assert prepare(scenario).entry_schemes[0].long.sharing.name == "mptcp"
    assert from_dict(scenario.to_dict()) == scenario


def test_a_comparison_keeps_the_stack_of_an_entry_and_its_tasks_know_it():
    scenario = mixture("ecmp", long="mptcp")
    found = compare(scenario, schemes=["ecmp", "rps"], seeds=1)
    assert found.runs["scheme"].tolist() == ["ecmp", "rps"]
    points = [RunPoint({}, each, scheme("ecmp")) for each in (scenario, mixture("ecmp", long="sack"))]
    mptcp, sack = map(run_task, points)
    assert mptcp.id != sack.id
    assert mptcp.payload["scheme"]["stacks"]["1"]["name"] == "mptcp"
