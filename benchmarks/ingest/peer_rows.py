"""The plain table as a model of Django's, for its bulk_create."""

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import models

from benchmarks.ingest.traffic import PLAIN, Sent

_FIELDS: dict[str, tuple[Any, Callable[[str], Any]]] = {
    "text": (models.TextField, str),
    "timestamptz": (models.DateTimeField, datetime.fromisoformat),
    "integer": (models.IntegerField, int),
    "double precision": (models.FloatField, float),
    "numeric": (models.DecimalField, Decimal),
    "boolean": (models.BooleanField, "true".__eq__),
}


def _field(name: str, form: str) -> Any:
    more: dict[str, Any] = {"max_digits": 24, "decimal_places": 6} if form == "numeric" else {}
    return _FIELDS[form][0](null=True, db_column=name, primary_key=name == "request_id", **more)


class Meta:
    app_label = "benchmarks"
    managed = False
    db_table = "bench_plain"


PlainRow: Any = type(
    "PlainRow",
    (models.Model,),
    {
        "__module__": __name__,
        "Meta": Meta,
        **{f"{name}_": _field(name, form) for name, form in PLAIN.items()},
    },
)


def objects_of(sent: list[Sent]) -> list[Any]:
    """Instances of the rows, ready to be stored."""
    return [_made(one) for one in sent]


def _made(one: Sent) -> Any:
    cells = zip(PLAIN.items(), one.row.split("\t"), strict=True)
    return PlainRow(
        **{
            f"{name}_": None if cell == "\\N" else _FIELDS[form][1](cell)
            for (name, form), cell in cells
        }
    )
