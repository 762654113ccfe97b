"""Settings of all tests: Hypothesis draws the same examples every time; comparisons with models are counted."""

import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import settings

from capsmodel.experiments.agreement import FAMILY_FALSE_ALARM_PROB, FAMILY_TESTS

settings.register_profile("capsmodel", deadline=None, derandomize=True, print_blob=True)
settings.register_profile("fresh", deadline=None, max_examples=1000, print_blob=True)  # for fuzz tests, by hand
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "capsmodel"))


TESTS = Path(__file__).parent
AGREEMENT = [
    *("agreement", "other_simulators", "experiments/test_agreement_rule.py", "experiments/test_argmin_interval.py"),
    *("sim/engines/test_engines_agree.py", "sim/engines/test_order_of_arrivals.py", "sim/base/test_bounds.py"),
    *("sim/results/test_ideal.py", "sim/engines/test_bursts_on_links.py", "sim/protocols/nics/test_round_robin.py"),
    *("sim/engines/test_equal_times.py", "sim/protocols/marking/test_entropy.py"),
    *("sim/engines/test_measurements_on_both_engines.py", "sim/protocols/balancers/test_ecmp.py"),
    *("model/test_mg1.py", "model/test_srpt.py", "model/test_replication.py", "model/test_path_losses.py"),
    *("model/test_symbolic.py", "cli/test_tables.py", "test_mutants.py"),
    *("figures", "golden/test_ledger_results.py", "sim/study/test_decide.py"),
    *("fuzz", "model/test_fuzz_closed_forms.py", "guides"),
]
"""What takes minutes: models against simulation, ns-3 and htsim, and the level of the rules that compare them; engine
against engine for all schemes and at all bounds, and for losses, hosts' links, ties and learned paths over long grids;
closed forms against integrals and enumerations over long grids; commands at every width; the tool that changes lines;
figures and kept results of the papers, and the level of verdicts; arguments drawn at random, pages for users."""

if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ["LOKY_MAX_CPU_COUNT"] = "1"  # the workers of xdist keep all cores busy already


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of this session's simulations, one for all workers of xdist."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "results"


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
    text = "only the tests that take seconds each, or only those of many packets, seeds or cases"
    parser.addoption("--only", choices=("fast", "agreement"), help=text)
    text = "of the cases of each test run the first and every Nth after it"
    parser.addoption("--every", type=int, default=1, metavar="N", help=text)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    only = config.getoption("only")
    if only is None or collection_path.is_dir():
        return None
    is_agreement = any(collection_path.is_relative_to(TESTS / one) for one in AGREEMENT)
    return True if is_agreement != (only == "agreement") else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    every, seen = config.getoption("every"), Counter[str]()
    kept: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    for item in items:
        test = item.nodeid.partition("[")[0]
        (left_out if seen[test] % every else kept).append(item)
        seen[test] += 1
    config.hook.pytest_deselected(items=left_out)
    items[:] = kept


def pytest_configure(config: pytest.Config) -> None:
    assert all((TESTS / one).exists() for one in AGREEMENT)
    if config.getoption("every") < 1:
        raise pytest.UsageError(f"--every={config.getoption('every')}, but it must be at least 1")
    config.pluginmanager.register(Comparisons())
