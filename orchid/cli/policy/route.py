"""`orchid policy route` and `threshold`: who is asked first, and whose answer is accepted."""

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from orchid.cli.output import json_option, show
from orchid.cli.policy.figures import INNER_SHARE, MILLISECONDS, PART, FloatRange
from orchid.cli.policy.reading import document_argument, file_argument, loaded, meant, unknown_class
from orchid.engine.cascade import SmallAnswer, Step, Work, next_step
from orchid.engine.document.canonical import manifest_digest
from orchid.engine.document.errors import shown
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.values import percent
from orchid.engine.routing import route_for
from orchid.engine.segments import segment_of
from orchid.engine.threshold import Operating, Validated, operating_at, threshold_for
from orchid.engine.timing import deadline_ms

#: Scored answers are three short columns; a million of them have about 20 MB.
MAX_SCORES_BYTES = 256 << 20


@click.command()
@click.argument("file", type=document_argument)
@click.option("--class", "name", required=True, help="Class of the request.")
@click.option(
    "--dimension", "dimensions", multiple=True, metavar="NAME=VALUE", help="Of its segment."
)
@click.option("--score", type=PART, help="A classifier's, before any answer.")
@click.option("--cascade", is_flag=True, help="The caller can score answers and escalate.")
@click.option("--confidence", type=PART, help="Of the small route's answer.")
@click.option("--elapsed-ms", type=MILLISECONDS, help="When the small call ended.")
@click.option("--schema-failed", is_flag=True, help="Its answer fails the schema.")
@click.option("--timed-out", is_flag=True, help="It gave none in time.")
@click.option("--prompt-version", help="The prompt in use.")
@json_option
def route(
    file: Path,
    name: str,
    dimensions: tuple[str, ...],
    score: float | None,
    cascade: bool,
    prompt_version: str | None,
    as_json: bool,
    **answer: Any,
) -> None:
    """The route that FILE gives a request, and every question on the way."""
    document = loaded(file).document
    chosen = route_for(
        document,
        name,
        segment(document, name, dimensions),
        score=score,
        scores_answers=cascade,
        prompt_version=prompt_version,
    )
    data: dict[str, Any] = {"choice": asdict(chosen)}
    if (unknown := unknown_class(name, document)) is not None:
        data["unknown_class"] = unknown
    if chosen.escalates and answer["elapsed_ms"] is not None:
        data["step"] = asdict(followed(document, name, answer))
    show(data, lambda: route_text(data), as_json=as_json)


def segment(document: PolicyDocument, name: str, given: Sequence[str]) -> dict[str, str]:
    """The class's declared shape with the dimensions that were named."""
    pairs = dict(one.split("=", 1) for one in given if "=" in one)
    if len(pairs) != len(given):
        raise click.UsageError("--dimension takes NAME=VALUE, each name once")
    for one in pairs:
        if one not in document.segments.dimensions:
            hint = meant(one, document.segments.dimensions)
            raise click.UsageError(f"--dimension {one}: no dimension of the document: {hint}")
    traffic = document.classes.get(name)
    tokens = traffic.input_tokens if traffic else None
    cap = traffic.max_output_tokens if traffic else None
    return segment_of(document, name, tokens, cap, pairs)


def followed(document: PolicyDocument, name: str, answer: dict[str, Any]) -> Step:
    """What the cascade does with the small route's answer to the class's declared shape."""
    traffic, cascade = document.classes[name], document.routing.cascade
    assert cascade is not None  # only a cascade's choice escalates
    deadline = float(deadline_ms(document, name))
    work = Work(traffic.input_tokens, traffic.max_output_tokens, deadline)
    schema = False if answer["schema_failed"] else None
    ended = SmallAnswer(answer["elapsed_ms"], answer["confidence"], schema, answer["timed_out"])
    return next_step(document, cascade, work, ended)


def route_text(data: dict[str, Any]) -> str:
    choice: dict[str, Any] = data["choice"]
    lines = [f"{choice['route'] or 'no route'} ({choice['branch']}: {choice['reason']})"]
    lines += [f"  {line}" for line in choice["log"]]
    if "unknown_class" in data:
        lines.append(f"  {data['unknown_class']}")
    if step := data.get("step"):
        lines.append(f"then {step['verdict']}: {step['reason']}")
        lines += [f"  {line}" for line in step["log"]]
    elif choice["escalates"]:
        lines.append("then --confidence and --elapsed-ms of its answer decide")
    return "\n".join(lines)


