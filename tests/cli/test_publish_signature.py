"""Requests to a store are signed as AWS publishes it, with the examples of its documentation."""

from datetime import UTC, datetime

import pytest

from orchid.cli.publish.sigv4 import Credentials, signed_headers

# The key pair of AWS's own examples.
EXAMPLE = Credentials(
    "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "us-east-1"
)
DAY = datetime(2013, 5, 24, tzinfo=UTC)
HOST = "https://examplebucket.s3.amazonaws.com"


@pytest.mark.parametrize(
    ("method", "path", "headers", "body", "signature"),
    [
        (
            "GET",
            "/test.txt",
            {"Range": "bytes=0-9"},
            b"",
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
        ),
        (
            "PUT",
            "/test%24file.text",
            {"Date": "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY"},
            b"Welcome to Amazon S3.",
            "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
        ),
        (
            "GET",
            "/?lifecycle=",
            {},
            b"",
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
        ),
    ],
)
def test_the_published_examples_have_their_published_signatures(
    method: str, path: str, headers: dict[str, str], body: bytes, signature: str
) -> None:
    sent = signed_headers(method, f"{HOST}{path}", headers, body, EXAMPLE, DAY)
    assert sent["authorization"].endswith(f"Signature={signature}")


def test_a_session_is_named_and_signed() -> None:
    session = Credentials("AKID", "secret", "eu-central-1", "session")
    sent = signed_headers("GET", f"{HOST}/a", {}, b"", session, DAY)
    assert sent["x-amz-security-token"] == "session"
    assert "x-amz-security-token" in sent["authorization"]
