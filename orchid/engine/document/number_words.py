"""The numbers that a place of a document takes, in words."""

from orchid.engine.document.bounds import Path
from orchid.engine.document.schema import Node, forms_at


def number_words(path: Path) -> str:
    """`a whole number from 1 to 366`, `a number from 0 to 1` ...; empty where none is taken."""
    forms = [form for form in forms_at(path) if form.get("type") in ("integer", "number")]
    return _words(forms[0]) if len(forms) == 1 else ""


def _words(form: Node) -> str:
    whole = form["type"] == "integer"
    noun = "a whole number" if whole else "a number"
    least, over = form.get("minimum"), form.get("exclusiveMinimum")
    most, under = form.get("maximum"), form.get("exclusiveMaximum")
    if whole and over is not None:
        least, over = over + 1, None
    if least is not None and most is not None:
        return f"{noun} from {least:,} to {most:,}"
    bounds = (
        ("of at least", least),
        ("above", over),
        ("of at most", most),
        ("below", under),
    )
    said = " and ".join(f"{word} {bound:,}" for word, bound in bounds if bound is not None)
    return f"{noun} {said}".rstrip().replace(" and of ", " and ")
