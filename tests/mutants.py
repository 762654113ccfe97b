"""Single-line mutants of the code that decides, each run against the tests that say what is right.

    python tests/mutants.py --share 0.2 --seed 1 --minutes 20

A mutant is one change of one line: a comparison moved or turned, +-1 on a number, ``and`` for ``or``, ``min`` for
``max``, a statement left out (:mod:`mutant_lines`). It is killed when a test fails, and survives when all pass: then no
test knows what that line should do. TARGETS says what is mutated and where the tests with an oracle of their own are;
a mutant runs those that reach its line, fastest first, until one fails. Both engines are the reference engine here, so
that nothing compiles and no equality of engines can speak.

Everything happens in a copy, in one forked process for each mutant (not on Windows). Before the first mutant the tests
run once without any, which says how long they take and which lines they reach; that is kept in
``out/mutants_baseline.jsonl``, file by file, and the outcomes in ``out/mutants.jsonl``. Neither is asked for again
while sources, tests and data stay the same, and ``--minutes`` counts for both. ``mutants_equivalent.toml`` beside this
file names the mutants that no test can kill, with the reason; one that no longer exists, or is killed, is an error.
"""

import argparse
import hashlib
import json
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from mutant_lines import Mutant, mutants_of
from mutant_runs import Recorded, record, run_chosen

ROOT = Path(__file__).resolve().parents[1]
COPIED = ("capsmodel", "sim", "tests", "data", "pyproject.toml")
EQUIVALENT = ROOT / "tests" / "mutants_equivalent.toml"
OUTCOMES = ROOT / "out" / "mutants.jsonl"
BASELINE = ROOT / "out" / "mutants_baseline.jsonl"


class Tests(NamedTuple):
    """Test files of a target; a test that takes longer than `slow_cpu_s` in the reference engine is left out."""

    patterns: tuple[str, ...]
    slow_cpu_s: float = 2.0

    def files(self, root: Path) -> set[str]:
        """Return the files, relative to `root`."""
        paths = {path for pattern in self.patterns for path in root.glob(pattern)}
        return {path.relative_to(root).as_posix() for path in paths if path.name not in WITHOUT_ORACLE}


STUDIES = ("campaign", "file", "metrics", "points", "scheme_runs", "template")
# Studies drawn at random say whether words are as rare as stated: some seconds each.
RULES = Tests(
    (
        "tests/papers/test_verdict_*.py",
        "tests/sim/study/claims/test_*.py",
        *(f"tests/sim/study/test_{name}.py" for name in STUDIES),
    ),
    slow_cpu_s=20.0,
)
FORMULAS = ("blocking", "decoding", "messages", "optimal_unit", "path_losses", "redundancy", "unit_choice")
STATISTICS = ("argmin_interval", "designs", "moderated", "robustness", "sequential_decisions", "statistics_intervals")
ROOMS = ("base", "fabric", "roles", "protocols", "engines", "scenario", "results", "run")
# Files and folders that are mutated, and their tests. Scripted packets, own arithmetic, numbers by hand: not golden,
# not agreement.
TARGETS = {
    "sim/capsim/protocols": Tests(tuple(f"tests/sim/{room}/**/test_*.py" for room in ROOMS)),
    "sim/capsim/results/summary.py": Tests(("tests/sim/results/test_summary.py",)),
    "sim/capsim/results/fct.py": Tests(("tests/sim/results/test_fct.py",)),
    "sim/capsim/results/conservation.py": Tests(("tests/sim/results/test_conservation.py",)),
    "capsmodel/papers/verdicts.py": RULES,
    "sim/capsim/study": RULES,
    "capsmodel/experiments/printed.py": RULES,
    "capsmodel/experiments/words.py": RULES,
    "capsmodel/experiments/statistics": Tests(tuple(f"tests/experiments/test_{name}.py" for name in STATISTICS)),
    "capsmodel/coding": Tests(tuple(f"tests/model/test_{name}.py" for name in FORMULAS)),
}
# These compare two runs of the same code, or look at no packet.
WITHOUT_ORACLE = {
    "test_engines_agree.py", "test_own_scheme.py", "test_compilation.py", "test_result.py", "test_code_digest.py",
    "test_scenario.py", "test_randomness.py", "test_topology.py", "test_traffic.py", "test_files.py",
    "test_front_door.py",
}  # fmt: skip
LEAST_LIMIT_CPU_S = 5.0  # a mutant may loop without end: beyond this, and ten times what a test took without it
TIMEOUT_S = 1800.0
OUTCOME_WORDS = ("killed", "survived", "untested")


