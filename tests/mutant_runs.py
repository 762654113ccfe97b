"""How tests run for a mutant: in a forked process, with the reference engine only, and recorded line by line before."""

import gc
import json
import math
import os
import signal
import sys
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import hypothesis
import psutil
import pytest

# Read once, before the first fork.
WARM = (
    "hypothesis.strategies", "joblib", "pandas", "pyarrow.parquet", "scipy.integrate", "scipy.optimize", "scipy.stats",
    "simpy",
)  # fmt: skip
for _name in WARM:
    import_module(_name)
MEMORY_BYTES = 4 * 2**30  # a mutant that loops without end may also fill the memory
ARGUMENTS = ("-q", "-p", "no:cacheprovider", "-o", "addopts=--import-mode=importlib")


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """A test without a mutant: its processor time in seconds, and the lines of each source file that it reached."""

    cpu_s: float
    lines: dict[str, list[int]]


class Quick:
    """Pytest plugin: Hypothesis tries 40 examples, stops at the first that fails, and does not make it simpler."""

    def pytest_sessionstart(self) -> None:  # after conftest.py has loaded its own profile
        phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
        quick = {"deadline": None, "derandomize": True, "database": None, "max_examples": 40}
        hypothesis.settings.register_profile("mutants", phases=phases, **quick)
        hypothesis.settings.load_profile("mutants")


class Recorder(Quick):
    """Pytest plugin: writes down the lines of `sources` that each test reaches; skips tests slower than their file may.

    What runs while a file is collected, or in a fixture that tests share, counts for all tests of the file. A file goes
    to `out` as a line of JSON when its last test has passed, so that what is ended goes on from there.
    """

    def __init__(self, sources: dict[str, str], slow_cpu_s: Mapping[str, float], out: Path):
        self.sources, self.slow_cpu_s, self.out = sources, slow_cpu_s, out
        self.reached: set[tuple[str, int]] | None = None
        self.of_file: dict[str, set[tuple[str, int]]] = {}
        self.of_test: dict[str, set[tuple[str, int]]] = {}
        self.cpu_s: dict[str, float] = {}
        self.end_s = math.inf

    def _called(self, frame: Any, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename not in self.sources:
            return None
        if time.process_time() > self.end_s:
            pytest.skip("too slow for mutants")
        return self._line(frame, event, argument)

    def _line(self, frame: Any, _: str, __: Any) -> Any:
        if self.reached is not None:
            self.reached.add((self.sources[frame.f_code.co_filename], frame.f_lineno))
        return self._line

    @contextmanager
    def _into(self, reached: set[tuple[str, int]]) -> Iterator[None]:
        outer, self.reached = self.reached, reached
        sys.settrace(self._called)
        try:
            yield
        finally:
            self.reached = outer
            sys.settrace(self._called if outer is not None else None)

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Generator[None, Any, Any]:
        with self._into(self.of_file.setdefault(collector.nodeid, set())):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: Any) -> Generator[None, Any, Any]:
        if fixturedef.scope == "function":
            return (yield)
        with self._into(self.of_file.setdefault(request.node.nodeid, set())):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, Any, Any]:
        with self._into(self.of_test.setdefault(item.nodeid, set())):
            result = yield
        file = _file_of(item.nodeid)
        if not item.session.testsfailed and (nextitem is None or _file_of(nextitem.nodeid) != file):
            self._write(file)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        begin_s = time.process_time()
        self.end_s = begin_s + self.slow_cpu_s[_file_of(item.nodeid)]
        try:
            result = yield
            self.cpu_s[item.nodeid] = time.process_time() - begin_s
            return result
        finally:
            self.end_s = math.inf

    def _write(self, file: str) -> None:
        """Append the tests of a file that passed."""
        found = {}
        for name, cpu_s in self.cpu_s.items():
            if _file_of(name) == file:
                lines: dict[str, list[int]] = {}
                for source, line in sorted(self.of_test[name] | self.of_file.get(file, set())):
                    lines.setdefault(source, []).append(line)
                found[name] = asdict(Recorded(cpu_s=cpu_s, lines=lines))
        with self.out.open("a", encoding="utf-8") as out:
            out.write(json.dumps({"file": file, "tests": found}) + "\n")


def _file_of(test: str) -> str:
    return test.partition("::")[0]


class Chosen(Quick):
    """Pytest plugin: runs the tests named, in their order; SIGPROF ends the process at a test's limit."""

    def __init__(self, limits_cpu_s: dict[str, float]):
        self.limits_cpu_s = limits_cpu_s

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        found = {item.nodeid: item for item in items}
        items[:] = [found[name] for name in self.limits_cpu_s if name in found]

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        signal.setitimer(signal.ITIMER_PROF, self.limits_cpu_s[nodeid])

    def pytest_runtest_logfinish(self) -> None:  # what pytest does after the last test is no test's time
        signal.setitimer(signal.ITIMER_PROF, 0.0)


def record(copy: Path, slow_cpu_s: Mapping[str, float], sources: Sequence[str], *, out: Path) -> int:
    """Run all tests of the files, record what they reach of `sources` until one fails; return pytest's exit status."""
    _prepare(copy)
    for source in sources:
        import_module(".".join(Path(source.removeprefix("sim/")).with_suffix("").parts).removesuffix(".__init__"))
    plugin = Recorder({str(copy / source): source for source in sources}, slow_cpu_s, out)
    return int(pytest.main([*ARGUMENTS, "-x", *slow_cpu_s], plugins=[plugin]))


def run_chosen(copy: Path, limits_cpu_s: dict[str, float]) -> int:
    """Run the tests named, each with its limit of processor time, until one fails; return pytest's exit status."""
    _prepare(copy)
    files = sorted(set(map(_file_of, limits_cpu_s)))
    return int(pytest.main([*ARGUMENTS, "-x", *files], plugins=[Chosen(limits_cpu_s)]))


def _prepare(copy: Path) -> None:
    """Let this process see the copy only, and the reference engine run in place of both."""
    import resource  # not on Windows, where the rest of this module is imported by tests

    gc.freeze()  # pytest collects garbage as it ends: what was forked, much in a long test session, is none
    os.chdir(copy)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # they take most of the time
    sys.path[:0] = [str(copy / place) for place in ("", "sim", "tests", "tests/sim")]
    most_bytes = psutil.Process().memory_info().vms + MEMORY_BYTES  # what is forked holds much already
    resource.setrlimit(resource.RLIMIT_AS, (most_bytes, most_bytes))
    engines: Any = import_module("capsim.engines")
    engines.run = _reference_only(engines.run)
    simulation: Any = import_module("capsim.run.simulation")
    simulation.compile_if_needed = lambda *_, **__: simulation.Loading(compiled=False, cpu_s=0.0)
    import_module("support.engine_setups").differences = lambda _: []


def _reference_only(run: Callable[..., Any]) -> Callable[..., Any]:
    return lambda setup, *, engine="", progress=None: run(setup, engine="reference", progress=progress)