@click.command()
@click.argument("scores", type=file_argument)
@click.option("--target", required=True, type=INNER_SHARE, help="Such as 0.02.")
@click.option("--confidence", default=0.95, show_default=True, type=FloatRange(0.5, 0.9999))
@click.option("--cost-ratio", default=0.1, show_default=True, type=PART)
@click.option(
    "--policy", "document", type=document_argument, help="Pins the models of its cascade."
)
@click.option("--prompt-version", help="The prompt that the answers were given to.")
@json_option
@click.pass_context
def threshold(
    ctx: click.Context,
    /,
    scores: Path,
    target: float,
    confidence: float,
    cost_ratio: float,
    document: Path | None,
    prompt_version: str | None,
    as_json: bool,
) -> None:
    """The lowest threshold that keeps a cascade's wrong answers rare.

    Of the answers that it accepts at most the --target part is wrong.
    SCORES is CSV with the columns score, small_correct and, for accuracy and cost, large_correct.
    Exit code 1 where no threshold keeps the target.
    """
    score, small, large = columns(scores)
    try:
        found = threshold_for(score, small, target, confidence=confidence)
        at = found.threshold
        does = (
            operating_at(at, score, small, large, cost_ratio) if large and at is not None else None
        )
    except ValueError as error:
        raise click.ClickException(f"{scores}: {error}") from error
    policy = loaded(document).document if document else None
    data = {
        **asdict(found),
        "operating": does and {**asdict(does), "saves": does.saves},
        "cascade": pinned(found, policy, cost_ratio, prompt_version) if at is not None else None,
    }
    show(data, lambda: threshold_text(found, does, data["cascade"]), as_json=as_json)
    ctx.exit(int(found.threshold is None))


def columns(file: Path) -> tuple[list[float], list[int], list[int]]:
    """score, small_correct and large_correct (empty where the file has none)."""
    if file.stat().st_size > MAX_SCORES_BYTES:
        raise click.ClickException(f"{file} has more than {MAX_SCORES_BYTES >> 20} MiB.")
    try:
        reader = csv.DictReader(io.StringIO(file.read_text("utf-8-sig")))
        rows = [(reader.line_num, row) for row in reader]
    except UnicodeDecodeError as error:
        raise click.ClickException(f"{file} is no UTF-8 text, from byte {error.start}.") from error
    except csv.Error as error:
        raise click.ClickException(f"{file} is no CSV: {error}.") from error
    for column in ("score", "small_correct"):
        if rows and column not in rows[0][1]:
            raise click.ClickException(f"{file} has no column {column!r}.")
    score = [_cell(file, line, "score", row) for line, row in rows]
    small = [_verdict(file, line, "small_correct", row) for line, row in rows]
    given = [(line, row) for line, row in rows if row.get("large_correct")]
    large = [_verdict(file, line, "large_correct", row) for line, row in given]
    if large and len(large) != len(rows):
        raise click.ClickException(f"{file}: large_correct is missing in some rows.")
    return score, small, large


def _cell(file: Path, line: int, column: str, row: dict[str, Any]) -> float:
    text = row[column] or ""
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise _unfit(file, line, column, text, "a finite number")
    return found


def _verdict(file: Path, line: int, column: str, row: dict[str, Any]) -> int:
    text = (row[column] or "").strip()
    if text not in ("0", "1"):
        raise _unfit(file, line, column, text, "0 (wrong) or 1 (right)")
    return int(text)


def _unfit(file: Path, line: int, column: str, text: str, wanted: str) -> click.ClickException:
    return click.ClickException(
        f"{file}, line {line}: {column} is {shown(text)}, allowed is {wanted}."
    )


def pinned(
    found: Validated, policy: PolicyDocument | None, cost_ratio: float, prompt: str | None
) -> dict[str, Any]:
    """The keys for `routing.cascade`; with them the threshold is void when a model changes."""
    keys: dict[str, Any] = {
        "threshold": found.threshold,
        "target_false_accept": found.target,
        "small_cost_ratio": f"{cost_ratio:g}",
    }
    if prompt is not None:
        keys["prompt_version"] = prompt
    cascade = policy.routing.cascade if policy else None
    if policy is not None and cascade is not None:
        keys["small_manifest"] = manifest_digest(policy.models[cascade.small])
        keys["large_manifest"] = manifest_digest(policy.models[cascade.large])
    return keys


def threshold_text(found: Validated, does: Operating | None, cascade: dict[str, Any] | None) -> str:
    bound = f"{found.wrong} of {found.accepted} wrong, at most {percent(found.upper, 2)}"
    if found.threshold is None:
        return (
            f"No threshold keeps {percent(found.target, 2)} on {found.n} answers (the strictest:"
            f" {bound} at {percent(found.confidence)} confidence): every request must go to large."
        )
    lines = [
        f"{found.threshold:g} accepts {percent(found.accepts, 1)} of {found.n} answers: {bound}"
    ]
    if does is not None:
        verb = "saves" if does.saves else "does not save"
        lines.append(
            f"accuracy {percent(does.accuracy, 2)} (small {percent(does.small_accuracy, 2)}, large"
            f" {percent(does.large_accuracy, 2)}); {percent(does.escalation, 1)} escalate,"
            f" break-even {percent(does.break_even, 1)}: {verb}, costs {does.cost:.2f} of large"
            " only"
        )
    lines += ["routing.cascade:", *(f"  {key}: {value}" for key, value in (cascade or {}).items())]
    return "\n".join(lines)
