"""Files: does a plan say what a commit does, and is nothing written that should not be?"""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any

import pytest

import rulebook
from rulebook import files

CODER = {
    "pack.toml": r"""
[pack]
name = "coder"
[dialects.tagged]
grammar = "tags"
blocks.edit   = { role = "call", payload = "tags" }
blocks.save   = { role = "call", payload = "tags" }
blocks.rename = { role = "call", payload = "tags" }
blocks.erase  = { role = "call", payload = "tags" }
[modes.code]
permits = ["edit", "save", "rename", "erase"]

[actions.edit]
params  = { path = { type = "string", required = true }, old = { type = "string" }, new = { type = "string" } }
effects = [{ edit = "{{ params.path }}", find = "{{ params.old }}", put = "{{ params.new }}" }]
[actions.save]
params  = { path = { type = "string", required = true }, text = { type = "string", required = true } }
effects = [{ write = "{{ params.path }}", value = "{{ params.text }}" }]
[actions.rename]
params  = { path = { type = "string", required = true }, to = { type = "string", required = true } }
effects = [{ move = "{{ params.path }}", to = "{{ params.to }}" }]
[actions.erase]
params  = { path = { type = "string", required = true } }
effects = [{ delete = "{{ params.path }}" }]
"""
}
ANSWER = """<edit><path>a.txt</path><old>teh</old><new>the</new></edit>
<save><path>made/b.txt</path><text>new</text></save>
<rename><path>c.txt</path><to>made/c.txt</to></rename>
<erase><path>d.txt</path></erase>"""
EDIT = "<edit><path>a.txt</path><old>teh</old><new>the</new></edit>"


@pytest.fixture(scope="module")
def coder() -> rulebook.Program:
    return rulebook.Program.load(CODER)


@pytest.fixture
def root(tmp_path: pathlib.Path) -> pathlib.Path:
    root = tmp_path / "root"
    root.mkdir()
    for name, text in [("a.txt", "teh end\n"), ("c.txt", "c\n"), ("d.txt", "d\n")]:
        (root / name).write_text(text, encoding="utf-8", newline="")
    return root


def held(root: pathlib.Path) -> dict[str, str]:
    """All files below a folder."""
    return {
        path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in root.rglob("*") if path.is_file()
    }


def test_a_plan_says_what_a_commit_does(coder: rulebook.Program, root: pathlib.Path) -> None:
    before = held(root)
    outcome = coder.run(coder.session(), ANSWER)
    plan = files.plan(root, outcome)
    assert plan.can_commit and plan.misses == () and plan.diagnostics == ()
    assert [(one.kind, one.path, one.moved_from) for one in plan.changes] == [
        ("replaced", "a.txt", None), ("created", "made/b.txt", None), ("moved", "made/c.txt", "c.txt"), ("deleted", "d.txt", None),
    ]  # fmt: skip
    edited, made, moved, deleted = plan.changes
    assert (edited.before, edited.text, edited.size) == (b"teh end\n", "the end\n", 8)
    assert (made.before, made.text) == (None, "new\n")
    assert (moved.before, deleted.before, deleted.text, deleted.size) == (b"c\n", b"d\n", None, 0)
    assert held(root) == before
    changes = plan.commit()
    assert [(one.kind, one.path) for one in changes] == [(one.kind, one.path) for one in plan.changes]
    assert held(root) == {"a.txt": "the end\n", "made/b.txt": "new\n", "made/c.txt": "c\n"}
    assert os.listdir(root) and not [name for name in os.listdir(root) if name.startswith(".")]
    with pytest.raises(ValueError, match="once"):
        plan.commit()


