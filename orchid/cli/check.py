"""`orchid check`: may it ship or advance? The verdict is the exit code."""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from orchid.cli.client import TIMEOUT_S, Api, Json
from orchid.cli.gate_notes import notes
from orchid.cli.gate_words import bound, figure, gate_name, interval, margin, with_names
from orchid.cli.junit import junit, junit_error
from orchid.cli.output import (
    folded,
    folded_to,
    json_option,
    room,
    show,
    table,
    verdict_said,
    written,
)
from orchid.cli.product import named, product_option
from orchid.engine.verdict.wording import span_text

LOOK_AGAIN_S = 2.0
LONGEST_WAIT_S = 7 * 86_400.0
#: Worst first.
GRAVITY = ("fail", "no_data", "inconclusive", "pass")
HEADINGS = ("verdict", "gate", "segment", "value", "bound", "margin", "interval", "n", "needs")


@click.command()
@product_option
@click.option("--generation", type=click.IntRange(min=1), help="Default: what is live.")
@click.option("--publication", type=click.IntRange(min=1), help="Of this admission generation.")
@click.option("--stage", help="Of the rollout: its number from 1, or its share (5%).")
@click.option(
    "--wait",
    "wait_s",
    type=click.FloatRange(0, LONGEST_WAIT_S),
    default=0,
    help="Seconds to wait for a pass or a fail.",
)
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(0.1, 600),
    default=TIMEOUT_S,
    show_default=True,
    help="Seconds that the control plane has for one answer.",
)
@click.option(
    "--junit",
    "report",
    type=click.Path(allow_dash=True, path_type=Path),
    help="Write JUnit XML there; - is standard output.",
)
@json_option
@click.pass_context
def check(
    ctx: click.Context,
    /,
    product: str | None,
    wait_s: float,
    timeout_s: float,
    report: Path | None,
    as_json: bool,
    **asked: Any,
) -> None:
    """May a generation ship or advance?

    Exit code: 0 pass, 1 fail, 2 inconclusive or no data, 3 error. Only a pass is 0.
    """
    slug = named(product)
    if as_json and str(report) == "-":
        raise click.UsageError("Standard output takes --json or --junit -, not both.")
    try:
        answer = judged(Api(timeout_s=timeout_s), slug, wait_s, asked)
    except click.ClickException as error:
        if report is not None:
            written(junit_error(slug, error.format_message()), report)
        raise
    if report is not None:
        written(junit(slug, answer, gates_of(answer)), report)
    if str(report) != "-":
        show(answer, lambda: answer_text(slug, answer), as_json=as_json, say=verdict_said)
    ctx.exit(answer["exit_code"])


def judged(
    api: Api,
    slug: str,
    wait_s: float,
    asked: Mapping[str, Any],
    clock: Callable[[], float] = time.monotonic,
) -> Json:
    """The answer, asked for again until there is a pass or a fail, or the time is over."""
    deadline = clock() + wait_s
    while True:
        answer = read(api.get(f"/api/v1/products/{slug}/check", **asked))
        left = deadline - clock()
        if answer["exit_code"] != 2 or left <= 0:
            return answer
        click.echo(f"{answer['verdict'].replace('_', ' ')}; looking again", err=True)
        api.pause(min(LOOK_AGAIN_S, left))


def read(answer: Any) -> Json:
    """An answer that this command understands; anything else is an error and no verdict."""
    known = isinstance(answer, dict) and answer.get("exit_code") in (0, 1, 2)
    if not known or (answer["exit_code"] == 0) != (answer.get("verdict") == "pass"):
        raise click.ClickException("The answer has no verdict: is this an Orchid of this version?")
    return {"reasons": [], "evaluation": None, **answer}


def gates_of(answer: Mapping[str, Any]) -> list[Json]:
    """Every gate in every segment, worst first."""
    return worst_first((answer["evaluation"] or {}).get("verdicts", []))


def worst_first(gates: Iterable[Json]) -> list[Json]:
    """By verdict, and of equal verdicts what is closest to its bound first."""
    return sorted(gates, key=_badness)


def _badness(gate: Mapping[str, Any]) -> tuple[int, float, str, str]:
    room = math.inf
    if gate["margin"] is not None and float(gate["bound"]):
        room = float(gate["margin"]) / abs(float(gate["bound"]))
    return GRAVITY.index(gate["verdict"]), room, gate["metric"], gate["segment"]


def answer_text(slug: str, answer: Mapping[str, Any]) -> str:
    """For people: what and why, then every gate, in as much room as the terminal has."""
    parts = ["\n".join(folded(line, 2) for line in head(slug, answer))]
    gates = gates_of(answer)
    if gates:
        parts += [gates_text(gates, room()), *notes(answer, gates)]
    return "\n\n".join(parts)


def head(slug: str, answer: Mapping[str, Any]) -> Iterator[str]:
    yield f"Verdict: {answer['verdict'].replace('_', ' ')} ({', '.join(_what(slug, answer))})"
    validity = answer.get("validity")
    if validity:
        yield f"Evidence: {'valid' if validity['valid'] else validity['state']}"
    if answer.get("action"):
        yield f"Action: {answer['action'].replace('_', ' ')} ({answer.get('why') or 'by policy'})"
    for reason in answer["reasons"]:
        yield f"  - {with_names(reason)}"
    if answer.get("next_step"):
        yield f"Next: {answer['next_step']}"


def _what(slug: str, answer: Mapping[str, Any]) -> Iterator[str]:
    """Whose requests were judged, and up to when they are counted."""
    yield slug
    window = answer.get("window")
    if answer.get("generation"):
        yield f"generation {answer['generation']}"
    if window:
        yield f"publication {window['publication']}"
        yield f"{window['cohort']} at {window['exposure'] * 100:.4g} % of the traffic"
    if answer["evaluation"]:
        yield f"counted up to {answer['evaluation']['watermark']}"


def gates_text(gates: Sequence[Mapping[str, Any]], width: int | None) -> str:
    """A table, or a block for each gate where the terminal is too narrow for one."""
    rows = [_row(gate) for gate in gates]
    wide = table(HEADINGS, rows)
    if width is None or max(map(len, wide.splitlines())) <= width:
        return wide
    return "\n".join(_block(row, width) for row in rows)


def _row(gate: Mapping[str, Any]) -> tuple[str, ...]:
    metric, limit = gate["metric"], gate["bound"]
    fragile = ", fragile" if gate.get("fragile") else ""
    return (
        gate["verdict"].replace("_", " ") + fragile,
        gate_name(metric),
        gate["segment"] or "the whole",
        figure(metric, gate["value"], limit),
        bound(metric, limit),
        margin(metric, gate["margin"]),
        interval(metric, gate["low"], gate["high"]),
        f"{gate['n']:,}",
        needs(gate),
    )


def needs(gate: Mapping[str, Any]) -> str:
    """What a verdict would still take; nothing is promised where no more requests would help."""
    if not gate.get("needs"):
        return ""
    seconds = gate.get("needs_s")
    when = f", about {span_text(seconds)} at this rate" if seconds is not None else ""
    return f"about {gate['needs']:,} more{when}"


def _block(row: Sequence[str], width: int) -> str:
    verdict, gate, segment, value, limit, to_spare, within, n, more = row
    lines = [f"{verdict}: {gate}, {segment}", f"  {value or '-'} {limit}", f"  n {n}"]
    lines[1] += f", margin {to_spare}" if to_spare else ""
    lines[1] += f", interval {within}" if within else ""
    lines[2] += f", needs {more}" if more else ""
    return "\n".join(folded_to(line, 2, width) for line in lines)
