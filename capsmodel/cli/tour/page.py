"""The page of the tour: one HTML file without scripts, its figures inside."""

import base64
from collections.abc import Mapping, Sequence
from html import escape
from string import Template

from capsmodel.cli.tour.section import Section

_PAGE = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>capsmodel: the tour</title>
<style>
:root { color-scheme: light; --ink: #1c2024; --soft: #5b6470; --line: #d9dee4; --tint: #f4f6f8; --mark: #0b5cad; }
body { max-width: 54rem; margin: 3rem auto; padding: 0 1.25rem; background: #fff; color: var(--ink);
  font: 17px/1.55 Charter, "Bitstream Charter", "Source Serif 4", Georgia, serif; }
h1, h2, nav, table, figcaption { font-family: system-ui, "Segoe UI", Helvetica, Arial, sans-serif; }
h1 { font-size: 2rem; margin: 0 0 .25rem; } h2 { font-size: 1.35rem; margin: 3.5rem 0 .5rem; }
.lead, .reading, footer { color: var(--soft); } nav { font-size: .95rem; margin: 1.5rem 0; }
nav li { margin: .2rem 0; } a { color: var(--mark); }
figure { margin: 1.25rem 0; } img { display: block; max-width: 100%; margin: 0 auto; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; width: 100%; font-variant-numeric: tabular-nums; }
th { text-align: left; vertical-align: bottom; border-bottom: 2px solid var(--ink); font-weight: 600; }
th, td { padding: .35rem .6rem; } td { border-bottom: 1px solid var(--line); }
td.number, th.number { text-align: right; } td { white-space: nowrap; }
pre { background: var(--tint); padding: .7rem .9rem; border-left: 3px solid var(--mark); white-space: pre-wrap;
  font: .82rem/1.5 ui-monospace, "DejaVu Sans Mono", Menlo, monospace; }
footer { margin: 4rem 0 1rem; border-top: 1px solid var(--line); padding-top: 1rem; font-size: .9rem; }
</style>
</head>
<body>
<h1>capsmodel</h1>
<p class="lead">How should a data-centre transport spread, replicate and code its packets over many paths? Closed forms,
a packet simulator and a real codec, each shown once. $note</p>
<nav><ol>$contents</ol></nav>
$sections
<footer>$footer</footer>
</body>
</html>
""")

_SECTION = Template("""<section id="$name">
<h2>$number. $title</h2>
<p class="reading">$reading</p>
$figures
<p>$finding</p>
<div class="wide"><table>
<thead><tr>$head</tr></thead>
<tbody>
$body
</tbody></table></div>
<pre>$commands</pre>
</section>
""")


def _cell(tag: str, text: str, number: bool) -> str:
    opening = f'{tag} class="number"' if number else tag
    return f"<{opening}>{escape(text)}</{tag}>"


def _figure(title: str, png: bytes) -> str:
    data = base64.b64encode(png).decode("ascii")
    return f'<figure><img alt="{escape(title)}" src="data:image/png;base64,{data}"></figure>'


def _section(number: int, name: str, section: Section, pngs: Mapping[str, bytes]) -> str:
    columns = [(column, column.is_numeric(section.rows)) for column in section.columns]
    return _SECTION.substitute(
        name=name,
        number=number,
        title=escape(section.title),
        reading=escape(section.reading),
        figures="\n".join(_figure(section.title, pngs[figure]) for figure in section.figures),
        finding=escape(section.finding),
        head="".join(_cell("th", column.head, right) for column, right in columns),
        body="\n".join(
            "<tr>" + "".join(_cell("td", column.text(row), right) for column, right in columns) + "</tr>"
            for row in section.rows
        ),
        commands="\n".join(map(escape, section.commands)),
    )


def page(sections: Mapping[str, Section], *, pngs: Mapping[str, bytes], note: str, files: Sequence[str]) -> str:
    """Return the page as HTML.

    Parameters
    ----------
    sections : mapping of str to Section
        By name of the part, in the order of the page.
    pngs : mapping of str to bytes
        Images by the figure's name.
    note : str
        Sentence at the top, such as how long the computation took.
    files : sequence of str
        Other files in the page's folder, named at the bottom.
    """
    return _PAGE.substitute(
        note=escape(note),
        contents="".join(f'<li><a href="#{name}">{escape(part.title)}</a></li>' for name, part in sections.items()),
        sections="".join(_section(i, name, part, pngs) for i, (name, part) in enumerate(sections.items(), 1)),
        footer="In the same folder, as tables and figures: "
        + ", ".join(f'<a href="{escape(name)}">{escape(name)}</a>' for name in files),
    )
