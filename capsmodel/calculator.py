"""Sliders for notebooks: the best coding unit of a fabric, and completion times of schemes at a load.

The best unit is that of :func:`capsmodel.coding.optimal_unit.optimal_coding_unit`; its figure shows the delay, the
decoding probability and the share of repair packets over the size of the unit. Completion times are those of
:func:`capsmodel.predict_fct`, over the load.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache
from io import BytesIO
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from capsmodel.checks import ParameterError, one_number, require, whole
from capsmodel.coding.caps_setting import PAPER_PROBS, SETTING, WINDOW_PACKETS
from capsmodel.coding.decoding import decode_prob
from capsmodel.coding.optimal_unit import DelayCurve, OptimalUnit, delay_curve, optimal_coding_unit
from capsmodel.coding.unit_parameters import DEFAULT_OBJECTIVE
from capsmodel.plotting import legend_below, look, new_figure
from capsmodel.prediction.completion import COMPARED_LOAD, Prediction
from capsmodel.units import parse_rate_bps, parse_size_bytes, parse_time_s

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "CAPS_SETTING",
    "Calculator",
    "CompletionTimes",
    "Predicts",
    "best_unit",
    "draw_completion_times",
    "draw_units",
    "plot_predictions",
    "unit_png",
]

_PATHS = 40
CAPS_SETTING: dict[str, Any] = {
    "window_packets": WINDOW_PACKETS,
    "paths": _PATHS,
    "long_flows": round(PAPER_PROBS[0] * _PATHS),
    "rate": f"{SETTING['rate_bps'] / 1e9:g}Gbps",
    "rtt_short": f"{SETTING['rtt_short_s'] * 1e6:g}us",
    "rtt_long": f"{SETTING['rtt_long_s'] * 1e3:g}ms",
    "packet": f"{SETTING['packet_bytes']}B",
    "objective": DEFAULT_OBJECTIVE,
}
"""The setting of CAPS Section VI-D, as it is typed; 8 of 40 paths with a long flow are p_B = 0.2."""

_QUANTITIES: dict[str, tuple[str, Callable[[str], float]]] = {
    "rate": ("rate_bps", parse_rate_bps),
    "rtt_short": ("rtt_short_s", parse_time_s),
    "rtt_long": ("rtt_long_s", parse_time_s),
    "packet": ("packet_bytes", parse_size_bytes),
}
_OBJECTIVES = (("with repair cost", "with_redundancy_cost"), ("Eq. 4 as printed", "eq4"))
_NAMES = {
    "window_packets": "window",
    "paths": "paths",
    "long_flows": "long flows",
    "rate": "rate",
    "rtt_short": "RTT, free",
    "rtt_long": "RTT, blocked",
    "packet": "packet",
    "objective": "objective",
}
_MOST = {"window_packets": 1024, "paths": 256}


def _arguments(setting: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of the model, in SI units."""
    fabric = {name: parse(setting[key]) for key, (name, parse) in _QUANTITIES.items()}
    paths = one_number(whole, "paths", setting["paths"], minimum=1)
    flows = one_number(whole, "long_flows", setting["long_flows"])
    _require_a_free_path(paths, flows)
    return {"blocking_prob": flows / paths, "objective": setting["objective"], **fabric}


def _require_a_free_path(paths: float, flows: float) -> None:
    rule = f"with {paths:g} paths it must lie in 0..{paths - 1:g}: a path each, and one left free"
    require(flows < paths, f"long_flows = {flows:g}, but {rule}")


def best_unit(setting: Mapping[str, Any]) -> OptimalUnit[int, float]:
    """Return the best coding unit of a setting.

    Parameters
    ----------
    setting : mapping
        The keys of `CAPS_SETTING`; rate, times and packet size as they are typed, with their units.

    Returns
    -------
    OptimalUnit
        As :func:`capsmodel.coding.optimal_unit.optimal_coding_unit` (caps Eq. 4, or with the time of repair packets).

    Raises
    ------
    ParameterError
        If a text is no quantity, or a number leaves its range.

    Examples
    --------
    >>> best = best_unit(CAPS_SETTING | {"rate": "400Gbps", "rtt_short": "20us", "rtt_long": "400us"})
    >>> best.k, best.r
    (36, 24)
    """
    return optimal_coding_unit(setting["window_packets"], **_arguments(setting))


