"""Contract: --set, --fail, --probe and --workload FILE change a scenario as the same lines in a file would."""

import json
from pathlib import Path

import pytest
from cli.commands import succeed

from capsim import Result, scheme
from capsim.results.files import read_manifest
from capsmodel.cli import main
from capsmodel.cli.shared.options import failure

SMALL = ["--fabric", "leaf-spine:2x2x2", "--flows", "20", "--load", "0.5"]


def written(folder: Path):
    return read_manifest(folder / "flows.parquet")["parameters"]


def test_set_reaches_fabric_traffic_scenario_and_scheme(tmp_path, capsys):
    settings = ("transport.min_rto_s=10ms", "fabric.reroute_s=1ms", "traffic.pairs=other-leaf", "warm_up_s=0.1ms")
    flags = [word for setting in (*settings, "layer.unit_size=fixed") for word in ("--set", setting)]
    succeed("simulate", *SMALL, "--scheme", "caps", *flags, "--out", str(tmp_path / "run"))
    asked = written(tmp_path / "run")
    assert asked["scheme"]["short"]["transport"]["min_rto_s"] == 0.01
    assert asked["scheme"]["short"]["layer"]["unit_size"] == 2
    scenario = asked["scenario"]
    assert (scenario["fabric"]["reroute_s"], scenario["warm_up_s"]) == (1e-3, 1e-4)
    assert scenario["traffic"][0]["pairs"] == "other-leaf"
    capsys.readouterr()


def test_a_link_fails_and_returns_and_loses_packets_meanwhile(tmp_path, capsys):
    flags = ["--fail", "leaf0-spine1@1ms-5ms", "--fail", "leaf1>spine0@2ms"]
    succeed("simulate", *SMALL, *flags, "--out", str(tmp_path / "run"))
    links = written(tmp_path / "run")["scenario"]["fabric"]["links"]
    assert links == [
        {"between": ["leaf0", "spine1"], "down_s": 0.001, "up_s": 0.005},
        {"between": ["leaf1", "spine0"], "down_s": 0.002},
    ]
    capsys.readouterr()


def test_the_minus_of_an_exponent_does_not_end_a_time(subtests):
    cases = [
        ("1e-3s", 0.001, None),
        ("1E-3s-2.5e-3s", 0.001, 0.0025),
        ("1ms-2e-3s", 0.001, 0.002),
        ("1.e-3s-2ms", 0.001, 0.002),
    ]
    for times, down_s, up_s in cases:
        with subtests.test(times=times, down_s=down_s, up_s=up_s):
            change = failure(f"leaf0-spine1@{times}")
            assert (change["down_s"], change.get("up_s")) == (down_s, up_s)


def test_probes_sample_queues_and_flows(tmp_path, capsys):
    flags = ["--probe", "leaf0-spine*", "--probe", "flow3", "--probe-period", "20us"]
    succeed("simulate", *SMALL, *flags, "--out", str(tmp_path / "run"))
    probes = Result.load(tmp_path / "run").probes
    assert set(probes["entity"]) == {"leaf0>spine0", "leaf0>spine1", "flow3.0"}
    assert {"port.queue_packets", "sub.cwnd_bytes"} <= set(probes["field"])
    assert sorted(set(probes["time_s"].round(9)))[:2] == [2e-5, 4e-5]
    assert "probes.parquet" in capsys.readouterr().out


def test_histograms_and_subflows_are_kept_when_asked_for(tmp_path):
    flags = ["--set", "probes.histograms=true", "--set", "subflows=true", "--probe", "flow3"]
    succeed("simulate", *SMALL, *flags, "--out", str(tmp_path / "run"))
    result = Result.load(tmp_path / "run")
    assert set(result.histograms["packets"]) >= {"long", "control"}
    started = result.flows[result.flows["start_s"] <= result.resources.simulated_s]
    assert result.subflows["flow"].tolist() == started["flow"].tolist()
    assert set(result.probes["entity"]) == {"flow3.0"}


def test_a_field_is_sampled_by_name(tmp_path):
    flags = ["--probe", "flow3", "--probe-field", "sub.timeouts", "--probe-field", "flow.data_next"]
    succeed("simulate", *SMALL, *flags, "--out", str(tmp_path / "run"))
    probes = Result.load(tmp_path / "run").probes
    assert set(zip(probes["field"], probes["entity"], strict=True)) == {
        ("sub.timeouts", "flow3.0"),
        ("flow.data_next", "flow3"),
    }


