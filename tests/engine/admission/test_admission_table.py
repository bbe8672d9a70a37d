"""The decision table: one cell for all that rules treat alike, and bounded whatever comes."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from orchid.engine.admission.recent import Recent
from orchid.engine.admission.request import Action, AdmissionRequest, Reason
from orchid.engine.admission.shape import shape_of
from orchid.engine.segments import fallbacks_for, segment_of
from tests.small_policy import small_policy

NOW = 1_000_000.0
SEGMENTS = {
    "dimensions": ["task", "tenant_class", "language", "input_bucket"],
    "buckets": {"input_bucket": [512, 2048]},
}
POLICY = small_policy(
    segments=SEGMENTS,
    fallback=[
        {"from": "full", "to": "compact", "where": {"tenant_class": "standard"}},
        {"deny": True, "where": {"language": ["de", "fr"], "input_bucket": "2049+"}},
    ],
)


def ask(**changes: Any) -> AdmissionRequest:
    return AdmissionRequest("r", **{"class_": "chat", "arrived_ms": NOW, **changes})


def test_values_that_no_rule_names_share_a_cell() -> None:
    cells = {id(POLICY.cell(ask(segment={"language": f"x{n}"}))) for n in range(50)}
    assert len(cells) == 1
    assert POLICY.cell(ask(segment={"language": "de"})) is not POLICY.cell(ask())


def test_a_request_keeps_the_values_that_it_said() -> None:
    for language in ("de", "x1", "x2"):
        shape = shape_of(ask(segment={"language": language}), POLICY)
        assert not isinstance(shape, Reason)
        assert shape.dimensions == {
            "task": "chat",
            "language": language,
            "input_bucket": "0-512",
        }


def test_what_is_remembered_is_bounded_and_what_is_in_use_stays() -> None:
    recent: Recent[str, int] = Recent(10)
    recent.put("used", 1)
    for n in range(1000):
        recent.put(f"junk {n}", n)
        assert recent.get("used") == 1
        assert len(recent) <= 20
    assert "junk 0" not in recent


REQUESTS = st.builds(
    ask,
    class_=st.sampled_from(["chat", "form"]),
    tenant_class=st.sampled_from([None, "standard", "premium", "odd"]),
    input_tokens=st.none() | st.integers(0, 4000),
    segment=st.dictionaries(
        st.sampled_from(["language", "tenant_class", "task", "unheard"]),
        st.sampled_from(["de", "fr", "en", "standard", "x"]),
    ),
)


@settings(max_examples=300, deadline=None)
@given(REQUESTS)
def test_a_cell_says_what_the_rules_say_of_the_request(request: AdmissionRequest) -> None:
    shape = shape_of(request, POLICY)
    assert not isinstance(shape, Reason)
    extra = dict(request.segment)
    if request.tenant_class:
        extra.setdefault("tenant_class", request.tenant_class)
    tokens = shape.input_tokens, shape.output_tokens
    assert shape.dimensions == segment_of(POLICY.document, request.class_, *tokens, extra)
    found = [o.route for o in shape.cell.options if o.action is Action.FALLBACK]
    assert found == fallbacks_for(POLICY.document, "full", shape.dimensions)
