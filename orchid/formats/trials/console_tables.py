"""Result tables of GenAI-Perf and AIPerf as CSV: a title a row, statistics in columns.

Three layouts: what the tools export (sections apart by blank lines, each with its own header, the
second of single values), and tables collected from several pages with the columns repo, page and
table in front. Milliseconds; percentiles by linear interpolation.
"""

from collections.abc import Iterable, Iterator

from orchid.formats.lines import lines
from orchid.formats.reading import Lost, UnreadableError
from orchid.formats.tables import Row, cells_of, lose
from orchid.formats.trials.blocks import metric, name_and_unit, point_of, told_of
from orchid.formats.trials.shape import Loop, Metric, Point, Trial, bounded

_PLACE = ("repo", "page", "table")
_UNITS = {"output_token_throughput_per_user": "tokens/s/user"}
#: GenAI-Perf's older pages leave the unit of these out.
_TOKENS = ("input_sequence_length", "output_sequence_length")


def read(data: bytes, name: str = "") -> Trial:
    """One point a table; raises UnreadableError without a column `metric`."""
    lost: list[Lost] = []
    tables: dict[str, dict[str, Metric]] = {}
    tools: set[str] = set()
    for header, row in _rows(data, lost):
        cells = dict(zip(header, row.cells, strict=True))
        made = _metric(cells, lost, row)
        if made is None:
            continue
        tools.add(cells.get("repo", ""))
        tables.setdefault(_label(cells), {})[made[0]] = made[1]
    points = [point_of(metrics, label) for label, metrics in tables.items()]
    return bounded(
        Trial(
            tool=_tool(tools),
            loop=Loop.UNKNOWN,
            points=points,
            lost=lost,
            told=told_of(next(iter(tables.values()), {}), Loop.UNKNOWN),
            notes=_notes(points),
        )
    )


def _rows(data: bytes, lost: list[Lost]) -> Iterator[tuple[list[str], Row]]:
    """Rows under the header that is above them; the third section, of devices, is left alone."""
    header: list[str] = []
    for number, offset, line in lines(data):
        try:
            cells = [cell.strip() for cell in cells_of(line)]
        except ValueError as error:
            lose(lost, Lost(offset, str(error), number))
            continue
        lowered = [cell.lower() for cell in cells]
        if "metric" in lowered:
            header = ["avg" if name == "value" else name for name in lowered]
        elif not header:
            raise UnreadableError("expected a header with the column metric")
        elif "endpoint" in header:
            continue
        elif len(cells) != len(header):
            lose(lost, Lost(offset, f"expected {len(header)} cells, found {len(cells)}", number))
        else:
            yield header, Row(number, offset, tuple(cells))


def _metric(cells: dict[str, str], lost: list[Lost], row: Row) -> tuple[str, Metric] | None:
    name, unit = name_and_unit(cells["metric"])
    unit = unit or _UNITS.get(name, "tokens" if name in _TOKENS else "")
    before = len(lost)
    made = metric(unit, cells, name, lost, row.line)
    lost[before:] = [Lost(row.offset, one.reason, one.line) for one in lost[before:]]
    return None if made is None else (name, made)


def _label(cells: dict[str, str]) -> str:
    place = [cells.get(column, "") for column in _PLACE]
    if not any(place):
        return "run"
    return f"{place[0].rpartition('/')[2]} {place[1]} table {place[2]}"[:120]


def _tool(repositories: Iterable[str]) -> str:
    tools = {"AIPerf" if "aiperf" in one else "GenAI-Perf" for one in repositories if one}
    return " and ".join(sorted(tools)) or "GenAI-Perf or AIPerf"


def _notes(points: list[Point]) -> list[str]:
    if len(points) < 2:
        return []
    return [f"{len(points)} tables of different runs stand side by side; none is averaged."]
