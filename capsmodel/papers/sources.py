"""References to what a run used: the sources of its schemes and of its flow sizes.

A scheme names its sources in `cite`: the key of a paper, that of an entry of ``data/papers/sources.toml``, or an
arXiv number or a specification, which is a reference by itself.
"""

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from typing import Literal

from capsim import Scenario
from capsim.protocols.registry import scheme as find
from capsmodel.checks import ParameterError, choice
from capsmodel.datafiles import data_path
from capsmodel.papers import bibtex, cite, reference_text
from capsmodel.papers.claim_list import PAPER_KEYS
from capsmodel.papers.index import Paper
from capsmodel.workloads.catalogue import workload_source

_OWN = "capsmodel"
"""What schemes name that are controls of this package."""
_SEPARATOR = re.compile(r"[,;] ")


def cite_run(scenario: Scenario, *, style: Literal["bibtex", "text"] = "bibtex") -> str:
    """Return references to what a run used: a source of each of its schemes, and of each published flow-size table.

    Parameters
    ----------
    scenario : Scenario
        What was run, as ``result.scenario``.
    style : {"bibtex", "text"}, optional
        Form of the references.

    Returns
    -------
    str
        The references, a blank line between; what a scheme of one's own is of, only its file says.

    Raises
    ------
    ParameterError
        If `style` is unknown.

    Examples
    --------
    >>> from capsim import LeafSpine, Poisson
    >>> fabric = LeafSpine(leaves=2, hosts_per_leaf=2, spines=2)
    >>> traffic = (Poisson(workload="websearch", load=0.5, flows=10),)
    >>> print(cite_run(Scenario(fabric=fabric, traffic=traffic, scheme="rps+dctcp"), style="text"))
    Advait Dixit, Pawan Prakash, Y. Charlie Hu, Ramana Rao Kompella. On the Impact of Packet Spraying in Data Center \
Networks. Proc. IEEE INFOCOM, 2013.
    <BLANKLINE>
    Stephen Bensley, Dave Thaler, Praveen Balasubramanian, Lars Eggert, Glenn Judd. Data Center TCP (DCTCP): TCP \
Congestion Control for Data Centers. RFC 8257, 2017.
    <BLANKLINE>
    Flow sizes websearch_dctcp: HKUST-SING/TrafficGenerator, conf/DCTCP_CDF.txt (2017-04).
    """
    choice("style", style, ("bibtex", "text"))
    return "\n\n".join([*_of_schemes(scenario, style), *_of_sizes(scenario, style)])


def _of_schemes(scenario: Scenario, style: Literal["bibtex", "text"]) -> Iterator[str]:
    stacks = (getattr(entry, "stack", None) for entry in scenario.traffic)
    cited: dict[str, None] = {}
    for name in dict.fromkeys([scenario.scheme, *filter(None, stacks)]):
        try:
            cited |= dict.fromkeys(_SEPARATOR.split(find(name).cite))
        except ParameterError:  # one's own, of a file that is elsewhere by now
            continue
    for source in cited:
        if source in PAPER_KEYS:
            yield cite(source, style=style)
        elif source in _sources():
            yield (reference_text if style == "text" else bibtex)(_sources()[source])
        elif source != _OWN:
            yield _bare(source, style)


def _of_sizes(scenario: Scenario, style: Literal["bibtex", "text"]) -> Iterator[str]:
    names = (getattr(entry, "workload", None) for entry in scenario.traffic)
    for name in dict.fromkeys(filter(None, names)):
        source = workload_source(name)
        yield _bare(f"Flow sizes {source.name}: {source.source}, {source.path} ({source.snapshot})", style)


def _bare(text: str, style: Literal["bibtex", "text"]) -> str:
    """Return a reference that is its own text."""
    return f"{text}." if style == "text" else f"@misc{{{_key(text)},\n  title = {{{{{text}}}}},\n}}"


def _key(text: str) -> str:
    """Return the key of an entry: letters and digits of its first words.

    Examples
    --------
    >>> _key("RFC 8257"), _key("Handley et al. 2017"), _key("arXiv:2505.05366")
    ('rfc8257', 'handleyetal2017', 'arxiv250505366')
    """
    return re.sub(r"[^a-z0-9]", "", text.partition(": ")[0].lower())


@cache
def _sources() -> dict[str, Paper]:
    """Return the sources that are no papers of the index, by what schemes call them."""
    entries = tomllib.loads(data_path("papers/sources.toml").read_text(encoding="utf-8"))
    return {
        name: Paper(
            key=_key(name),
            title=entry["title"],
            authors=tuple(entry["authors"]),
            venue=entry["venue"],
            year=entry["year"],
            volume="",
            pages="",
            doi="",
            equations=(),
            discrepancies=(),
        )
        for name, entry in entries.items()
    }
