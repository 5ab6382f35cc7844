"""`show`, `stats`, `diff`, `cat`, `doctor`: what a person and a pipe read."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import rewind
from rewind.cli.app import run
from rewind.testing import Interaction, StandIn


def chat(text: str) -> dict[str, object]:
    return {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "gpt-4o-mini",
        "choices": [{"index": 0, "finish_reason": "stop",
                     "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 2_000_000, "completion_tokens": 1_000_000, "total_tokens": 3_000_000},
    }  # fmt: skip


PATH = "/v1/chat/completions"


@pytest.fixture
def wire(tmp_path, monkeypatch):
    """`run.rewind`: two chat completions and one refused, over real HTTP."""
    import httpx

    refused = Interaction.answer(
        PATH, {"error": {"message": "bad sk-proj-" + "a" * 40}}, status=400
    )
    played = [Interaction.answer(PATH, chat(t)) for t in ("Hello \x1b[31mred", "Bye")]
    monkeypatch.chdir(tmp_path)
    with StandIn([*played, refused]) as server, rewind.integrations.patched():
        with rewind.record("run.rewind", meta={"ticket": "T-1"}), httpx.Client() as client:
            for word in ("one", "two", "three"):
                client.post(
                    server.url + PATH,
                    headers={"Authorization": "Bearer sk-proj-" + "b" * 40},
                    json={"model": "gpt-4o-mini", "messages": [{"role": "user", "content": word}]},
                )
    return tmp_path / "run.rewind"


def output(capsys, *words: str, code: int = 0) -> str:
    assert run(list(words)) == code
    shown = capsys.readouterr()
    assert shown.err == ""
    return shown.out


def test_show_lists_the_steps_with_meta(wire, capsys):
    text = output(capsys, "show", "run.rewind")
    assert "3 steps" in text
    assert "ticket: T-1" in text
    assert "openai.chat" in text
    assert "Bye" in text
    assert "400" in text


def test_show_verbose_adds_what_was_asked_and_used(wire, capsys):
    text = output(capsys, "show", "-v", "run.rewind")
    assert "user: one" in text
    assert "2000000 in, 1000000 out" in text


def test_nothing_printed_steers_the_terminal_or_tells_a_key(wire, capsys):
    for words in (["show", "-v"], ["stats"], ["cat"]):
        text = output(capsys, *words, "run.rewind")
        assert "\x1b" not in text
        assert "sk-proj-" not in text


def test_the_stepper_moves_and_ends(wire, capsys, monkeypatch):
    import io

    monkeypatch.setattr(sys, "stdin", io.StringIO("n\np\nj 2\nj 9\nwhat\n\n"))
    text = output(capsys, "show", "-i", "run.rewind")
    rows = [line.split()[0] for line in text.splitlines() if "  openai.chat  " in line]
    assert [line for line in rows if line.isdigit()] == ["0", "1", "0", "2"]
    assert "there is no step 9" in text
    assert "this is the last step" in text


def test_stats_count_and_price(wire, capsys):
    text = output(capsys, "stats", "run.rewind", "--price", "gpt-4o-mini=1/2")
    assert "3 (3 llm)" in text
    assert "errors:   1" in text
    assert "$8.0000" in text
    assert "1 call recorded without usage" in text


def test_stats_without_cost_show_tokens_only(wire, capsys):
    text = output(capsys, "stats", "--no-cost", "run.rewind")
    assert "4000000" in text
    assert "$" not in text


def test_cat_prints_valid_json(wire, capsys):
    whole = json.loads(output(capsys, "cat", "run.rewind"))
    assert [event["seq"] for event in whole["events"]] == [0, 1, 2]
    one = json.loads(output(capsys, "cat", "run.rewind", "--event", "1"))
    assert one == whole["events"][1]
    assert one["request"]["messages"][0]["content"] == "two"
    assert one["response"]["choices"][0]["message"]["content"] == "Bye"
    assert one["wire"]["status"] == 200


def test_prices_from_a_file_and_from_the_command_line(wire, capsys):
    wire.with_name("p.json").write_text('{"gpt-4o-mini": {"input": 3, "output": 4}}')
    assert "$20" in output(capsys, "stats", "run.rewind", "--prices-file", "p.json")
    both = ("--prices-file", "p.json", "--price", "gpt-4o-mini=1/2")
    assert "$8" in output(capsys, "stats", "run.rewind", *both)


@pytest.mark.parametrize(
    ("text", "why"),
    [("{", "truncated"), ('{"m": 3}', "Expected `object`"), ('{"m": {"input": 1}}', "`output`"),
     ('{"m": {"input": -1, "output": 2}}', ">= 0"), (None, "No such file")],
)  # fmt: skip
def test_a_wrong_price_file_is_named(wire, capsys, text, why):
    if text is not None:
        wire.with_name("p.json").write_text(text)
    assert run(["stats", "run.rewind", "--prices-file", "p.json"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("rewind: p.json: ")
    assert why in error


def test_diff_of_a_trace_with_itself_is_0(wire, capsys):
    assert "3 equal" in output(capsys, "diff", "run.rewind", "run.rewind")


def test_an_unfinished_run_is_shown_as_such(wire, capsys):
    lines = wire.read_bytes().splitlines(keepends=True)
    wire.with_name("cut.rewind").write_bytes(b"".join(lines[:-1]))
    assert "did not finish" in output(capsys, "show", "cut.rewind")


COMMANDS = ("show", "show -v", "stats", "cat", "diff run.rewind")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_damaged_event_is_named_and_the_rest_shown(wire, capsys, command):
    raw = wire.read_bytes().replace(b'"Bye"', b'"Bee"')
    wire.with_name("bad.rewind").write_bytes(raw)
    assert run([*command.split(), "bad.rewind"]) == 2
    shown = capsys.readouterr()
    assert shown.err == "rewind: bad.rewind: line 6: checksum does not match (step 1)\n"
    assert "damage" in shown.out or command == "stats"
    assert "1970" not in shown.out


@pytest.mark.parametrize("command", COMMANDS)
def test_no_flipped_byte_makes_a_command_fail_otherwise(wire, capsys, command):
    whole = wire.read_bytes()
    ends = [i for i, byte in enumerate(whole) if byte == 0x0A]
    for start, end in zip([0, *(e + 1 for e in ends)], ends, strict=False):
        for place in {start + 2, (start + end) // 2, end - 3}:
            broken = whole[:place] + bytes([whole[place] ^ 2]) + whole[place + 1 :]
            wire.with_name("bad.rewind").write_bytes(broken)
            assert run([*command.split(), "bad.rewind"]) == 2, place
            assert capsys.readouterr().err.startswith("rewind: bad.rewind: "), place


def test_a_reader_that_leaves_early_is_no_error(wire):
    program = [sys.executable, "-c", "from rewind.cli import main; main()", "cat", "run.rewind"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as cat:
        cat.stdout.close()
        assert cat.stderr.read() == b""
    assert cat.returncode == 141


@pytest.mark.parametrize("command", ["show", "stats", "cat"])
@pytest.mark.parametrize(
    "content",
    [None, b"", b"{}\n", b"hello\n", b'{"rewind": 999}\n', b"\x00\xff\n", "directory"],
    ids=["missing", "empty", "foreign json", "text", "newer", "binary", "directory"],
)
def test_a_file_that_is_no_trace_is_one_line_and_exit_code_2(tmp_path, capsys, command, content):
    path = tmp_path / "x.rewind"
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content is not None:
        path.mkdir()
    assert run([command, str(path)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert len(shown.err.splitlines()) == 1
    assert "x.rewind" in shown.err


@pytest.mark.parametrize(
    "words",
    [["stats", "run.rewind", "--price", "x"], ["stats", "run.rewind", "--price", "m=1/x"],
     ["cat", "run.rewind", "--event", "9"], ["show"], ["nonsense"], ["diff", "run.rewind"],
     ["show", "run.rewind", "--odd"], ["diff", "run.rewind", "gone"]],
    ids=" ".join,
)  # fmt: skip
def test_bad_arguments_are_one_line_and_exit_code_2(wire, capsys, words):
    assert run(words) == 2
    shown = capsys.readouterr()
    assert len(shown.err.splitlines()) == 1
    assert shown.err.startswith("rewind: ")


def test_doctor_names_what_is_installed(capsys):
    code = run(["doctor"])
    text = capsys.readouterr().out
    assert code in (0, 1)
    assert sys.version.split()[0] in text
    assert "httpx" in text
    assert "openai" in text
    assert "pytest" in text


def test_doctor_finds_another_distribution_called_rewind(tmp_path, capsys, monkeypatch):
    info = tmp_path / "time_machine-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: time-machine\nVersion: 1.0\n")
    (info / "RECORD").write_text("rewind/__init__.py,,\n")
    (tmp_path / "rewind").mkdir()
    (tmp_path / "rewind/__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert run(["doctor"]) == 1
    assert "time-machine 1.0 also installs a top-level" in capsys.readouterr().out


def test_a_pipe_that_closes_is_no_error(cli, recorded, environment):
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "rewind", "cat", "run.rewind"],
        cwd=recorded.parent, env=environment, stdout=write, stderr=subprocess.PIPE, check=False,
    )  # fmt: skip
    os.close(write)
    assert done.stderr == b""
    assert done.returncode in (1, 141)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo terminal")
@pytest.mark.parametrize("no_color", [False, True])
def test_colours_only_where_they_are_wanted(recorded, environment, no_color):
    import pty

    ours, theirs = pty.openpty()
    environment = {k: v for k, v in environment.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    with subprocess.Popen(
        [sys.executable, "-m", "rewind", "show", "run.rewind"],
        cwd=recorded.parent, stdout=theirs,
        env={**environment, "TERM": "xterm-256color", **({"NO_COLOR": "1"} if no_color else {})},
    ) as running:  # fmt: skip
        os.close(theirs)
        text = b""
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:
                break
            if not piece:
                break
            text += piece
    os.close(ours)
    assert running.returncode == 0
    assert b"ask" in text
    assert (b"\x1b[3" in text) == (not no_color)


def test_no_command_shows_the_help(capsys):
    assert output(capsys) == output(capsys, "--help")
    assert "record" in output(capsys)
