"""Property: a command with any arguments ends with status 0, or with 2 and one line on standard error."""

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from capsmodel.cli import main
from capsmodel.codec import StreamEncoder

pytestmark = pytest.mark.agreement

NUMBERS = [
    "0",
    "-1",
    "1",
    "0.5",
    "-0.0",
    "1e-300",
    "1e300",
    "inf",
    "nan",
    "10",
    "99999999999999999999",
    "1e9",
    "x",
    "",
    "９",
    "0x1",
]
QUANTITIES = [
    *NUMBERS,
    "1Gbps",
    "10 Gbps",
    "1e30Gbps",
    "1us",
    "-1ms",
    "1e999s",
    "1500B",
    "1MB",
    "1%",
    "1" * 3000 + " x",
]
FILES = [
    "data",
    "data.caps",
    "nosuch",
    ".",
    "/dev/null",
    "/dev/null/x",
    "x" * 300,
    "[/x]",
    "\x1b[31m",
    "flows.csv",
    "/proc/self/x",
]
LOSSES = ["--path-file", "--spread", "--spread=in-turn", "--first-path", "--burst", "--burst=3", "--interleave"]
FLAGS = {
    "optimal-k": (
        [
            *("--blocking-prob", "--rate", "--rtt-short", "--rtt-long", "--paths", "--blocked-paths", "--packet-size"),
            *("--objective", "--max-k", "--whole-units", "--failure-prob"),
        ],
        1,
    ),
    "choose-unit": (
        [
            *("--blocking-prob", "--rate", "--paths", "--blocked-paths", "--packet-size", "--code", "--max-k"),
            *("--failure-prob=1e-6", "--failure-prob", "--k", "--deadline", "--retransmit", "--lost", *LOSSES),
        ],
        1,
    ),
    "decode-prob": (["--r", "--blocking-prob", "--code", "--failure-prob", *LOSSES], 1),
    "redundancy": (["--blocking-prob", "--target-prob", "--failure-prob", *LOSSES], 1),
    "reordering": (["--congested-prob", "--dup-acks", "--paths", "--blocked-paths"], 1),
    "fct": (["--byte-share", "--workload", "--quantile"], 1),
    "equations": (["--paper", "--numbers", "--latex"], 0),
    "claims": (["--paper", "--verdict", "--totals", "--all", "--by-setting", "--depends-on", "--plot"], 1),
    "cite": (["--paper", "--style"], 0),
    "schemes": (["--json", "--csv"], 1),
    "presets": (["--json", "--csv"], 1),
    "workloads": (["--json", "--csv"], 1),
    "merge": (["--out", "--metrics"], 2),
    "rerun": ([], 1),
    "simulate": (
        [
            *("--fabric", "--load", "--flows", "--flow-file", "--scheme", "--seed", "--end", "--buffer", "--rate"),
            *("--set", "--fail", "--probe", "--probe-field", "--probe-period", "--workload", "--out"),
        ],
        1,
    ),
    "compare": (["--schemes", "--seeds", "--jobs", "--load"], 1),
    "study": (["--list", "--quick", "--set", "--seeds", "--expand", "--costs", "--check", "--shard", "--budget"], 1),
    "codec encode": (
        [
            *("--k", "--r", "--code", "--packet-size", "--n1", "--density", "--seed", "--stream-seed"),
            *("--repair-only", "--out"),
        ],
        1,
    ),
    "codec decode": (["--original", "--stream", "--partial", "--out", "--force"], 1),
    "codec inspect": (["--original"], 1),
    "codec simulate-loss": (
        ["--blocking-prob", "--paths", "--blocked-paths", "--receptions", "--seed", "--out", *LOSSES],
        1,
    ),
}
WORDS = st.one_of(st.sampled_from(QUANTITIES), st.sampled_from(FILES), st.text(max_size=12))


@st.composite
def command_lines(draw):
    """Draw a command with some of its flags and strange values; no run of packets begins without a scenario."""
    command = draw(st.sampled_from(sorted(FLAGS)))
    flags, positional = FLAGS[command]
    words = [draw(WORDS) for _ in range(draw(st.integers(0, positional + 1)))]
    for flag in draw(st.lists(st.sampled_from([*flags, "--json", "--nosuch"]), max_size=4, unique=True)):
        words.append(f"{flag}={draw(WORDS)}" if draw(st.booleans()) and "=" not in flag else flag)
    return [*command.split(), *words]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(command_lines())
def test_a_command_ends_well(capsys, tmp_path, line):
    os.chdir(tmp_path)
    (tmp_path / "data").write_bytes(b"some bytes")
    encoder = StreamEncoder(k=2, r=2, packet_bytes=4, rng=1)
    (tmp_path / "data.caps").write_bytes(b"".join(encoder.feed(b"some bytes") + encoder.finish()))
    try:
        main(line)
        code = 0
    except SystemExit as stop:
        code = stop.code or 0
    printed = capsys.readouterr()
    assert code in (0, 1, 2)
    assert "Traceback" not in printed.err
    if code == 2:
        assert printed.err.count("\n") == 1
        assert printed.err.startswith("capsmodel: ")
