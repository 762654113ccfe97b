"""Single-line mutants of the code that decides, each run against the tests that say what is right.

    python tests/mutants.py --share 0.2 --seed 1 --minutes 20

A mutant is one change of one line: a comparison moved or turned, +-1 on a number, ``and`` for ``or``, ``min`` for
``max``, a statement left out (:mod:`mutant_lines`). It is killed when a test fails, and survives when all pass: then no
test knows what that line should do. TARGETS says what is mutated and where the tests with an oracle of their own are;
a mutant runs those that reach its line, fastest first, until one fails. Both engines are the reference engine here, so
that nothing compiles and no equality of engines can speak.

Everything happens in a copy, in one forked process for each mutant (not on Windows). Outcomes go to
``out/mutants.jsonl`` and are not asked for again while sources and tests stay the same. ``mutants_equivalent.toml``
beside this file names the mutants that no test can kill, with the reason; one that no longer exists, or is killed, is
an error.
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
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

from mutant_lines import Mutant, mutants_of
from mutant_runs import Recorded, record, run_chosen

ROOT = Path(__file__).resolve().parents[1]
COPIED = ("capsmodel", "sim", "tests", "data", "pyproject.toml")
EQUIVALENT = ROOT / "tests" / "mutants_equivalent.toml"
OUTCOMES = ROOT / "out" / "mutants.jsonl"

# Files and folders that are mutated, and their tests. Scripted packets, own arithmetic, numbers by hand: not golden,
# not agreement.
TARGETS = {
    "sim/capsim/protocols": "tests/sim/test_*.py",
    "sim/capsim/summary.py": "tests/sim/test_summary.py",
    "sim/capsim/fct.py": "tests/sim/test_fct.py",
    "sim/capsim/conservation.py": "tests/sim/test_conservation.py",
    "capsmodel/papers/verdicts.py": "tests/papers/test_verdict*.py",
}
# These compare two runs of the same code, or look at no packet.
WITHOUT_ORACLE = {
    "test_engines_agree.py", "test_own_scheme.py", "test_compilation.py", "test_results.py", "test_code_digest.py",
    "test_scenarios.py", "test_random_numbers.py", "test_fabrics.py", "test_traffic.py", "test_saved_results.py",
    "test_front_door.py",
}  # fmt: skip
SLOW_CPU_S = 2.0  # a test that takes longer in the reference engine is left out
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
    parser.add_argument("--minutes", type=float, default=1e9, help="stop then; the next call goes on from there")
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
        tests = _baseline(copy, {_target_of(mutant) for mutant in todo}) if todo else {}
        for number, mutant in enumerate(todo, 1):
            if time.monotonic() > deadline:
                print(f"time is over, {len(todo) - number + 1} mutants left for the next call")
                break
            begin_s = time.monotonic()
            known[mutant.id] = outcome = _outcome(mutant, tests, copy)
            _store(digest, mutant, outcome)
            spent_s = time.monotonic() - begin_s
            print(f"[{number:4}/{len(todo)}] {outcome:9} {spent_s:5.1f} s  {mutant}", flush=True)
    return {mutant: known[mutant.id] for mutant in chosen if mutant.id in known}


def _copy_to(folder: Path) -> str:
    """Copy what the tests need and return a digest of it."""
    digest = hashlib.sha256()
    for name in COPIED:
        source, ignore = ROOT / name, shutil.ignore_patterns("__pycache__", "results")
        shutil.copytree(source, folder / name, ignore=ignore) if source.is_dir() else shutil.copy(source, folder / name)
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.relative_to(folder).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()


def _stored(digest: str) -> dict[str, str]:
    if not OUTCOMES.is_file():
        return {}
    lines = map(json.loads, OUTCOMES.read_text(encoding="utf-8").splitlines())
    return {line["mutant"]: line["outcome"] for line in lines if line["digest"] == digest}


def _store(digest: str, mutant: Mutant, outcome: str) -> None:
    OUTCOMES.parent.mkdir(exist_ok=True)
    with OUTCOMES.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"digest": digest, "mutant": mutant.id, "outcome": outcome, "what": str(mutant)}) + "\n")


def _target_of(mutant: Mutant) -> str:
    return next(target for target in TARGETS if mutant.file.startswith(target))


def _baseline(copy: Path, targets: Iterable[str]) -> dict[str, Recorded]:
    """Run the tests of the targets without a mutant; return processor time and lines reached of each."""
    paths = {path for target in targets for path in copy.glob(TARGETS[target]) if path.name not in WITHOUT_ORACLE}
    files = [path.relative_to(copy).as_posix() for path in sorted(paths)]
    print(f"running {len(files)} test files without a mutant", flush=True)
    out = copy / "baseline.json"
    work = partial(record, copy, files, sources(copy), slow_cpu_s=SLOW_CPU_S, out=out)
    if _forked(work, log=copy / "baseline.log") != 0:
        print((copy / "baseline.log").read_text(encoding="utf-8")[-5000:])
        sys.exit("tests fail without any mutant")
    found = {name: Recorded(**entry) for name, entry in json.loads(out.read_text(encoding="utf-8")).items()}
    print(f"{len(found)} tests take {sum(test.cpu_s for test in found.values()):.0f} CPU s together", flush=True)
    return found


def _outcome(mutant: Mutant, tests: dict[str, Recorded], copy: Path) -> str:
    """Return ``killed``, ``survived``, or ``untested`` when no test reaches the line."""
    chosen = _tests_of(mutant, tests)
    if not chosen:
        return "untested"
    source = copy / mutant.file
    original = source.read_text(encoding="utf-8")
    _replace(source, mutant.text)
    limits_cpu_s = {name: LEAST_LIMIT_CPU_S + 10 * tests[name].cpu_s for name in chosen}
    status = _forked(partial(run_chosen, copy, limits_cpu_s), log=copy / "mutant.log")
    _replace(source, original)
    return "survived" if status == 0 else "killed"


def _replace(source: Path, text: str) -> None:
    """Write a source, and remove its bytecode: Python compares times by the second."""
    source.write_text(text, encoding="utf-8")
    for cached in (source.parent / "__pycache__").glob(f"{source.stem}.*"):
        cached.unlink()


def _tests_of(mutant: Mutant, tests: dict[str, Recorded]) -> list[str]:
    """Return the tests that reach the line, fastest first; of one run at import, those of the file and of none."""
    pattern = TARGETS[_target_of(mutant)]
    of_target = {name: test for name, test in tests.items() if fnmatchcase(name.partition("::")[0], pattern)}
    reached = {name: set(test.lines.get(mutant.file, ())) for name, test in of_target.items()}
    first, last = mutant.lines
    if not mutant.at_import:
        chosen = [name for name in of_target if any(first <= line <= last for line in reached[name])]
    else:
        chosen = [name for name in of_target if reached[name] or not tests[name].lines]
    return sorted(chosen, key=lambda name: tests[name].cpu_s)


def _forked(work: Callable[[], int], *, log: Path) -> int | None:
    """Return the exit status of `work` in a process of its own with its output in `log`; None if it had to be ended."""

    def child() -> None:
        with log.open("w", encoding="utf-8") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        os._exit(work())

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join(TIMEOUT_S)
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
