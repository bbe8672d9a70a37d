"""Model arithmetic: sums over given inputs, without a document."""

from collections.abc import Callable
from decimal import Decimal

from orchid.engine.arithmetic import (
    THOUSAND,
    Assistant,
    Speculation,
    arrivals_per_minute,
    cascade_break_even,
    cascade_cost,
    completion_ms,
    decode_floor_ms,
    first_token_ms,
    fixed_batch_use,
    prefix_break_even,
    prefix_cost,
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


def _of(function: Callable[..., Value | None], **kinds: Callable[[Given, str], Value]) -> Compute:
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


def _prefix(given: Given) -> dict[str, Value]:
    return {
        "prefix_tokens": given.whole("prefix_tokens"),
        "uses": given.whole("uses"),
        "write_price": given.number("write_price"),
        "read_price": given.number("read_price"),
    }


def _prefix_cost(material: Material, given: Given) -> Worked:
    read = _prefix(given)
    return Worked(prefix_cost(**read), read)  # type: ignore[arg-type]  # by its own names


def _prefix_saving(material: Material, given: Given) -> Worked:
    read = _prefix(given)
    plain = Decimal(str(read["prefix_tokens"])) * Decimal(str(read["uses"]))
    cached = prefix_cost(**read)  # type: ignore[arg-type]  # by its own names
    return Worked(1 - cached / plain, {**read, "uncached": plain})


def _assistant(given: Given) -> tuple[Assistant, bool]:
    asked = Assistant(
        prefix_tokens=given.whole("prefix_tokens"),
        input_tokens=given.whole("input_tokens"),
        output_tokens=given.whole("output_tokens"),
        output_weight=given.number("output_weight"),
        small_price=given.number("small_price"),
        write_price=given.number("write_price"),
        read_price=given.number("read_price"),
        hit_rate=given.number("hit_rate"),
        escalation=given.number("escalation"),
    )
    return asked, given.flag("cached")


WAYS: dict[str, Callable[[Assistant, bool], Decimal]] = {
    "large_only": lambda asked, cached: asked.large_only(cached=cached),
    "cascade": lambda asked, cached: asked.cascade(cached=cached),
    "perfect_classifier": lambda asked, cached: asked.perfect_classifier(cached=cached),
}


def _way(material: Material, given: Given) -> Worked:
    (asked, cached), way = _assistant(given), given.text("way")
    if way not in WAYS:
        raise FigureError(f"the ways are {', '.join(WAYS)}, not {way}")
    fields = {name: getattr(asked, name) for name in Assistant.__dataclass_fields__}
    return Worked(WAYS[way](asked, cached), {"way": way, "cached": cached, **fields})


def _arrivals(material: Material, given: Given) -> Worked:
    requests = given.whole("requests_a_month")
    part = given.number("share") if given.has("share") else Decimal(1)
    return Worked(
        arrivals_per_minute(requests) * part, {"requests_a_month": requests, "share": part}
    )


DERIVATIONS = (
    Derivation(
        "tokens_of_text",
        "tokens",
        tokens_of_text,
        "characters / characters a token",
        _of(tokens_of_text, characters=Given.whole, characters_per_token=Given.number),
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
    Derivation(
        "prefix_cost",
        "input tokens",
        prefix_cost,
        "prefix x (write + (uses - 1) x read)",
        _prefix_cost,
    ),
    Derivation("prefix_saving", "share", prefix_cost, "1 - cached / uncached", _prefix_saving),
    Derivation(
        "prefix_break_even",
        "uses",
        prefix_break_even,
        "first use at which caching is cheaper",
        _of(prefix_break_even, write_price=Given.number, read_price=Given.number),
    ),
    Derivation(
        "cascade_cost",
        "of large only",
        cascade_cost,
        "small price + escalation",
        _of(cascade_cost, small_price=Given.number, escalation=Given.number),
    ),
    Derivation(
        "cascade_break_even",
        "escalation",
        cascade_break_even,
        "1 - small price",
        _of(cascade_break_even, small_price=Given.number),
    ),
    Derivation(
        "assistant_cost", "large-model input tokens", Assistant, "by way and prefix cache", _way
    ),
    Derivation(
        "arrivals_per_minute",
        "requests/min",
        arrivals_per_minute,
        "requests / minutes of a 30-day month x share",
        _arrivals,
    ),
)
