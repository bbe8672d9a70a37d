"""Model arithmetic: sums over given inputs, without a document."""

from collections.abc import Callable
from decimal import Decimal

from orchid.engine.arithmetic import (
    THOUSAND,
    Speculation,
    completion_ms,
    decode_floor_ms,
    first_token_ms,
    fixed_batch_use,
    tokens_of_text,
)
from orchid.engine.derivations.worked import (
    Derivation,
    FigureError,
    Given,
    Material,
    Value,
    Worked,
)

LEVIATHAN = "Leviathan, Kalman, Matias 2023, speculative decoding"
Compute = Callable[[Material, Given], Worked]


def over_arguments(
    function: Callable[..., Value | None], **kinds: Callable[[Given, str], Value]
) -> Compute:
    """The function over arguments that are each read by its kind."""

    def compute(material: Material, given: Given) -> Worked:
        read = {name: kind(given, name) for name, kind in kinds.items()}
        return Worked(function(**read), read)

    return compute


def _more(material: Material, given: Given) -> Worked:
    characters = given.whole("characters")
    many = tokens_of_text(characters, given.number("from_per_token"))
    few = tokens_of_text(characters, given.number("to_per_token"))
    return Worked(Decimal(many) / few - 1, {"tokens": many, "against": few})


def _decode(material: Material, given: Given) -> Worked:
    floor = decode_floor_ms(
        parameters := given.number("parameters"),
        bits := given.whole("bits"),
        rate := given.number("bytes_per_s"),
    )
    tokens = given.whole("tokens") if given.has("tokens") else 1
    inputs: dict[str, Value] = {
        "parameters": parameters,
        "bits": bits,
        "bytes_per_s": rate,
        "tokens": tokens,
    }
    return Worked(tokens * floor, inputs)


def _decode_s(material: Material, given: Given) -> Worked:
    worked = _decode(material, given)
    return Worked(Decimal(str(worked.value)) / THOUSAND, worked.inputs)


def _first(given: Given) -> tuple[Decimal, dict[str, Value]]:
    tokens, rate = given.whole("input_tokens"), given.number("prefill_tokens_per_s")
    cached = given.whole("cached_tokens") if given.has("cached_tokens") else 0
    inputs: dict[str, Value] = {"input_tokens": tokens, "cached_tokens": cached}
    return first_token_ms(tokens, rate, cached), {**inputs, "prefill_tokens_per_s": rate}


def _first_token(material: Material, given: Given) -> Worked:
    return Worked(*_first(given))


def _completion(material: Material, given: Given) -> Worked:
    first, _ = _first(given)
    tokens, step = given.whole("output_tokens"), given.number("decode_ms")
    inputs: dict[str, Value] = {"first_token_ms": first, "output_tokens": tokens}
    return Worked(completion_ms(first, tokens, step), {**inputs, "decode_ms": step})


def _batch_use(material: Material, given: Given) -> Worked:
    outputs = given.wholes("output_tokens")
    return Worked(fixed_batch_use(outputs), {"outputs": tuple(map(str, outputs))})


def _batch_slots(material: Material, given: Given) -> Worked:
    outputs = given.wholes("output_tokens")
    return Worked(max(outputs) * len(outputs), {"outputs": tuple(map(str, outputs))})


def _batch_useful(material: Material, given: Given) -> Worked:
    """The use of the batch times its slots."""
    outputs = given.wholes("output_tokens")
    slots = max(outputs) * len(outputs)
    return Worked(fixed_batch_use(outputs) * slots, {"outputs": tuple(map(str, outputs))})


def _speculation(given: Given) -> tuple[Speculation, dict[str, Value]]:
    acceptance, draft = given.number("acceptance"), given.whole("draft_tokens")
    if not 0 <= acceptance < 1 or draft < 1:
        raise FigureError("acceptance lies from 0 to below 1, draft_tokens from 1")
    return Speculation(acceptance, draft), {"acceptance": acceptance, "draft_tokens": draft}


def _per_pass(material: Material, given: Given) -> Worked:
    drafted, inputs = _speculation(given)
    return Worked(drafted.tokens_per_pass, inputs)


def _speedup(material: Material, given: Given) -> Worked:
    drafted, inputs = _speculation(given)
    cost = given.number("draft_cost")
    return Worked(drafted.speedup(cost), {**inputs, "draft_cost": cost})


def _operations(material: Material, given: Given) -> Worked:
    drafted, inputs = _speculation(given)
    cost = given.number("draft_cost")
    return Worked(drafted.operations(cost), {**inputs, "draft_cost": cost})


DERIVATIONS = (
    Derivation(
        "tokens_of_text",
        "tokens",
        tokens_of_text,
        "characters / characters a token",
        over_arguments(tokens_of_text, characters=Given.whole, characters_per_token=Given.number),
    ),
    Derivation("more_tokens", "share", tokens_of_text, "tokens / other tokens - 1", _more),
    Derivation(
        "decode_floor_ms",
        "ms",
        decode_floor_ms,
        "tokens x bytes of all weights / bandwidth",
        _decode,
    ),
    Derivation(
        "decode_floor_s",
        "s",
        decode_floor_ms,
        "tokens x bytes of all weights / bandwidth",
        _decode_s,
    ),
    Derivation(
        "decode_floor_s",
        "s",
        decode_floor_ms,
        "tokens x bytes of all weights / bandwidth",
        _decode_s,
    ),
    Derivation(
        "first_token_ms", "ms", first_token_ms, "uncached tokens / prefill rate", _first_token
    ),
    Derivation(
        "completion_ms", "ms", completion_ms, "first token + (outputs - 1) x step", _completion
    ),
    Derivation("batch_use", "share", fixed_batch_use, "useful slots / all slots", _batch_use),
    Derivation("batch_slots", "slots", fixed_batch_use, "members x the longest", _batch_slots),
    Derivation("batch_useful_slots", "slots", fixed_batch_use, "use x slots", _batch_useful),
    Derivation(
        "tokens_per_pass",
        "tokens",
        Speculation,
        "(1 - a^(g+1)) / (1 - a)",
        _per_pass,
        LEVIATHAN,
    ),
    Derivation(
        "speculation_speedup", "x", Speculation.speedup, "E / (g c + 1)", _speedup, LEVIATHAN
    ),
    Derivation(
        "speculation_operations",
        "x",
        Speculation.operations,
        "(g c + g + 1) / E",
        _operations,
        LEVIATHAN,
    ),
)
