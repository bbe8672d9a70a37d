"""Loading and compiling of large documents against their limits and a bare YAML parse."""

from collections.abc import Iterator

import yaml

from benchmarks.engine.documents import document_of_lines, large_document, text_of
from benchmarks.engine.scale import Scale
from benchmarks.line import Against, Line
from benchmarks.rounds import Series, interleaved, seconds
from orchid.engine.admission.policy import compile_policy
from orchid.engine.document.consistency import find
from orchid.engine.document.load import load_document

RULES, LINES = 2_000, 500
COMPILE_LIMIT_MS, LOAD_LIMIT_MS = 200.0, 50.0


def lines(scale: Scale) -> Iterator[Line]:
    yield from _compiling(scale)
    yield from _loading(scale)


def _compiling(scale: Scale) -> Iterator[Line]:
    loaded = load_document(text_of(large_document(RULES)).encode())
    rounds = {"compile": seconds(lambda: compile_policy(loaded.document, digest=loaded.digest))}
    series = interleaved(rounds, scale.rounds)["compile"]
    limit = Against("limit", COMPILE_LIMIT_MS)
    yield _took(f"compile {RULES} rules", series, limit, scale.goal("<= 1"))


def _loading(scale: Scale) -> Iterator[Line]:
    text = document_of_lines(LINES).encode()
    document = load_document(text).document
    series = interleaved(
        {
            # The reference figure: what any loader of these bytes pays before it checks a thing.
            "yaml": seconds(lambda: yaml.load(text, Loader=yaml.CSafeLoader)),
            "load": seconds(lambda: load_document(text)),
            "find": seconds(lambda: find(document)),
        },
        scale.rounds,
    )
    limit, yaml_ms = Against("limit", LOAD_LIMIT_MS), series["yaml"].median * 1000.0
    parse = Against("yaml.CSafeLoader on the same bytes", yaml_ms)
    yield _took(f"load {LINES} lines", series["load"], limit, scale.goal("<= 1"))
    yield _took(f"load {LINES} lines", series["load"], parse)
    yield _took(f"findings of {LINES} lines", series["find"], limit)


def _took(name: str, series: Series, against: Against, goal: str | None = None) -> Line:
    return Line(name, series.median * 1000.0, "ms", against, goal, series.spread)