def main() -> int:
    """Run the mutants asked for and print what became of them; 1 if fewer than `--least` are killed."""
    options = _options()
    mutants = [mutant for file in sources(ROOT) if options.only in file for mutant in mutants_of(ROOT / file, file)]
    without_effect = equivalent(mutants, all_files=not options.only)
    chosen = _sample(mutants, options.share, options.seed)
    print(f"{len(chosen)} of {len(mutants)} mutants, seed {options.seed}")
    outcomes = _outcomes(chosen, deadline=time.monotonic() + 60 * options.minutes)
    return _report(outcomes, without_effect, least=options.least)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--share", type=float, default=1.0, help="share of the mutants of each file, up to 1")
    parser.add_argument("--seed", type=int, default=1, help="which share")
    parser.add_argument("--minutes", type=float, default=1440, help="stop then; the next call goes on from there")
    parser.add_argument("--only", default="", help="only files with this in their path")
    parser.add_argument("--least", type=float, default=0.9, help="share to be killed for exit status 0")
    return parser.parse_args()


def sources(root: Path) -> list[str]:
    """Return the files that are mutated, relative to `root`."""
    places = [root / target for target in TARGETS]
    paths = [path for place in places for path in ([place] if place.is_file() else sorted(place.rglob("*.py")))]
    return [path.relative_to(root).as_posix() for path in paths]


def equivalent(mutants: list[Mutant], *, all_files: bool = True) -> set[tuple[str, ...]]:
    """Return the changes known to have no effect; end when one of them is no mutant any more."""
    entries = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))["mutant"]
    places = [(each["file"], each["function"], each["before"], each["after"]) for each in entries if each["reason"]]
    known = {(*place, after) for *place, afters in places for after in afters}
    gone = known - {mutant.change for mutant in mutants}
    if all_files and (gone or len(known) < sum(len(each["after"]) for each in entries)):
        sys.exit(f"{EQUIVALENT.name}: no such mutant any more, there twice, or without a reason: {sorted(gone)}")
    return known


def _sample(mutants: list[Mutant], share: float, seed: int) -> list[Mutant]:
    """Return a share of the mutants of each file, at least one, in an order that mixes the files."""
    files: dict[str, list[Mutant]] = {}
    for mutant in mutants:
        files.setdefault(mutant.file, []).append(mutant)
    draw = random.Random(seed)
    chosen = [one for each in files.values() for one in draw.sample(each, max(1, round(share * len(each))))]
    return draw.sample(chosen, len(chosen))


def _outcomes(chosen: list[Mutant], *, deadline: float) -> dict[Mutant, str]:
    """Run the mutants whose outcome is not known yet; print each."""
    with tempfile.TemporaryDirectory() as folder:
        copy, digest = Path(folder), _copy_to(Path(folder))
        known = _stored(digest)
        todo = [mutant for mutant in chosen if mutant.id not in known]
        tests = _baseline(copy, {_target_of(mutant) for mutant in todo}, digest, deadline=deadline)
        for number, mutant in enumerate(todo, 1):
            begin_s = time.monotonic()
            outcome = _outcome(mutant, tests, copy, deadline=deadline)
            if outcome is None:
                print(f"time is over, {len(todo) - number + 1} mutants left for the next call")
                break
            known[mutant.id] = outcome
            _append(OUTCOMES, {"digest": digest, "mutant": mutant.id, "outcome": outcome, "what": str(mutant)})
            spent_s = time.monotonic() - begin_s
            print(f"[{number:4}/{len(todo)}] {outcome:9} {spent_s:5.1f} s  {mutant}", flush=True)
    return {mutant: known[mutant.id] for mutant in chosen if mutant.id in known}


