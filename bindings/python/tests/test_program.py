"""Programs: what does a host call, and what raises?"""

from __future__ import annotations

import copy
import json
import pathlib
import pickle
from typing import Any

import pytest
from conftest import ANSWER, LAMP, ROOT, packs

import rulebook
from rulebook import effects, events

DESK = {
    "pack.toml": """
[pack]
name = "desk"
[actions.refund]
params  = { amount = { type = "number", required = true } }
effects = [{ emit = "refund", value = "{{ params.amount }}" }]
[actions.edit]
params  = { path = { type = "string" }, old = { type = "string" }, new = { type = "string" } }
effects = [{ edit = "{{ params.path }}", find = "{{ params.old }}", put = "{{ params.new }}" }]
[actions."files__*"]
[modes.chat]
permits = [{ action = "refund", confirm = "Refund {{ params.amount }}?" }, "edit", "files__read"]
[degradation]
edit-not-found = "ask-again"
[prompts.main]
layers = [{ id = "history", source = "history" }, { id = "message", source = "message" }]
[tiers.any]
context = 8000
reserve = 1000
"""
}


def openai(*calls: tuple[str, dict[str, Any]], content: str | None = None) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": content,
        "tool_calls": [
            {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
            for number, (name, arguments) in enumerate(calls)
        ],
    }


@pytest.fixture(scope="module")
def desk() -> rulebook.Program:
    return rulebook.Program.load(DESK)


def test_a_program_says_what_it_is(lamp: rulebook.Program) -> None:
    assert (lamp.name, lamp.version) == ("lamp", "1.2.0")
    assert lamp.modes == ("home", "away")
    assert lamp.actions == ("dim", "unlock_door")
    assert lamp.diagnostics == ()
    assert repr(lamp) == "<Program lamp 1.2.0: modes home, away>"


def test_an_outcome_has_the_members_of_its_contract(lamp: rulebook.Program) -> None:
    outcome = lamp.run(lamp.session(), ANSWER)
    assert outcome.message == "Good night."
    assert outcome.status == "degraded"
    assert [(call.action, call.params, call.verdict) for call in outcome.calls] == [
        ("dim", {"level": 10}, "accepted"),
        ("unlock_door", {}, "dropped"),
    ]
    assert outcome.calls[0].id is None and outcome.trace is None and outcome.withheld is None
    assert outcome.ledger.bytes == len(ANSWER) and outcome.calls[0].span == (31, 76)
    first, second = outcome.effects
    assert isinstance(first, effects.Emit) and (first.event, first.value) == ("dim", 10)
    assert isinstance(second, effects.Set) and (second.path, second.value) == ("note", "dimmed")
    assert outcome.session.state == {"note": "dimmed"} or outcome.session.state["note"] == "dimmed"
    assert not outcome.has_errors
    assert str(outcome.diagnostics[0]).startswith("3:1: warning[response/forbidden-call]: the mode `home` does not")
    assert repr(outcome).startswith("Outcome(status='degraded', mode='home', message='Good night.', calls=2,")
    assert repr(outcome.calls[1]) == "Call(action='unlock_door', params={}, verdict='dropped', span=(77, 105))"
    assert outcome.calls is outcome.calls


def test_objects_never_change(lamp: rulebook.Program) -> None:
    outcome = lamp.run(lamp.session(), ANSWER)
    for part, name in [(outcome, "message"), (outcome.calls[0], "action"), (outcome.effects[0], "event"), (outcome, "new")]:
        with pytest.raises(AttributeError):
            setattr(part, name, "x")
    with pytest.raises(TypeError):
        type(outcome)("x")  # type: ignore[arg-type]
    plain = outcome.to_dict()
    plain["calls"].clear()
    outcome.calls[0].params["level"] = 99
    assert outcome.to_dict()["calls"][0]["params"] == {"level": 10}
    with pytest.raises(TypeError):
        hash(outcome)


def test_a_trace_and_what_is_withheld_are_there_if_asked_for(lamp: rulebook.Program) -> None:
    outcome = lamp.run(lamp.session(), ANSWER, trace=True)
    assert outcome.trace is not None and {"call", "permit", "effect"} <= {step.step for step in outcome.trace}
    for step in outcome.trace:
        match step:
            case rulebook.steps.Permit(found=found):
                assert found
    assert json.loads(outcome.to_json()) == outcome.to_dict()


