"""The JSON Schema at its public address."""

from django.test import Client

from orchid.engine.document.schema import json_schema

ADDRESS = "/schemas/orchid.policy.v1.json"


def test_anyone_may_fetch_the_schema_and_keep_it() -> None:
    answer = Client().get(ADDRESS)
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "application/schema+json"
    assert answer.headers["Cache-Control"] == "public, max-age=3600"
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert "Cookie" not in answer.headers.get("Vary", "")
    assert answer.json() == json_schema()


def test_who_has_the_schema_is_told_that_it_is_the_same() -> None:
    etag = Client().get(ADDRESS).headers["ETag"]
    again = Client().get(ADDRESS, headers={"If-None-Match": etag})
    assert (again.status_code, again.content) == (304, b"")
    assert Client().head(ADDRESS).headers["ETag"] == etag


def test_the_schema_takes_no_writes() -> None:
    assert Client().post(ADDRESS).status_code == 405