def _copy_to(folder: Path) -> str:
    """Copy what the tests need and return a digest of it."""
    digest = hashlib.sha256()
    for name in COPIED:
        kept_runs = ("results",) if name == "data" else ()
        source, ignore = ROOT / name, shutil.ignore_patterns("__pycache__", *kept_runs)
        shutil.copytree(source, folder / name, ignore=ignore) if source.is_dir() else shutil.copy(source, folder / name)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(path.relative_to(folder).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()


def _stored(digest: str) -> dict[str, str]:
    """Return the outcomes known of this code."""
    return {line["mutant"]: line["outcome"] for line in _lines_of(OUTCOMES, digest)}


def _lines_of(file: Path, digest: str) -> list[dict[str, Any]]:
    """Return what a file has of this code."""
    lines = map(json.loads, file.read_text(encoding="utf-8").splitlines()) if file.is_file() else ()
    return [line for line in lines if line["digest"] == digest]


def _append(path: Path, line: Mapping[str, Any]) -> None:
    path.parent.mkdir(exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def _target_of(mutant: Mutant) -> str:
    return next(target for target in TARGETS if mutant.file.startswith(target))


def _baseline(copy: Path, targets: Iterable[str], digest: str, *, deadline: float) -> dict[str, Recorded]:
    """Return processor time and lines reached of each test of the targets; run those not known of this code."""
    asked: dict[str, float] = {}
    for target in targets:
        asked |= dict.fromkeys(sorted(TARGETS[target].files(copy)), TARGETS[target].slow_cpu_s)
    known = {line["file"]: line["tests"] for line in _lines_of(BASELINE, digest)}
    todo = {file: slow_cpu_s for file, slow_cpu_s in asked.items() if file not in known}
    if todo:
        known |= _recorded(copy, todo, digest, deadline=deadline)
    tests = {name: Recorded(**entry) for file in asked for name, entry in known[file].items()}
    print(f"{len(tests)} tests take {sum(test.cpu_s for test in tests.values()):.0f} CPU s together", flush=True)
    return tests


def _recorded(copy: Path, files: dict[str, float], digest: str, *, deadline: float) -> dict[str, Any]:
    """Run test files without a mutant and keep what each of their tests reaches; end where the time is too short."""
    print(f"running {len(files)} test files without a mutant", flush=True)
    out, log = copy / "baseline.jsonl", copy / "baseline.log"
    status = _forked(partial(record, copy, files, sources(copy), out=out), log=log, until=deadline)
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()] if out.is_file() else []
    for line in lines:
        _append(BASELINE, {"digest": digest} | line)
    if status is None:
        sys.exit(
            f"time is over after {len(lines)} of {len(files)} test files without a mutant: no mutant was run; "
            "the next call goes on from there, with more --minutes or fewer files (--only)"
        )
    if status != 0:
        sys.exit(f"{log.read_text(encoding='utf-8')[-5000:]}\ntests fail without any mutant")
    return {line["file"]: line["tests"] for line in lines}


def _outcome(mutant: Mutant, tests: dict[str, Recorded], copy: Path, *, deadline: float) -> str | None:
    """Return ``killed``, ``survived``, or ``untested`` when no test reaches the line; None if the time is over."""
    chosen = _tests_of(mutant, tests, copy)
    if not chosen:
        return "untested"
    source = copy / mutant.file
    original = source.read_text(encoding="utf-8")
    _replace(source, mutant.text)
    limits_cpu_s = {name: LEAST_LIMIT_CPU_S + 10 * tests[name].cpu_s for name in chosen}
    until = min(deadline, time.monotonic() + TIMEOUT_S)
    status = _forked(partial(run_chosen, copy, limits_cpu_s), log=copy / "mutant.log", until=until)
    _replace(source, original)
    if status is None and until == deadline:
        return None
    return "survived" if status == 0 else "killed"


def _replace(source: Path, text: str) -> None:
    """Write a source, and remove its bytecode: Python compares times by the second."""
    source.write_text(text, encoding="utf-8")
    for cached in (source.parent / "__pycache__").glob(f"{source.stem}.*"):
        cached.unlink()


def _tests_of(mutant: Mutant, tests: dict[str, Recorded], copy: Path) -> list[str]:
    """Return the tests that reach the line, fastest first; of one run at import, those of the file and of none."""
    files = TARGETS[_target_of(mutant)].files(copy)
    of_target = {name: test for name, test in tests.items() if name.partition("::")[0] in files}
    reached = {name: set(test.lines.get(mutant.file, ())) for name, test in of_target.items()}
    first, last = mutant.lines
    if not mutant.at_import:
        chosen = [name for name in of_target if any(first <= line <= last for line in reached[name])]
    else:
        chosen = [name for name in of_target if reached[name] or not tests[name].lines]
    return sorted(chosen, key=lambda name: tests[name].cpu_s)


def _forked(work: Callable[[], int], *, log: Path, until: float) -> int | None:
    """Return the exit status of `work` in a process of its own, its output in `log`; None if `until` ended it."""

    def child() -> None:
        with log.open("w", encoding="utf-8") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        os._exit(work())

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join(max(0.0, until - time.monotonic()))
    if process.is_alive():
        process.kill()
        process.join()
        return None
    return process.exitcode


def _report(outcomes: dict[Mutant, str], without_effect: set[tuple[str, ...]], *, least: float) -> int:
    """Print what survived and the totals of each file; return the exit status."""
    wrong = [mutant for mutant in outcomes if mutant.change in without_effect and outcomes[mutant] == "killed"]
    judged = {mutant: outcome for mutant, outcome in outcomes.items() if mutant.change not in without_effect}
    for mutant, outcome in judged.items():
        if outcome != "killed":
            print(f"{outcome:8} {mutant}")
    totals = Counter((mutant.file, outcome) for mutant, outcome in judged.items())
    for file in sorted({mutant.file for mutant in judged}):
        print(_line(file, {outcome: totals[file, outcome] for outcome in OUTCOME_WORDS}))
    every = Counter(judged.values())
    print(_line("all", every), f"; {len(outcomes) - len(judged)} known to be equivalent left out", sep="")
    for mutant in wrong:
        print(f"{EQUIVALENT.name}: this one is no equivalent, it was killed: {mutant}")
    return int(bool(wrong) or every["killed"] < least * len(judged))


def _line(name: str, counts: Mapping[str, int]) -> str:
    total = sum(counts.values())
    share = counts["killed"] / total if total else 1.0
    return f"{name:52} " + ", ".join(f"{counts[word]} {word}" for word in OUTCOME_WORDS) + f": {share:.0%} killed"


if __name__ == "__main__":
    sys.exit(main())
