"""The page for those who write CI says what the program takes and gives."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gates.services.evidence_schema import (
    LONGEST_KEY,
    MOST_FAULTS,
    MOST_ITEMS,
    MOST_SCORES,
    MOST_SCORES_IN_SET,
    ROUNDING,
    EvidenceItem,
    Store,
    parsed_set,
)
from orchid.engine.packet.envelope import MAX_BYTES, PARTS
from orchid.engine.verdict.evidence import SCORING_KINDS, VIOLATION_KINDS, Kind
from orchid.engine.verdict.judgement import judge_case
from tests.engine.verdict.case_made import case_of, everywhere

PAGE = (Path(__file__).parents[2] / "docs/reference/evidence.md").read_text()
FIELDS: dict[str, Any] = EvidenceItem.model_json_schema()["properties"]
LIMITS = ("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems")


def rows(part: str) -> dict[str, list[str]]:
    """A table of the page by its first column, without its head."""
    found = PAGE.split(f"<!-- {part}: begin -->")[1].split(f"<!-- {part}: end -->")[0]
    lines = [line.strip("| ").split(" | ") for line in found.strip().splitlines()[2:]]
    return {first.strip("`"): rest for first, *rest in lines}


def limits(schema: Any) -> Iterator[float]:
    """Every bound that a field's schema sets on its own value or on those in it."""
    if isinstance(schema, dict):
        yield from (schema[name] for name in LIMITS if name in schema)
        inner = [schema.get(name) for name in ("anyOf", "items", "prefixItems")]
        for one in inner:
            yield from limits(one)
    elif isinstance(schema, list):
        for one in schema:
            yield from limits(one)


def test_every_field_of_an_item_is_listed_with_its_bounds() -> None:
    listed = rows("fields")
    assert set(listed) == set(FIELDS)
    needed = set(EvidenceItem.model_json_schema()["required"])
    assert {name for name, row in listed.items() if row[0] == "yes"} == needed
    for name, (_, holds, _) in listed.items():
        told = {float(one.replace(",", "")) for one in re.findall(r"[\d,]*\.?\d+", holds)}
        assert set(limits(FIELDS[name])) <= told, name
    assert all(f"`{name}`" in listed["store"][1] for name in Store.model_fields)


def test_every_kind_is_listed_with_what_it_may_do() -> None:
    told = {True: "yes", False: "no"}
    assert rows("kinds") == {
        kind.value: [told[kind in SCORING_KINDS], told[kind in VIOLATION_KINDS]] for kind in Kind
    }


def test_what_one_push_may_bring_is_said() -> None:
    said = " ".join(PAGE.split())
    assert (
        f"at most {MOST_ITEMS:,} items, {MOST_SCORES:,} scores in one of them and "
        f"{MOST_SCORES_IN_SET:,} in all"
    ) in said
    assert f"the first {MOST_FAULTS} are listed" in said
    assert f"At most {LONGEST_KEY} characters in all" in said
    assert f"differ from theirs by {ROUNDING:g} at most" in said


def test_the_example_is_taken() -> None:
    (shown,) = re.findall(r"```json\n(.+?)```", PAGE, re.DOTALL)
    (item,) = parsed_set(json.loads(shown), "orchid-demo")
    assert item.measured_at is not None
    assert item.score[0] == 0.925


def test_every_field_of_a_judgement_is_listed() -> None:
    assert set(rows("judgement")) == set(
        json.loads(judge_case(case_of(everywhere(9, 9))).as_json())
    )


def test_every_part_of_a_packet_is_listed_under_its_kind() -> None:
    listed = {name: row[0] for name, row in rows("packet").items()}
    mine = {kind: {name for name, of in listed.items() if of in (kind, "both")} for kind in PARTS}
    around = {"schema", "kind", "product", "digests", "digest"}
    assert mine == {kind: around | set(parts) for kind, parts in PARTS.items()}
    assert f"at most {MAX_BYTES // 2**20} MiB" in " ".join(PAGE.split())
