"""Patches are counted, undone exactly, and kind to those who patch the same places."""

from __future__ import annotations

import subprocess
import sys
import threading
import types
from concurrent.futures import ThreadPoolExecutor

import httpx2
import openai
import pytest
import wrapt

import rewind
from rewind.capture import active_providers
from rewind.capture.patching import Group, Target
from rewind.integrations import auto_patch, patch_openai, patched
from rewind.testing import StandIn

OWN = vars(httpx2.Client)["_transport_for_url"]


def test_the_last_undo_restores_the_client():
    first, second = patch_openai(), patch_openai()
    first()
    first()
    assert vars(httpx2.Client)["_transport_for_url"] is not OWN
    assert "openai" in active_providers()
    second()
    assert vars(httpx2.Client)["_transport_for_url"] is OWN
    assert not active_providers()


def test_unknown_and_missing_providers_are_said():
    with pytest.raises(ValueError, match="unknown provider"):
        auto_patch("nobody")
    assert vars(httpx2.Client)["_transport_for_url"] is OWN


def test_only_the_named_provider_is_captured(path, play):
    def agent(url):
        with openai.OpenAI(api_key="k", base_url=f"{url}/v1") as sdk:
            sdk.chat.completions.create(model="m", messages=[])

    with StandIn([play.chat(), play.chat()]) as server, rewind.record(path):
        with patched("anthropic"):
            agent(server.url)
        with patched("openai"):
            agent(server.url)
    assert [event.name for event in rewind.Trace.open(path)] == ["openai.chat"]


def test_clients_made_before_the_patch_are_captured(path, play):
    with StandIn([play.chat()]) as server:
        with openai.OpenAI(api_key="k", base_url=f"{server.url}/v1") as sdk:
            with patched("openai"), rewind.record(path):
                sdk.chat.completions.create(model="m", messages=[])
    assert len(rewind.Trace.open(path)) == 1


def test_a_call_outside_every_session_warns_once(path, play):
    with StandIn([play.chat(), play.chat()]) as server, patched("openai"), rewind.record(path):
        import contextvars

        def outside():
            with openai.OpenAI(api_key="k", base_url=f"{server.url}/v1") as sdk:
                sdk.chat.completions.create(model="m", messages=[])
                sdk.chat.completions.create(model="m", messages=[])

        with pytest.warns(rewind.ThreadlessCallWarning) as caught:
            contextvars.Context().run(outside)
        assert len(caught) == 1
    assert len(rewind.Trace.open(path)) == 0


def test_threads_and_pools_belong_to_the_session(path, play):
    def call(url):
        with openai.OpenAI(api_key="k", base_url=f"{url}/v1") as sdk:
            return sdk.chat.completions.create(model="m", messages=[]).choices[0].message.content

    def agent(url):
        found = []
        thread = threading.Thread(target=lambda: found.append(call(url)))
        thread.start()
        thread.join()
        with ThreadPoolExecutor(2) as pool:
            found += pool.map(call, [url, url])
        return found

    with patched("openai"):
        with StandIn([play.chat()] * 3) as server, rewind.record(path):
            url = server.url
            live = agent(url)
        with rewind.replay(path):
            assert agent(url) == live
    assert len(rewind.Trace.open(path)) == 3


def test_threads_are_left_as_they_were(path):
    class Worker(threading.Thread):
        seen = None

        def run(self):
            self.seen = rewind.current_session()

    own = threading.Thread.start
    with rewind.record(path) as session:
        worker = Worker()
        worker.start()
        worker.join()
        assert worker.seen is session
        assert "run" not in vars(worker)
    assert threading.Thread.start is own


def _module(**names):
    module = types.ModuleType("patch_target")
    vars(module).update(names)
    return module


def _adding(amount):
    return lambda _module: lambda wrapped, _self, args, kwargs: wrapped(*args, **kwargs) + amount


@pytest.fixture
def target(monkeypatch):
    class Base:
        def value(self):
            return 1

    class Child(Base):
        pass

    module = _module(Base=Base, Child=Child)
    monkeypatch.setitem(sys.modules, "patch_target", module)
    return module


def test_an_inherited_attribute_is_removed_again(target):
    group = Group((Target(module="patch_target", path="Child.value", make=_adding(1)),))
    group.acquire()
    assert (target.Child().value(), target.Base().value()) == (2, 1)
    group.release()
    assert "value" not in vars(target.Child)


def test_a_wrapper_that_someone_wrapped_is_switched_off_in_place(target):
    group = Group((Target(module="patch_target", path="Base.value", make=_adding(1)),))
    group.acquire()
    ours = vars(target.Base)["value"]
    target.Base.value = wrapt.FunctionWrapper(ours, lambda w, _i, a, k: w(*a, **k) + 100)
    assert target.Base().value() == 102
    group.release()
    assert target.Base().value() == 101


def test_a_missing_place_is_loud_unless_optional(target):
    group = Group((Target(module="patch_target", path="Base.gone", make=_adding(1)),))
    with pytest.warns(rewind.PatchGapWarning, match=r"Base\.gone"):
        group.acquire()
    group.release()
    quiet = Target(module="patch_target", path="Base.gone", make=_adding(1), optional=True)
    Group((quiet,)).acquire()


def test_nothing_is_imported_and_later_imports_are_hooked(tmp_path):
    code = (
        "import sys, rewind.integrations as i\n"
        "undo = i.auto_patch()\n"
        "loaded = {'httpx', 'httpx2', 'openai', 'anthropic', 'requests', 'anyio'} & set(sys.modules)\n"
        "assert not loaded, loaded\n"
        "import httpx\n"
        "hooked = type(vars(httpx.Client)['_transport_for_url']).__name__\n"
        "assert hooked == 'FunctionWrapper', hooked\n"
        "undo()\n"
        "assert type(vars(httpx.Client)['_transport_for_url']).__name__ == 'function'\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
