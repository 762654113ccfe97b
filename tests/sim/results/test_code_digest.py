"""Property: the id of a run covers what the hooks of one's own scheme do, and nothing else about their text."""

import importlib.util
import sys
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from capsim import Balancer, Batch, LeafSpine, Scenario, Scheme, scheme, simulate
from capsim.protocols.balancers import spray
from capsim.protocols.registry import built_in
from capsim.results.manifest import component_digest, run_id, scheme_parameters
from capsmodel.checks import ParameterError

HELPERS = "LIMIT = 7\nTABLE = (1, 2)\ndef first(x):\n    return x // 1\n"
HOOK = '''
import math
import helpers
from enum import IntEnum
from capsim import inlined
from capsim.base.randomness import mix

THRESHOLD = 3
UNUSED = 1

class Mode(IntEnum):
    FAST = 1
    SLOW = 2

@inlined
def spread(hash, n):
    """Return a path."""
    return mix(hash) % n

def made(gain):
    def choose(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
        """Choose."""
        if packet.bytes * gain > THRESHOLD + helpers.LIMIT + math.pi:  # long
            return helpers.first(Mode.FAST)
        return spread(packet.hash, len(candidates))
    return choose

choose = made(2)
'''
SCENARIO = Scenario(
    fabric=LeafSpine(leaves=2, hosts_per_leaf=1, spines=2), traffic=(Batch(flow_bytes=2920, pairs="sides"),)
)
NUMBERS = count()


