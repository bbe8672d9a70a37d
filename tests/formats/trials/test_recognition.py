from collections.abc import Callable
from pathlib import Path

import pytest

from orchid.formats.arrivals import registry as arrivals
from orchid.formats.reading import UnreadableError
from orchid.formats.recognise import Head
from orchid.formats.trials import registry as trials

DATA = Path(__file__).parents[2] / "data" / "trials"
EVERY = sorted(
    str(path.relative_to(DATA))
    for path in DATA.rglob("*")
    if path.suffix in (".csv", ".json", ".gz")
)


@pytest.mark.parametrize("name", EVERY)
def test_every_file_is_recognised_by_its_content_alone(
    raw: Callable[[str], bytes], name: str
) -> None:
    body = raw(name)
    marked = [one.name for one in trials.FORMATS if one.is_it(Head(body))]
    assert len(marked) == 1, marked
    read, trial = trials.read(body)
    assert read == marked[0]
    assert trial.points


def test_what_is_unknown_is_refused_with_what_is_known() -> None:
    with pytest.raises(UnreadableError, match=r"perf_analyzer.*found a table of 2 columns"):
        trials.read(b"secret prompt,other\n1,2\n")
    with pytest.raises(UnreadableError, match=r"Mooncake.*found JSON with a"):
        arrivals.read(b'{"a": 1}')
    with pytest.raises(UnreadableError, match="neither JSON nor a table"):
        trials.read(b"\x00\x01")


def test_an_explicit_format_wins_and_must_be_known(raw: Callable[[str], bytes]) -> None:
    body = raw("measured/vllm_rtx4090_llama_3_1_8b_requests.jsonl.gz")
    assert trials.read(body)[0] == arrivals.read(body)[0] == "vllm_requests"
    with pytest.raises(UnreadableError, match="format is one of"):
        trials.read(body, wanted="excel")
    with pytest.raises(UnreadableError):
        trials.read(body, wanted="perf_analyzer")


def test_a_bad_first_line_does_not_hide_the_format() -> None:
    row = b'{"timestamp": 0, "input_length": 5, "output_length": 7, "hash_ids": []}'
    name, trace = arrivals.read(b'{"timestamp": 0, "inp\n' + row)
    assert (name, trace.rows, len(trace.lost)) == ("mooncake", 1, 1)
