"""Contract: results, comparisons and studies draw themselves, in any format, and no label covers another."""

import math
import re
from dataclasses import replace
from html import unescape

import matplotlib
import pandas as pd
import pytest
from matplotlib import rcParams
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from capsim import (
    Batch,
    LeafSpine,
    ParameterError,
    Probes,
    Scenario,
    Study,
    compare,
    plot_cdf,
    plot_histograms,
    scheme,
    simulate,
)
from capsim.results.fct import fct_percentile_s
from capsim.study.comparison import comparison
from capsim.study.plot import DrawnStudy, draw, draw_side_by_side, metric_latex
from capsim.study.scheme_runs import metric_table
from capsim.study.texts import mean_cells
from capsmodel.plotting import COLOURS, look

SMALL = Scenario(
    fabric=LeafSpine(leaves=2, hosts_per_leaf=2, spines=2),
    traffic=(Batch(flow_bytes=200_000, pairs="sides"), Batch(flow_bytes=20_000, flows=6, pairs="sides")),
    probes=Probes(histograms=True),
)
SCHEMES = ["ecmp", "rps+dctcp", "conga+presto.layer"]
MANY = [*SCHEMES, "drill+sack", "presto.layer+letflow", "repflow+dctcp", "caps.layer+conga", "mmptcp", "letflow+sack"]


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    kept = tmp_path_factory.mktemp("kept")
    return compare(SMALL, schemes=SCHEMES, seeds=3, results=kept)


def labels_of(figure):
    """Return all labels of the axes of a figure, drawn."""
    FigureCanvasAgg(figure).draw()
    found = []
    for number, axis in (
        (number, axis) for axes in figure.axes for number, axis in enumerate((axes.xaxis, axes.yaxis))
    ):
        low, high = sorted(axis.get_view_interval())
        ticks = axis.get_ticklabels(which="both")
        found += [axis.label, *(one for one in ticks if low <= one.get_position()[number] <= high)]
    return [one for one in found if one.get_text() and one.get_visible()]


def overprinted(figure):
    """Return pairs of labels that share ink: boxes that overlap, or slanted lines nearer than a line is high."""
    labels = labels_of(figure)
    boxes = [one.get_window_extent().padded(-1) for one in labels]
    pairs = [(i, j) for i in range(len(labels)) for j in range(i) if boxes[i].overlaps(boxes[j])]
    return [(labels[i].get_text(), labels[j].get_text()) for i, j in pairs if not apart(labels[i], labels[j])]


def apart(one, other):
    """Return whether two labels of one slanted axis stand a line's height from each other."""
    if one.get_rotation() != 45 or other.get_rotation() != 45:
        return False
    at, beside = (each.get_transform().transform(each.get_position())[0] for each in (one, other))
    step = abs(at - beside)
    return step * math.sin(math.radians(45)) >= one.get_fontsize() * one.figure.dpi / 72


def test_curves_differ_in_colour_and_in_line():
    """Catches curves that only a colour tells apart, and a palette beside that of the gallery."""
    looks = [look(number) for number in range(28)]
    assert len({(one["color"], one["linestyle"]) for one in looks}) == 28
    assert [one["color"] for one in looks[:6]] == list(COLOURS)
    assert len({one["linestyle"] for one in looks[:4]}) == 4


@pytest.mark.parametrize(("draw", "suffix", "begins"), [("plot", "svg", b"<?xml"), ("plot_cdf", "png", b"\x89PNG")])
def test_a_comparison_writes_the_format_of_the_suffix(compared, tmp_path, draw, suffix, begins):
    getattr(compared, draw)(tmp_path / f"drawn.{suffix}")
    assert (tmp_path / f"drawn.{suffix}").read_bytes().startswith(begins)


