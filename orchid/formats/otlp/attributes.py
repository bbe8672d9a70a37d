"""Which attributes of a span are kept, and of which type. Everything else may hold a prompt."""

from enum import Enum

#: Names of anything, in characters: past it a text is no name.
LONGEST_NAME = 512


class Kind(Enum):
    """What a kept attribute may hold; a value of another type is dropped like an unknown name."""

    NAME = "a short text that names something"
    NUMBER = "a whole or a finite number"


_NAMES = (
    "triton.model_name",
    "triton.request_id",
    "gen_ai.request.id",
    "gen_ai.request.model",
    "gen_ai.response.model",
    "gen_ai.operation.name",
    "llm.model_name",
    # Ours: whoever instruments a caller says which attempt this is, and how input is counted.
    "orchid.attempt_id",
    "orchid.input_convention",
)
_NUMBERS = (
    "triton.model_version",
    "triton.trace_id",
    "triton.trace_parent_id",
    "gen_ai.request.max_tokens",
    "gen_ai.response.time_to_first_chunk",
    "gen_ai.latency.time_in_queue",
    "gen_ai.latency.time_to_first_token",
    "gen_ai.latency.e2e",
    "gen_ai.latency.time_in_model_prefill",
    "gen_ai.latency.time_in_model_decode",
    "gen_ai.latency.time_in_model_inference",
)
#: Token counts by meaning: today's name first, then those of older drafts and other libraries.
INPUT_TOKENS = (
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.prompt_tokens",
    "llm.token_count.prompt",
    "llm.usage.prompt_tokens",
)
OUTPUT_TOKENS = (
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "llm.token_count.completion",
    "llm.usage.completion_tokens",
)
CACHED_TOKENS = (
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.cache_read_input_tokens",
    "gen_ai.usage.input_tokens.cached",
    "gen_ai.usage.cached_input_tokens",
    "gen_ai.usage.cached_tokens",
    "gen_ai.usage.cache_read_tokens",
    "gen_ai.usage.details.cache_read_tokens",
    "gen_ai.usage.prompt_tokens_details.cached_tokens",
    "llm.token_count.prompt_details.cache_read",
    "llm.usage.cache_read_input_tokens",
)
WRITTEN_TOKENS = (
    "gen_ai.usage.cache_creation.input_tokens",
    "gen_ai.usage.cache_write.input_tokens",
    "gen_ai.usage.cache_creation_input_tokens",
    "gen_ai.usage.input_tokens.cache_write",
    "gen_ai.usage.cache_write_tokens",
    "gen_ai.usage.details.cache_write_tokens",
    "llm.token_count.prompt_details.cache_write",
    "llm.usage.cache_creation_input_tokens",
)
_TOKENS = (*INPUT_TOKENS, *OUTPUT_TOKENS, *CACHED_TOKENS, *WRITTEN_TOKENS)

KEPT_ATTRIBUTES: dict[str, Kind] = {
    **dict.fromkeys(_NAMES, Kind.NAME),
    **dict.fromkeys((*_NUMBERS, *_TOKENS), Kind.NUMBER),
}
#: Of a resource, besides `service.name`: holds for each span that says nothing itself.
INHERITED = "orchid.input_convention"
