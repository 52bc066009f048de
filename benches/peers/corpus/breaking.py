"""Breaking: how do models break what they write?

In: a text that is well written.
Out: the same text, cut off or with a part exchanged.
Never: breaks a text of its own accord; the writer of an answer decides whether it is malformed.
"""

from collections.abc import Callable

from prose import Prose

Break = Callable[[str], str]


def cut(prose: Prose, least: float) -> Break:
    """Ends an answer early, as a limit of tokens does."""
    return lambda text: text[: int(len(text) * prose.dice.uniform(least, 0.98))]


def changed(old: str, new: str, times: int = 1) -> Break:
    return lambda text: text.replace(old, new, times)


def maybe_broken(prose: Prose, malformed: bool, text: str, ways: list[Break]) -> str:
    return prose.dice.choice(ways)(text) if malformed else text