def test_no_font_is_of_type_3(compared, tmp_path, monkeypatch):
    """Publishers refuse files with fonts of type 3, the default of matplotlib. To embed others takes it seconds."""
    kinds = []
    of_formats = ("pdf.fonttype", "ps.fonttype")
    monkeypatch.setattr(Figure, "savefig", lambda *_, **__: kinds.append([rcParams[name] for name in of_formats]))
    path = tmp_path / "drawn.pdf"
    compared.plot(path, metrics=["mean_fct_short_s"])
    compared.plot_cdf(path, kinds=["short"])
    plot_histograms(simulate(SMALL), path)
    study_of(SCHEMES[:2], panel=[{"metric": "mean_fct_short_s"}]).run(tmp_path / "runs").plot(path)
    assert kinds == 4 * [[42, 42]]


@pytest.mark.agreement
def test_fonts_that_are_written_are_of_type_42(compared, tmp_path):
    path = tmp_path / "dots.pdf"
    compared.plot(path, metrics=["mean_fct_short_s"])
    assert not re.search(rb"/Subtype\s*/Type3\b", path.read_bytes())
    assert re.search(rb"/FontFile2\b", path.read_bytes())


def test_dots_are_the_means_of_the_table_and_schemes_have_their_names(compared):
    """Catches a scheme beside the wrong name, and a mean without its unit."""
    (axes,) = compared.plot(metrics=["mean_fct_short_s"]).axes
    table = compared.table(["mean_fct_short_s"])
    dots = axes.lines[0]
    assert dots.get_xdata().tolist() == pytest.approx((1e3 * table["mean"]).tolist())
    assert [label.get_text() for label in axes.get_yticklabels()] == SCHEMES
    assert axes.yaxis_inverted()
    assert axes.get_xlabel() == "mean FCT, short, ms"


def test_a_curve_is_the_distribution_of_all_seeds(compared):
    """Catches the flows of one seed, and curves in one line style."""
    short, long = compared.plot_cdf().axes
    ecmp = compared.flows("ecmp")
    assert ecmp["seed"].unique().tolist() == [1, 2, 3]
    times_ms = 1e3 * ecmp.loc[ecmp["short"], "fct_s"].sort_values()
    curve = short.lines[0]
    assert curve.get_xdata().tolist() == pytest.approx(times_ms.unique().tolist())
    assert curve.get_ydata()[-1] == 1
    assert len({to_hex(one.get_color()) for one in long.lines}) == len({one.get_linestyle() for one in long.lines}) == 3


def test_percentiles_of_all_seeds_together(compared):
    """Catches the mean of percentiles."""
    found = compared.fct_percentile_s([50, 99], kind="short")
    for name in SCHEMES:
        assert found[name].tolist() == fct_percentile_s(compared.flows(name), [50, 99], kind="short").tolist()


def test_what_was_not_kept_is_not_drawn():
    bare = compare(SMALL, schemes=["ecmp"], seeds=1)
    with pytest.raises(ParameterError, match=r"^flows were not kept: give compare\(\.\.\., results=FOLDER\)"):
        bare.plot_cdf()
    assert bare.plot().axes


def cells_of(html):
    """Return the rows of a table with the texts of their cells."""
    rows = re.findall(r"<tr.*?>(.*?)</tr>", html, re.DOTALL)
    return [[unescape(cell) for cell in re.findall(r"<t[hd]>(.*?)</t[hd]>", row)] for row in rows]


def test_a_comparison_is_short_where_it_is_printed(compared):
    """Catches a page of hashes."""
    lines = repr(compared).splitlines()
    assert lines[0] == "Studied: comparison, 3 points, 3 seeds, 9 runs"
    assert re.fullmatch(r"  ecmp: mean FCT, short [\d.]+ ± [\d.]+ ms; p99 .* Mbit/s", lines[1])
    one = compared.runs[compared.runs["scheme"] == "ecmp"]
    runs = pd.concat([one.assign(scheme=name) for name in MANY])
    many = replace(compared, study=comparison(SMALL, schemes=MANY, seeds=3), runs=runs)
    assert repr(many).splitlines()[8:] == [f"  {MANY[7]}{lines[1].removeprefix('  ecmp')}", "  and 1 more"]


