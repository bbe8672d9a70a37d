"""A packet of an evaluation: its case, the judgement that follows, and the evidence in full."""

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from orchid.engine.document.errors import DocumentErrors
from orchid.engine.document.load import load_document
from orchid.engine.packet.differences import differences
from orchid.engine.packet.envelope import Check, PacketError, digest_of, sealed
from orchid.engine.packet.evidence import unlike
from orchid.engine.verdict.case import Case, UnknownCaseError, decode, encode
from orchid.engine.verdict.case import digest_of as case_digest
from orchid.engine.verdict.judgement import Judgement, judge_case

#: What the control plane stored of the evaluation, quoted: what follows from the case.
RECORDED = ("inputs_digest", "outcome_digest", "evidence_digest", "verdict", "action")
#: Whose evaluation it was and up to when it looked, which the case says as well.
ABOUT = ("publication", "cohort", "watermark")
#: What only the control plane can say: its number and when it was made.
QUOTED = ("evaluation", "evaluated_at")


def evaluation_packet(
    case: bytes, evidence: Sequence[Mapping[str, Any]], recorded: Mapping[str, Any]
) -> bytes:
    """Judge the case again and seal what follows with all that it rests on.

    `evidence` are the contents by which the case's items are named; `recorded` what was stored of
    the evaluation at its time, among it the three digests. Raises PacketError for other bytes.
    """
    read = _judged(case)
    if isinstance(read, str):
        raise PacketError(read)
    found, judged = read
    parts = {
        "documents": {found.subject.digest: json.loads(found.given)},
        "case": base64.b64encode(case).decode(),
        "judgement": json.loads(judged.as_json()),
        "evidence": sorted(evidence, key=digest_of),
        "recorded": dict(recorded),
    }
    return sealed("evaluation", found.subject.product, parts)


def evidence_named(case: bytes) -> list[str]:
    """Digests of the evidence that a case rests on, whose contents go into its packet.

    Raises PacketError for bytes that are no case of this version.
    """
    try:
        return [item.digest for item in decode(case).evidence]
    except UnknownCaseError as error:
        raise PacketError(f"its case can't be read: {error}") from error


def verify_evaluation(content: Mapping[str, Any]) -> Iterator[Check]:
    """The case by its digest, and the judgement recomputed from it to the same bytes."""
    recorded = content["recorded"]
    if not all(isinstance(recorded.get(name), str) for name in RECORDED):
        yield Check("recorded", False, f"it has no {', '.join(RECORDED)}")
        return
    if unknown := recorded.keys() - {*RECORDED, *ABOUT, *QUOTED}:
        yield Check("recorded", False, f"unknown: {', '.join(sorted(unknown))[:200]}")
    try:
        data = base64.b64decode(content["case"], validate=True)
    except ValueError as error:
        yield Check("case", False, f"no base64: {error}")
        return
    yield _same("recorded/inputs_digest", recorded["inputs_digest"], case_digest(data))
    read = _judged(data)
    if isinstance(read, str):
        yield Check("case", False, read)
        return
    case, judged = read
    spelled = encode(case) == data
    yield Check("case", spelled, "its one spelling" if spelled else "not its one spelling")
    yield from _subject(content, case)
    yield from _about(recorded, case)
    yield from _evidence(content["evidence"], case)
    yield _same("recorded/evidence_digest", recorded["evidence_digest"], case.evidence_digest)
    yield from _judgement(content["judgement"], judged)
    yield _same("recorded/verdict", recorded["verdict"], judged.verdict)
    yield _same("recorded/action", recorded["action"], judged.action)
    yield _same("recorded/outcome_digest", recorded["outcome_digest"], judged.digest)


def _judged(data: bytes) -> tuple[Case, Judgement] | str:
    """The case and what follows from it, or in words why the bytes are none."""
    try:
        case = decode(data)
        return case, judge_case(case)
    except Exception as error:  # the bytes are anybody's: whatever they break, they are no case
        return f"it can't be judged: {type(error).__name__}: {str(error)[:200]}"


def _subject(content: Mapping[str, Any], case: Case) -> Iterator[Check]:
    yield _same("product", content["product"], case.subject.product)
    documents, named = content["documents"], case.subject.digest
    given = documents.get(named)
    if list(documents) != [named] or not isinstance(given, dict):
        yield Check("documents", False, f"it holds not just the document {named}")
        return
    held = given == json.loads(case.given)
    message = "the case's own" if held else "not the document that the case was judged by"
    yield Check("documents", held, message)
    try:
        yield _same(f"documents/{named}", named, load_document(given).digest)
    except DocumentErrors as faults:
        yield Check(f"documents/{named}", False, f"no sound document: {faults}")


def _about(recorded: Mapping[str, Any], case: Case) -> Iterator[Check]:
    """Whose evaluation the control plane says it is, held to the case."""
    said = case.subject.publication, case.subject.cohort, case.end.isoformat()
    for name, computed in zip(ABOUT, said, strict=True):
        yield _same(f"recorded/{name}", recorded.get(name), computed)


def _evidence(contents: list[Any], case: Case) -> Iterator[Check]:
    """Each item of the case by its content, and no content beside them."""
    by_digest = {digest_of(content): content for content in contents}
    for item in case.evidence:
        content = by_digest.pop(item.digest, None)
        name = f"evidence {item.digest}"
        if content is None:
            yield Check(name, False, "its content is missing")
            continue
        off = unlike(content, item)
        yield Check(name, not off, f"{off} is not the content's" if off else item.name)
    for digest in by_digest:
        yield Check(f"evidence {digest}", False, "the case does not rest on it")


def _judgement(recorded: Mapping[str, Any], judged: Judgement) -> Iterator[Check]:
    """The judgement as a whole, and each place in which it is another."""
    computed = json.loads(judged.as_json())
    found = list(differences(recorded, computed, "/judgement"))
    if not found:
        yield Check("judgement", True, f"recomputed: {judged.verdict}, {judged.action}")
    for place, said in found:
        yield Check(place, False, said)


def _same(name: str, recorded: Any, computed: Any) -> Check:
    holds = recorded == computed and isinstance(recorded, bool) == isinstance(computed, bool)
    return Check(
        name, holds, str(computed) if holds else f"recorded {recorded}, recomputed {computed}"
    )
