"""What a document names is found, wherever it says so."""

from orchid.engine.document.canonical import manifest_digest
from orchid.engine.document.load import load_document
from orchid.engine.document.named import named_values
from tests.reference_document import changed


def test_values_of_selectors_classes_buckets_shares_and_budgets_are_named() -> None:
    document = load_document(changed()).document
    named = named_values(document)
    assert {
        ("risk", "regulated"),
        ("task", "short_assistant"),
        ("input_bucket", "4097+"),
        ("tenant_class", "premium"),
        ("tenant", "acme"),
        ("route", "compact"),
        ("route", "retrieval_only"),
        ("manifest", manifest_digest(document.models["full"])),
    } <= named


def test_what_no_key_speaks_of_is_not_named() -> None:
    assert ("task", "gardening") not in named_values(load_document(changed()).document)
