"""How shapes, versions, measures and verdicts of calibration are written on pages."""

from controlplane import figures
from orchid.engine.calibration.fragment import UNBUCKETED
from orchid.engine.calibration.observed import Measure
from orchid.engine.calibration.samples import Cell
from orchid.engine.calibration.verdicts import Calibration

LABELS = {
    Measure.WORK: "Work",
    Measure.TEU: "Reserved TEU",
    Measure.OUTPUT: "Output length",
    Measure.LIVE: "Live tokens",
    Measure.COMPLETION: "Completion time",
}
UNITS = {
    Measure.WORK: "TEU",
    Measure.TEU: "TEU",
    Measure.OUTPUT: "tokens",
    Measure.LIVE: "tokens",
    Measure.COMPLETION: "ms",
}
QUESTIONS = {
    Measure.WORK: "Does a TEU take the same accelerator time in every shape?",
    Measure.TEU: "Does the price that is reserved hold what is used?",
    Measure.OUTPUT: "Does the output stay within what was reserved for it?",
    Measure.LIVE: "Do the tokens in memory stay within what was reserved for them?",
    Measure.COMPLETION: "Is the answer complete when admission said it would be?",
}
VERDICTS = {
    Calibration.CALIBRATED: "Calibrated",
    Calibration.PAD: "Pad",
    Calibration.DISABLE: "Disable",
    Calibration.OVER_PREDICTS: "Over-predicts",
    Calibration.TOO_FEW: "Too few",
}
#: By the design system's badge; the word beside it says what the colour does.
BADGES = {
    Calibration.CALIBRATED: "pass",
    Calibration.PAD: "fail",
    Calibration.DISABLE: "fail",
    Calibration.OVER_PREDICTS: "inconclusive",
    Calibration.TOO_FEW: "no-data",
}
SIGNS = {"pass": "✓", "fail": "✕", "inconclusive": "!", "no-data": "–"}
#: Hexadecimal digits that tell the digests of one product apart.
DIGITS = 8


def shape(cell: Cell) -> str:
    """`full, 513-4096 in, 65-512 out`; by the cap of its output, as admission knows it."""
    return f"{cell.route}, {_bucket(cell.input_bucket)} in, {_bucket(cell.output_bucket)} out"


def _bucket(name: str) -> str:
    return "any" if name == UNBUCKETED else name


def version(name: str) -> str:
    """A manifest by the first digits of its digest, with its pool."""
    manifest, at, pool = name.partition("@")
    _, colon, digest = manifest.partition("sha256:")
    return f"{digest[:DIGITS] if colon else manifest}{at}{pool}"


def amount(value: float) -> str:
    """Three digits that count, thousands in groups."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def ratio(value: float) -> str:
    return f"{value:.2f}" if value < 100 else f"{value:,.0f}"


def share(value: float) -> str:
    return f"{100 * value:.1f} %"


def change(value: float | None) -> str:
    """A relative change with its sign; unknown where there is none."""
    return figures.UNKNOWN if value is None else f"{100 * value:+.1f} %".replace("-", "−")
