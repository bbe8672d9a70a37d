"""What `orchid edge run` says instead of starting."""

import socket
from pathlib import Path

import pytest
from click.testing import CliRunner

from orchid.edge.main import run


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_the_second_edge_of_a_machine_is_told_to_name_another_port(
    host: str, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as first:
        port = str(first.getsockname()[1])
        given = ["--product", "p", "--token", "orc_edge_x", "--var", str(tmp_path)]
        start = CliRunner().invoke(run, [*given, "--host", host, "--port", port])
    assert start.exit_code == 2
    assert f"at {host}:{port}" in start.output
    assert "--port" in " ".join(start.output.split())
