"""Contract: the gallery is one page that loads nothing, with each picture of a paper and the verdict on each claim."""

import base64
import sys
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from cli.commands import ended, succeed

from capsmodel.cli.shared import pages
from capsmodel.cli.tour import papers as papers_on_the_tour
from capsmodel.experiments.words import MEANINGS
from capsmodel.papers import claim_totals, claims, gallery
from capsmodel.plotting import new_figure, svg_bytes

VOID = {"meta", "img", "br"}
PAPER = "dc2mtcp"


class Page(HTMLParser):
    """Collects what a page holds; tags have to be closed in order."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.ids, self.links, self.images, self.texts = [], [], [], [], [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.tags.append((tag, values))
        self.open += [tag] if tag not in VOID else []
        self.ids += [values["id"]] if "id" in values else []
        self.links += [values["href"]] if tag == "a" else []
        self.images += [values] if tag == "img" else []

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return the folder of a gallery with its first and last picture, the others empty: `make browser` draws all."""
    out = tmp_path_factory.mktemp("gallery") / "out"
    first, *others, last = gallery.pictures(PAPER)
    shown = [first, *(replace(one, draw=new_figure) for one in others), last]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("capsmodel.cli.gallery.pictures", {PAPER: shown}.__getitem__)
        succeed("gallery", "--paper", PAPER, "--out", out)
    return out


@pytest.fixture(scope="module")
def page(folder):
    return Page((folder / "gallery.html").read_text(encoding="utf-8"))


def test_it_is_one_file_that_loads_nothing(folder, page):
    assert [path.name for path in folder.iterdir()] == ["gallery.html"]
    assert not {"script", "link", "iframe", "object"} & {tag for tag, _ in page.tags}
    assert all(one["src"].startswith("data:image/svg+xml;base64,") for one in page.images)
    assert "url(" not in (folder / "gallery.html").read_text(encoding="utf-8")


def test_it_has_every_picture_as_a_drawing_with_a_text(page):
    expected = gallery.pictures(PAPER)
    assert len(page.images) == len(expected)
    for image in page.images:
        drawing = ElementTree.fromstring(base64.b64decode(image["src"].partition(",")[2]))
        assert drawing.tag == "{http://www.w3.org/2000/svg}svg"
    assert [one["alt"] for one in page.images] == [one.title.rstrip(".") for one in expected]
    assert {one.command for one in expected} <= set(page.texts)


def test_it_says_what_each_verdict_means(page):
    text = "".join(page.texts)
    assert all(f"{word}: {meaning}" in text for word, meaning in MEANINGS.items())


def test_it_leads_to_each_picture(page):
    assert len(set(page.ids)) == len(page.ids)
    assert {link.removeprefix("#") for link in page.links} <= set(page.ids)
    assert {f"#{one.name}" for one in gallery.pictures(PAPER)} <= set(page.links)


def test_it_says_the_verdict_on_every_claim(page):
    text = " ".join(" ".join(page.texts).split())
    for row in claims(PAPER):
        assert f"{row.claim.id} : {row.entry.verdict}" in text
        assert " ".join(row.claim.text.split()) in text


def test_a_narrow_screen_shows_it_at_its_own_width(page):
    assert ("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}) in page.tags
    for image in page.images:
        place = next(i for i, (_, values) in enumerate(page.tags) if values is image)
        assert page.tags[place - 1] == ("figure", {"class": "wide"})  # scrolled by itself


def test_text_of_the_papers_is_no_markup():
    text = pages.template("tour.html")(title="<b>&</b>", sections={}, pngs={}, note="<script>", files=["a&b.csv"])
    found = Page(text)
    assert not {"b", "script"} & {tag for tag, _ in found.tags}
    assert "a&b.csv" in found.links


def test_the_same_figure_gives_the_same_bytes():
    def drawn():
        figure = new_figure()
        axes = figure.add_subplot()
        axes.fill_between([0, 1], [1, 2])
        axes.set_title("title")
        return svg_bytes(figure)

    assert drawn() == drawn()


def test_it_says_what_is_missing(monkeypatch, tmp_path, capsys):
    pages._templates.cache_clear()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    code, _, err = ended(["gallery", "--paper", PAPER, "--out", str(tmp_path)], capsys)
    assert code == 2
    assert err.count("\n") == 1
    assert "pip install jinja2" in err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("arguments", "message"), [(["--paper", "tcp"], "caps"), (["--out", __file__], "is a file")])
def test_a_bad_request_ends_in_one_line_and_status_2(arguments, message, capsys):
    code, _, err = ended(["gallery", *arguments], capsys)
    assert code == 2
    assert err.count("\n") == 1
    assert message in err


def test_the_tour_counts_the_claims_as_the_command_does():
    section = papers_on_the_tour.STATION.visit(True, lambda share: None)
    totals = {row["verdict"]: row["all"] for row in claim_totals(claims())}
    assert section.finding.startswith(f"Of all {totals['claims']} claims: agrees {totals['agrees']}, ")
