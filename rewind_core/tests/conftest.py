"""The recorded provider traffic as test cases: `interaction` and `run`.

It is not part of the project. REWIND_CORPUS names its folder; where that is unset or leads
nowhere, tests that ask for one of the two are skipped and say so.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from rewind.testing import Interaction, Split

# Whose recordings the openai SDK drives, and whose the anthropic SDK; a group may be narrowed
# to one API ("google" speaks several).
SDKS = {
    "anthropic": ("anthropic",),
    "openai": (
        "azure", "bedrock-mantle", "cerebras", "crusoe", "deepseek", "google.chat", "ollama",
        "openai", "openrouter", "snowflake", "zai",
    ),
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Step:
    """One recorded call and the API it belongs to."""

    api: str
    interaction: Interaction


@dataclass(frozen=True, kw_only=True)
class Case:
    """One corpus file: the SDK that drives it and its calls in order."""

    name: str
    sdk: str
    steps: tuple[Step, ...]

    @property
    def interactions(self) -> list[Interaction]:
        return [step.interaction for step in self.steps]

    @property
    def streamed(self) -> bool:
        return any(step.interaction.streamed for step in self.steps)


def _sdk(step: dict[str, str]) -> str | None:
    names = {step["provider"], f"{step['provider']}.{step['api']}"}
    return next((sdk for sdk, groups in SDKS.items() if names & set(groups)), None)


def _cases(folder: Path) -> list[Case]:
    cases: list[Case] = []
    for path in sorted(folder.glob("*.json")):
        data = json.loads(path.read_text(encoding="utf-8"))
        steps = data.get("steps", [data])
        sdk = _sdk(steps[0])
        if sdk is not None:
            drivable = tuple(
                Step(api=step["api"], interaction=Interaction.from_json(step)) for step in steps
            )
            cases.append(Case(name=path.stem, sdk=sdk, steps=drivable))
    return cases


def _splits(case: Case) -> list[Split]:
    """The ways to cut a case's bytes; without a stream, events and whole are the same."""
    return list(Split) if case.streamed else [Split.EVENTS, Split.SEVEN_BYTES]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Fills in `interaction` and `run`, with `split` where a test asks for it as well."""
    for fixture, folder in (("interaction", "."), ("run", "runs")):
        if fixture not in metafunc.fixturenames:
            continue
        names = [name for name in (fixture, "split") if name in metafunc.fixturenames]
        place = os.environ.get("REWIND_CORPUS", "")
        cases = _cases(Path(place) / folder) if place else []
        if not cases:
            reason = f"no recorded provider traffic: REWIND_CORPUS is {place or 'unset'}"
            mark = pytest.mark.skip(reason=reason)
            missing = pytest.param(*[None for _ in names], marks=mark, id="no-corpus")
            metafunc.parametrize(names, [missing])
        elif "split" in names:
            pairs = [(case, split) for case in cases for split in _splits(case)]
            ids = [f"{case.name}-{split.value.replace(' ', '-')}" for case, split in pairs]
            metafunc.parametrize(names, pairs, ids=ids)
        else:
            metafunc.parametrize(fixture, cases, ids=[case.name for case in cases])
