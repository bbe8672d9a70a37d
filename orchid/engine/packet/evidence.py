"""Whether the evidence that a case rests on is what its content says, field by field."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from orchid.engine.verdict.evidence import Item, mean_and_spread

#: Fields by name, with what an item has where its content says nothing.
PLAIN: Mapping[str, Any] = {
    "kind": None,
    "suite": None,
    "suite_version": None,
    "index_version": "",
    "prompt_version": "",
    "route": None,
    "manifest": None,
    "load_state": "",
    "n": None,
    "violations": 0,
}


def unlike(content: Any, item: Item) -> str:
    """The first field in which a case's item is not its content; empty where there is none."""
    if not isinstance(content, dict):
        return "all of it"
    return next((name for name, said in _said(content) if said != _of(item, name)), "")


def _said(content: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """What the content says of every field that a verdict reads; null is not said."""
    given = {name: value for name, value in content.items() if value is not None}
    yield from ((name, given.get(name, absent)) for name, absent in PLAIN.items())
    yield "where", _where(given.get("where", {}))
    scores = given.get("scores")
    yield "scores", scores
    mean, spread = _of_scores(scores)
    yield "mean", given.get("mean", mean)
    yield "spread", given.get("spread", spread)
    if "measured_at" in given:  # else it is when the evidence came in, which no content tells
        yield "measured_at", _moment(given["measured_at"])


def _of(item: Item, name: str) -> Any:
    value = getattr(item, name)
    if name == "where":
        return _where(value)
    return list(value) if name == "scores" and value is not None else value


def _where(where: Any) -> Any:
    """The selector with the values of each dimension in order, once each."""
    if not isinstance(where, Mapping):
        return None
    return {
        name: value if isinstance(value, str) else sorted({str(one) for one in value})
        for name, value in where.items()
        if isinstance(value, str | list | tuple)
    }


def _of_scores(scores: Any) -> tuple[float | None, float | None]:
    if not isinstance(scores, list) or not all(type(one) in (int, float) for one in scores):
        return None, None
    return mean_and_spread(scores)


def _moment(text: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        return None
