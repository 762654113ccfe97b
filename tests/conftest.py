"""Settings of all tests: Hypothesis's examples, which cases are run, and the number of comparisons with models."""

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from case_samples import sampled
from hypothesis import settings

from capsmodel.experiments.agreement import FAMILY_FALSE_ALARM_PROB, FAMILY_TESTS

settings.register_profile("capsmodel", max_examples=50, deadline=None, derandomize=True, print_blob=True)
settings.register_profile("fresh", deadline=None, max_examples=1000, print_blob=True)  # other ones each time, nightly
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "capsmodel"))

WHOLE_FILE = "\npytestmark = pytest.mark.agreement\n"

if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ["LOKY_MAX_CPU_COUNT"] = "1"  # the workers of xdist keep all cores busy already


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of this session's simulations, one for all workers of xdist."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "results"


@pytest.fixture(scope="session", autouse=True)
def no_wait_for_the_disk() -> Iterator[None]:
    """Let thousands of rows be written without waiting until each is on the disk: no test takes the power away."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def compiled_from_the_first_run_on() -> Iterator[None]:
    """Let a run for which no engine is asked be compiled, whether machine code is there or not: tests repeat."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("capsim.run.simulation.PACKETS_SOONER_THAN_COMPILED", 0)
        yield


class Comparisons:
    """Counts the comparisons that the fixture `compare` noted, in whatever process; ``-v`` lists them."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            test = report.nodeid.rpartition("/")[2]
            self.lines += [f"{test}: {text}" for name, text in report.user_properties if name == "agreement"]

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if len(self.lines) > FAMILY_TESTS:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self.lines:
            return
        if terminalreporter.verbosity > 0:
            terminalreporter.section("agreement")
            terminalreporter.write("".join(f"{line}\n" for line in self.lines))
        count = f"{len(self.lines)} comparisons of models with measurements"
        shared = f"a false-alarm probability of {FAMILY_FALSE_ALARM_PROB:g} is shared by at most {FAMILY_TESTS}"
        terminalreporter.write_line(f"agreement: {count}; {shared}")


def pytest_addoption(parser: pytest.Parser) -> None:
    text = "add N to the seed of every measurement in tests/agreement: the same tests on packets never seen before"
    parser.addoption("--fresh-seeds", type=int, default=0, metavar="N", help=text)
    text = "only the tests that take seconds each, or only those of many packets, seeds or cases (marker agreement)"
    parser.addoption("--only", choices=("fast", "agreement"), help=text)
    text = "of the cases of each test run one of N, and further ones until each value of each axis is there"
    parser.addoption("--every", type=int, default=1, metavar="N", help=text)
    text = "with --every: which sample, another one for each of N numbers in a row"
    parser.addoption("--turn", type=int, default=0, metavar="NUMBER", help=text)


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("every") < 1:
        raise pytest.UsageError(f"--every={config.getoption('every')}, but it must be at least 1")
    config.pluginmanager.register(Comparisons())


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files that are of the other lane as a whole, before what they need is imported."""
    is_test = collection_path.name.startswith("test_") and collection_path.suffix == ".py"
    if config.getoption("only") == "fast" and is_test:
        return WHOLE_FILE in collection_path.read_text(encoding="utf-8") or None
    return None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Look for no garbage while thousands of tests are collected, and later seldom, not among what stays until the end.

    Python looks after 700 new objects; at one time in 20,000 a thirtieth of the time of all tests is saved.
    """
    gc.disable()
    yield
    gc.enable()
    gc.freeze()
    gc.set_threshold(20_000)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    only, tests = config.getoption("only"), dict[str, list[pytest.Item]]()
    for item in items:
        if only is None or (item.get_closest_marker("agreement") is not None) == (only == "agreement"):
            tests.setdefault(item.nodeid.partition("[")[0], []).append(item)
    kept = {item for cases in tests.values() for item in _sample(cases, config)}
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = [item for item in items if item in kept]


def _sample(cases: list[pytest.Item], config: pytest.Config) -> list[pytest.Item]:
    every, turn = config.getoption("every"), config.getoption("turn")
    if every == 1 or len(cases) == 1:
        return cases
    values = [{(axis, repr(value)) for axis, value in item.callspec.params.items()} for item in cases]
    return [cases[number] for number in sampled(values, every=every, turn=turn)]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    every, turn = config.getoption("every"), config.getoption("turn")
    if every > 1:
        again = f"the same ones again by --every={every} --turn={turn}"
        terminalreporter.write_line(f"one of {every} cases of each test, and each value of each axis; {again}")
