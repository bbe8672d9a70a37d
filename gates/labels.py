"""On which side of its mark each name of a picture is written, so that none covers another."""

from collections.abc import Sequence

Place = tuple[float, float]
Box = tuple[float, float, float, float]

#: Two lines of text, and one character, as shares of a picture of middling size.
HEIGHT, CHARACTER, GAP = 0.13, 0.016, 0.02
SIDES = ("top right", "bottom right", "top left", "bottom left")


def sides(places: Sequence[Place], characters: Sequence[int]) -> list[str]:
    """For marks at places between 0 and 1, from left to right the side with the least overlap."""
    chosen = ["" for _ in places]
    taken: list[Box] = [_around(place) for place in places]
    for index in sorted(range(len(places)), key=lambda index: places[index]):
        boxes = {side: _box(places[index], side, characters[index]) for side in SIDES}
        chosen[index] = min(SIDES, key=lambda side: _cost(boxes[side], taken))
        taken.append(boxes[chosen[index]])
    return chosen


def _box(place: Place, side: str, characters: int) -> Box:
    width, (x, y) = characters * CHARACTER, place
    left = x + GAP if side.endswith("right") else x - GAP - width
    low = y + GAP if side.startswith("top") else y - GAP - HEIGHT
    return left, low, left + width, low + HEIGHT


def _around(place: Place) -> Box:
    return place[0] - GAP / 2, place[1] - GAP, place[0] + GAP / 2, place[1] + GAP


def _cost(box: Box, taken: Sequence[Box]) -> float:
    """Area over other names and marks, and area beyond the picture."""
    outside = (box[2] - box[0]) * HEIGHT - _shared(box, (0.0, 0.0, 1.0, 1.0))
    return outside + sum(_shared(box, other) for other in taken)


def _shared(one: Box, other: Box) -> float:
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    return max(0.0, wide) * max(0.0, high)
