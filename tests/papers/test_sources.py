"""Contract: a run says what it used: each scheme has a reference, and what is a key somewhere is written out."""

import re

import pytest
from cli.commands import printed, refused, succeeded

from capsim import Batch, Dumbbell, Scenario, schemes
from capsmodel.papers.sources import cite_run

SMALL = Scenario(fabric=Dumbbell(hosts_per_side=1), traffic=(Batch(flow_bytes=1000),))
KEY = re.compile(r"[a-z]+[0-9]{4}")


@pytest.mark.parametrize("style", ["bibtex", "text"])
def test_each_scheme_has_a_reference_that_is_no_key(style, subtests):
    """Catches a scheme whose source is named and nowhere written out."""
    for name, one in schemes().items():
        with subtests.test(name=name):
            found = cite_run(SMALL.replace(scheme=name), style=style)
            assert bool(found) == (one.cite != "capsmodel")
            assert all(reference.startswith("@") for reference in found.split("\n\n")) or style == "text" or not found
            assert not any(KEY.fullmatch(line.rstrip(".")) for line in found.splitlines())


def test_an_rfc_is_cited_with_its_title():
    """Over all schemes: the number alone is no reference."""
    cited = {name: re.findall(r"RFC \d+", one.cite) for name, one in schemes().items()}
    assert {"ecmp", "dctcp", "sack", "cubic", "mptcp", "rack"} <= {name for name, rfcs in cited.items() if rfcs}
    for name, rfcs in cited.items():
        found = cite_run(SMALL.replace(scheme=name)).split("\n\n") if rfcs else []
        for rfc in rfcs:
            (entry,) = [one for one in found if f"{{{rfc}}}" in one]
            assert all(f"  {field} = {{" in entry for field in ("author", "title", "year"))
            assert f"title = {{{{{rfc}}}}}" not in entry


def test_a_source_is_cited_once_and_stacks_of_entries_too():
    mixed = SMALL.replace(scheme="rps+dctcp", traffic=(*SMALL.traffic, Batch(flow_bytes=1000, stack="repflow")))
    found = cite_run(mixed, style="text")
    assert found.count("Packet Spraying") == found.count("RFC 8257") == found.count("RepFlow: Minimizing") == 1


def test_the_command_cites_a_run_by_its_file_or_folder(tmp_path, capsys):
    line = "simulate --fabric dumbbell:1 --workload solar2022 --flows 3 --scheme ndp --engine reference --out"
    succeeded([*line.split(), tmp_path / "run"], capsys)
    by_folder = printed(["cite", tmp_path / "run"], capsys)
    assert by_folder == printed(["cite", tmp_path / "run" / "flows.parquet"], capsys)
    assert "@inproceedings{handleyetal2017,\n  author = {Mark Handley and " in by_folder
    assert "title = {{Flow sizes solar2022: " in by_folder
    assert "leave it out where a run is named" in refused(["cite", tmp_path / "run", "--paper", "caps"], capsys)
    assert "flows.parquet" in refused(["cite", tmp_path], capsys)
