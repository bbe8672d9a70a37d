"""The reference of the policy document, generated from its schema: a section a part of it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from orchid.engine.document.every_key import values_by_key
from orchid.engine.document.key_words import default_words, flow, type_words, unit_words
from orchid.engine.document.schema import Node, alternatives, json_schema
from orchid.engine.measures import MEASURES
from orchid.engine.triggers import TRIGGERS

INTRODUCTION = """\
# The policy document, key by key

This page is generated from the schema (`make docs`). A document is YAML or JSON; every key is
listed here, and a key that is not is an error.

* A **duration** is written `250ms`, `30s`, `15m`, `24h` or `7d`, or as whole milliseconds.
* A **decimal** is a number or, to keep every digit as it is written, text (`"0.00016"`).
* A **name** has letters, digits and `. _ : / + -`, at most 80 of them.
* A **selector** names values of dimensions (`{task: extraction, risk: [high, regulated]}`); `{}`
  takes every request, and of several that match the one with the most dimensions speaks.
* A default is what holds where the key is absent; it is never written into the document, so it
  changes no digest.

[orchid.policy.v1.schema.json](orchid.policy.v1.schema.json) is the same for editors: begin a file
with `# yaml-language-server: $schema=` and its address, which a control plane serves at
`/schemas/orchid.policy.v1.json`. [settings.md](settings.md) says which setting of a server carries
a key out.
"""
MEASURED = """\
## Measures and triggers

What `gates.guardrails[].measure` may name, and `revisit[].trigger` as well. A figure that no
request told has no value, and a guardrail on it says "no data".

| measure | unit | worse | what it is |
| --- | --- | --- | --- |"""
TRIGGERED = """\

These triggers have names of their own. Those without a measure are facts, which reopen a decision
without a bound in the document; `mix_change` is bounded at 0.15 in a day where the document says
nothing.

| trigger | measure | waits for |
| --- | --- | --- |"""
_HEAD = "| key | type | default | unit | meaning | example |\n| --- | --- | --- | --- | --- | --- |"


@dataclass(frozen=True, slots=True)
class _Part:
    """A section of the schema at one place, and what to show of it (of an item, its whole list)."""

    place: str
    section: Node
    shown: Any


def reference_markdown() -> str:
    schema = json_schema()
    places: dict[str, list[_Part]] = {}
    for part in _below(schema, "", schema, values_by_key(), None):
        places.setdefault(part.section.get("description", ""), []).append(part)
    texts = [_text(schema, parts) for parts in places.values()]
    return "\n".join([INTRODUCTION, *texts, *_measured()]).rstrip()


def _measured() -> Iterator[str]:
    yield MEASURED
    for one in MEASURES.values():
        yield f"| `{one.name}` | {one.unit} | {one.worse} | {one.words} |"
    yield TRIGGERED
    for found in TRIGGERS.values():
        by = f"`{found.measured_by}`" if found.measured_by else "a fact"
        yield f"| `{found.name}` | {by} | {found.owner.replace('_', ' ')} |"


def _below(schema: Node, place: str, node: Node, value: Any, shown: Any) -> Iterator[_Part]:
    """Every section at or below a node, in the order of the document's keys."""
    for form in alternatives(schema, node):
        if form["properties"] and isinstance(value, dict):
            yield _Part(place, form, shown)
            for key, item in value.items():
                inner = f"{place}.{key}" if place else key
                yield from _below(schema, inner, form["properties"][key], item, item)
        elif "patternProperties" in form and isinstance(value, dict):
            (free,) = form["patternProperties"].values()
            for item in value.values():
                yield from _below(schema, f"{place}.<name>", free, item, item)
        elif "items" in form and isinstance(value, list):
            for item in value:
                yield from _below(schema, f"{place}[]", form["items"], item, value)


def _text(schema: Node, parts: list[_Part]) -> str:
    """One section of the page: where it stands, its keys, and how it is written."""
    first = parts[0]
    others = [f"`{part.place}`" for part in parts if part.place != first.place]
    meaning = first.section.get("description", "")
    if others:
        meaning += f" The same keys: {', '.join(dict.fromkeys(others))}."
    rows = [_row(schema, first, key) for key in first.section["properties"]]
    lines = [f"## {first.place or 'The document'}", "", meaning, "", _HEAD, *rows, ""]
    if first.place:
        lines += ["```yaml", _snippet(first), "```", ""]
    return "\n".join(lines)


def _row(schema: Node, part: _Part, key: str) -> str:
    node = part.section["properties"][key]
    words = type_words(schema, node)
    cells = (
        f"`{key}`",
        words,
        default_words(part.section, key),
        unit_words(key, words),
        node["description"],
        "below" if "section" in words else f"`{flow(node['examples'][0])}`",
    )
    return "| " + " | ".join(cells) + " |"


def _snippet(part: _Part) -> str:
    name = part.place.removesuffix("[]").removesuffix(".<name>").rsplit(".", 1)[-1]
    content = {"a-name": part.shown} if part.place.endswith(".<name>") else part.shown
    if part.place == "routing":  # a document has a classifier or a cascade, which has its own part
        content = {key: value for key, value in content.items() if key != "classifier"}
    text: str = yaml.safe_dump({name: content}, sort_keys=False, default_flow_style=None, width=96)
    return text.rstrip()
