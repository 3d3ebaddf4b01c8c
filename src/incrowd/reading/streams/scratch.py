"""What can go wrong with the folder in which a run keeps its own files."""

from __future__ import annotations

from incrowd.errors import FileFormatError, OutputError


def scratch_full() -> OutputError:
    """The error for a scratch folder that takes no more."""
    return OutputError("The scratch folder is full or cannot be written. Free space there, or choose another.")


def scratch_changed() -> FileFormatError:
    """The error for a file of this run that is not as it was written."""
    return FileFormatError("A file in the scratch folder of this run was changed or removed. Start again.")
