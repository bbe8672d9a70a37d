"""Casbin: one enforcer with its fast model, which looks only at the rules of two given keys."""

import logging
from collections.abc import Iterator
from itertools import product

from casbin import FastEnforcer
from casbin.model.model_fast import FastModel

from benchmarks.engine.peers import Attributes, Decide
from benchmarks.engine.rules import Rule, rules_of
from orchid.engine.document.model import PolicyDocument

NAME, PACKAGE, WAY = "pycasbin", "pycasbin", ""
KEYS = ("fallback", "requested")
ANY, ALWAYS = "*", "99999"  # its rules hold text alone, so figures are padded to one width


def prepare(document: PolicyDocument) -> Decide:
    # It logs every refusal, which is no part of the answer.
    logging.getLogger("casbin").setLevel(logging.ERROR)
    rules = rules_of(document)
    others = sorted({name for rule in rules for name in rule.where} - set(KEYS))
    names = (*KEYS, *others)
    model = FastModel([0, 1])
    model.load_model_from_text(_model(names))
    enforcer = FastEnforcer(model, cache_key_order=[0, 1])
    for row in _rows(rules, names, sorted(document.models)):
        enforcer.add_policy(*row)

    def decide(attributes: Attributes) -> bool:
        values = [attributes[name] for name in names]
        return bool(enforcer.enforce(*values, f"{attributes['utility']:05d}"))

    return decide


def _model(names: tuple[str, ...]) -> str:
    fields = ", ".join(names)
    tests = ["r.utility < p.below"]
    tests += [f'(p.{name} == "{ANY}" || p.{name} == r.{name})' for name in names[len(KEYS) :]]
    return f"""
[request_definition]
r = {fields}, utility
[policy_definition]
p = {fields}, below, eft
[policy_effect]
e = some(where (p.eft == allow)) && !some(where (p.eft == deny))
[matchers]
m = {" && ".join(tests)}
"""


def _rows(rules: list[Rule], names: tuple[str, ...], routes: list[str]) -> Iterator[list[str]]:
    """Each rule with its values multiplied out; the two keys have no wildcard."""
    every: dict[str, tuple[str, ...]] = {"fallback": ("no", "yes"), "requested": tuple(routes)}
    for rule in rules:
        below = ALWAYS if rule.below is None else f"{rule.below:05d}"
        values = (rule.where.get(name, every.get(name, (ANY,))) for name in names)
        for row in product(*values):
            yield [*row, below, "allow" if rule.permits else "deny"]
