"""The REST client: what goes wrong is told in words, and an act happens once."""

import click
import httpx
import pytest

from orchid.cli.client import Api


@pytest.fixture(autouse=True)
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORCHID_TOKEN", "orc_ci_example")
    monkeypatch.setenv("ORCHID_URL", "http://control.example/")
    monkeypatch.setattr("orchid.cli.client.PAUSE_S", 0)


def answering(status: int, body: object) -> Api:
    return Api(httpx.MockTransport(lambda request: httpx.Response(status, json=body)))


def test_a_problem_is_told_with_its_places_and_without_a_traceback() -> None:
    problem = {
        "title": "This breaks a rule of the product",
        "code": "document_invalid",
        "detail": "The document has 2 faults.",
        "errors": [
            {"pointer": "/gates/x", "found": "3", "allowed": "a share", "hint": "did you mean y?"},
            {"pointer": "/fleet", "text": "no device is left"},
        ],
    }
    with pytest.raises(click.ClickException) as caught:
        answering(422, problem).post("/api/v1/x", {})
    assert caught.value.message.splitlines() == [
        "This breaks a rule of the product (document_invalid).",
        "The document has 2 faults.",
        "  /gates/x: found 3, allowed is a share (did you mean y?)",
        "  /fleet: no device is left",
    ]


def test_wrong_fields_are_named() -> None:
    problem = {"title": "No", "code": "invalid_input", "errors": {"reason": ["is required"]}}
    with pytest.raises(click.ClickException, match="reason: is required"):
        answering(400, problem).post("/api/v1/x", {})


def test_an_answer_that_is_no_control_planes_is_told_as_such() -> None:
    api = Api(httpx.MockTransport(lambda request: httpx.Response(502, text="<html>Bad gateway")))
    with pytest.raises(click.ClickException, match=r"control\.example.* answered 502"):
        api.get("/api/v1/products")


def test_a_broken_line_is_tried_again_under_the_same_key() -> None:
    keys: list[str] = []

    def flaky(request: httpx.Request) -> httpx.Response:
        keys.append(request.headers["Idempotency-Key"])
        if len(keys) == 1:
            raise httpx.ReadError("reset", request=request)
        return httpx.Response(201, json={"id": 7})

    assert Api(httpx.MockTransport(flaky)).post("/api/v1/x", {}) == {"id": 7}
    assert len(keys) == 2
    assert keys[0] == keys[1]


def test_nobody_at_the_address_says_which_address_and_what_to_do() -> None:
    def dead(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    with pytest.raises(click.ClickException, match=r"http://control\.example.*(?s:.*)orchid up"):
        Api(httpx.MockTransport(dead)).get("/api/v1/products")


def test_a_missing_token_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ORCHID_TOKEN")
    with pytest.raises(click.ClickException, match="ORCHID_TOKEN is not set"):
        Api()
