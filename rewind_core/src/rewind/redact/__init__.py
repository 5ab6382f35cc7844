"""Masking of credentials, on by default, before anything is hashed or stored."""

from .masker import Masker
from .rules import SECRET
from .spans import Edit, apply_edits
from .stream import Piece, StreamMasker

__all__ = ["SECRET", "Edit", "Masker", "Piece", "StreamMasker", "apply_edits"]