def test_every_event_is_matched(lamp: rulebook.Program) -> None:
    seen = []
    stream = lamp.stream(lamp.session(), [ANSWER[at : at + 5] for at in range(0, len(ANSWER), 5)])
    for event in stream:
        match event:
            case events.Opened(block=block, role=role):
                seen.append(f"{block} {role}")
            case events.Text(_, "message", text):
                seen.append(text)
            case events.Field(call, path, text):
                seen.append(f"{call} {'.'.join(path)}={text}")
            case events.Closed(block):
                seen.append(f"/{block}")
            case other:
                raise AssertionError(other)
    assert "".join(part for part in seen if part.strip("Good night.") == "") == "Good night."
    assert seen[-1] == "0 level=10" and "/2" in seen
    assert stream.outcome == lamp.run(lamp.session(), ANSWER)


def test_a_reader_takes_bytes_and_ends_once(lamp: rulebook.Program) -> None:
    with lamp.reader(lamp.session()) as reader:
        for byte in "<message>Ü</message>".encode():
            reader.push(bytes([byte]))
        assert reader.text == "<message>Ü</message>" and not reader.is_too_large
        outcome, told = reader.finish_with_events()
        assert outcome.message == "Ü" and isinstance(told, tuple)
        with pytest.raises(ValueError, match="has finished"):
            reader.push("x")
    with pytest.raises(ValueError, match="closed"):
        reader.finish()
    with lamp.reader(lamp.session()) as reader:
        reader.push(bytearray(b"<message>"))
        reader.push(memoryview(b"a"))
        with pytest.raises(TypeError, match="piece is a str or bytes, not int"):
            reader.push(1)  # type: ignore[arg-type]


def test_arguments_of_the_wrong_kind_raise(lamp: rulebook.Program) -> None:
    session = lamp.session()
    wrong: list[Any] = [None, 3, {}, ["a"]]
    for answer in wrong:
        with pytest.raises(TypeError, match="answer is a str or bytes"):
            lamp.run(session, answer)
    others: list[Any] = [None, {}, "home", lamp, lamp.run(session, "")]
    for other in others:
        with pytest.raises(TypeError, match="session is a Session"):
            lamp.run(other, "")
    for options, kind in [({"attempts": -1}, ValueError), ({"attempts": 10**30}, ValueError), ({"attempts": "1"}, TypeError),
                          ({"trace": 1}, TypeError), ({"dialect": 1}, TypeError), ({"other": 1}, TypeError)]:
        with pytest.raises(kind):
            lamp.run(session, "", **options)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        lamp.hear(session, b"x")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no provider is called x"):
        lamp.judge(session, "{}", "x")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="nothing is exported as x"):
        lamp.export("home", "x")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        rulebook.Program()


def test_a_pack_that_cannot_be_used_says_why_with_its_lines(tmp_path: pathlib.Path) -> None:
    broken = "[pack]\nname = \"lamp\"\n[actions.dim]\n[modes.home]\npermits = [\"dimm\"]\n"
    (tmp_path / "pack.toml").write_text(broken, encoding="utf-8")
    sources: list[Any] = [{"pack.toml": broken}, {"pack.toml": broken.encode()}, tmp_path, str(tmp_path)]
    for source in sources:
        with pytest.raises(rulebook.PackError) as raised:
            rulebook.Program.load(source)
        (fault,) = raised.value.diagnostics
        assert (fault.code, fault.line, fault.help) == ("pack/unknown-action", 5, "did you mean `dim`?")
        assert "5 │ permits = [\"dimm\"]\n" in str(raised.value) and "\x1b" not in str(raised.value)
        again = pickle.loads(pickle.dumps(raised.value))
        assert str(again) == str(raised.value) and again.diagnostics == raised.value.diagnostics
    assert str(tmp_path) in str(raised.value)
    with pytest.raises(FileNotFoundError):
        rulebook.Program.load(tmp_path / "none")
    for source, kind in [(3, TypeError), (b"x", TypeError), ({"pack.toml": 3}, TypeError), ({3: ""}, TypeError)]:
        with pytest.raises(kind):
            rulebook.Program.load(source)  # type: ignore[arg-type]


