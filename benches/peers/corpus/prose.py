"""Prose: what does a model write around its blocks?

In: real answers, from which a chain of words learns which word follows two others, and a seed.
Out: sentences, paragraphs and code with the furniture of Markdown, where a reader of blocks could stumble: lists, code,
links, `<` and `[` in the text.
Never: depends on anything but its seed and those answers.
"""

import random
import re
from pathlib import Path

WORDS = (
    "elena marcus midpoint voice bundle scene beat arc theme world rule notebook draft chapter state mode gate config "
    "parser schema action profile page anchor ledger index cache router"
).split()
MARKUP = re.compile(r"[<>{}\[\]`│┌└\x1e]|def |self\.|::|=|https?:")

Chain = dict[tuple[str, str], list[str]]


def learn(answers: Path) -> Chain:
    """Which words follow two others in the lines of prose of these answers."""
    words = []
    for file in sorted(answers.glob("*.txt")):
        for line in file.read_text(encoding="utf-8", errors="ignore").splitlines():
            line = line.strip(" -*|#")
            if len(line.split()) >= 5 and not MARKUP.search(line):
                words += [*line.split(), "\n"]
    follows: Chain = {}
    for first, second, third in zip(words, words[1:], words[2:]):
        follows.setdefault((first, second), []).append(third)
    return follows


class Prose:
    """A source of text."""

    def __init__(self, follows: Chain, seed: int) -> None:
        self.dice = random.Random(seed)
        self.follows = follows
        self.starts = [pair for pair in follows if pair[0][:1].isupper() and "\n" not in pair]

    def sentence(self) -> str:
        """8 to 28 words, in one of five with something that is not prose."""
        dice = self.dice
        first, second = dice.choice(self.starts)
        words = [first, second]
        most = dice.randint(8, 28)
        while len(words) < most and (following := self.follows.get((first, second))):
            first, second = second, dice.choice(following)
            if second == "\n":
                break
            words.append(second)
        text = " ".join(words).rstrip(".,:;—-")
        text = text[0].upper() + text[1:]
        kind = dice.random()
        if kind < 0.06:
            text += " — and that is the point"
        elif kind < 0.09:
            text += " → see below"
        elif kind < 0.12:
            text = text.replace(" ", " **", 1) + "**"
        elif kind < 0.16:
            text += f" (see `{self.name()}`)"
        elif kind < 0.18:
            text += f" and [the notes](https://example.com/{self.name()}#{dice.randint(1, 99)})"
        elif kind < 0.20:
            text += f" where `Vec<{self.name().title()}>` < {dice.randint(2, 90)}"
        elif kind < 0.21:
            text += " ✅"
        elif kind < 0.22:
            text += f" [{dice.randint(1, 30)}]"
        return text + dice.choice("....?!")

    def name(self) -> str:
        """One to three words, as an identifier."""
        return "_".join(self.dice.choice(WORDS) for _ in range(self.dice.randint(1, 3)))

    def paragraph(self, sentences: int | None = None) -> str:
        return " ".join(self.sentence() for _ in range(sentences or self.dice.randint(1, 5)))

    def text(self, size: int) -> str:
        """About `size` characters of paragraphs, lists, quotes and fenced code."""
        dice, parts, written = self.dice, [], 0
        while written < size:
            kind = dice.random()
            if kind < 0.68:
                part = self.paragraph()
            elif kind < 0.82:
                part = "\n".join("- " + self.sentence() for _ in range(dice.randint(2, 5)))
            elif kind < 0.90:
                part = "\n".join(f"{n + 1}. **{self.name()}**: {self.sentence()}" for n in range(dice.randint(2, 4)))
            elif kind < 0.94:
                part = "> " + self.sentence()
            else:
                part = "```\n" + self.code(dice.randint(80, 300)) + "\n```"
            parts.append(part)
            written += len(part) + 2
        return "\n\n".join(parts)

    def code(self, size: int) -> str:
        """About `size` characters that look like TypeScript."""
        dice, lines, written = self.dice, [], 0
        while written < size:
            kind, name = dice.random(), self.name()
            if kind < 0.2:
                line = f"function {name}(a: number[], b: Map<string, {self.name()}>) {{"
            elif kind < 0.35:
                line = f'  if (a.length < b.size && "{self.name()}" !== x[{dice.randint(0, 9)}]) {{ return null; }}'
            elif kind < 0.5:
                line = f"  const {name} = await fetch(`/api/${{{self.name()}}}`); // {self.sentence()[:50]}"
            elif kind < 0.65:
                line = f'  return <div className="{name}">{{items.map(x => <Row key={{x.id}} />)}}</div>;'
            elif kind < 0.8:
                line = f"  {name}: {dice.randint(0, 9999)},"
            else:
                line = "}" if kind < 0.9 else ""
            lines.append(line)
            written += len(line) + 1
        return "\n".join(lines)
