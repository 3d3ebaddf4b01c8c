"""Reads a file of SPSS, Stata or SAS in a process of its own, which a damaged file may end.

``python -m incrowd.tables.reading.statistics_child READER PATH MOST_BYTES`` writes the table to its standard output, as
a stream of Arrow with the labels of codes in its metadata. The exit status is 0, or :data:`TOO_LARGE`, or any other.
"""

from __future__ import annotations

import json
import sys

LABELS = b"labels"
TOO_LARGE = 3
_BYTES_OF_A_CELL = 8


def main(reader: str, path: str, most: int) -> int:
    """Read the file and write it."""
    import pyarrow as pa
    import pyreadstat

    read = getattr(pyreadstat, reader)
    _, about = read(path, metadataonly=True, output_format="polars")
    if (about.number_rows or 0) * len(about.column_names) * _BYTES_OF_A_CELL > most:
        return TOO_LARGE
    frame, about = read(path, output_format="polars")
    labels = {name: list(words.items()) for name, words in about.variable_value_labels.items() if words}
    table = frame.to_arrow().replace_schema_metadata({LABELS: json.dumps(labels).encode()})
    with pa.ipc.new_stream(sys.stdout.buffer, table.schema) as writer:
        writer.write_table(table)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
