"""Real traffic reaches the real SDKs through the stand-in, however its bytes are cut."""

from __future__ import annotations

from typing import Any

import pytest
from corpus_drive import Mode, drive

from rewind.testing import Split, StandIn

pytestmark = pytest.mark.corpus


def test_a_run_is_played_in_its_order(run: Any) -> None:
    with StandIn(run.interactions) as provider:
        trees = drive(run, Mode.SYNC, provider.url)
        assert not provider.unmatched
        assert provider.remaining == 0
    assert len(trees) == len(run.steps)


def test_an_sdk_reads_the_same_from_any_split(interaction: Any) -> None:
    seen: list[object] = []
    for split in Split if interaction.streamed else [Split.WHOLE]:
        with StandIn(interaction.interactions, split=split, match="body") as provider:
            seen.extend(drive(interaction, Mode.SYNC, provider.url))
            assert not provider.unmatched
    status = interaction.interactions[0].status
    assert all(("error" in tree) is (status >= 400) for tree in seen)
    assert all(tree == seen[0] for tree in seen)
