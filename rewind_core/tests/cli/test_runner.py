"""`rewind record | replay | fork -- program`: the program runs as it always does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rewind.cli.app import run
from rewind.trace import Trace

PY = sys.executable


def test_a_recorded_program_replays_without_its_model(cli, recorded, place):
    live = Trace.open(recorded)
    assert [event.kind for event in live] == ["llm"] * 3
    again = cli("replay", "run.rewind", "--", PY, "agent.py")
    assert (again.returncode, again.stderr) == (0, "")
    assert again.stdout == "ONE ask\nTWO ask\nTHREE ask\n"


def test_a_fork_goes_live_at_its_step_and_is_saved(cli, recorded, place):
    (place / "live").write_text("again")
    words = ("fork", "run.rewind", "--at", "1", "-o", "fork.rewind", "--", PY, "agent.py")
    done = cli(*words)
    assert done.returncode == 0, done.stderr
    answers = [event.response["live"] for event in Trace.open(place / "fork.rewind")]
    assert answers == ["yes", "again", "again"]
    assert cli("diff", "run.rewind", "fork.rewind").returncode == 1


def test_a_divergence_is_reported_once_with_exit_code_3(cli, recorded):
    done = cli("replay", "run.rewind", "--", PY, "agent.py", "other")
    assert done.returncode == 3
    assert done.stderr.count("replay diverged") == 1
    assert "Traceback" not in done.stderr
    assert "agent.py, line" in done.stderr


@pytest.mark.parametrize("command", ["replay run.rewind", "fork run.rewind --at 3"])
def test_a_damaged_step_ends_the_run_with_its_line_named(cli, recorded, place, command):
    recorded.write_bytes(recorded.read_bytes().replace(b"TWO", b"TOW"))
    done = cli(*command.split(), "--", PY, "agent.py")
    assert done.returncode == 3
    assert done.stdout == "ONE ask\n"
    assert "run.rewind is damaged: line 5: checksum does not match (step 1)" in done.stderr
    assert "step 1 of the recording is damaged: line 5" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("swallow", ["except BaseException: pass", "except BaseException as e: raise ValueError('mine') from e"])  # fmt: skip
def test_a_miss_that_was_wrapped_still_ends_with_3_and_one_report(cli, recorded, place, swallow):
    library = place / "site-packages-like"
    library.mkdir()
    agent = (place / "agent.py").read_text().replace("for word", "import atexit\ntry:\n  ask('new')\n" + swallow + "\nfor word", 1)  # fmt: skip
    (place / "agent.py").write_text(agent)
    done = cli("replay", "run.rewind", "--", PY, "agent.py")
    if "raise" in swallow:
        assert done.returncode == 3
        assert done.stderr.count("replay diverged") == 1
        assert "ValueError: mine" in done.stderr
    else:
        # The program's own code caught it and went on: that is its decision.
        assert done.returncode == 0


def test_a_divergence_in_a_thread_is_reported_once_too(cli, recorded, place):
    agent = (place / "agent.py").read_text()
    thread = "import threading\nother = threading.Thread(target=ask, args=('new',))\nother.start(); other.join()\n"
    (place / "agent.py").write_text(agent.replace("for word", thread + "for word"))
    done = cli("replay", "run.rewind", "--", PY, "agent.py")
    assert done.returncode == 3
    assert done.stderr.count("replay diverged") == 1
    assert "Traceback" not in done.stderr


def test_a_skipped_step_found_at_exit_ends_with_3(cli, recorded):
    done = cli("replay", "run.rewind", "--", PY, "agent.py", "one", "three")
    assert done.returncode == 3
    assert "skipped" in done.stderr
    assert "Traceback" not in done.stderr


PROBE = """
import json, sys
print(json.dumps([sys.argv, sys.path[0], __name__, globals().get("__file__"), __package__ or ""]))
"""


@pytest.mark.parametrize(
    "words",
    [
        ["probe.py", "a", "--b", "--", "c"],
        ["sub/probe.py"],
        ["-m", "pack", "x"],
        ["-m", "pack.inner", "-v"],
        ["-um", "pack"],
        ["-c", PROBE.replace('globals().get("__file__")', "1"), "x", "-c"],
        ["-u", "-X", "utf8", "-Wignore", "probe.py"],
        ["-P", "probe.py"] if sys.version_info >= (3, 11) else ["-B", "probe.py"],
        ["folder", "y"],
        ["-"],
    ],
    ids=lambda words: " ".join(words)[:20].replace("\n", " "),
)
def test_argv_path_and_main_are_pythons_own(inner, place, environment, words):
    for name in ("probe.py", "sub/probe.py", "pack/__main__.py", "pack/inner.py", "folder/__main__.py"):  # fmt: skip
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text(PROBE)
    (place / "pack/__init__.py").write_text("")
    feed = PROBE.replace('globals().get("__file__")', "1") if words == ["-"] else ""
    plain = subprocess.run(
        [PY, *words], cwd=place, env=environment, input=feed, capture_output=True, text=True, check=True
    )  # fmt: skip
    done = inner(PY, *words, input=feed)
    assert done.returncode == 0, done.stderr
    assert done.stdout == plain.stdout


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import sys; sys.exit(7)", 7),
        ("import sys; sys.exit('no')", 1),
        ("raise SystemExit", 0),
        ("1 / 0", 1),
        ("import os; os._exit(9)", 9),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM),
        ("raise KeyboardInterrupt", -signal.SIGINT),
        ("import atexit; atexit.register(print, 'last')", 0),
    ],
)
def test_the_program_ends_as_it_ends_without_rewind(inner, place, environment, code, expected):
    (place / "end.py").write_text(code)
    plain = subprocess.run(
        [PY, "end.py"], cwd=place, env=environment, capture_output=True, text=True, check=False
    )
    done = inner(PY, "end.py")
    assert done.returncode == plain.returncode == expected
    assert (done.stdout, done.stderr) == (plain.stdout, plain.stderr)


def test_a_traceback_is_the_users_alone(inner, place, environment):
    (place / "fail.py").write_text("def inner():\n    raise LookupError('gone')\n\ninner()\n")
    plain = subprocess.run(
        [PY, "fail.py"], cwd=place, env=environment, capture_output=True, text=True, check=False
    )
    done = inner(PY, "fail.py")
    assert done.stderr == plain.stderr
    assert Trace.open(place / "t.rewind").complete


def test_a_syntax_error_reads_as_python_says_it(inner, place, environment):
    (place / "fail.py").write_text("x = = 1\n")
    plain = subprocess.run(
        [PY, "fail.py"], cwd=place, env=environment, capture_output=True, text=True, check=False
    )
    done = inner(PY, "fail.py")
    assert (done.returncode, done.stderr) == (1, plain.stderr)


def test_standard_input_reaches_the_program(cli, place):
    (place / "echo.py").write_text("import sys; print(sys.stdin.read()[::-1])")
    assert cli("record", "--", PY, "echo.py", input="abc").stdout == "cba\n"
    assert (place / "run.rewind").exists()


LATE = """
import atexit, threading
import rewind