def test_a_notebook_shows_the_means_of_each_scheme_as_a_table(compared):
    head, first, *rest = cells_of(compared._repr_html_())
    assert head == ["scheme", "mean FCT, short, ms", "p99 FCT, short, ms", "mean throughput, long, Mbit/s"]
    assert [row[0] for row in (first, *rest)] == list(compared.schemes)
    (line,) = (line for line in repr(compared).splitlines() if line.startswith("  ecmp: "))
    assert all(f" {cell} " in line for cell in first[1:])


def test_a_notebook_shows_a_study_as_it_is_described(compared):
    rows = cells_of(compared.study._repr_html_())
    assert [": ".join(row) for row in rows[1:]] == compared.study.describe().splitlines()[2:]
    assert repr(compared.study) == compared.study.describe()


def test_flows_of_a_study_are_of_the_points_that_are_asked_for(tmp_path):
    """A comparison has one axis; a study has several, whose values stand in front where they differ."""
    sizes = [10_000, 20_000]
    axes = {"scheme": ["ecmp", "rps"], "traffic.1.flow_bytes": sizes}
    found = Study(scenario=SMALL, axes=axes, seeds=2).run(tmp_path, keep_results=True)
    assert [*found.flows("rps").columns[:2]] == ["traffic.1.flow_bytes", "seed"]
    one = found.flows({"scheme": "rps", "traffic.1.flow_bytes": 10_000})
    assert one.columns[0] == "seed"
    assert set(one["flow_bytes"]) == {200_000, 10_000}
    assert len(found.flows()) == 2 * len(found.flows("rps")) == 4 * len(one)
    at = {"traffic.1.flow_bytes": 20_000}
    assert [*found.fct_percentile_s(50)] == [
        f"{name}, traffic.1.flow_bytes {size}" for name in ("ecmp", "rps") for size in sizes
    ]
    assert [*found.fct_percentile_s(50, at=at)] == ["ecmp", "rps"]
    assert len(found.plot_cdf(at=at).axes[0].lines) == 2
    with pytest.raises(ParameterError, match="there is no axis load"):
        found.flows({"load": 1})
    with pytest.raises(ParameterError, match="scheme = 'caps'"):
        found.flows("caps")


def test_a_latex_table_has_means_and_half_widths(compared):
    """Catches a sign that LaTeX does not take, and a column that belongs to another head."""
    lines = compared.to_latex(["timeout_ratio_short", "mean_fct_short_s"]).splitlines()
    assert lines[0] == r"\begin{tabular}{lrr}"
    assert lines[2] == r"scheme & short flows with a timeout, \% & mean FCT, short, ms \\"
    assert re.fullmatch(r"ecmp & \$0 \\pm 0\$ & \$[\d.]+ \\pm [\d.]+\$ \\\\", lines[4])
    assert lines[-1] == r"\end{tabular}"


@pytest.mark.parametrize("values_s", [(0.001, 0.002, 0.009), (0.010, 0.0101, 0.0103)])
def test_an_interval_has_the_same_ends_in_table_text_latex_and_pictures(values_s):
    """Catches a picture, a LaTeX table or a text with mean ± half-width where the others have a log scale."""
    metric, study = "mean_fct_short_s", study_of(["ecmp"], panel=[{"metric": "mean_fct_short_s"}])
    runs = pd.DataFrame({"scheme": "ecmp", "seed": [1, 2, 3], metric: values_s})
    table = metric_table(runs, [{"scheme": "ecmp"}], [metric], first_scheme="ecmp")
    (row,) = table.to_dict("records")
    ends_ms = [1e3 * row["low"], 1e3 * row["high"]]
    assert ends_of_bar(draw_side_by_side(table, ["ecmp"], [metric]), 0) == pytest.approx(ends_ms)
    assert ends_of_bar(draw(DrawnStudy(study.design, runs, study.design.points())), 1) == pytest.approx(ends_ms)
    (cells,) = mean_cells([row], ["scheme"])
    latex = metric_latex(table, ["scheme"]).splitlines()[4].split(" & ")[1].removesuffix(r" \\")
    assert latex.strip("$").replace("--", "-").replace(r"\pm", "±") == cells["mean FCT, short, ms"]