def test_packs_use_others_from_memory_and_from_the_engine() -> None:
    house = '[pack]\nname = "house"\n[actions.dim]\n'
    lamp = '[pack]\nname = "lamp"\nuse = ["../house", "std:hermes"]\n[modes.home]\npermits = ["dim"]\n'
    program = rulebook.Program.load({"pack.toml": lamp, "../house": {"pack.toml": house}})
    assert program.actions == ("dim",)
    assert rulebook.Program.load("std:hermes").name
    assert pickle.loads(pickle.dumps(program)).actions == ("dim",)


def test_a_pack_in_memory_is_called_by_its_name() -> None:
    program = rulebook.Program.load(LAMP, name="lamp")
    assert program.run(program.session(), ANSWER).effects[0].cause == "lamp/pack.toml:17:12"
    with pytest.raises(TypeError, match="name is for a pack that is a dict"):
        rulebook.Program.load("std:hermes", name="lamp")


def test_a_pickled_program_cites_the_same_places() -> None:
    used = [pack for pack in packs() if "use " in (pack / "pack.toml").read_text(encoding="utf-8")]
    assert len(used) > 5
    for pack in used:
        program = rulebook.Program.load(pack)
        again = pickle.loads(pickle.dumps(program))
        for answer in (ANSWER, "", "<think>a</think>b ```c"):
            one, other = (each.run(each.session(), answer, trace=True) for each in (program, again))
            assert one.to_json() == other.to_json(), pack


def test_check_is_the_report_of_the_command(run_command: Any) -> None:
    for pack in ["rules/writers-factory", "rules/couple-ai", "tests/packs/confirming", "examples/notes"]:
        report = rulebook.check(ROOT / pack)
        _, out, _ = run_command("check", ROOT / pack, "--format", "json")
        assert report.to_dict() == json.loads(out)
        assert rulebook.Program.load(ROOT / pack).check() == report
    report = rulebook.check({"pack.toml": "[pack]\nname = 3\n"})
    assert report.has_errors and "name = 3" in report.drawn
    assert pickle.loads(pickle.dumps(report)).drawn == report.drawn
    unused = rulebook.check(LAMP)
    assert [found.code for found in unused.diagnostics] and not unused.has_errors


def test_a_session_is_kept_as_json(lamp: rulebook.Program) -> None:
    session = lamp.session().replace(now="2026-05-04", state={"reader": "Ada"})
    assert (session.mode, session.now, session.state["reader"]) == ("home", "2026-05-04", "Ada")
    assert session.replace(now=None).now is None and session.replace(mode="away").mode == "away"
    kept: list[Any] = [session, session.to_dict(), session.to_json(), session.to_json().encode()]
    for one in kept:
        assert lamp.resume(one) == session
    with pytest.raises(rulebook.SessionError, match="the pack's state has no `mood`"):
        lamp.resume({"state": {"mood": "calm"}})
    with pytest.raises(rulebook.SessionError):
        lamp.resume({"mode": "nowhere"})
    with pytest.raises(ValueError):
        lamp.resume("{")
    old, lost = lamp.resume_lossy({"mode": "nowhere", "state": {"mood": "calm", "reader": "Ada"}})
    assert (old.mode, old.state["reader"], len(lost)) == ("home", "Ada", 2)
    outside: list[Any] = [object(), {1: 2}, float("nan"), float("inf"), 2**64, [{"a": {"b"}}]]
    for value in outside:
        with pytest.raises((TypeError, ValueError)):
            session.replace(state={"reader": value})
    deep: Any = []
    for _ in range(10_000):
        deep = [deep]
    with pytest.raises(ValueError, match="levels deep"):
        session.replace(state={"reader": deep})
    assert session.replace(state={"note": (1, True, None, 0.5, -(2**63), 2**64 - 1)}).state["note"] == [
        1, True, None, 0.5, -(2**63), 2**64 - 1]


