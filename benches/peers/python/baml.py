"""Driver: how long does BAML's parser take for answers that are one object, valid or broken?

In: `baml.py CORPUS MILLISECONDS ROW...`.
Out: lines of `row TAB engine TAB µs per 4 KB`.
Never: asks a model; only the parser for its answers runs.
"""

import os
import sys
import tempfile
import types

os.environ["BAML_LOG"] = "off"

from baml_py import BamlRuntime  # noqa: E402 - it reads the variable above when it is imported
from peers import Cycle, File, Step  # noqa: E402
from timing import answers, measure  # noqa: E402

SOURCE = """
client<llm> Nobody {
  provider openai-generic
  options {
    base_url "http://127.0.0.1:9"
    model "none"
    api_key "none"
  }
}
class Step {
  step int
  description string
}
class File {
  path string
  content string
}
class Cycle {
  summary string
  course_of_action Step[]
  files_updated string[]?
  curator_activity string?
  files File[]
}
function Extract(text: string) -> Cycle {
  client Nobody
  prompt #"{{ text }} {{ ctx.output_format }}"#
}
"""


def reader():
    """BAML's parser for answers of the type `Cycle`."""
    runtime = BamlRuntime.from_files(tempfile.gettempdir(), {"main.baml": SOURCE}, {})
    context = runtime.create_context_manager()
    classes = types.ModuleType("classes")
    for made in (Step, File, Cycle):
        setattr(classes, made.__name__, made)
    return lambda text: runtime.parse_llm_response(
        "Extract", text, classes, classes, classes, False, context, None, None, {}
    )


if __name__ == "__main__":
    corpus, milliseconds, *rows = sys.argv[1:]
    read = reader()
    for row in rows:
        if row in ("json-valid", "json-broken"):
            measure(row, "baml-py", answers(corpus, row), read, int(milliseconds) / 1e3)
