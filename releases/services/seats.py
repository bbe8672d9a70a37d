"""Which of the required roles each person fills: one slot a person, in whatever order they came."""

from collections.abc import Mapping, Sequence

#: By role, the people who fill it.
Slots = dict[str, list[int]]


def seated(required: Mapping[str, int], could: Mapping[int, Sequence[str]]) -> dict[int, str]:
    """By person, the role of the slot they have; as many slots are filled as these people can.

    `could` holds the roles that each could fill, the liked ones first. Who came first has a slot
    whoever comes later, be it in another role.
    """
    slots: Slots = {role: [] for role in required}
    for person in could:
        _seat(person, required, could, slots, set())
    return {person: role for role, people in slots.items() for person in people}


def _seat(
    person: int,
    required: Mapping[str, int],
    could: Mapping[int, Sequence[str]],
    slots: Slots,
    tried: set[str],
) -> bool:
    """Give this person a slot, a free one or else one whose holder can fill another role."""
    roles = [role for role in could[person] if role in required]
    for role in sorted(roles, key=lambda role: len(slots[role]) >= required[role]):
        if role in tried:
            continue
        tried.add(role)
        if len(slots[role]) < required[role]:
            slots[role].append(person)
            return True
        for place, other in enumerate(slots[role]):
            if _seat(other, required, could, slots, tried):
                slots[role][place] = person
                return True
    return False
