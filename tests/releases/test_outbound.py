"""What is sent to addresses that somebody typed: bounded, signed, and never to one inside."""

import hashlib
import hmac
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from releases.services import outbound
from releases.services.outbound import (
    AddressRefused,
    Message,
    is_public,
    send_all,
    signature,
    sound_address,
)

Received = list[tuple[str, dict[str, str], bytes]]


@contextmanager
def receiver(status: int = 200, location: str = "") -> Iterator[tuple[str, Received]]:
    got: Received = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            got.append((self.path, dict(self.headers), body))
            self.send_response(status)
            if location:
                self.send_header("Location", location)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            return

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", got
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1::1", True),
        ("127.0.0.1", False),
        ("10.1.2.3", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("::1", False),
        ("fe80::1%eth0", False),
        ("::ffff:10.1.2.3", False),
        ("2002:0a01:0203::1", False),
        ("64:ff9b::a01:203", False),
        ("64:ff9b:1::a01:203", False),
        ("::10.1.2.3", False),
        ("::ffff:0:10.1.2.3", False),
        ("fec0::1", False),
        ("fd00::1", False),
    ],
)
def test_an_address_inside_is_known_in_every_spelling(address: str, public: bool) -> None:
    assert is_public(address) == public


@pytest.mark.parametrize(
    "url",
    [
        *["http://example.com", "ftp://example.com", "https://", "https://me:word@example.com", ""],
        *[f"https://{'a' * 64}.com", "https://a..b/"],
        *["https://0177.0.0.1/", "https://１２７.0.0.1/"],
    ],
)
def test_an_address_that_nothing_is_sent_to_is_refused_when_it_is_typed(url: str) -> None:
    with pytest.raises(AddressRefused):
        sound_address(url, private=False)


INSIDE = [
    *["localhost", "LOCALHOST.", "db.localhost", "127.0.0.1", "127.0.0.1.", "127.1", "2130706433"],
    *["0x7f000001", "0x7f.1", "0177.1", "10.1.2.3", "192.168.0.9", "169.254.169.254", "0"],
    *["[::1]", "[fe80::1]", "[fd00::1]", "[::ffff:10.1.2.3]", "[::ffff:7f00:1]", "[::10.1.2.3]"],
    *["[64:ff9b::a01:203]", "[2002:a01:203::1]", "127。0。0。1"],
]


@pytest.mark.parametrize("host", INSIDE)
def test_an_address_inside_is_refused_when_it_is_typed_in_every_spelling(host: str) -> None:
    with pytest.raises(AddressRefused, match="address inside"):
        sound_address(f"https://{host}:8443/hook", private=False)
    assert sound_address(f"https://{host}:8443/hook", private=True).port == 8443


@pytest.mark.parametrize("host", ["example.org.", "1.1.1.1", "[2606:4700::1111]", "localhost.org"])
def test_an_address_outside_is_taken_when_it_is_typed(host: str) -> None:
    assert sound_address(f"https://{host}/hook", private=False).path == "/hook"


def test_nothing_goes_inside_unless_the_setting_lets_it() -> None:
    with receiver() as (url, got):
        inside = url.replace("http://", "https://")
        [refused] = send_all([Message(inside, b"{}", {})])
        assert (refused.status, refused.is_taken) == (None, False)
        assert "address inside" in refused.words
        [taken] = send_all([Message(f"{url}/hook?x=1", b'{"a": 1}', {"X-One": "1"}, private=True)])
    assert taken.is_taken
    [(path, headers, body)] = got
    assert (path, headers["X-One"], body) == ("/hook?x=1", "1", b'{"a": 1}')
    assert headers["Host"] == url.removeprefix("http://")


def test_a_redirect_is_not_followed() -> None:
    with receiver() as (inner, got), receiver(302, f"{inner}/elsewhere") as (url, _):
        [outcome] = send_all([Message(url, b"{}", {}, private=True)])
    assert (outcome.status, outcome.is_taken, got) == (302, False, [])


def test_one_that_never_answers_ends_in_time_and_keeps_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(outbound, "LONGEST_S", 1.5)
    with socket.create_server(("127.0.0.1", 0)) as deaf, receiver() as (url, _):
        silent = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        messages = [Message(silent, b"{}", {}, private=True), Message(url, b"{}", {}, private=True)]
        first, second = send_all(messages)
    assert (first.status, second.status) == (None, 200)
    assert "No answer" in first.words


def test_a_name_that_no_look_up_takes_keeps_no_other_from_being_sent() -> None:
    """Such a one may be stored from before it was refused."""
    with receiver() as (url, got):
        messages = [Message(f"http://{'a' * 64}.com", b"{}", {}, private=True)]
        [refused, taken] = send_all([*messages, Message(url, b"{}", {}, private=True)])
    assert (refused.status, taken.status, len(got)) == (None, 200, 1)


def test_the_signature_is_what_a_receiver_computes() -> None:
    at = datetime(2026, 3, 1, tzinfo=UTC)
    said = dict(part.split("=") for part in signature("whsec_1", at, b"{}").split(","))
    assert said["t"] == "1772323200"
    expected = hmac.new(b"whsec_1", b"1772323200.{}", hashlib.sha256).hexdigest()
    assert said["v1"] == expected
