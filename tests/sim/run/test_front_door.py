"""Contract: what ``import capsim`` offers, and what `simulate` and `compare` take: presets, files, names of schemes."""

import re
from pathlib import Path

import msgspec
import pytest

import capsim
import capsmodel
from capsim import (
    Batch,
    Dumbbell,
    Edge,
    LeafSpine,
    ParameterError,
    Poisson,
    Probes,
    Scenario,
    compare,
    load_scenario,
    presets,
    scheme,
    simulate,
)
from capsmodel import FlowSizes

TRAFFIC = (Batch(flow_bytes=20_000, pairs="sides"),)
SCENARIO = Scenario(fabric=Dumbbell(hosts_per_side=2), traffic=TRAFFIC, scheme="rps", trace="drops")


def test_every_name_of_the_front_door_is_there_and_in_its_table_of_contents() -> None:
    assert all(hasattr(capsim, name) for name in capsim.__all__)
    assert [name for name in capsim.__all__ if name not in (capsim.__doc__ or "")] == []


def test_only_what_the_packages_offer_is_listed() -> None:
    """Catches what the packages are made with, such as names_of_stub, among the names that Tab shows."""
    for package in (capsim, capsmodel):
        assert set(dir(package)) == {*package.__all__, "__version__"}
    assert capsim.__version__ == capsmodel.__version__


def test_what_is_called_with_other_names_says_which_there_are() -> None:
    """Catches msgspec's own errors, which name no field."""
    with pytest.raises(TypeError, match=r"^Probes has no every_s: there are period_s, fields, ports, "):
        Probes(every_s=1e-3)
    with pytest.raises(TypeError, match=r"^LeafSpine has no leafs: did you mean leaves\? There are "):
        LeafSpine(leafs=2, hosts_per_leaf=2, spines=2)
    with pytest.raises(TypeError, match=r"^Dumbbell: values are given by name, as in Dumbbell\(.*, hosts_per_side"):
        Dumbbell(2)
    with pytest.raises(TypeError, match=r"[Mm]issing .*hosts_per_side"):
        Dumbbell()
    assert Edge("a", "b", 1e9, 1e-6).rate_bps == 1e9


def test_a_word_that_is_none_of_its_values_is_told_them() -> None:
    tables = SCENARIO.to_dict()
    for wrong, text in (
        ({"nic": "robin"}, "nic: 'robin' is none of its values: did you mean round_robin? There are fifo, round_robin"),
        ({"trace": "all"}, "trace: 'all' is none of its values: there are off, drops, packets"),
        ({"traffic": [{"kind": "batch", "flow_bytes": 1, "pairs": "side"}]}, "did you mean sides? There are random, "),
    ):
        with pytest.raises(ParameterError, match=re.escape(text)):
            load_scenario(tables | wrong)


def test_a_file_and_a_scenario_give_the_same_run(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SCENARIO.to_toml())
    from_file = simulate(tmp_path / "small.toml", engine="reference")
    assert from_file.manifest["id"] == simulate(SCENARIO, engine="reference").manifest["id"]
    assert simulate(str(tmp_path / "small.toml"), engine="reference").flows.equals(from_file.flows)


def test_a_preset_goes_by_its_name() -> None:
    named = simulate("caps-units")
    assert named.scenario == load_scenario("caps-units") == presets()["caps-units"]


@pytest.mark.parametrize("other", ["caps", scheme("caps")], ids=["name", "scheme"])
def test_a_scheme_replaces_that_of_the_scenario(other: str) -> None:
    result = simulate(SCENARIO, scheme=other, engine="reference")
    assert result.scenario == SCENARIO.replace(scheme="caps")
    assert result.manifest["id"] == simulate(SCENARIO.replace(scheme="caps"), engine="reference").manifest["id"]
    assert result.flows["units"].sum() > 0


def test_a_comparison_takes_a_file(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SCENARIO.to_toml())
    compared = compare(tmp_path / "small.toml", schemes=["ecmp", scheme("rps")], seeds=1, engine="reference")
    assert compared.schemes == ("ecmp", "rps")
    assert compared.runs["id"].nunique() == 2


def test_errors_say_what_there_is() -> None:
    with pytest.raises(FileNotFoundError, match=r"^no file 'p65' and no preset .*: capsmodel presets lists them$"):
        simulate("p65")
    with pytest.raises(ParameterError, match=r"scheme = 'espresso': did you mean presto"):
        simulate(SCENARIO, scheme="espresso")
    with pytest.raises(ParameterError, match=r"scheme = 'espresso': did you mean presto"):
        compare(SCENARIO, schemes=["ecmp", "espresso"])


def test_one_name_is_no_list_of_schemes() -> None:
    """Catches a text taken letter by letter, which ended in an error about a scheme 'r'."""
    with pytest.raises(ParameterError, match=r'^schemes = .rps., but it must be a list: write \["rps"\]$'):
        compare(SCENARIO, schemes="rps", seeds=2)


def test_a_distribution_is_no_workload() -> None:
    """Catches a FlowSizes that reaches msgspec, which fails with a TypeError about arrays."""
    sizes = FlowSizes([1000, 2000], [0, 1])
    scenario = SCENARIO.replace(traffic=(*TRAFFIC, Poisson(flow_bytes=9, load=0.1, flows=3)))
    entry = Poisson(workload=sizes, load=0.1, flows=3)
    told = r"^traffic\[1\]\.workload is a FlowSizes, but it must be a name or a file; give .* as flow_bytes_cdf$"
    with pytest.raises(ParameterError, match=told):
        simulate(msgspec.structs.replace(scenario, traffic=(*TRAFFIC, entry)))
    points = tuple(zip(sizes.sizes.tolist(), sizes.cdf_values.tolist(), strict=True))
    given = scenario.replace(traffic=(Poisson(flow_bytes_cdf=points, load=0.1, flows=3),))
    assert simulate(given, engine="reference").flows["flow_bytes"].between(1000, 2000).all()
