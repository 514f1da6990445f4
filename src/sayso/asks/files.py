"""Files and images beside an ask: taken along as it opens, and found again."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256

from sayso.errors import BadValue, Tampered, UnknownFile
from sayso.model.ask import Ask
from sayso.model.file import MOST_BYTES, MOST_FILES, FileNote, check_files, note_file
from sayso.store.contract import Store
from sayso.store.named import RowChange


@dataclass(frozen=True, slots=True)
class File:
    """Something to see beside an ask: `File("Chart.png", data)` or `File("Report.pdf", Path(...))`.

    What the path holds is read when the ask is made, and frozen with it. Whether it is an image is
    told by its bytes; `media` is a hint for everything else, and otherwise goes by the name.
    """

    name: str
    data: bytes | os.PathLike[str]
    media: str | None = None


def frozen_files(files: object) -> tuple[FileNote, ...]:
    """Return the files of an ask as it keeps them, with their bytes.

    Raises:
        BadValue: they are no list of files, or too much, or one cannot be read.
    """
    if files is None:
        return ()
    if isinstance(files, File | str | bytes) or not isinstance(files, Iterable):
        raise BadValue(f'files= is a list, not {type(files).__name__}: [File("Chart.png", data)].')
    notes: list[FileNote] = []
    for file in files:
        if len(notes) == MOST_FILES:
            raise BadValue(f"An ask takes at most {MOST_FILES} files: link the rest.")
        if not isinstance(file, File):
            raise BadValue(f"files= holds File(name, data), not {type(file).__name__}.")
        notes.append(note_file(file.name, _bytes_of(file), file.media))
    return check_files(tuple(notes))


def _bytes_of(file: File) -> bytes:
    data = file.data
    if isinstance(data, bytes | bytearray | memoryview):
        return bytes(data)
    if not isinstance(data, os.PathLike):
        raise BadValue(
            f"The file {file.name!r} holds {type(data).__name__}: give its bytes, or a Path. Text "
            "becomes bytes with .encode()."
        )
    try:
        with open(data, "rb") as opened:
            return opened.read(MOST_BYTES + 1)  # one more than may be: enough to refuse it
    except OSError as error:
        raise BadValue(
            f"The file {os.fspath(data)!r} cannot be read: {error.strerror or error}."
        ) from error


def kept_with(ask_id: str, files: Iterable[FileNote]) -> tuple[RowChange, ...]:
    """Return the rows that keep the bytes, to be written in one commit with the ask.

    In the order of their digests, so that two who keep the same do not wait for each other.
    """
    rows: list[RowChange] = []
    for note in sorted({note.digest: note for note in files}.values(), key=lambda n: n.digest):
        if note.data is not None:  # a doubt shows those of its ask, which are kept already
            kept = {"digest": note.digest, "size": note.size, "data": note.data}
            rows.append(RowChange("keep_file", kept))
        rows.append(RowChange("show_file", {"ask": ask_id, "digest": note.digest}))
    return tuple(rows)


def file_of(store: Store, ask: Ask, number: int) -> tuple[FileNote, bytes]:
    """Return one of the files of an ask, counted from 1.

    Raises:
        BadValue: this is no number.
        UnknownFile: it has none of this number, or what it said was erased.
        Tampered: what is stored is not what the ask showed.
    """
    note = note_of(ask, number)
    data = store.file(note.digest)
    if data is None:
        raise UnknownFile(ask.id, number, len(ask.content.files))
    return note, checked(ask, number, note, data)


def note_of(ask: Ask, number: int) -> FileNote:
    """Return what an ask says of one of its files, counted from 1.

    Raises:
        BadValue: this is no number.
        UnknownFile: it has none of this number.
    """
    files = ask.content.files
    if type(number) is not int:
        raise BadValue(f"number={number!r}: files are numbered, the first one is 1.")
    if not 1 <= number <= len(files):
        raise UnknownFile(ask.id, number, len(files))
    return files[number - 1]


def checked(ask: Ask, number: int, note: FileNote, data: bytes) -> bytes:
    """Return the bytes of a file if they are those that the ask showed.

    Raises:
        Tampered: they are not.
    """
    if sha256(data).hexdigest() != note.digest:
        raise Tampered(f"File {number} of {ask.id} is not what was shown. Do not use it.")
    return data
