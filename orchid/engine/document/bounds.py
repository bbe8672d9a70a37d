"""How large and how deep a document may be, and which scalars can be kept without loss."""

import math
import re
from decimal import Decimal
from typing import Any

from orchid.engine.document.errors import DocumentError, DocumentErrors, pointer_of, shown

MAX_BYTES = 1_000_000
MAX_DEPTH = 32
MAX_NODES = 50_000
MAX_KEY = 200
#: Of an integer, and of any number's text: more is no measure of anything here.
MAX_DIGITS, MAX_NUMBER = 30, 60

Path = tuple[str | int, ...]

_BAD = re.compile("[\x00\ud800-\udfff]")
_EXPONENT = re.compile("[eE]")


def refuse(path: Path, found: str, allowed: str, code: str) -> DocumentErrors:
    return DocumentErrors([DocumentError(pointer_of(path), found, allowed, code)])


def within(path: Path, budget: int) -> None:
    """Refuses a value that is nested too deeply, or that comes after too many others."""
    if budget < 0:
        raise refuse(path, f"over {MAX_NODES:,} values", f"at most {MAX_NODES:,}", "too_large")
    if len(path) > MAX_DEPTH:
        raise refuse(path, "deeper nesting", f"at most {MAX_DEPTH} levels", "too_deep")


def checked_key(key: object, path: Path) -> str:
    if not isinstance(key, str):
        raise refuse(path, f"key {shown(key)}", "text as a key", "bad_key")
    if len(key) > MAX_KEY:
        found = f"a key of {len(key):,} characters"
        raise refuse(path, found, f"at most {MAX_KEY} characters", "too_large")
    checked_text(key, path)
    return key


def checked_text(value: str, path: Path) -> None:
    """An escape can spell any character; no database takes a NUL, no UTF-8 a lone surrogate."""
    bad = _BAD.search(value)
    if bad is None:
        return
    if bad[0] == "\x00":
        raise refuse(path, "a NUL character", "text without it", "nul")
    raise refuse(path, "a lone surrogate", "Unicode text", "not_utf8")


def checked_scalar(value: Any, path: Path) -> Any:
    """A value that a caller gives as Python; anything but a JSON value is refused."""
    if isinstance(value, str):
        checked_text(value, path)
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise refuse(path, str(value), "a finite number", "not_finite")
    elif isinstance(value, int):
        if abs(value) >= 10**MAX_DIGITS:
            raise _huge(path, f"over {MAX_DIGITS}")
    elif value is not None:
        raise refuse(path, f"a {type(value).__name__}", "a JSON value", "not_json_value")
    return value


def whole_number(digits: str, path: Path = ()) -> int:
    if len(digits) > MAX_DIGITS + 1 or len(digits.lstrip("+-")) > MAX_DIGITS:
        raise _huge(path, f"{len(digits):,}")
    return int(digits)


def broken_number(word: str, path: Path = ()) -> float:
    """A float that keeps every digit of its text; a number that can't is refused, not rounded."""
    if len(word) > MAX_NUMBER:
        raise _huge(path, f"{len(word):,}")
    value = float(word)
    if not math.isfinite(value):
        raise refuse(path, word, "a finite number", "not_finite")
    if not _kept(word, value):
        raise refuse(path, word, f"a number of fewer digits, or text: {shown(word)}", "inexact")
    return value


def _kept(word: str, value: float) -> bool:
    mantissa = _EXPONENT.split(word)[0]
    if value == 0:
        return not mantissa.strip("+-0.")
    return len(word) < 16 or Decimal(word) == Decimal(repr(value))


def _huge(path: Path, digits: str) -> DocumentErrors:
    return refuse(
        path, f"a number of {digits} digits", f"at most {MAX_DIGITS} digits", "huge_number"
    )
