"""JUnit XML of a check, for CI systems: a test case for each gate in each segment.

A fail is a `failure`. Inconclusive and no data are an `error` and not `skipped`, because many
systems show a skipped case as green, and only a pass may look like one. The first case is the
verdict of the whole, which evidence that can't be trusted holds back even where each gate passes.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any
from xml.etree import ElementTree as Xml

#: What XML 1.0 allows in text (its production 2); the rest has no spelling, escaped or not.
_UNSPELLABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
SUITE = "orchid check"


def junit(product: str, answer: Mapping[str, Any], gates: Iterable[Mapping[str, Any]]) -> bytes:
    """The report of an answer and its gates, worst first."""
    evaluation = answer["evaluation"] or {}
    suite = _suite(product, evaluation.get("evaluated_at"))
    reasons = "\n".join([*answer["reasons"], answer.get("next_step") or ""]).strip()
    _case(suite, "verdict", f"{product}.whole", answer["verdict"], reasons)
    for gate in gates:
        where = _named(gate["segment"] or "whole")
        _case(suite, gate["metric"], f"{product}.{where}", gate["verdict"], gate["message"])
    return _report(suite)


def junit_error(product: str, message: str) -> bytes:
    """The report of a check that could not be made, so that no older one is taken for it."""
    suite = _suite(product, None)
    _case(suite, "verdict", f"{product}.whole", "error", message)
    return _report(suite)


def _suite(product: str, timestamp: str | None) -> Xml.Element:
    suite = Xml.Element("testsuite", name=f"{SUITE} {_clean(product)}")
    if timestamp:
        # The schema's own type has no offset.
        suite.set("timestamp", timestamp[:19])
    return suite


def _case(suite: Xml.Element, name: str, classname: str, verdict: str, text: str) -> None:
    case = Xml.SubElement(
        suite, "testcase", name=_clean(name), classname=_clean(classname), time="0"
    )
    if verdict == "pass":
        return
    kind = "failure" if verdict == "fail" else "error"
    first = text.splitlines()[0] if text else verdict
    outcome = Xml.SubElement(case, kind, message=_clean(first), type=_clean(verdict))
    outcome.text = _clean(text)


def _report(suite: Xml.Element) -> bytes:
    """Counts on the suite and above it, as readers expect them."""
    counts = {
        "tests": len(suite),
        "failures": len(suite.findall("./testcase/failure")),
        "errors": len(suite.findall("./testcase/error")),
        "skipped": 0,
    }
    suites = Xml.Element("testsuites", name=SUITE)
    for element in (suites, suite):
        for name, count in counts.items():
            element.set(name, str(count))
        element.set("time", "0")
    suites.append(suite)
    Xml.indent(suites)
    text: bytes = Xml.tostring(suites, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _named(segment: str) -> str:
    """Readers take a point for the end of a package's name."""
    return segment.replace(".", "_")


def _clean(text: str) -> str:
    return _UNSPELLABLE.sub("\ufffd", text)