def test_a_file_of_sizes_goes_into_the_manifest_and_not_its_name(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.csv").write_text("2000,0.5\n4000,1\n")
    succeed("simulate", *SMALL, "--workload", "mine.csv", "--out", "run")
    (entry,) = written(tmp_path / "run")["scenario"]["traffic"]
    assert entry["flow_bytes_cdf"] == [[2000, 0], [2000, 0.5], [4000, 1]]
    assert "workload" not in entry
    flows = Result.load(tmp_path / "run").flows
    sizes = flows.loc[flows["counted"], "flow_bytes"]  # of others, in progress at the beginning, a part is left
    assert sizes.between(2000, 4000).all()
    assert (sizes == 2000).any()
    Path("mine.csv").unlink()
    succeed("rerun", "run/flows.parquet")
    capsys.readouterr()


def test_schemes_of_a_comparison_get_the_parameters_too(blank, tmp_path, capsys):
    flags = ["--set", "transport.min_rto_s=10ms", "--schemes", "ecmp,rps", "--seeds", "1", "--jobs", "1"]
    succeed("compare", *SMALL, *flags, "--out", str(tmp_path / "out"))
    for name in ("ecmp", "rps"):
        stack = written(tmp_path / "out" / "results" / f"{name}-seed1")["scheme"]["short"]
        assert stack["transport"]["min_rto_s"] == 0.01
    assert scheme("rps").short.transport.params.min_rto_s == 0.2
    capsys.readouterr()


BAD = [
    ("--set nosuch", "write KEY=VALUE"),
    ("--set seed=", "write KEY=VALUE"),
    ("--set nosuch=1", "nosuch is no setting: write one of fabric, traffic"),
    ("--set min_rto_s=10ms", "min_rto_s is no setting: did you mean transport.min_rto_s?"),
    ("--set loat=1", "loat is no setting: did you mean traffic.load?"),
    ("--set transport.min_rto=10ms", "transport.min_rto is not a parameter of newreno: did you mean min_rto_s?"),
    ("--set a.b.c=1", "a.b.c is no setting"),
    ("--set fabric.nosuch=1", "unknown key `nosuch`"),
    ("--set fabric.rate_bps=0bps", "Expected `float` >= 1.0, but it is 0"),
    ("--set fabric.rate_bps=0", "--set fabric.rate_bps: '0' is not a rate: write a number and a unit"),
    ("--set transport.min_rto_s=10", "--set transport.min_rto_s: '10' is not a time: write a number and a unit"),
    ("--set end_s=1.5", "--set end_s: '1.5' is not a time: write a number and a unit"),
    ("--set traffic.0.min_bytes=64", "--set traffic.0.min_bytes: '64' is not a size: write a number and a unit"),
    ("--set hosts.encode_s_per_packet=1e-6", "'1e-6' is not a time: write a number and a unit"),
    ("--set traffic.load=60", "load: Expected `float` <= 10.0, but it is 60: it is the offered payload over the"),
    ("--set fabric.rate_bps=fast", "'fast' is not a rate"),
    ("--set traffic.nosuch=1", "traffic of the kind poisson has no nosuch"),
    ("--set traffic.7.load=1", "there are 1 traffic entries"),
    ("--set traffic=1", "Expected `array`"),
    (
        "--set nosuch.min_rto_s=1s",
        "balancer, queue, nic; settings of a scenario begin with fabric, traffic, hosts or probes",
    ),
    ("--set transport.nosuch=1", "transport.nosuch is not a parameter of newreno"),
    ("--set transport.min_rto_s=-1s", "'-1s' is not a time"),
    ("--set transport.handshake=maybe", "must be true or false"),
    ("--set layer.unit_size=huge --scheme caps", "window, optimal, fixed"),
    ("--nic fq", 'Choose from: "fifo", "round_robin"'),
    ("--set nic=fq", "nic"),
    ("--set nic.quantum_bytes=3028B", "nic.quantum_bytes is not a parameter of fifo"),
    ("--nic round_robin --set nic.quantum_bytes=2GiB", "nic.quantum_bytes = 2147483648"),
    ("--fail leaf0-spine1", "write A-B@TIME"),
    ("--fail leaf0@1ms", "'leaf0' is no link"),
    ("--fail leaf0-spine9@1ms", "nodes are host0 to host3, leaf0 to leaf1, spine0 to spine1"),
    ("--fail leaf0-spine1@soon", "'soon' is not a time"),
    ("--fail leaf0-spine1@3ms-2ms", "up_s"),
    ("--probe leaf0-spine0", "give --out DIR"),
    ("--probe flow3 --probe-field sub.window --out OUT", "no field 'sub.window': sub has "),
    ("--probe-field sub.una --out OUT", "'sub.una' is of a flow: name some in probes.flows"),
    ("--probe leaf0 --out OUT", "'leaf0' is no link"),
    ("--probe leaf0-spine9 --out OUT", "no port 'leaf0>spine9'"),
    ("--probe flow99 --set traffic.start=empty --out OUT", "flows are numbered 0 to 19"),
    ("--probe leaf0-spine0 --probe-period 0s --out OUT", "period_s"),
    ("--workload nosuch.csv", "nosuch.csv: No such file"),
]


@pytest.mark.parametrize(("flags", "told"), BAD)
def test_bad_settings_are_one_line_and_status_2(flags, told, capsys, tmp_path):
    with pytest.raises(SystemExit) as stop:
        main(["simulate", *SMALL, *(word.replace("OUT", str(tmp_path / "out")) for word in flags.split())])
    err = capsys.readouterr().err
    assert (stop.value.code, err.count("\n")) == (2, 1)
    assert told in err
    assert list(tmp_path.iterdir()) == []


def test_a_fraction_is_a_number(capsys):
    succeed("optimal-k", "16", "--blocking-prob", "5/16,0.5", "--json")
    assert [row["blocking_prob"] for row in json.loads(capsys.readouterr().out)] == [0.3125, 0.5]