def draw_units(setting: Mapping[str, Any]) -> "Figure":
    """Return a figure of the best unit among units of all sizes; `setting` as in :func:`best_unit`."""
    window, arguments = setting["window_packets"], _arguments(setting)
    best, curve = best_unit(setting), delay_curve(window, **arguments)
    figure = new_figure(width_in=9.6, height_in=3)
    delay, decoding, overhead = figure.subplots(1, 3)
    _draw_delay(delay, best, curve)
    _draw_decoding(decoding, best, curve, window, arguments["blocking_prob"])
    overhead.plot(curve.k, 100 * curve.r / (curve.k + curve.r))
    overhead.plot(best.k, 100 * best.r / (best.k + best.r), "C3o")
    overhead.set(ylabel="repair packets, % of all", ylim=(0, 100))
    for axes in (delay, decoding, overhead):
        axes.axvspan(best.near_k_min - 0.5, best.near_k_max + 0.5, color="C3", alpha=0.12, linewidth=0)
        axes.set(xlabel="source packets of a unit, k", xlim=(0, window + 1))
    figure.suptitle(_answer(arguments["blocking_prob"], best), fontsize="medium")
    return figure


def unit_png(setting: Mapping[str, Any]) -> bytes:
    """Return :func:`draw_units` as the bytes of a PNG; `setting` as in :func:`best_unit`."""
    return _png(draw_units(setting))


def _png(figure: "Figure") -> bytes:
    file = BytesIO()
    figure.savefig(file, format="png")
    return file.getvalue()


@lru_cache(maxsize=64)
def _drawn_once(setting: tuple[tuple[str, Any], ...]) -> bytes:
    """Return :func:`unit_png`, drawn once while a slider goes back and forth."""
    return unit_png(dict(setting))


def _draw_delay(axes: "Axes", best: OptimalUnit[int, float], curve: DelayCurve) -> None:
    axes.plot(curve.k, 1e3 * curve.delay_s)
    axes.plot(best.k, 1e3 * best.delay_s, "C3o", label="best unit")
    axes.axhline(1e3 * best.uncoded_delay_s, color="grey", linestyle=":", label="without coding")
    axes.set(ylabel="mean delay of the window, ms", ylim=(0, None))
    axes.legend(frameon=False, fontsize="small")


def _draw_decoding(
    axes: "Axes", best: OptimalUnit[int, float], curve: DelayCurve, window: int, blocking_prob: float
) -> None:
    unit_prob = decode_prob(curve.k, r=curve.r, blocking_prob=blocking_prob)
    axes.plot(curve.k, unit_prob, label="a unit")
    axes.plot(curve.k, unit_prob ** (window / curve.k), label="all units of the window")
    axes.plot(best.k, best.decode_prob, "C3o")
    axes.set(ylabel="decoding probability", ylim=(0, 1.04))
    axes.legend(frameon=False, fontsize="small")


def _answer(blocking_prob: float, best: OptimalUnit[int, float]) -> str:
    """Return the best unit as text."""
    coded = f"k = {best.k} with r = {best.r}" if best.r else "no repair packets"
    near = f"within 1% of it for k = {best.near_k_min} to {best.near_k_max}"
    delays = f"{1e3 * best.delay_s:.3g} ms ({1e3 * best.uncoded_delay_s:.3g} ms without coding)"
    return f"$p_B$ = {blocking_prob:.3g}: {coded}, {delays}, {near}"


def _taken(field: Any) -> str:
    """Return what a field takes, in words."""
    if hasattr(field, "options"):
        return " or ".join(value for _, value in field.options)
    return f"whole numbers from {field.min} to {field.max}" if hasattr(field, "max") else "text, a number with its unit"


class _Fields(ABC):
    """Fields with a picture below that follows them, and a line that says why there is none."""

    fields: dict[str, Any]
    _shown: Any

    def __init__(self, ipywidgets: Any) -> None:
        self.picture, self.message = ipywidgets.Image(format="png"), ipywidgets.Label()

    @property
    def setting(self) -> dict[str, Any]:
        """What the fields say now."""
        return {key: field.value for key, field in self.fields.items()}

    @abstractmethod
    def _drawn(self) -> bytes:
        """Return the picture of what the fields say, as PNG."""

    def _follow(self, follow: bool) -> None:
        """Let the figure follow the fields, or not while several of them change."""
        for field in self.fields.values():
            (field.observe if follow else field.unobserve)(self._redraw, names="value")

    def _redraw(self, change: object) -> None:
        try:
            self.picture.value, self.message.value = self._drawn(), ""
        except ParameterError as error:
            self.message.value = str(error)

    def _ipython_display_(self) -> None:
        from IPython.display import display

        display(self._shown)


