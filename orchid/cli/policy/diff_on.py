"""The recorded traffic of `orchid policy diff --on FILE`: read, decided twice, put in words."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Any

import click

from orchid.cli.output import table
from orchid.cli.policy.reading import number
from orchid.cli.policy.records import STDIN, lines_of, opened
from orchid.engine.decision_diff import DecisionDiff, Mode, decision_diff, recorded
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.values import percent

PAIRS_SHOWN = 20
PARTS_SHOWN = 12
EXAMPLES_SHOWN = 12
ACTIONS = ("admit", "fallback", "bound", "defer", "reject")
MODES = {
    "traffic": "each document with a state of its own, driven by the recorded arrivals",
    "shape": "every request alone on an idle fleet",
}


def decided_on(
    file: Path, before: PolicyDocument, after: PolicyDocument, mode: Mode, slots: int | None
) -> DecisionDiff:
    """Both documents over the records of a file. Refuses a file that holds none."""
    with opened(file) as plain, _progress(plain, file) as progress:
        records = recorded(lines_of(plain, file))
        diff = decision_diff(before, after, records, mode=mode, slots=slots, progress=progress)
    if not diff.n:
        raise click.ClickException(_why_empty(file, diff))
    return diff


def _why_empty(file: Path, diff: DecisionDiff) -> str:
    name = "The standard input" if file == STDIN else str(file)
    wanted = "expected one orchid.request/v1 record a line, as edges write and ingest takes them"
    if not diff.unreadable.first:
        return f"{name} holds no request: {wanted}."
    first = diff.unreadable.first[0]
    return f"{name} holds no request: line {first.line}: {first.message}; {wanted}."


@contextmanager
def _progress(plain: BufferedReader, file: Path) -> Iterator[Callable[[int], None]]:
    """A bar over the bytes of a file on a terminal's error stream; elsewhere nothing."""
    if file == STDIN or not sys.stderr.isatty():
        yield lambda read: None
        return
    size = file.stat().st_size
    with click.progressbar(length=size, label="Deciding", file=sys.stderr) as bar:
        yield lambda read: bar.update(plain.tell() - bar.pos)


def decisions_text(found: dict[str, Any]) -> str:
    """The diff's JSON form for people: what changes most, where, for whom, and examples."""
    blocks = [_summary(found), _sides(found)]
    if found["pairs"]:
        blocks.append(_pairs(found["pairs"]))
        blocks.append(_parts("segment", [(part["key"], part) for part in found["segments"]]))
        blocks.append(_parts("tenant", [(part["tenant"], part) for part in found["tenants"]]))
        blocks.append(_examples(found["examples"]))
    if found["unreadable"]["n"]:
        blocks.append(_unreadable(found["unreadable"]))
    return "\n\n".join(blocks)


def _summary(found: dict[str, Any]) -> str:
    n, changed = found["n"], found["changed"]
    lines = [
        f"{changed:,} of {n:,} recorded requests ({_of(changed, n)}) are decided otherwise,"
        f" {found['changed_action']:,} of them by another action",
        f"  arrived from {found['first_arrival']} to {found['last_arrival']}",
        f"  mode {found['mode']}: {MODES[found['mode']]}",
    ]
    if found["out_of_order"]:
        lines.append(f"  {found['out_of_order']:,} came too late for their place in time")
    for cohort, count in found["left_out"].items():
        lines.append(f"  {count:,} {cohort} records left out: they were no offered requests")
    return "\n".join(lines)


def _sides(found: dict[str, Any]) -> str:
    sides = found["before"], found["after"]
    rows: list[tuple[object, ...]] = []
    for action in ACTIONS:
        if any(action in side["by_action"] for side in sides):
            rows.append(_counts(action, [side["by_action"].get(action, 0) for side in sides]))
    reasons = dict.fromkeys(reason for side in sides for reason in side["refused_by_reason"])
    for reason in reasons:
        counts = [side["refused_by_reason"].get(reason, 0) for side in sides]
        rows.append(_counts(f"  {reason}", counts))
    rows.append(("reserved TEU", *(number(side["reserved_teu"]) for side in sides)))
    rows.append(("completion p95, predicted", *(_ms(side) for side in sides)))
    return table(("", "old", "new"), rows)


def _counts(name: str, counts: list[int]) -> tuple[str, ...]:
    return (name, *(f"{count:,}" for count in counts))


def _ms(side: dict[str, Any]) -> str | None:
    value = side["predicted_completion_p95_ms"]
    return None if value is None else f"{value:,.0f} ms"


def _pairs(pairs: list[dict[str, Any]]) -> str:
    rows = [
        (f"{pair['n']:,}", _answer(pair["before"]), _answer(pair["after"]))
        for pair in pairs[:PAIRS_SHOWN]
    ]
    more = len(pairs) - PAIRS_SHOWN
    shown = table(("requests", "old", "new"), rows)
    return f"{shown}\n... and {more:,} more pairs (--json has all)" if more > 0 else shown


def _parts(kind: str, parts: list[tuple[str, dict[str, Any]]]) -> str:
    rows = [
        (
            name or "(none)",
            f"{part['n']:,}",
            f"{part['changed']:,}",
            _of(part["changed"], part["n"]),
        )
        for name, part in parts[:PARTS_SHOWN]
    ]
    more = len(parts) - PARTS_SHOWN
    shown = table((kind, "requests", "changed", "share"), rows)
    return f"{shown}\n... and {more:,} more (--json has them)" if more > 0 else shown


def _examples(examples: list[dict[str, Any]]) -> str:
    rows = [
        (
            one["request_id"],
            one["class"],
            one["tenant"],
            _answer(one["before"]),
            _answer(one["after"]),
        )
        for one in examples[:EXAMPLES_SHOWN]
    ]
    return table(("example", "class", "tenant", "old", "new"), rows)


def _unreadable(unread: dict[str, Any]) -> str:
    codes = ", ".join(f"{n:,} {code}" for code, n in unread["by_code"].items())
    what = "line is no record" if unread["n"] == 1 else "lines are no records"
    lines = [f"{unread['n']:,} {what}: {codes}"]
    lines += [f"  line {one['line']}: {one['message']}" for one in unread["first"]]
    return "\n".join(lines)


def _answer(answer: dict[str, str]) -> str:
    return " ".join(part for part in (answer["action"], answer["route"]) if part) + (
        f" ({answer['reason']})"
    )


def _of(part: int, whole: int) -> str:
    return percent(part / whole, 2) if whole else "-"
