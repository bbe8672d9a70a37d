"""ZEN engine, its fastest way: a loader of precompiled content, evaluated by key."""

import json
from collections.abc import Sequence

import zen

from benchmarks.engine.peers import Attributes, Decide, DecideMany
from benchmarks.engine.peers.zen_table import decision_graph
from orchid.engine.document.model import PolicyDocument

NAME, PACKAGE, WAY = "zen-engine", "zen-engine", ""


def prepare(document: PolicyDocument) -> Decide:
    engine = _engine(document)

    def decide(attributes: Attributes) -> bool:
        return bool(engine.evaluate("rules", attributes)["result"]["allow"])

    return decide


def prepare_many(document: PolicyDocument) -> DecideMany:
    engine = _engine(document)

    def decide(many: Sequence[Attributes]) -> list[bool]:
        asked = [{"key": "rules", "context": attributes} for attributes in many]
        return [bool(a["data"]["result"]["allow"]) for a in engine.evaluate_batch(asked)]

    return decide


def _engine(document: PolicyDocument) -> "zen.ZenEngine":
    content = {"rules": json.loads(decision_graph(document))}
    return zen.ZenEngine({"loader": {"type": "static", "content": content}})