def test_native_calls_are_judged(desk: rulebook.Program) -> None:
    session = desk.session()
    message = openai(("refund", {"amount": 5}), ("erase", {}), content="Let me see.")

    class Sdk:
        def model_dump_json(self) -> str:
            return json.dumps({"choices": [{"message": message}]})

    forms: list[Any] = [message, json.dumps(message), json.dumps(message).encode(), Sdk()]
    outcomes = [desk.judge(session, one, "openai") for one in forms]
    assert all(one == outcomes[0] for one in outcomes)
    outcome = outcomes[0]
    assert outcome.message == "Let me see."
    assert [(call.id, call.verdict) for call in outcome.calls] == [("call_0", "pending"), ("call_1", "dropped")]
    (refused,) = outcome.tool_results("openai")
    assert refused["tool_call_id"] == "call_1" and "not carried out" in refused["content"]
    parts = {"parts": [{"type": "call", "id": "call_0", "name": "refund", "arguments": {"amount": 5}}]}
    assert desk.judge(session, parts).calls[0].verdict == "pending"
    for wrong in ["{}", "no JSON", {"error": {"message": "overloaded"}}, ""]:
        with pytest.raises(rulebook.ReplyError) as raised:
            desk.judge(session, wrong, "openai")
        assert raised.value.diagnostics and isinstance(raised.value, ValueError)


def test_half_a_surrogate_pair_in_a_message_is_no_silent_loss(desk: rulebook.Program) -> None:
    session = desk.session()
    half = openai(("refund", {"amount": 5}), content="a\ud83d")
    forms: list[Any] = [half, json.dumps(half)]
    for form in forms:
        with pytest.raises(rulebook.ReplyError, match="half of a surrogate pair"):
            desk.judge(session, form, "openai")
        with pytest.raises(rulebook.ReplyError, match="half of a surrogate pair"):
            delta = {"choices": [{"delta": form if isinstance(form, dict) else json.loads(form)}]}
            desk.reader(session).push_chunk("openai", delta)
    assert desk.judge(session, openai(content="\ud83d\ude00"), "openai").message == "\U0001f600"
    wrong: list[Any] = [object(), {"content": {1, 2}}, {"content": float("nan")}]
    for message in wrong:
        with pytest.raises((TypeError, ValueError)):
            desk.judge(session, message, "openai")
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ValueError, match="nested too deep"):
        desk.judge(session, deep, "openai")


def test_a_person_confirms_or_declines(desk: rulebook.Program) -> None:
    asked = desk.judge(desk.session(), openai(("refund", {"amount": 5})), "openai")
    assert asked.effects == () and asked.session.pending["p-1"].question == "Refund 5?"
    with pytest.raises(TypeError):
        asked.session.pending["p-2"] = None  # type: ignore[index]
    kept = desk.resume(asked.session.to_json())
    done = desk.confirm(kept, "p-1")
    assert [effect.value for effect in done.effects if isinstance(effect, effects.Emit)] == [5]
    assert desk.confirm(done.session, "p-1").status == "refused"
    declined = desk.decline(kept, "p-1")
    assert declined.effects == () and declined.tool_results("anthropic")[0]["tool_use_id"] == "call_0"
    # What was asked is answered by the id of the call: a host says what its tool returned, the outcome why it did not run.
    assert asked.tool_results("openai") == [] and done.tool_results("openai") == []
    assert [(call.id, call.verdict) for call in done.calls] == [("call_0", "accepted")]
    assert [one["tool_call_id"] for one in declined.tool_results("openai")] == ["call_0"]
    assert desk.confirm(done.session, "p-1").tool_results("openai") == []
    assert dict(declined.session.pending) == {}


def test_an_answer_whose_edits_do_not_fit_is_taken_back(desk: rulebook.Program) -> None:
    session = desk.session()
    outcome = desk.judge(session, openai(("edit", {"path": "a.txt", "old": "teh", "new": "the"})), "openai")
    (edit,) = outcome.effects
    assert isinstance(edit, effects.Edit) and (edit.find, edit.match, edit.all) == ("teh", ("exact",), False)
    assert edit.origin is not None and edit.origin.line == 1
    miss: rulebook.Miss = {"effect": 0, "kind": "not-found", "at": [{"line": 7, "text": "Then the end."}]}
    rejected = desk.reject(session, outcome, [miss])
    assert (rejected.status, rejected.effects) == ("refused", ())
    assert rejected.ask_again is not None and "Then the end." in rejected.ask_again
    assert rejected.diagnostics[0].file_lines[0].text == "Then the end."
    assert desk.reject(session, outcome, [miss], attempts=9).ask_again is None
    assert desk.reject(session, outcome, []) == outcome
    with pytest.raises(ValueError, match="misses"):
        desk.reject(session, outcome, [{"effect": 0, "kind": "gone"}])  # type: ignore[typeddict-item]


