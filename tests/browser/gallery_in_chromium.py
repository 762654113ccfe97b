"""Contract: the gallery of all papers in a real browser, headless Chromium, on a wide and on a narrow screen.

`make browser` runs it; its name keeps it out of the suite, since a bare machine has no browser. Chromium measures the
page in two frames and writes what it found as JSON into the page around them.
"""

import json
import re
import shutil
import subprocess
from functools import partial
from html import unescape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from capsmodel.cli import main
from capsmodel.papers import gallery
from capsmodel.papers.index import PAPER_KEYS

WIDTHS = (1280, 360)
PATIENCE_MS = 120_000  # of the browser's own clock, which runs ahead while nothing happens
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--dump-dom"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic"),
]
MEASURE = """
<!doctype html><meta charset="utf-8"><pre id="found">nothing yet</pre>
<script>
async function measured(width) {
  const frame = document.createElement("iframe");
  Object.assign(frame, {width, height: 800, src: "gallery.html"});
  const loaded = new Promise(resolve => frame.onload = resolve);
  document.body.append(frame);
  await loaded;
  const page = frame.contentDocument, root = page.documentElement, images = [...page.images];
  images.forEach(image => image.loading = "eager");
  const decoded = await Promise.allSettled(images.map(image => image.decode()));
  page.querySelectorAll("details").forEach(one => one.open = true);
  const links = [...page.querySelectorAll("a[href^='#']")];
  return {
    width: root.clientWidth, content_width: root.scrollWidth,
    images: images.length,
    broken: images.filter((image, i) => decoded[i].status != "fulfilled" || !image.naturalWidth).map(one => one.alt),
    without_place: images.filter(one => one.getBoundingClientRect().height < 50).map(one => one.alt),
    links: links.length,
    astray: links.map(one => one.hash).filter(hash => !page.getElementById(decodeURIComponent(hash.slice(1)))),
    loaded: frame.contentWindow.performance.getEntriesByType("resource").map(one => one.name)
      .filter(name => !name.startsWith("data:")),
  };
}
async function all(widths) {
  const found = [];
  for (const width of widths) found.push(await measured(width));
  return found;
}
all(WIDTHS).then(JSON.stringify, error => JSON.stringify(String(error)))
  .then(text => document.getElementById("found").textContent = text);
</script>
"""


class Quiet(SimpleHTTPRequestHandler):
    """Serves files without a line for each."""

    def log_message(self, format, *arguments):
        """Say nothing."""


@pytest.fixture(scope="module")
def chromium():
    found = shutil.which("chromium") or shutil.which("google-chrome")
    assert found, "no browser: install Debian's package chromium"
    return found


@pytest.fixture(scope="module")
def folder(chromium, tmp_path_factory):
    out = tmp_path_factory.mktemp("gallery")
    with pytest.raises(SystemExit) as stop:
        main(["gallery", "--out", str(out)])
    assert stop.value.code in (0, None)
    (out / "measure.html").write_text(MEASURE.replace("WIDTHS", json.dumps(WIDTHS)), encoding="utf-8")
    return out


@pytest.fixture(scope="module")
def found(chromium, folder, tmp_path_factory):
    """Return what Chromium measured, for each width."""
    own = f"--user-data-dir={tmp_path_factory.mktemp('profile')}"
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        page = f"http://127.0.0.1:{server.server_port}/measure.html"
        line = [chromium, *FLAGS, own, f"--virtual-time-budget={PATIENCE_MS}", page]
        done = subprocess.run(line, capture_output=True, text=True, timeout=300, check=True)
        server.shutdown()
    (text,) = re.findall(r'<pre id="found">(.*?)</pre>', done.stdout, re.DOTALL)
    measured = json.loads(unescape(text))
    assert isinstance(measured, list), measured  # else the error of the script
    return dict(zip(WIDTHS, measured, strict=True))


@pytest.fixture(params=WIDTHS)
def page(request, found):
    return found[request.param]


def test_every_drawing_is_shown(page):
    expected = sum(len(gallery.pictures(key)) for key in PAPER_KEYS)
    assert (page["images"], page["broken"], page["without_place"]) == (expected, [], [])


def test_no_content_is_wider_than_the_screen(page):
    """Wide drawings are scrolled by themselves; with all claims unfolded."""
    assert page["content_width"] <= page["width"]


def test_links_lead_to_something_and_nothing_is_loaded(page):
    places = len(PAPER_KEYS) + sum(len(gallery.pictures(key)) for key in PAPER_KEYS)
    assert (page["links"], page["astray"], page["loaded"]) == (places, [], [])
