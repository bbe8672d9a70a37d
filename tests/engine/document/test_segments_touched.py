"""What a change means for some of the traffic alone is told by the segments it speaks of."""

from typing import Any

from orchid.engine.document.load import load_document
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.touched import segments_touched
from tests.small_policy import small_document


def with_floors(*floors: dict[str, Any], **changes: Any) -> PolicyDocument:
    segments = {**small_document()["segments"], "floors": list(floors)}
    return load_document(small_document(segments=segments, **changes)).document


WHOLE = {"where": {}, "min_utility": 0.5}
CHAT = {"where": {"task": "chat"}, "min_utility": 0.6}


def test_a_floor_that_moves_names_its_segment() -> None:
    before, after = with_floors(WHOLE, CHAT), with_floors(WHOLE, {**CHAT, "min_utility": 0.7})
    assert segments_touched(before, after) == ["task=chat"]


def test_a_rule_that_goes_names_its_segment_too() -> None:
    assert segments_touched(with_floors(WHOLE, CHAT), with_floors(WHOLE)) == ["task=chat"]


def test_what_holds_for_all_or_did_not_change_names_none() -> None:
    before, after = with_floors(WHOLE, CHAT), with_floors({**WHOLE, "min_utility": 0.55}, CHAT)
    assert segments_touched(before, after) == []


def test_a_first_document_speaks_of_every_segment_it_names() -> None:
    found = segments_touched(None, with_floors(WHOLE, CHAT))
    assert found == ["task=chat", "task=form", "tenant_class=standard"]
