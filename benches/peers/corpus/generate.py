"""Corpus: which answers do all readers get?

In: `generate.py REPOSITORY FOLDER`; the prose is learnt from `tests/corpus/dce` of the repository.
Out: a file for each row of the tables, its answers separated by U+001E, and `tools.json`.
Never: writes other bytes on another machine, or in another order of the rows.
"""

import json
import sys
from functools import partial
from pathlib import Path

import answers
import calls
import tags
from prose import Prose, learn

# How much text a row has. A pass over it takes from 2 ms to 70 ms.
SIZE = 1_000_000


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def one_in_ten(write):
    """Answers of which a tenth is malformed."""
    return lambda prose, size: write(prose, size, prose.dice.random() < 0.1)


ROWS = {
    "brackets": one_in_ten(answers.brackets),
    "transcript-3": one_in_ten(partial(answers.transcript, fits=True)),
    "transcript-20": one_in_ten(partial(answers.transcript, fits=False)),
    "tags-fit": one_in_ten(tags.fit),
    "tags-unfit": one_in_ten(tags.unfit),
    "json-valid": lambda prose, size: answers.one_object(prose, size, False),
    "json-broken": lambda prose, size: answers.one_object(prose, size, True),
    "files": one_in_ten(answers.files),
    "hermes": calls.hermes,
    "qwen-xml": calls.qwen_xml,
}


def main() -> None:
    repository, folder = map(Path, sys.argv[1:])
    folder.mkdir(parents=True, exist_ok=True)
    chain = learn(repository / "tests" / "corpus" / "dce")
    for number, (row, write) in enumerate(ROWS.items()):
        prose = Prose(chain, 20240607 + number)
        texts, size = [], 0
        while size < SIZE:
            text = write(prose, prose.dice.randint(2000, 7500)).replace("\x1e", "")
            if row == "json-broken" and is_json(text):
                continue
            texts.append(text)
            size += len(text.encode())
        (folder / f"{row}.txt").write_bytes("\x1e".join(texts).encode())
    (folder / "tools.json").write_text(json.dumps(calls.tools()))


if __name__ == "__main__":
    main()