def test_tools_of_the_host_are_added(desk: rulebook.Program) -> None:
    read = {"name": "files__read", "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}}}
    tools = [read, {"name": "files__erase", "inputSchema": {"type": "object"}}, {"name": "other", "inputSchema": {}}]
    forms: list[Any] = [tools, json.dumps(tools), {"tools": tools}]
    for form in forms:
        program = desk.with_tools(form)
        assert "files__read" in program.actions and "other" not in program.actions
        assert [found.code for found in program.diagnostics] == ["pack/undeclared-tool"]
        assert program.digest != desk.digest
        outcome = program.judge(program.session(), openai(("files__read", {"path": "a"}), ("files__erase", {})), "openai")
        assert [call.verdict for call in outcome.calls] == ["accepted", "dropped"]
    assert rulebook.Program.load(DESK, tools=tools).actions == program.actions
    again = pickle.loads(pickle.dumps(program))
    assert again.actions == program.actions and again.diagnostics == program.diagnostics
    with pytest.raises(rulebook.PackError, match="no list of tools"):
        desk.with_tools({"a": 1})
    with pytest.raises(rulebook.PackError, match="not JSON"):
        desk.with_tools("[")
    assert {row.permitted for row in program.check().permits} >= {"always", "never"}


def test_limits_bound_what_an_answer_may_cause(lamp: rulebook.Program) -> None:
    few = rulebook.Program.load(LAMP, limits={"calls": 1, "diagnostics": 1})
    assert len(lamp.run(lamp.session(), ANSWER).calls) == 2
    outcome = few.run(few.session(), ANSWER)
    assert len(outcome.calls) == 1 and "response/too-large" in [found.code for found in outcome.diagnostics]
    short = lamp.with_limits({"input": 10})
    unread = short.run(short.session(), ANSWER)
    assert (unread.message, unread.calls) == ("", ()) and [found.code for found in unread.diagnostics] == ["response/too-large"]
    with short.reader(short.session()) as reader:
        reader.push(ANSWER)
        assert reader.is_too_large
    # Limits stay with the tools, in a pickle and in the digest; and what is not named is the default.
    tools = [{"name": "x", "inputSchema": {"type": "object"}}]
    for one in (few.with_tools(tools), pickle.loads(pickle.dumps(few)), pickle.loads(pickle.dumps(few.with_tools(tools)))):
        assert len(one.run(one.session(), ANSWER).calls) == 1
    assert len({lamp.digest, few.digest, short.digest}) == 3
    assert few.with_limits({}).digest == lamp.digest and len(few.with_limits({}).run(lamp.session(), ANSWER).calls) == 2
    assert few.with_limits({"steps_per_byte": 2**63, "depth": 10**9}).run(lamp.session(), ANSWER).calls
    with pytest.raises(TypeError, match="no limit `call`"):
        rulebook.Program.load(LAMP, limits={"call": 1})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="negative"):
        lamp.with_limits({"calls": -1})


def test_a_history_is_read_as_the_command_reads_it(desk: rulebook.Program, lamp: rulebook.Program) -> None:
    past = lamp.turn(lamp.session(), ANSWER)
    answered = json.dumps({"role": "assistant", "content": ANSWER, "mode": "home"})
    lines = "\n".join(['{"role": "user", "content": "Hello"}', "", answered, past.to_json()])
    forms: list[Any] = [lines, lines.encode()]
    for form in forms:
        turns = lamp.history(lamp.session(), form)
        assert [(turn.role, turn.content) for turn in turns] == [("user", "Hello")] + [("assistant", "Good night.")] * 2
        assert turns[1] == turns[2] == past and turns[0] == rulebook.Turn.user("Hello")
    assert lamp.history(lamp.session(), "") == ()
    assert len(desk.prompt(desk.session(), "More", history=desk.history(desk.session(), lines)).messages) > 1
    with pytest.raises(rulebook.HistoryError, match="history:2") as raised:
        lamp.history(lamp.session(), '{"role": "user", "content": "Hello"}\n{"role": "nobody"}\nno JSON')
    assert [(found.code, found.line) for found in raised.value.diagnostics] == [("prompt/bad-history", 2), ("prompt/bad-history", 3)]


