"""Values that nobody means well by: as JSON text, as the text of a form, as a query."""

import base64

DIGITS = "9" * 5000
LONG = "x" * 100_000
#: Another direction, nothing to see, a flag, letters of two scripts in one name.
ODD_TEXT = "\u202ebeldnub\u200b\ufeff \U0001f1e9\U0001f1ea а\u0301na"
TIMES = [
    "0000-00-00",
    "9999-12-31T23:59:60Z",
    "9999-12-31T23:59",
    "0001-01-01T00:00+14:00",
    "2027-03-28T02:30",  # skipped in Berlin
    "2026-10-25T02:30",  # twice
    "2027-W01-1",
]
ZONES = ["../../etc/passwd", "/etc/localtime", "Etc/GMT+99", "europe/berlin", "Europe", "zone.tab"]
ADDRESSES = [
    "http://169.254.169.254/latest/meta-data",
    "https://[::ffff:127.0.0.1]/",
    "https://[::1",
    "https://a..b/",
    "https://x:99999999/",
    "file:///etc/passwd",
]
NUMBERS = ["-1", "-0", "1e999", "0x10", "1_000", "\u0663", "\u00b2", "9" * 19, "9" * 30, "NaN"]
#: Of a form's field or a query's.
TEXTS = ["", "\x00", "a\x00b", LONG, DIGITS, ODD_TEXT, "{}", "%00", *NUMBERS]
TEXTS += [*TIMES, *ZONES, *ADDRESSES]
#: Of a field of a JSON body, as it is written there.
JSON = [
    *("null", "true", "{}", "[]", '[[["x"]]]', '{"a":{"a":{}}}', "-1", "-0", "0", "1e999", "NaN"),
    *("Infinity", "-Infinity", "1e308", "9" * 30, "-" + "9" * 30, DIGITS, "1.5", '""', '" "'),
    *('"\\u0000"', '"\\ud800"', '"\\udc00x"', f'"{LONG}"', '["\\u0000"]', '{"\\ud800":1}'),
    f'"{ODD_TEXT}"',
    *(f'"{text}"' for text in (*NUMBERS, *TIMES, *ZONES, *ADDRESSES)),
    "[" * 10_000 + "]" * 10_000,
]
#: Whole bodies.
BODIES = [
    b"",
    b"{",
    b"[1]",
    b"null",
    b'"x"',
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b'{"reason":"a","reason":"b","reason":null}',
    b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
    b'{"a":' + b"9" * 5000 + b"}",
    b'{"a":NaN}',
    b'{"\\u0000":1}',
]
PARTS = [
    b"--x",
    b"--x\r\n\r\n--x--",
    b'--x\r\nContent-Disposition: form-data; name="a\r\n\r\nb\r\n--x--\r\n',
    b"--x\r\nContent-Disposition: form-data; name*=base64''%ff\r\n\r\nb\r\n--x--\r\n",
    b'--x\r\nContent-Disposition: form-data; name="a"; filename="../\x00"\r\n\r\nb\r\n--x--\r\n',
    b'--x\r\nContent-Disposition: form-data; name="a"\r\n'
    b"Content-Transfer-Encoding: base64\r\n\r\n!\r\n--x--\r\n",
]


def cursor(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode()


CURSORS = [
    cursor('["0001-01-01T00:00:00+14:00", 1]'),
    cursor('["2026-01-01T00:00:00+00:00", ' + "9" * 25 + "]"),
    cursor('["2026-01-01T00:00:00+00:00", 1e999]'),
    cursor('["2026-01-01T00:00:00+00:00", 1, "older"]'),
    cursor("[" * 3000),
]
