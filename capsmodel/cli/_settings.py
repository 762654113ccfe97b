"""Options that change single values of a scenario: ``--set KEY=VALUE``, ``--fail LINK@TIME``, ``--probe NAME``."""

import re
import tomllib
from collections.abc import Iterable
from typing import Any

from capsmodel.checks import require
from capsmodel.units import parse_time_s

_BETWEEN = re.compile(r"(?<![0-9.][eE])-")  # two times; a minus behind an exponent's e is part of a number
_FLOW = re.compile(r"flow([0-9]{1,9})")
_FAILURE = "leaf0-spine1@10ms, or leaf0-spine1@10ms-30ms if the link returns"


def value_of(text: str) -> Any:
    """Return a number, truth value or list as TOML writes it; anything else is text, as are quantities with units.

    Examples
    --------
    >>> value_of("0.5"), value_of("true"), value_of("10ms"), value_of("optimal")
    (0.5, True, '10ms', 'optimal')
    """
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, KeyError, RecursionError):
        return text


def settings_of(texts: Iterable[str]) -> dict[str, Any]:
    """Return name and value of each KEY=VALUE."""
    pairs = [text.partition("=") for text in texts]
    bad = [name for name, sign, value in pairs if not (name.strip() and sign and value.strip())]
    require(not bad, f"--set {bad[0] if bad else ''}: write KEY=VALUE, as in --set transport.min_rto_s=10ms")
    return {name.strip(): value_of(value.strip()) for name, _, value in pairs}


def failure(text: str) -> dict[str, Any]:
    """Return the change of a link that A-B@DOWN or A-B@DOWN-UP describes.

    Examples
    --------
    >>> failure("leaf0-spine1@10ms-30ms")
    {'between': ('leaf0', 'spine1'), 'down_s': 0.01, 'up_s': 0.03}
    """
    link, at, times = text.partition("@")
    down, up = (*_BETWEEN.split(times, maxsplit=1), "")[:2]
    require(bool(at and down), f"--fail {text}: write A-B@TIME, as in {_FAILURE}")
    change: dict[str, Any] = {"between": ends_of(link, f"--fail {text}"), "down_s": parse_time_s(down)}
    return change | ({"up_s": parse_time_s(up)} if up else {})


def ends_of(link: str, where: str) -> tuple[str, str]:
    """Return the two nodes of A-B or A>B; a name that has a minus needs the arrow."""
    ends = link.split(">" if ">" in link else "-")
    require(len(ends) == 2 and all(ends), f"{where}: {link!r} is no link: write A-B or A>B, as in leaf0-spine1")
    return ends[0], ends[1]


def probed(names: Iterable[str], fields: Iterable[str], period_s: float) -> dict[str, Any]:
    """Return the table ``probes`` of a scenario for names such as leaf0-spine1 and flow3, and names of fields."""
    ports, flows = [], []
    for name in names:
        found = _FLOW.fullmatch(name)
        if found:
            flows.append(int(found[1]))
        else:
            ports.append(">".join(ends_of(name, f"--probe {name}")))
    return {"period_s": period_s, "fields": list(fields), "ports": ports, "flows": flows}
