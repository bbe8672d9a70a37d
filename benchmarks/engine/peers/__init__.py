"""Other policy engines on the same rules, each in its fastest documented way.

A peer is a module with `NAME`, `PACKAGE` and `prepare(document)`, which does once what can be done
once and returns the function that answers a question's attributes. One that also has a call for
many at once offers `prepare_many`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module, metadata
from importlib.util import find_spec

from orchid.engine.document.model import PolicyDocument

Attributes = Mapping[str, str | int]
Decide = Callable[[Attributes], bool]
DecideMany = Callable[[Sequence[Attributes]], list[bool]]

_MODULES = {
    "cedar": "cedarpy",
    "zen_loader": "zen",
    "zen_decision": "zen",
    "rego": "regopy",
    "casbin_fast": "casbin",
}


@dataclass(frozen=True, slots=True)
class Peer:
    """A prepared engine."""

    name: str
    decide: Decide
    decide_many: DecideMany | None


def installed(document: PolicyDocument) -> Iterator[Peer]:
    """Those whose package is here, prepared on the document's rules."""
    for module_name, imported in _MODULES.items():
        if find_spec(imported) is None:
            continue
        module = import_module(f"{__name__}.{module_name}")
        many = getattr(module, "prepare_many", None)
        yield Peer(
            name=f"{module.NAME} {metadata.version(module.PACKAGE)}{module.WAY}",
            decide=module.prepare(document),
            decide_many=many(document) if many else None,
        )