@rewind.tool
def note(text):
    return text

gate = threading.Event()

def work():
    gate.wait()
    note("thread")

threading.Thread(target=work).start()
atexit.register(note, "exit")
note("main")
gate.set()
"""


def test_threads_and_exit_handlers_are_still_part_of_the_run(cli, place):
    (place / "late.py").write_text(LATE)
    done = cli("record", "--", PY, "late.py")
    assert done.returncode == 0, done.stderr
    trace = Trace.open(place / "run.rewind")
    assert [event.response for event in trace] == ["main", "thread", "exit"]
    again = cli("replay", "run.rewind", "--", PY, "late.py")
    assert (again.returncode, again.stderr) == (0, "")


HANGING = """
import signal, sys
import rewind

@rewind.tool
def note(text):
    return text

note("done")
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_signals_reach_the_program_and_what_was_done_is_kept(place, environment, sent):
    (place / "hang.py").write_text(HANGING)
    words = [PY, "-m", "rewind", "record", "--", PY, "hang.py"]
    with subprocess.Popen(
        words, cwd=place, env=environment, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as running:  # fmt: skip
        assert running.stdout is not None
        assert running.stdout.readline() == "ready\n"
        running.send_signal(sent)
        _, errors = running.communicate(timeout=30)
    assert running.returncode == -sent
    assert ("KeyboardInterrupt" in errors) == (sent == signal.SIGINT)
    trace = Trace.open(place / "run.rewind")
    assert [event.response for event in trace] == ["done"]
    assert trace.complete == (sent == signal.SIGINT)


def test_a_child_process_runs_unrecorded_and_one_line_says_so(cli, place, recorded):
    (place / "parent.py").write_text(
        "import subprocess, sys, os\n"
        "assert 'REWIND_RUN' not in os.environ\n"
        "for _ in range(2):\n"
        "    subprocess.run([sys.executable, '-c', 'print(\"child\")'], check=True)\n"
    )
    done = cli("record", "-o", "t.rewind", "--", PY, "parent.py")
    assert done.returncode == 0
    assert done.stdout == "child\nchild\n"
    assert done.stderr.splitlines() == [
        "rewind: the program starts a child process; its calls are not recorded"
    ]
    assert len(Trace.open(place / "t.rewind")) == 0


@pytest.mark.parametrize("kind", ["fork", "spawn"])
def test_multiprocessing_works_and_is_announced(inner, place, kind):
    (place / "pool.py").write_text(
        "import multiprocessing\n"
        "def double(x):\n    print(x * 2)\n"
        "if __name__ == '__main__':\n"
        f"    worker = multiprocessing.get_context('{kind}').Process(target=double, args=(4,))\n"
        "    worker.start(); worker.join()\n"
        "    print(worker.exitcode)\n"
    )
    done = inner(PY, "-u", "pool.py")
    assert done.stdout == "8\n0\n", done.stderr
    assert done.stderr.count("starts a child process") == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_leaves_the_trace_alone(cli, place):
    (place / "parent.py").write_text(
        "import os, sys, rewind\n"
        "@rewind.tool\n"
        "def note(text):\n    return text\n"
        "note('before')\n"
        "pid = os.fork()\n"
        "if not pid:\n    note('child')\n    sys.exit(0)\n"
        "os.waitpid(pid, 0)\n"
        "note('after')\n"
    )
    done = cli("record", "--", PY, "-W", "ignore", "parent.py")
    assert done.returncode == 0, done.stderr
    trace = Trace.open(place / "run.rewind")
    assert trace.complete
    assert [event.response for event in trace] == ["before", "after"]


def test_scripts_with_a_python_first_line_run(cli, place):
    script = place / "tool"
    script.write_text(f"#!{PY} -u\nimport sys; print(sys.argv, sys.stdout.write_through)")
    script.chmod(0o755)
    done = cli("record", "--", "./tool", "--flag")
    assert done.stdout == "['./tool', '--flag'] True\n", done.stderr


def test_programs_of_the_same_name_as_ours_do_not_get_in_the_way(cli, place):
    """The working directory is not on the path while rewind itself is loaded."""
    (place / "sub").mkdir()
    (place / "sub/agent.py").write_text("print('ran')")
    for name in ("json.py", "msgspec.py", "wrapt.py"):
        (place / name).write_text("raise RuntimeError('shadowed')")
    done = cli_in_other_place(cli, place)
    assert done.stdout == "ran\n", done.stderr


def cli_in_other_place(cli, place):
    """`rewind` is a console script for users, which has no working directory on its path."""
    code = "import sys; sys.path.pop(0); from rewind.cli import main; main()"
    return subprocess.run(
        [PY, "-c", code, "record", "-o", "t.rewind", "--", PY, "sub/agent.py"],
        cwd=place, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": _source()},
    )  # fmt: skip


def _source() -> str:
    import rewind

    return str(Path(rewind.__file__).resolve().parent.parent)


KEYS = "import os; print(bool(os.environ.get('OPENAI_API_KEY')), bool(os.environ.get('ANTHROPIC_API_KEY')))"  # fmt: skip


def test_missing_keys_are_filled_in_on_replay_only(cli, place):
    (place / "keys.py").write_text(KEYS)
    assert cli("record", "--", PY, "keys.py").stdout == "False False\n"
    assert cli("replay", "run.rewind", "--", PY, "keys.py").stdout == "True True\n"
    done = cli("fork", "run.rewind", "--at", "0", "--", PY, "keys.py")
    assert done.stdout == "False False\n"


def test_a_key_that_is_set_stays(cli, place):
    (place / "keys.py").write_text("import os; print(os.environ['OPENAI_API_KEY'])")
    cli("record", "--", PY, "-c", "")
    done = cli("replay", "run.rewind", "--", PY, "keys.py", env={"OPENAI_API_KEY": "mine"})
    assert done.stdout == "mine\n"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["record", "--"], "no program given"),
        (["record"], "no program given"),
        (["replay", "run.rewind"], "no program given"),
        (["record", "--", PY], "no program given"),
        (["record", "--", PY, "-X"], "needs a value"),
        (["record", "--", PY, "missing.py"], "there is no file missing.py"),
        (["record", "--", "no-such-program"], "there is no program no-such-program"),
        (["record", "--", "/no/such/python", "agent.py"], "there is no program /no/such/python"),
        (["record", "--", PY, "-S", "agent.py"], "rewind cannot be imported by"),
        (["record", "--", "ls"], "is not a Python program"),
        (["record", "--", "agent.py"], "run it as -- python agent.py"),
        (["replay", "gone.rewind", "--", PY, "agent.py"], "gone.rewind"),
        (["replay", "agent.py", "--", PY, "agent.py"], "agent.py"),
        (["fork", "run.rewind", "--at", "9", "--", PY, "agent.py"], "out of range"),
        (["fork", "run.rewind", "--at", "-1", "--", PY, "agent.py"], "out of range"),
        (["fork", "run.rewind", "--at", "x", "--", PY, "agent.py"], "--at"),
        (["fork", "run.rewind", "--", PY, "agent.py"], "--at"),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else "",
)
def test_bad_input_is_one_line_and_exit_code_2(recorded, words, text, capsys, monkeypatch):
    monkeypatch.chdir(recorded.parent)
    assert run(words) == 2
    shown = capsys.readouterr()
    assert text in shown.err
    assert len(shown.err.splitlines()) == 1
    assert shown.out == ""


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["record", "--", PY, "-m", "not_there_at_all"], "no module named not_there_at_all"),
        (["record", "-o", ".", "--", PY, "agent.py"], "."),
        (["replay", "run.rewind", "--match", "odd", "--", PY, "agent.py"], "odd"),
        (["fork", "run.rewind", "--at", "1", "-o", "run.rewind", "--", PY, "agent.py"], "run.rewind"),
    ],
    ids=["module", "directory", "match", "own parent"],
)  # fmt: skip
def test_what_only_the_inner_half_can_see_is_one_line_too(cli, recorded, words, text):
    before = recorded.read_bytes()
    done = cli(*words)
    assert done.returncode == 2
    assert text in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""
    assert recorded.read_bytes() == before


def test_launch_alone_says_what_it_is_for(place, environment):
    done = subprocess.run(
        [PY, "-m", "rewind.cli.launch"], cwd=place, env=environment, capture_output=True, text=True, check=False
    )  # fmt: skip
    assert done.returncode == 2
    assert "rewind record" in done.stderr