def ends_of_bar(figure, coordinate):
    """Return both ends of the only error bar of a figure, in the unit of its axis."""
    (bars,) = figure.axes[0].containers[0][2]
    return bars.get_segments()[0][:, coordinate].tolist()


def test_a_result_draws_its_completion_times_and_histograms(tmp_path):
    result = simulate(SMALL, scheme="rps")
    plot_cdf({"mine": result, "the same": result.flows}, tmp_path / "both.pdf")
    assert (tmp_path / "both.pdf").read_bytes().startswith(b"%PDF")
    drawn = plot_histograms(result, tmp_path / "queues.svg")
    assert [axes.get_xlabel() for axes in drawn.axes][:2] == [
        "waiting time in a queue, µs",
        "queue behind a packet that leaves, KB",
    ]
    waits = result.histograms.query("quantity == 'wait_s' and layer == 'host>leaf' and packets == 'long'")
    curve = next(line for line in drawn.axes[0].lines if line.get_label() == "host>leaf, long flows")
    assert curve.get_ydata()[0] == 1
    last = waits.sort_values("least")["count"]
    assert curve.get_ydata()[-1] == pytest.approx(last.iloc[-1] / last.sum())
    with pytest.raises(ParameterError, match=r"^this run has no histograms: run it with probes\.histograms = true"):
        plot_histograms(simulate(SMALL.replace(probes=None)))


def test_nothing_finished_is_nothing_to_draw():
    stopped = simulate(SMALL.replace(end_s=1e-6))
    with pytest.raises(ParameterError, match="no flow has finished"):
        plot_cdf(stopped)


def study_of(names, *, panel=(), seeds=2, **axes):
    return Study(scenario=SMALL, axes={"scheme": names, **axes}, seeds=seeds, panel=panel)


@pytest.mark.parametrize("count", [2, len(MANY)])
def test_names_of_schemes_stand_at_their_places(tmp_path, count):
    """Catches numbers in place of names, names over each other, and a legend of one curve."""
    metrics = ["mean_fct_short_s", "p99_fct_short_s"]
    drawn = study_of(MANY[:count], seeds=1, panel=[{"metric": one} for one in metrics]).run(tmp_path).plot()
    beside = study_of(MANY[:count], seeds=1).run(tmp_path).plot(metrics=metrics)
    assert [label.get_text() for label in beside.axes[0].get_yticklabels()] == MANY[:count]
    assert not overprinted(beside)
    for axes in drawn.axes:
        assert [label.get_text() for label in axes.get_xticklabels()] == MANY[:count]
        assert len({round(label.get_rotation()) for label in axes.get_xticklabels()}) == 1
    assert not overprinted(drawn)
    assert not drawn.legends


OWN = "from dataclasses import replace\nfrom capsim import scheme\nSCHEME = replace(scheme({!r}), name={!r})\n"