def _ipywidgets() -> Any:
    try:
        import ipywidgets
    except ModuleNotFoundError:
        raise ParameterError("the calculator needs ipywidgets: pip install ipywidgets") from None
    return ipywidgets


class Calculator(_Fields):
    """Sliders and text fields with a figure below that follows them, for a notebook with a running kernel.

    Attributes
    ----------
    fields : dict
        The widgets by the keys of `CAPS_SETTING`. Counts are sliders; rate, times and packet size are typed with their
        units, such as ``400Gbps`` or ``400us``.
    picture : ipywidgets.Image
        The figure, a PNG.
    message : ipywidgets.Label
        Why there is no figure, when what was typed is no quantity; otherwise empty.

    Raises
    ------
    ParameterError
        If ipywidgets is not installed.
    """

    def __init__(self) -> None:
        ipywidgets = _ipywidgets()
        super().__init__(ipywidgets)
        of_widgets = {"style": {"description_width": "7em"}, "layout": ipywidgets.Layout(width="24em")}
        of_widgets["continuous_update"] = False  # a figure when the slider is let go, not for each position on the way
        self.fields = {key: _field(ipywidgets, key, of_widgets) for key in CAPS_SETTING}
        paths, flows = self.fields["paths"], self.fields["long_flows"]
        ipywidgets.dlink((paths, "value"), (flows, "max"), transform=lambda count: count - 1)  # one path stays free
        self._follow(True)
        columns = ipywidgets.Layout(grid_template_columns="26em 26em")
        grid = ipywidgets.GridBox(list(self.fields.values()), layout=columns)
        self._shown = ipywidgets.VBox([grid, self.message, self.picture])
        self._redraw(None)

    def move(self, **values: Any) -> OptimalUnit[int, float]:
        """Set the fields to `CAPS_SETTING` except for `values`, and return the best unit.

        Raises
        ------
        ParameterError
            If a field cannot show its value, as a slider beyond its end; then all fields stay as they were.
        """
        before = self.setting
        self._follow(False)
        try:
            self._set(CAPS_SETTING | values)
        except ParameterError:
            self._set(before)
            raise
        finally:
            self._follow(True)
        self._redraw(None)
        return best_unit(self.setting)

    def _set(self, setting: Mapping[str, Any]) -> None:
        """Set all fields, and refuse what one of them does not hold: sliders move what is beyond their ends."""
        from traitlets import TraitError

        unknown = setting.keys() - self.fields.keys()
        require(not unknown, f"no field {', '.join(sorted(unknown))}: the fields are {', '.join(self.fields)}")
        for key, value in setting.items():
            field = self.fields[key]
            with suppress(TraitError):  # no number, or none of the choices
                field.value = value
            if field.value != value:
                raise ParameterError(f"{key} = {value}, but the field takes {_taken(field)}")

    def _drawn(self) -> bytes:
        return _drawn_once(tuple(self.setting.items()))


class Predicts(Protocol):
    """What gives a prediction at loads, as ``capsim.model_inputs`` returns it."""

    def predict(self, load: ArrayLike) -> Prediction:
        """Return the prediction at a load or at several."""
        ...


_DRAWN_LOADS = np.linspace(0.05, COMPARED_LOAD, 14)


def plot_predictions(predictions: Mapping[str, Prediction]) -> "Figure":
    """Draw completion times over the load, a curve for each scheme; what is a bound is left out.

    Parameters
    ----------
    predictions : mapping
        Predictions at several loads, by the name of the scheme (:func:`capsmodel.predict_fct`).

    Returns
    -------
    matplotlib.figure.Figure
        Panels of mean and 99th percentile of short flows, in us, and of the mean slowdown of long ones;
        :func:`capsmodel.plotting.save_figure` writes it.
    """
    figure = new_figure(width_in=9.6)
    panels = figure.subplots(1, 3)
    heads = ("short flows, mean, us", "short flows, 99th percentile, us", "long flows, mean slowdown")
    for panel, head in zip(panels, heads, strict=True):
        panel.set(xlabel="load", ylabel=head)
    for number, (name, one) in enumerate(predictions.items()):
        style = look(number) | {"marker": "", "label": name}
        if one.short.basis != "bound":
            panels[0].plot(one.load, 1e6 * np.asarray(one.short.mean_s), **style)
            panels[1].plot(one.load, 1e6 * np.asarray(one.short.quantile_s(0.99)), **style)
        if one.long.basis != "bound":
            panels[2].plot(one.load, one.long.mean_slowdown, **style)
    return figure


