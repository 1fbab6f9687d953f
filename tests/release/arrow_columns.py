"""A stream of one Arrow column of text with any offsets at all, by the C interface: libraries hand out right ones."""

from __future__ import annotations

import ctypes
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_int64, c_void_p, cast, pointer, py_object


class _Schema(Structure):
    pass


class _Array(Structure):
    pass


class _Stream(Structure):
    pass


_Schema._fields_ = [
    *((name, c_char_p) for name in ("format", "name", "metadata")),
    ("flags", c_int64),
    ("n_children", c_int64),
    ("children", POINTER(POINTER(_Schema))),
    ("dictionary", c_void_p),
    ("release", CFUNCTYPE(None, POINTER(_Schema))),
    ("private_data", c_void_p),
]
_Array._fields_ = [
    *((name, c_int64) for name in ("length", "null_count", "offset", "n_buffers", "n_children")),
    ("buffers", POINTER(c_void_p)),
    ("children", POINTER(POINTER(_Array))),
    ("dictionary", c_void_p),
    ("release", CFUNCTYPE(None, POINTER(_Array))),
    ("private_data", c_void_p),
]
_Stream._fields_ = [
    ("get_schema", CFUNCTYPE(c_int, POINTER(_Stream), POINTER(_Schema))),
    ("get_next", CFUNCTYPE(c_int, POINTER(_Stream), POINTER(_Array))),
    ("get_last_error", CFUNCTYPE(c_char_p, POINTER(_Stream))),
    ("release", CFUNCTYPE(None, POINTER(_Stream))),
    ("private_data", c_void_p),
]


def _let_go(structure):
    structure.contents.release = type(structure.contents.release)()


class TextColumn:
    """One batch of a column `text`, whose cell k is said to be `text[offsets[k]:offsets[k + 1]]`."""

    def __init__(self, offsets, text):
        self._offsets = (ctypes.c_int32 * len(offsets))(*offsets)
        self._text = ctypes.create_string_buffer(text)
        self._cells = len(offsets) - 1
        self._left = 1
        releasing = [CFUNCTYPE(None, POINTER(kind))(_let_go) for kind in (_Schema, _Array, _Stream)]
        self._of_schema, self._of_array, self._of_stream = releasing
        buffers = (c_void_p * 3)(None, cast(self._offsets, c_void_p), cast(self._text, c_void_p))
        self._column = _Array(self._cells, 0, 0, 3, 0, buffers, None, None, self._of_array, None)
        self._columns = (POINTER(_Array) * 1)(pointer(self._column))
        self._named = _Schema(b"u", b"text", None, 0, 0, None, None, self._of_schema, None)
        self._schemas = (POINTER(_Schema) * 1)(pointer(self._named))
        self._none = (c_void_p * 1)(None)
        fields = dict(_Stream._fields_)
        self._stream = _Stream(
            fields["get_schema"](self._get_schema),
            fields["get_next"](self._get_next),
            fields["get_last_error"](lambda _stream: b""),
            self._of_stream,
            None,
        )

    def _get_schema(self, _stream, out):
        out[0] = _Schema(b"+s", b"", None, 0, 1, self._schemas, None, self._of_schema, None)
        return 0

    def _get_next(self, _stream, out):
        some = _Array(self._cells, 0, 0, 1, 1, self._none, self._columns, None, self._of_array, None)
        out[0] = some if self._left else _Array()
        self._left = 0
        return 0

    def __arrow_c_stream__(self, _schema=None):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = py_object, [c_void_p, c_char_p, c_void_p]
        return new(cast(pointer(self._stream), c_void_p), b"arrow_array_stream", None)
