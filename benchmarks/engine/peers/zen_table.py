"""The rules as a decision table of the ZEN engine: forbidding rows first, the first hit decides."""

import json

from benchmarks.engine.rules import Rule, rules_of
from orchid.engine.document.model import PolicyDocument

AT = {"x": 0, "y": 0}


def decision_graph(document: PolicyDocument) -> str:
    """Input, table, output, as JSON."""
    rules = sorted(rules_of(document), key=lambda rule: rule.permits)
    columns = [*sorted({name for rule in rules for name in rule.where}), "utility"]
    table = {
        "hitPolicy": "first",
        "inputs": [{"id": name, "name": name, "field": name} for name in columns],
        "outputs": [{"id": "allow", "name": "allow", "field": "allow"}],
        "rules": [_row(number, rule) for number, rule in enumerate(rules)]
        + [{"_id": "otherwise", "allow": "false"}],
    }
    nodes = [
        {"id": "in", "type": "inputNode", "name": "in", "position": AT},
        {"id": "rules", "type": "decisionTableNode", "name": "r", "position": AT, "content": table},
        {"id": "out", "type": "outputNode", "name": "out", "position": AT},
    ]
    edges = [_edge("in", "rules"), _edge("rules", "out")]
    return json.dumps({"nodes": nodes, "edges": edges})


def _edge(source: str, target: str) -> dict[str, str]:
    return {"id": source, "type": "edge", "sourceId": source, "targetId": target}


def _row(number: int, rule: Rule) -> dict[str, str]:
    cells = {name: ", ".join(f'"{v}"' for v in values) for name, values in rule.where.items()}
    if rule.below is not None:
        cells["utility"] = f"< {rule.below}"
    return {"_id": f"rule-{number}", **cells, "allow": "true" if rule.permits else "false"}