def test_a_prompt_is_assembled(desk: rulebook.Program) -> None:
    session = desk.session()
    outcome = desk.judge(session, openai(("refund", {"amount": 5}), content="One moment."), "openai")
    turns = [rulebook.Turn.user("Give it back."), rulebook.Turn.answer(outcome)]
    prompt = desk.prompt(session, "Well?", history=turns)
    assert [(one.role, one.content) for one in prompt.messages][0] == ("user", "Give it back.")
    assert prompt.messages[-1].content == "Well?" and prompt.text.endswith("Well?") and len(prompt.texts) == 2
    assert not prompt.has_errors and prompt.ledger.estimated
    plain: list[Any] = [turn.to_dict() for turn in turns]
    assert desk.prompt(session, "Well?", history=json.loads(json.dumps(plain))) == prompt
    counted = desk.prompt(session, "Well?", history=turns, counter=lambda text: len(text.split()))
    assert counted.ledger.tokens < prompt.ledger.tokens
    assert pickle.loads(pickle.dumps(prompt)).text == prompt.text

    def broken(text: str) -> int:
        raise RuntimeError("no vocabulary")

    with pytest.raises(RuntimeError, match="no vocabulary"):
        desk.prompt(session, "Well?", counter=broken)
    assert desk.prompt(session, "Well?", prompt="none").has_errors
    assert desk.turn(session, "Plain words.").content == "Plain words."
    assert rulebook.Turn.system("x").role == "system" and rulebook.Turn.assistant("x").outcome is None
    with pytest.raises(ValueError, match="history"):
        desk.prompt(session, "Well?", history=[{"role": "nobody", "content": ""}])


def test_rules_are_exported_to_a_server(lamp: rulebook.Program) -> None:
    exported = lamp.export("home", "openai-tools")
    assert [tool["function"]["name"] for tool in exported.value] == ["dim"] and exported.diagnostics == ()
    assert lamp.export("home", "anthropic-tools", strict=True).value[0]["strict"] is True
    with pytest.raises(rulebook.PackError, match="no mode `nowhere`"):
        lamp.export("nowhere", "openai-tools")
    with pytest.raises(rulebook.PackError):
        lamp.export("home", "json-schema")


def test_everything_pickles_and_copies(lamp: rulebook.Program) -> None:
    session = lamp.session()
    outcome = lamp.run(session, ANSWER, trace=True)
    reader = lamp.reader(session)
    told = reader.push(ANSWER)
    parts: list[Any] = [outcome, session, lamp.hear(session, "Hello"), lamp.prompt(session), *outcome.calls, *outcome.effects,
                        *outcome.diagnostics, *(outcome.trace or ()), *told, rulebook.Turn.user("x"), outcome.ledger]
    for part in parts:
        for again in (pickle.loads(pickle.dumps(part)), copy.copy(part), copy.deepcopy(part)):
            assert again == part and type(again) is type(part) and again.to_json() == part.to_json()
        assert part != part.to_dict() and json.loads(part.to_json()) == part.to_dict()
        assert eval(repr(type(part).__name__)) == type(part).__name__
    program = pickle.loads(pickle.dumps(lamp))
    assert program.digest == lamp.digest and program.run(session, ANSWER) == lamp.run(session, ANSWER)
    assert pickle.loads(pickle.dumps(lamp)) is program
    make, arguments = lamp.__reduce__()
    with pytest.raises(ValueError, match="was changed"):
        make("0" * 64, *arguments[1:])


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\ud83d\ude00", "<message>\ud800</message>", "\x00\x7f\u2028"])
def test_any_text_is_carried(lamp: rulebook.Program, text: str) -> None:
    session = lamp.session()
    outcome = lamp.run(session, text)
    written = text.encode("utf-8", "surrogatepass")
    assert outcome == lamp.run(session, written)
    has_surrogates = any("\ud800" <= one <= "\udfff" for one in text)
    codes = [found.code for found in outcome.diagnostics]
    assert ("response/not-utf-8" in codes) == has_surrogates
    lone = "\ufffd" if text not in ("\ud83d\ude00",) else "\U0001f600"
    heard = lamp.hear(session, text)
    assert heard.text == (lone if len(text) < 3 and has_surrogates else heard.text)
    kept = session.replace(state={"reader": text}).state["reader"]
    assert "\ufffd" in kept or kept in (text, "\U0001f600")