def test_a_commit_does_what_the_command_does(
    coder: rulebook.Program, root: pathlib.Path, tmp_path: pathlib.Path, run_command: Any
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for name, text in held(root).items():
        (other / name).write_text(text, encoding="utf-8", newline="")
    pack = tmp_path / "pack"
    pack.mkdir()
    (pack / "pack.toml").write_text(CODER["pack.toml"], encoding="utf-8")
    (tmp_path / "answer.txt").write_text(ANSWER, encoding="utf-8")
    status, out, err = run_command("apply", pack, tmp_path / "answer.txt", "--root", other, "--format", "json")
    assert status == 0, err
    changes = files.plan(root, coder.run(coder.session(), ANSWER)).commit()
    reported = [(one["key"], one.get("from"), one["change"], one["bytes"]) for one in json.loads(out)["files"]]
    assert [(one.path, one.moved_from, one.kind, one.size) for one in changes] == reported
    assert held(root) == held(other)


def test_effects_that_do_not_fit_reject_the_outcome(coder: rulebook.Program, root: pathlib.Path) -> None:
    before = held(root)
    session = coder.session()
    outcome = coder.run(session, "<save><path>new.txt</path><text>x</text></save>" + EDIT.replace("teh", "nowhere"))
    plan = files.plan(root, outcome)
    assert not plan.can_commit
    assert [(miss["effect"], miss["kind"]) for miss in plan.misses] == [(1, "not-found")]
    assert {change.kind for change in plan.changes} == {"left"}
    with pytest.raises(rulebook.CommitError, match=r"Program\.reject"):
        plan.commit()
    assert held(root) == before
    rejected = coder.reject(session, outcome, plan.misses)
    assert rejected.status == "refused" and rejected.effects == ()
    assert "response/edit-not-found" in [found.code for found in rejected.diagnostics]
    assert files.plan(root, rejected).changes == ()


def test_a_file_that_was_changed_since_is_left_with_all_others(coder: rulebook.Program, root: pathlib.Path) -> None:
    plan = files.plan(root, coder.run(coder.session(), ANSWER))
    (root / "a.txt").write_text("teh other end\n", encoding="utf-8", newline="")
    before = held(root)
    with pytest.raises(rulebook.CommitError, match="changed by another program") as raised:
        plan.commit()
    assert [found.code for found in raised.value.diagnostics] == ["workspace/cannot-write"]
    assert held(root) == before


def test_what_must_not_be_written_is_an_error_of_the_plan(coder: rulebook.Program, root: pathlib.Path) -> None:
    (root / "folder.txt").mkdir()
    plan = files.plan(root, coder.run(coder.session(), EDIT + "<save><path>folder.txt</path><text>x</text></save>"))
    assert not plan.can_commit and plan.misses == ()
    assert [(found.severity, found.code) for found in plan.diagnostics] == [("error", "workspace/not-a-file")]
    with pytest.raises(rulebook.CommitError, match="is a folder"):
        plan.commit()
    assert held(root)["a.txt"] == "teh end\n"


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_no_link_leads_out_of_the_folder(coder: rulebook.Program, root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (root / "link").symlink_to(outside, target_is_directory=True)
    plan = files.plan(root, coder.run(coder.session(), "<save><path>link/x.txt</path><text>x</text></save>"))
    with pytest.raises(rulebook.CommitError):
        plan.commit()
    assert held(outside) == {}


def test_an_outcome_without_files_changes_none(lamp: rulebook.Program, root: pathlib.Path) -> None:
    before = held(root)
    outcome = lamp.run(lamp.session(), '<action type="dim"><level>10</level></action>')
    plan = files.plan(str(root), outcome)
    assert outcome.effects and plan.changes == () and plan.can_commit and plan.commit() == ()
    assert files.plan(root, lamp.hear(lamp.session(), "Hello")).changes == ()
    assert held(root) == before


def test_wrong_arguments_raise(coder: rulebook.Program, root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    outcome = coder.run(coder.session(), EDIT)
    with pytest.raises(OSError, match="nowhere"):
        files.plan(tmp_path / "nowhere", outcome)
    given: Any
    for given in (outcome.effects, outcome.session, None, outcome.to_dict()):
        with pytest.raises(TypeError, match="result is an Outcome or a Heard"):
            files.plan(root, given)
    given = b"root"
    with pytest.raises(TypeError, match="root is a str"):
        files.plan(given, outcome)
