"""Run the cases of ``htsim_cases.py`` in htsim and write what it says to ``tests/other_simulators/htsim/values.json``.

htsim is no dependency of this project. To make the values anew (C++17, CMake)::

    git clone https://github.com/ultraethernet/uet-htsim
    git -C uet-htsim checkout 40ccb0526bb6297eeb22ab33f9934fb35278dbaf
    cmake -S uet-htsim/htsim/sim -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build --target htsim_uec
    git clone https://github.com/Broadcom/csg-htsim
    git -C csg-htsim checkout 841d9e7be46bb968eece766aa4b6c044c7799f67
    make -C csg-htsim/sim libhtsim.a && make -C csg-htsim/sim/datacenter htsim_ndp
    python tests/other_simulators/make_htsim_values.py build/datacenter/htsim_uec csg-htsim/sim/datacenter/htsim_ndp

Cases that are run as before keep their values; without the file all are made.

The programs print the time at which the sender of a flow has the last acknowledgement, in microseconds with six digits.
"""

import json
import re
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from other_simulators.htsim_cases import CASES, FOLDER, Case, lone_matrix

SOURCES = {
    "htsim_uec": "https://github.com/ultraethernet/uet-htsim, commit 40ccb0526bb6297eeb22ab33f9934fb35278dbaf",
    "htsim_ndp": "https://github.com/Broadcom/csg-htsim, commit 841d9e7be46bb968eece766aa4b6c044c7799f67",
}
FINISHED = re.compile(r"^Flow \S+ flow(?:Id|_id) (\d+) .*?finished at (\S+) ", re.MULTILINE)
COUNTS = re.compile(r"^New: \d+ Rtx: (\d+) (?:.* NACKs: (\d+) )?", re.MULTILINE)


def output(program: Path, case: Case, text: str, seed: int) -> str:
    """Return what htsim prints."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "flows.cm").write_text(text, encoding="utf-8")
        command = [str(program), "-tm", "flows.cm", *case.options, "-seed", str(seed), "-o", "log.dat"]
        done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


def run_of(printed: str, n_flows: int) -> dict[str, Any]:
    """Return what one run says: when flows end, as it is printed, and counts of packets."""
    finished = {int(flow): at for flow, at in FINISHED.findall(printed)}
    assert sorted(finished) == list(range(1, n_flows + 1)), "a flow did not finish"
    ((again, nacks),) = COUNTS.findall(printed)
    return {
        "sent_again": int(again),
        "headers": int(nacks) if nacks else None,
        "finished_us": [finished[flow] for flow in range(1, n_flows + 1)],
    }


def values_of(program: Path, case: Case) -> list[dict[str, Any]]:
    """Return what htsim says about all runs of a case."""
    if case.matrix is None:
        found = [run_of(output(program, case, lone_matrix(*flow), 1), 1) for flow in case.lone_flows]
        assert not any(one["sent_again"] for one in found)
        return [found[0] | {"finished_us": [one["finished_us"][0] for one in found]}]
    n_flows = case.text.count("->")
    return [run_of(output(program, case, case.text, seed), n_flows) for seed in range(1, case.seeds + 1)]


def written(provenance: dict[str, str], cases: dict[str, Any]) -> str:
    """Return the file, with a line for each run."""
    texts = []
    for name, case in cases.items():
        runs = ",\n   ".join(json.dumps(run) for run in case.pop("runs"))
        head = json.dumps(case, indent=3).removesuffix("\n}")
        texts.append(f'  {json.dumps(name)}: {head},\n   "runs": [\n   {runs}\n  ]}}')
    head = json.dumps({"provenance": provenance}, indent=1).removesuffix("\n}")
    return head + ',\n "cases": {\n' + ",\n".join(texts) + "\n }\n}\n"


def main() -> None:
    """Make the values of all cases."""
    programs = {Path(name).name: Path(name).resolve() for name in sys.argv[1:]}
    path = FOLDER / "values.json"
    before = json.loads(path.read_text(encoding="utf-8"))["cases"] if path.exists() else {}
    found = {}
    for name, case in CASES.items():
        inputs, kept = case.inputs_sha256, before.get(name, {})
        is_same = kept.get("inputs_sha256") == inputs
        found[name] = {
            "command": f"{case.program} -tm {case.matrix or 'lone'}.cm {' '.join(case.options)} -seed SEED",
            "inputs_sha256": inputs,
            "runs": kept["runs"] if is_same else values_of(programs[case.program], case),
        }
    provenance = {
        **SOURCES,
        "command": "python tests/other_simulators/make_htsim_values.py htsim_uec htsim_ndp",
        "date": datetime.now(UTC).date().isoformat(),
    }
    path.write_text(written(provenance, found), encoding="utf-8")


if __name__ == "__main__":
    main()
