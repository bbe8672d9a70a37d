"""What became of a batch, in words and in a steady order."""

from ingest.models import Batch

#: Counts that every kind of batch has, then those of single kinds.
_LABELS = {
    "inserted": "Stored",
    "figures": "Figures stored",
    "duplicates": "Repeated",
    "rejected": "Refused",
    "lost_unnamed": "Refused beyond those listed",
    "completed_later": "Completed what came before",
    "tensors_dropped": "Tensors dropped, never stored",
    "text_dropped": "Fields of prose dropped",
    "texts_dropped": "Fields of prose dropped",
    "unused_columns": "Columns not read",
}
#: Not a count: the lost parts are listed with their places.
_UNTOLD = ("partial",)


def told_counts(batch: Batch) -> list[tuple[str, int]]:
    """Each count of the batch with its label; names without one come last, as words."""
    names = [name for name in _LABELS if name in batch.counts]
    others = [name for name in batch.counts if name not in _LABELS and name not in _UNTOLD]
    return [(_label(name), batch.counts[name]) for name in names + sorted(others)]


def _label(name: str) -> str:
    return _LABELS.get(name, name.replace("_", " ").capitalize())
