"""Processes: may threads share a program, and do others have it?"""

from __future__ import annotations

import gc
import multiprocessing
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from conftest import ANSWER, LAMP

import rulebook

ANSWERS = [ANSWER.replace("10", str(level)) for level in range(0, 200)]


def judged(program: rulebook.Program, answer: str) -> str:
    return program.run(program.session(), answer).to_json()


def test_threads_share_a_program_and_an_outcome(lamp: rulebook.Program) -> None:
    alone = [judged(lamp, answer) for answer in ANSWERS]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda answer: judged(lamp, answer), ANSWERS * 5)) == alone * 5
    for _ in range(50):
        outcome = lamp.run(lamp.session(), ANSWER)
        together = threading.Barrier(8)

        def read() -> tuple[Any, ...]:
            together.wait()
            return outcome.calls, outcome.effects, outcome.session, outcome.ledger

        with ThreadPoolExecutor(8) as pool:
            seen = [future.result() for future in [pool.submit(read) for _ in range(8)]]
        # All have the objects that were made first.
        assert all(one is other for parts in seen for one, other in zip(parts, seen[0]))


def test_a_reader_may_move_between_threads(lamp: rulebook.Program) -> None:
    reader = lamp.reader(lamp.session())
    for piece in [ANSWER[at : at + 9] for at in range(0, len(ANSWER), 9)]:
        thread = threading.Thread(target=reader.push, args=(piece,))
        thread.start()
        thread.join()
    assert reader.finish() == lamp.run(lamp.session(), ANSWER)


def test_the_interpreter_is_free_while_the_engine_works(lamp: rulebook.Program) -> None:
    ticks = []
    done = threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks.append(1)
            done.wait(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    before = len(ticks)
    lamp.run(lamp.session(), "<message>" + "a <b> " * 1_500_000)
    during = len(ticks) - before
    done.set()
    thread.join()
    assert during > 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_goes_on(lamp: rulebook.Program) -> None:
    expected = [judged(lamp, answer) for answer in ANSWERS]
    reader = lamp.reader(lamp.session())
    reader.push(ANSWER[:40])
    child = os.fork()
    if child == 0:
        reader.push(ANSWER[40:])
        right = [judged(lamp, answer) for answer in ANSWERS] == expected and reader.finish().message == "Good night."
        os._exit(0 if right else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    reader.push(ANSWER[40:])
    assert reader.finish() == lamp.run(lamp.session(), ANSWER)


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_workers_have_the_program(method: str) -> None:
    program = rulebook.Program.load(LAMP)
    expected = [judged(program, answer) for answer in ANSWERS]
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.starmap(judged, [(program, answer) for answer in ANSWERS]) == expected
        outcomes = pool.starmap(program.run, [(program.session(), answer) for answer in ANSWERS[:20]])
    assert [outcome.to_json() for outcome in outcomes] == expected[:20]


def resident() -> int:
    """The memory of this process, in bytes."""
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_many_runs_take_no_more_memory_than_a_few(lamp: rulebook.Program) -> None:
    session = lamp.session()

    def once(number: int) -> None:
        outcome = lamp.run(session, ANSWERS[number % len(ANSWERS)])
        if number % 8 == 0:
            outcome.calls, outcome.effects, outcome.session.state, outcome.diagnostics
            outcome.to_dict(), outcome.to_json(), repr(outcome)
        if number % 32 == 0:
            reader = lamp.reader(outcome.session)
            reader.push(ANSWER), reader.finish(), lamp.resume(outcome.session.to_json())
        if number % 64 == 0:
            with pytest.raises(TypeError):
                lamp.run(session, number)  # type: ignore[arg-type]

    for number in range(50_000):
        once(number)
    gc.collect()
    before = resident()
    for number in range(250_000):
        once(number)
    gc.collect()
    # Less than nine bytes for each run.
    assert resident() - before < 2 << 20


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_loading_again_and_again_takes_no_more_memory() -> None:
    for _ in range(50):
        rulebook.Program.load(LAMP)
    before = resident()
    for _ in range(500):
        program = rulebook.Program.load(LAMP)
        program.run(program.session(), ANSWER)
    gc.collect()
    assert resident() - before < 8 << 20
