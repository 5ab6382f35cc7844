"""What survives `kill -9`, a full disk, a busy path and a foreign user."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import rewind

KILLED = """
import sys, rewind, openai
rewind.patch_openai()
ask = rewind.tool(lambda x: x * 2, name="double")
client = openai.OpenAI(base_url=sys.argv[1], api_key="k", max_retries=0)

def agent():
    print("double", ask(1), ask(2), flush=True)
    stream = client.chat.completions.create(
        model="m", stream=True, messages=[{"role": "user", "content": "x"}])
    for chunk in stream:
        print("chunk", chunk.choices[0].delta.content, flush=True)

with getattr(rewind, sys.argv[2])(sys.argv[3]):
    agent()
"""

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
EVENT = b'data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"part"}}]}\n\n'


def stalling_server() -> socket.socket:
    """Sends one event of a stream and then nothing more."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(HEAD + b"%x\r\n%b\r\n" % (len(EVENT), EVENT))
            while connection.recv(65536):
                pass

    threading.Thread(target=serve, daemon=True).start()
    return listener


def test_kill_9_keeps_finished_events_and_the_consumed_chunks(tmp_path: Path) -> None:
    path = tmp_path / "run.rewind"
    with rewind.record(path):
        rewind.tool(lambda x: x, name="old")(1)
    older = path.read_bytes()
    script = tmp_path / "agent.py"
    script.write_text(KILLED)
    with stalling_server() as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        process = subprocess.Popen(
            [sys.executable, script, url, "record", path], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "double 2 4\n"
        assert process.stdout.readline() == "chunk part\n"
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
    assert path.read_bytes() == older
    partial = Path(f"{path}.partial")
    trace = rewind.Trace.open(partial)
    assert not trace.complete
    assert [e.name for e in trace] == ["double", "double", "openai.chat"]
    stream = trace.events[2]
    assert not stream.complete
    assert b"".join(c for c in stream.chunks() if isinstance(c, bytes)) == EVENT
    done = subprocess.run(
        [sys.executable, script, url, "replay", partial],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.splitlines()[:2] == ["double 2 4", "chunk part"]


def test_a_call_in_flight_is_listed_as_unfinished(tmp_path: Path) -> None:
    path = tmp_path / "run.rewind"
    code = (
        "import os, sys, signal, rewind\n"
        "f = rewind.tool(lambda: os.kill(os.getpid(), signal.SIGKILL), name='dies')\n"
        "ok = rewind.tool(lambda: 1, name='lives')\n"
        "with rewind.record(sys.argv[1]):\n    ok()\n    f()\n"
    )
    subprocess.run([sys.executable, "-c", code, path], check=False)
    trace = rewind.Trace.open(path)
    assert [e.name for e in trace] == ["lives"]
    assert len(trace.unfinished) == 1
    assert "dies" in str(trace.unfinished)


def test_a_leftover_partial_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "run.rewind"
    leftover = Path(f"{path}.partial")
    leftover.write_text("precious")
    with rewind.record(path):
        rewind.tool(lambda: 1, name="f")()
    assert leftover.read_text() == "precious"
    assert len(rewind.Trace.open(path)) == 1


def test_a_pipe_is_not_replaced_by_a_trace(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(rewind.TraceFormatError, match="pipe"), rewind.record(pipe):
        pass
    assert pipe.is_fifo()


def test_two_sessions_on_one_path_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.rewind"
    code = "import sys, rewind\nwith rewind.record(sys.argv[1]): pass"
    with rewind.record(path):
        second = subprocess.run(
            [sys.executable, "-c", code, path], capture_output=True, text=True, check=False
        )
        rewind.tool(lambda: 1, name="f")()
    assert second.returncode == 1
    assert str(path) in second.stderr
    assert len(rewind.Trace.open(path)) == 1


def test_after_fork_the_child_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "run.rewind"
    code = (
        "import os, sys, rewind\n"
        "f = rewind.tool(lambda x: x, name='f')\n"
        "with rewind.record(sys.argv[1]):\n"
        "    f(1)\n"
        "    if os.fork() == 0:\n"
        "        f(2)\n"
        "        os._exit(0)\n"
        "    os.wait()\n"
        "    f(3)\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code, path], check=True)
    assert [e.request["x"] for e in rewind.Trace.open(path)] == [1, 3]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="mounts need root")
def test_a_full_disk_is_said_once_and_the_agent_goes_on(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", small], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("this machine allows no tmpfs mount")
    try:
        path = small / "run.rewind"
        path.write_text("older")
        say = rewind.tool(lambda x: x, name="say")
        with pytest.warns(rewind.RecordingWarning) as said, rewind.record(path):
            answers = [say(f"{i}" * 3000) for i in range(60)]
        assert len(answers) == 60
        assert len([w for w in said if w.category is rewind.RecordingWarning]) == 1
        assert path.read_text() == "older"
        assert Path(f"{path}.partial").exists()
    finally:
        subprocess.run(["umount", small], check=True)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs another user id")
def test_another_user_gets_a_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "run.rewind"
    with rewind.record(path):
        rewind.tool(lambda: 1, name="f")()
    code = (
        "import os, sys, rewind\n"
        "import rewind.session, rewind.capture\n"
        "os.setuid(65534)\n"
        "try:\n    rewind.Trace.open(sys.argv[1])\n"
        "except rewind.TraceFormatError as error:\n    print(error)\n"
    )
    for folder in [tmp_path, *tmp_path.parents][:3]:
        folder.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-c", code, path], capture_output=True, text=True, check=True
    )
    assert str(path) in done.stdout


def test_the_closed_world_refuses_sockets_beyond_this_machine(tmp_path: Path) -> None:
    path = tmp_path / "run.rewind"
    with rewind.record(path):
        rewind.tool(lambda: 1, name="f")()
    with rewind.replay(path) as session:
        rewind.tool(lambda: 1, name="f")()
        with pytest.raises(rewind.DivergenceError, match=r"192\.0\.2\.1"):
            socket.create_connection(("192.0.2.1", 443), timeout=1)
        assert session.misses
    assert socket.socket.connect.__name__ == "connect"