@pytest.mark.parametrize("second", ["twin", "other"])
def test_a_scheme_of_a_file_has_its_own_name_unless_another_has_it_too(second, tmp_path, monkeypatch):
    """Catches names of files that cover each other, and two curves of one name."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(OWN.format("rps", "twin"))
    (tmp_path / "b.py").write_text(OWN.format("drill", second))
    (axes,) = study_of(["a.py:SCHEME", "b.py:SCHEME"]).run("rows").plot(metrics=["mean_fct_short_s"]).axes
    expected = ["twin", "other"] if second == "other" else ["a.py:SCHEME", "b.py:SCHEME"]
    assert [label.get_text() for label in axes.get_yticklabels()] == expected


def test_a_name_has_one_look_in_all_panels_and_in_the_legend(tmp_path):
    """The second panel lacks the first scheme, so that its curves have other numbers than those of the first."""
    size, metric = "traffic.0.flow_bytes", {"metric": "mean_fct_s", "x": "traffic.0.flow_bytes"}
    panels = [metric | {"at": {"scheme": SCHEMES[:2]}}, metric | {"at": {"scheme": SCHEMES[1:]}}]
    axes = {"scheme": SCHEMES, size: [100_000, 200_000]}
    figure = Study(scenario=SMALL, axes=axes, seeds=1, panel=panels).run(tmp_path).plot()
    looks = {}
    for one in figure.axes:
        for handle, label in zip(*one.get_legend_handles_labels(), strict=True):
            looks.setdefault(label, set()).add((to_hex(handle[0].get_color()), handle[0].get_marker()))
    assert [len(one) for one in looks.values()] == [1] * len(SCHEMES)
    assert len(set().union(*looks.values())) == len(SCHEMES)
    legend = figure.legends[0]
    shown = zip(legend.get_texts(), legend.legend_handles, strict=True)
    colours = {text.get_text(): to_hex(handle.get_color()[0]) for text, handle in shown}
    assert colours == {name: colour for name, one in looks.items() for colour, _ in one}


def test_an_axis_of_numbers_has_words_and_a_unit(tmp_path):
    found = study_of(SCHEMES[:2], **{"fabric.rate_bps": [1e9, 2e9]}).run(tmp_path)
    (axes,) = found.plot(metrics=["mean_fct_short_s"]).axes
    assert axes.get_xlabel() == "fabric rate, Gbit/s"
    assert axes.lines[0].get_xdata().tolist() == pytest.approx([1.0, 2.0])
    assert "Studied: study, 4 points, 2 seeds, 8 runs" in repr(found)
    assert r"ecmp & 1000000000 & " in found.to_latex(["mean_fct_short_s"]).replace("1e+09", "1000000000")


def test_labels_do_not_cover_each_other(compared):
    assert not overprinted(compared.plot())
    assert not overprinted(compared.plot_cdf())


def test_drawing_opens_no_window_and_leaves_the_style_alone(compared):
    before = dict(matplotlib.rcParams)
    compared.plot()
    assert dict(matplotlib.rcParams) == before
    assert scheme("ecmp").name in repr(compared)


def test_a_point_that_no_claim_needs_is_a_gap_in_its_curve_and_the_legend_says_so():
    """Catches a line drawn across a load at which a scheme was not run, as if it had been."""
    axes = {"scheme": ["ecmp", "rps"], "load": [0.2, 0.4, 0.6]}
    claims = [
        {"id": name, "at": {"load": load}, "subject": "rps", "is": "above", "printed": "1 ms"}
        for name, load in (("first", 0.2), ("last", 0.6))
    ]
    claims.append({"id": "other", "at": {"scheme": "ecmp"}, "is": "rising", "x": "load"})
    scenario = SMALL.to_dict() | {
        "traffic": [{"kind": "poisson", "workload": "websearch", "load": "{load}", "flows": 9}]
    }
    study = Study(scenario=scenario, axes=axes, panel=[{"metric": "mean_fct_short_s", "claims": claims}])
    rows = [dict(point) | {"seed": 1, "mean_fct_short_s": 0.001} for point in study.design.points()]

    def drawn(rows):
        runs = pd.DataFrame(rows)
        points = [tuple((name, row[name]) for name in axes) for row in rows]
        figure = draw(DrawnStudy(study.design, runs, points))
        curves = {bars.get_label(): bars.lines[0].get_ydata() for bars in figure.axes[0].containers}
        return curves, [text.get_text() for legend in figure.legends for text in legend.get_texts()]

    curves, texts = drawn(rows)
    assert [math.isnan(value) for value in curves["rps"]] == [False, True, False]
    assert not any(map(math.isnan, curves["ecmp"]))
    assert "gap: not run, as no claim needs it" in texts
    stopped = [row for row in rows if (row["scheme"], row["load"]) != ("ecmp", 0.4)]
    whole = {"scheme": "rps", "load": 0.4, "seed": 1, "mean_fct_short_s": 0.001}
    assert "gap: not run" in drawn([*stopped, whole])[1]
    assert not any("gap" in text for text in drawn([*rows, whole])[1])
