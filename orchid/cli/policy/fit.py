"""`orchid policy fit`: the demand model that measured attempts speak for."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import yaml

from orchid.cli.output import json_option, show, table
from orchid.cli.policy.figures import FloatRange
from orchid.cli.policy.fit_report import FRESH, NOT_STATED, Asked, report
from orchid.cli.policy.measured import measured
from orchid.cli.policy.reading import document_argument, file_argument, loaded
from orchid.engine.calibration.fit import Estimate, NotIdentifiableError
from orchid.engine.document.values import percent


@click.command()
@click.argument("files", nargs=-1, required=True, type=file_argument)
@click.option("--reference", default="full", show_default=True, help="The route of factor 1.")
@click.option("--policy", "document", type=document_argument, help="Judge this document too.")
@click.option("--trace", "traces", multiple=True, type=file_argument, help="Triton's own file.")
@click.option("--name", default="teu-fitted", show_default=True, help="Version of the new model.")
@click.option("--runtime", help="Goes into `fitted`; default: that of the document's reference.")
@click.option("--hardware", default=NOT_STATED, help="Goes into `fitted`.")
@click.option("--nominal", default=0.95, show_default=True, type=FloatRange(0.5, 0.999))
@click.option("--limit", default=100_000, show_default=True, type=click.IntRange(1, 2_000_000))
@json_option
@click.pass_context
def fit(
    ctx: click.Context,
    /,
    files: tuple[Path, ...],
    traces: tuple[Path, ...],
    document: Path | None,
    limit: int,
    as_json: bool,
    **asked: Any,
) -> None:
    """Fit TEU factors to measured attempts, as a `demand:` section.

    FILES are request records (NDJSON, gzip too) or a client's log. Accelerator times that they
    don't state are taken from --trace files. Exit code 2 when the attempts can't tell the factors.
    """
    policy = loaded(document).document if document else None
    found = measured(files, traces, limit)
    try:
        data = report(found, policy, Asked(**asked))
    except NotIdentifiableError as error:
        data = {"not_identifiable": str(error), "left_out": dict(found.left_out)}
        show(data, lambda: _not_identifiable(data), as_json=as_json)
        ctx.exit(2)
    show(data, lambda: report_text(data), as_json=as_json)


def _not_identifiable(data: dict[str, Any]) -> str:
    return "\n".join([f"Not identifiable: {data['not_identifiable']}.", *_left_out(data)])


def _left_out(data: dict[str, Any]) -> list[str]:
    return [f"  left out: {count} x {what}" for what, count in data["left_out"].items() if count]


def report_text(data: dict[str, Any]) -> str:
    """The report for people; the section to paste comes last."""
    routes = [
        (
            route,
            found["attempts"],
            _estimate(found["factor"]),
            f"{found['fixed_ms']:.2f}",
            ", ".join(version[:24] for version in found["versions"]),
        )
        for route, found in data["routes"].items()
    ]
    weight, ms = _estimate(data["input_weight"]), _estimate(data["ms_per_teu"])
    lines = [
        f"{data['attempts']} attempts; intervals at {percent(data['nominal'])}",
        *_left_out(data),
        *(["  stopped at --limit: more attempts were there"] if data["stopped_at_limit"] else []),
        "",
        f"input weight {weight}; one TEU is {ms} accelerator ms of {data['reference']}",
        table(("route", "attempts", "factor", "fixed ms", "versions"), routes),
        *(f"  {route} is not fitted: {why}" for route, why in data["not_fitted"].items()),
        f"error of one attempt about {percent(data['relative_error'], 1)};"
        f" {data['outliers']} outliers have next to no weight",
        "",
        f"Measured over predicted at {percent(data['nominal'])}: {_spread(data['spread'])} in all",
        _cells_text(data["cells"]),
        "",
        f"Verdicts on the newest {percent(FRESH)}, predicted from the older attempts",
        data["no_verdicts"] or _verdicts_text(data["verdicts"]),
    ]
    if judged := data.get("document"):
        lines += ["", f"The document's own {judged['version']} on the same attempts"]
        lines += [judged.get("why") or _verdicts_text(judged["verdicts"])]
    return "\n".join([*lines, "", yaml.safe_dump(data["fragment"], sort_keys=False).rstrip()])


def _estimate(found: dict[str, Any]) -> str:
    estimate = Estimate(**found)
    return f"{estimate.value:.4g} ({estimate.low:.4g} to {estimate.high:.4g})"


def _spread(found: dict[str, Any]) -> str:
    if found["high"] is None:
        return f"too few: {found['n']} of {found['needed']}"
    return f"{found['low']:.3f} to {found['high']:.3f}"


def _cells_text(cells: Sequence[dict[str, Any]]) -> str:
    return table(
        ("route", "input", "output cap", "n", "interval"),
        ((c["route"], c["input_bucket"], c["output_bucket"], c["n"], _spread(c)) for c in cells),
    )


def _verdicts_text(verdicts: Sequence[dict[str, Any]]) -> str:
    return table(
        ("route", "input", "output cap", "n", "bias", "covered", "bounds", "verdict", ""),
        (
            (
                v["route"],
                v["input_bucket"],
                v["output_bucket"],
                v["n"],
                percent(v["bias"], 1, signed=True),
                percent(v["coverage"], 1),
                f"{percent(v['lower'], 1)} to {percent(v['upper'], 1)}",
                v["verdict"],
                v["text"],
            )
            for v in verdicts
        ),
    )