def draw_completion_times(models: Mapping[str, Predicts], *, load: float) -> "Figure":
    """Return a figure of completion times over the load, and their values at one load.

    Parameters
    ----------
    models : mapping
        By the name of the scheme, as ``capsim.model_inputs`` returns it.
    load : float
        Payload over the capacity of the links of hosts, in (0, 0.7].

    Returns
    -------
    matplotlib.figure.Figure
        Bounds are not drawn; their values stand behind ``>``.
    """
    figure = plot_predictions({name: one.predict(_DRAWN_LOADS) for name, one in models.items()})
    for panel in figure.axes:
        panel.axvline(load, color="0.6", linewidth=1)
    legend_below(figure)
    lines = [f"{name}: {_values(one.predict(load))}" for name, one in models.items()]
    figure.suptitle("\n".join([f"load {load:g}", *lines]), fontsize="small", ha="left", x=0.02)
    return figure


def _values(prediction: Prediction) -> str:
    """Return completion times at one load in words."""
    short, long = prediction.short, prediction.long
    times = [f"{1e6 * float(value):.3g} us" for value in (short.mean_s, short.quantile_s(0.99))]
    signs = ["> " if basis == "bound" else "" for basis in (short.basis, long.basis)]
    short_text = f"short flows {signs[0]}{times[0]}, 99th percentile {signs[0]}{times[1]}"
    return f"{short_text}; long flows {signs[1]}{float(long.mean_slowdown):.3g} times as long as alone"


class CompletionTimes(_Fields):
    """A slider for the load and a list of schemes, with completion times below that follow them, for a notebook.

    Parameters
    ----------
    models : mapping
        As of :func:`draw_completion_times`.

    Attributes
    ----------
    fields : dict
        The widgets: ``load``, and ``schemes``, of which several may be chosen.
    picture, message : ipywidgets.Image, ipywidgets.Label
        As of :class:`Calculator`.

    Raises
    ------
    ParameterError
        If ipywidgets is not installed.
    """

    def __init__(self, models: Mapping[str, Predicts]) -> None:
        ipywidgets = _ipywidgets()
        super().__init__(ipywidgets)
        self._models = dict(models)
        names = tuple(self._models)
        self.fields = {
            "load": ipywidgets.FloatSlider(
                value=0.4, min=0.05, max=COMPARED_LOAD, step=0.05, description="load", continuous_update=False
            ),
            "schemes": ipywidgets.SelectMultiple(options=names, value=names, description="schemes"),
        }
        self._follow(True)
        self._shown = ipywidgets.VBox([ipywidgets.HBox(list(self.fields.values())), self.message, self.picture])
        self._redraw(None)

    def _drawn(self) -> bytes:
        chosen = self.fields["schemes"].value
        require(bool(chosen), "no scheme is chosen: choose one or more")
        return _png(
            draw_completion_times({name: self._models[name] for name in chosen}, load=self.fields["load"].value)
        )


def _field(ipywidgets: Any, key: str, of_widgets: dict[str, Any]) -> Any:
    """Return the widget of one part of the setting."""
    value, name = CAPS_SETTING[key], _NAMES[key]
    if key == "objective":
        kept = {part: of_widgets[part] for part in ("style", "layout")}
        return ipywidgets.Dropdown(options=_OBJECTIVES, value=value, description=name, **kept)
    if isinstance(value, str):
        return ipywidgets.Text(value=value, description=name, **of_widgets)
    least = 2 if key == "paths" else int(key == "window_packets")
    most = _MOST.get(key, CAPS_SETTING["paths"] - 1)
    return ipywidgets.IntSlider(value=value, min=least, max=most, description=name, **of_widgets)
