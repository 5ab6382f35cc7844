"""Which recorded event answers a call."""

from __future__ import annotations

from .approximate import FuzzyMatcher, OrderedMatcher
from .custom import MATCHERS, check_match, strategy_for
from .report import Miss, report
from .similarity import lexical_similarity, set_similarity
from .strategy import Choice, Matcher, Strategy
from .strict import ParallelMatcher, StrictMatcher
from .tape import Tape

__all__ = [
    "MATCHERS",
    "Choice",
    "FuzzyMatcher",
    "Matcher",
    "Miss",
    "OrderedMatcher",
    "ParallelMatcher",
    "Strategy",
    "StrictMatcher",
    "Tape",
    "check_match",
    "lexical_similarity",
    "report",
    "set_similarity",
    "strategy_for",
]
