"""Cedar: policies and entities parsed once, the request's attributes as its context."""

from collections.abc import Sequence

import cedarpy
import msgspec

from benchmarks.engine.peers import Attributes, Decide, DecideMany
from benchmarks.engine.rules import Rule, rules_of
from orchid.engine.document.model import PolicyDocument

NAME, PACKAGE, WAY = "cedarpy", "cedarpy", ""
ASKED = {
    "principal": {"type": "Client", "id": "edge"},
    "action": {"type": "Action", "id": "serve"},
    "resource": {"type": "Fleet", "id": "main"},
}


def prepare(document: PolicyDocument) -> Decide:
    policies, entities = _prepared(document)

    def decide(attributes: Attributes) -> bool:
        return bool(cedarpy.is_authorized(_request(attributes), policies, entities).allowed)

    return decide


def prepare_many(document: PolicyDocument) -> DecideMany:
    policies, entities = _prepared(document)

    def decide(many: Sequence[Attributes]) -> list[bool]:
        requests = [_request(attributes) for attributes in many]
        answers = cedarpy.is_authorized_batch(requests, policies, entities)
        return [answer.allowed for answer in answers]

    return decide


def _prepared(document: PolicyDocument) -> tuple[cedarpy.PolicySet, cedarpy.Entities]:
    text = "\n".join(_policy(rule) for rule in rules_of(document))
    return cedarpy.PolicySet.from_str(text), cedarpy.Entities.from_json_str("[]")


def _request(attributes: Attributes) -> dict[str, object]:
    # Cedar reads a context as JSON text; this encoder is faster than the one it would use itself.
    return {**ASKED, "context": msgspec.json.encode(attributes).decode()}


def _policy(rule: Rule) -> str:
    tests = [_test(name, values) for name, values in rule.where.items()]
    if rule.below is not None:
        tests.append(f"context.utility < {rule.below}")
    effect = "permit" if rule.permits else "forbid"
    return f"{effect}(principal, action, resource) when {{ {' && '.join(tests) or 'true'} }};"


def _test(name: str, values: tuple[str, ...]) -> str:
    if len(values) == 1:
        return f'context.{name} == "{values[0]}"'
    return "[" + ", ".join(f'"{value}"' for value in values) + f"].contains(context.{name})"
