"""What is not as it should be, each with what to do about it."""

import msgspec


class Finding(msgspec.Struct, frozen=True):
    """`code` is stable; `expected` and `found` are short; `next` is what an operator does now."""

    code: str
    text: str
    next: str
    model: str = ""
    expected: str = ""
    found: str = ""
    #: A manifest with such a finding is not the one that was published.
    breaks_manifest: bool = False
