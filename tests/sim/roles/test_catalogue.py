"""Identity: the catalogue says of each parameter what the docstrings say, those they refer to included."""

from dataclasses import dataclass
from html import escape

import pytest

from capsim import schemes
from capsim.protocols.sharing.mptcp import MptcpParams
from capsim.roles.catalogue import meanings_of, parameters


@dataclass(frozen=True)
class Referring:
    """Parameters.

    Parameters
    ----------
    subflows, join_gap_s
        As in :class:`~capsim.protocols.sharing.mptcp.MptcpParams`.
    buffer_segments : int
        As in :class:`~capsim.protocols.sharing.mptcp.MptcpParams`; and more.
    own : int
        Of this class.
    """

    subflows: int = 8
    join_gap_s: float = 0.0
    buffer_segments: int = 0
    own: int = 1


def test_a_scheme_shows_its_idea_and_a_notebook_its_parts(subtests: pytest.Subtests) -> None:
    """Catches the page of defaults that a dataclass prints."""
    for name, one in schemes().items():
        with subtests.test(name=name):
            assert repr(one) == f"Scheme {name}: {one.about} ({one.cite})"
            shown = one._repr_html_()
            assert all(f"{item.name} {escape(item.shown)}" in shown for item in parameters(one))


def test_an_entry_may_refer_to_another_class_and_add_to_it() -> None:
    here, there = meanings_of(Referring), meanings_of(MptcpParams)
    assert [here[name] for name in ("subflows", "join_gap_s")] == [there[name] for name in ("subflows", "join_gap_s")]
    assert here["buffer_segments"] == there["buffer_segments"] + " And more."
    assert here["own"] == "Of this class."


def test_every_parameter_has_a_meaning_of_its_own(subtests: pytest.Subtests) -> None:
    """Catches a text that two parameters share, so that each is explained by what the other is."""
    for name in schemes():
        with subtests.test(name=name):
            by_component: dict[tuple[str, str], list[str]] = {}
            for item in parameters(schemes()[name]):
                assert item.meaning != item.name.replace("_", " "), item.setting
                assert "As in" not in item.meaning, item.setting
                assert "as above" not in item.meaning, item.setting
                by_component.setdefault((item.role, item.flows), []).append(item.meaning)
            for role, meanings in by_component.items():
                assert len(set(meanings)) == len(meanings), role
