"""A document as YAML text that reads back as the same document: only comments are lost."""

import re
from collections.abc import Mapping
from typing import Any

import yaml

from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.yaml_text import FLOAT, INTEGER

WIDTH = 100


class _Writer(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]  # the base is known at run time only
    """Quotes what our reader takes for a number, such as 12e3, which YAML 1.1 does not."""

    def ignore_aliases(self, data: object) -> bool:
        return True


_Writer.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(rf"(?:{INTEGER.pattern}|{FLOAT.pattern})\Z"),
    list("-+.0123456789"),
)


def as_yaml(given: Mapping[str, Any]) -> str:
    """The given keys in the schema's order, one a line; durations in their largest unit.

    Raises pydantic.ValidationError on a bad document.
    """
    document = PolicyDocument.model_validate(given)
    written = document.model_dump(mode="python", by_alias=True, exclude_unset=True)
    text: str = yaml.dump(
        written,
        Dumper=_Writer,
        sort_keys=False,
        allow_unicode=True,
        width=WIDTH,
        default_flow_style=False,
    )
    return text