@pytest.fixture
def digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function from the texts of two files to the digest of the balancer in the first."""

    def load(name: str, text: str, file: str) -> ModuleType:
        folder = tmp_path / str(next(NUMBERS))
        folder.mkdir()
        (folder / file).write_text(text, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(name, folder / file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, module)
        spec.loader.exec_module(module)
        return module

    def digest_of(hook: str = HOOK, helpers: str = HELPERS, file: str = "own.py", **fields: Any) -> dict[str, Any]:
        load("helpers", helpers, "helpers.py")
        choose = load(Path(file).stem, hook, file).choose
        return component_digest(Balancer(name="own", choose=choose, **fields))

    return digest_of


SAME = {
    "a comment": ("# long", "# longer than that"),
    "a docstring": ('"""Choose."""', '"""Choose the other one, as in the paper."""'),
    "no docstring": ('        """Choose."""\n', ""),
    "layout": ("THRESHOLD + helpers.LIMIT + math.pi", "(THRESHOLD\n            + helpers.LIMIT + math.pi)"),
    "lines above": ("UNUSED = 1", "UNUSED = 1\n\n\n"),
    "an annotation": ("def spread(hash, n):", "def spread(hash: int, n: int) -> int:"),
    "what no hook reads": ("UNUSED = 1", "UNUSED = 2"),
    "a member not read": ("SLOW = 2", "SLOW = 3"),
}
OTHER = {
    "code": ("gain >", "gain >="),
    "a number in the code": ("now_ps, u0):", "now_ps, u0):\n        u0 = 0.5"),
    "a global": ("THRESHOLD = 3", "THRESHOLD = 4"),
    "the type of a global": ("THRESHOLD = 3", "THRESHOLD = 3.0"),
    "a closure": ("made(2)", "made(3)"),
    "a function it calls": ("mix(hash) % n", "mix(hash + 1) % n"),
    "a function of this package": ("randomness import mix", "randomness import uniform as mix"),
    "a member of an enumeration": ("FAST = 1", "FAST = 0"),
    "a constant of a library": ("math.pi", "math.e"),
    "a default": ("now_ps, u0):", "now_ps, u0=THRESHOLD):"),
}


def test_text_without_effect_keeps_the_digest(subtests: pytest.Subtests, digest: Any) -> None:
    for change in SAME:
        with subtests.test(change=change):
            before, after = SAME[change]
            assert before in HOOK
            assert digest(HOOK.replace(before, after)) == digest()


def test_anything_with_effect_changes_the_digest(subtests: pytest.Subtests, digest: Any) -> None:
    for change in OTHER:
        with subtests.test(change=change):
            before, after = OTHER[change]
            assert before in HOOK
            assert digest(HOOK.replace(before, after))["sha256"] != digest()["sha256"]


def test_other_files_and_other_names_of_files(digest: Any) -> None:
    plain = digest()
    assert digest(file="renamed.py") == plain
    assert digest(helpers=HELPERS.replace("LIMIT = 7", "LIMIT = 8"))["sha256"] != plain["sha256"]
    assert digest(helpers=HELPERS.replace("x // 1", "x // 2"))["sha256"] != plain["sha256"]
    assert digest(helpers=HELPERS.replace("TABLE = (1, 2)", "TABLE = (1, 3)")) == plain


def test_fields_of_the_component(digest: Any) -> None:
    plain = digest()
    assert plain["covers"] == ["name", "memory", "columns", "draws", "choose", "see", "reads_queues"]
    changes: list[dict[str, Any]] = [{"draws": True}, {"reads_queues": False}]
    changes += [{"memory": {"switch": (("turn", form),)}} for form in ("i8", "f8")]
    changes += [{"memory": {"path": (("turn", "i8"),)}}, {"memory": {"switch": (("turn", "i8", 1),)}}]
    changes += [{"see": spray.choose}, {"columns": {"subflow": {"turn": "how often"}}}]
    assert len({digest(**change)["sha256"] for change in [{}, *changes]}) == 9


def test_the_digest_is_the_same_on_every_python(digest: Any) -> None:
    """Written down from CPython 3.11; 3.12 inlines comprehensions, 3.13 leaves empty fields out of syntax trees."""
    hook = HOOK.replace("first(Mode.FAST)", "first(sum([x for x in helpers.TABLE if x > Mode.FAST]))")
    assert digest(hook)["sha256"] == "a4bf72e4479769fb737eae9c2ced98e9b69db329125bd839c482b34444ad3cca"


def test_arrays_containers_and_recursion_are_covered(digest: Any) -> None:
    text = "import numpy as np\nA = {}\ndef choose(n, *_):\n    return A if n else choose(n - 1)\n"
    values = [
        "np.sqrt",
        "int",
        "__import__('math')",
        "{1, 2}",
        "[1, 2]",
        "{'a': 1}",
        "{'a': 2}",
        "np.arange(3)",
        "np.arange(3.0)",
        "np.ones((1, 3))",
        "None",
    ]
    digests = {digest(text.format(value))["sha256"] for value in values}
    assert len(digests) == len(values)
    # What a method is bound to is data that no name tells.
    for value, kind in (
        ("object()", "object"),
        ("{1: 2}.get", "builtin_function"),
        ("__import__('random').Random().random", "b"),
    ):
        with pytest.raises(ParameterError, match=f"own: a hook reads 'A', an object of type {kind}"):
            digest(text.format(value))


def typed(text: str, **known: Any) -> Any:
    exec(text, known)
    return component_digest(Balancer(name="own", choose=known["choose"]))


def test_a_function_without_a_file_goes_by_its_bytecode() -> None:
    text = 'def choose(*_):\n    """Choose."""\n    return [x for x in range(3)][LIMIT]\n'
    plain = typed(text, LIMIT=1)
    assert plain["code"] == "bytecode"
    assert typed("# A comment.\n\n" + text.replace("Choose.", "Choose it."), LIMIT=1) == plain
    for other in (typed(text, LIMIT=2), typed(text.replace("range(3)", "range(4)"), LIMIT=1)):
        assert other["sha256"] != plain["sha256"]


def test_a_file_that_was_edited_since_goes_by_the_bytecode(
    tmp_path: Path, digest: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What runs is what was read, not what the file says now."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "edited.py").write_text("def choose(*_):\n    return 0\n", encoding="utf-8")
    module = importlib.import_module("edited")
    own = Balancer(name="own", choose=module.choose)
    assert component_digest(own)["code"] == "source"
    (tmp_path / "edited.py").write_text("def choose(*_):\n    return 1\n", encoding="utf-8")
    assert component_digest(own)["code"] == "bytecode"


def test_built_in_schemes_have_no_digest_and_own_ones_do() -> None:
    for entry in built_in():
        other = entry.with_params(transport={"mss_bytes": 1000})
        assert digests_in(scheme_parameters(other)) == {}
    base = scheme("ecmp")
    own = replace(base.balancer, choose=spray.choose)
    short = replace(base.short, congestion=replace(base.short.congestion, react=halve))
    found = digests_in(scheme_parameters(replace(base, balancer=own, short=short)))
    assert {name: digest["code"] for name, digest in found.items()} == {
        "short.congestion": "source",
        "balancer": "source",
    }


def halve(params: Any, own: Any, flow: Any, sub: Any, subs: Any, signals: int, now_ps: int) -> int:
    sub.cwnd_bytes //= 2
    return 0


def digests_in(parts: dict[str, Any], above: str = "") -> dict[str, Any]:
    """Return the digests of the parameters of a scheme, by the name of the component."""
    found = {}
    for name, part in parts.items():
        if isinstance(part, dict):
            own = {above + name: part["digest"]} if "digest" in part else {}
            found |= own or digests_in(part, f"{above}{name}.")
    return found


def last(params: Any, own: Any, switch: Any, sub: Any, packet: Any, ports: Any, paths: Any, *_: Any) -> int:
    return len(paths) - 1


def first(params: Any, own: Any, switch: Any, sub: Any, packet: Any, ports: Any, paths: Any, *_: Any) -> int:
    return 0


def own(choose: Any) -> Scheme:
    return replace(scheme("ecmp"), name="own", balancer=Balancer(name="own", choose=choose))


def test_two_balancers_of_one_name_have_two_ids() -> None:
    runs = [simulate(SCENARIO, scheme=own(choose), engine="reference") for choose in (first, last, first)]
    ids = [result.manifest["id"] for result in runs]
    assert ids[0] == ids[2] != ids[1]
    assert [run_id(result.manifest["parameters"]) for result in runs] == ids
    assert runs[0].ports["packets_out"].tolist() != runs[1].ports["packets_out"].tolist()


def test_the_digest_is_of_what_the_hook_read_before_the_run() -> None:
    """A hook for the reference engine may write to a list; the id is that of the empty list."""
    ids = []
    for _ in range(2):
        seen: list[int] = []

        def noted(*given: Any, seen: list[int] = seen) -> int:
            seen.append(int(given[7]))
            return 0

        ids.append(simulate(SCENARIO, scheme=own(noted), engine="reference").manifest["id"])
        assert seen
    assert ids[0] == ids[1]
