"""Rego by regopy: a module built once into a bundle, queried by its entry point."""

from regopy import Input, Interpreter

from benchmarks.engine.peers import Attributes, Decide
from benchmarks.engine.rules import Rule, rules_of
from orchid.engine.document.model import PolicyDocument

NAME, PACKAGE, WAY = "regopy", "regopy", ""
HEAD = """package orchid
import rego.v1
default allow := false
allow if { permitted; not forbidden }
"""


def prepare(document: PolicyDocument) -> Decide:
    interpreter = Interpreter()
    module = HEAD + "\n".join(_rule(rule) for rule in rules_of(document))
    interpreter.add_module("orchid", module)
    bundle = interpreter.build(None, ["orchid/allow"])

    def decide(attributes: Attributes) -> bool:
        interpreter.set_input(Input(attributes))
        answer = interpreter.query_bundle_entrypoint(bundle, "orchid/allow")
        return bool(answer.results[0].expressions[0])

    return decide


def _rule(rule: Rule) -> str:
    tests = [_test(name, values) for name, values in rule.where.items()]
    if rule.below is not None:
        tests.append(f"input.utility < {rule.below}")
    head = "permitted" if rule.permits else "forbidden"
    return f"{head} if {{ {'; '.join(tests) or 'true'} }}"


def _test(name: str, values: tuple[str, ...]) -> str:
    if len(values) == 1:
        return f'input.{name} == "{values[0]}"'
    several = ", ".join(f'"{value}"' for value in values)
    return f"input.{name} in {{{several}}}"
