"""Tables of a run: Arrow's C data interface over ctypes, read in place.

A table's memory belongs to the library that read the run, and lives as long as any table, column,
array or capsule of it. Nothing here needs numpy or pyarrow; what they are asked for imports them.
"""

from __future__ import annotations

import array
import ctypes
import pathlib
import threading
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Tuple

from assay._errors import AssayError, error_of
from assay._figures import table_html

if TYPE_CHECKING:
    import numpy
    import pandas
    import polars
    import pyarrow


class _Schema(ctypes.Structure):
    pass


class _Array(ctypes.Structure):
    pass


_RELEASE_SCHEMA = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Schema))
_RELEASE_ARRAY = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Array))
_Schema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))), ("dictionary", ctypes.POINTER(_Schema)),
    ("release", _RELEASE_SCHEMA), ("private_data", ctypes.c_void_p)]
_Array._fields_ = [
    ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))), ("dictionary", ctypes.POINTER(_Array)),
    ("release", _RELEASE_ARRAY), ("private_data", ctypes.c_void_p)]

# Arrow's names of the types that a run's columns have: numpy's, and bytes a value.
_TYPES = {"l": ("<i8", 8), "i": ("<i4", 4), "s": ("<i2", 2), "L": ("<u8", 8), "I": ("<u4", 4),
          "S": ("<u2", 2), "g": ("<f8", 8)}

_library: Optional[ctypes.CDLL] = None
_loading = threading.Lock()


def library() -> ctypes.CDLL:
    """The library that reads runs, loaded once."""
    global _library  # pylint: disable=global-statement
    with _loading:
        if _library is None:
            path = pathlib.Path(__file__).with_name("_columns.so")
            try:
                lib = ctypes.CDLL(str(path))
            except OSError as error:
                raise AssayError(f"the part that reads runs is not there: {error}") from error
            lib.assay_open.argtypes = [ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p),
                                       ctypes.c_char_p, ctypes.c_size_t]
            lib.assay_close.argtypes = [ctypes.c_void_p]
            lib.assay_close.restype = None
            lib.assay_info.argtypes = [ctypes.c_void_p]
            lib.assay_info.restype = ctypes.c_char_p
            lib.assay_export.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(_Schema),
                                         ctypes.POINTER(_Array)]
            lib.assay_export.restype = None
            lib.assay_new_stream.argtypes = [ctypes.c_void_p, ctypes.c_int]
            lib.assay_new_stream.restype = ctypes.c_void_p
            lib.assay_use_python.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
            lib.assay_use_python.restype = None
            lib.assay_use_python(
                ctypes.cast(ctypes.pythonapi.PyCapsule_GetPointer, ctypes.c_void_p),
                ctypes.cast(ctypes.pythonapi.PyCapsule_IsValid, ctypes.c_void_p))
            _library = lib
    return _library


class Handle:
    """A run that the library has read; closed with the last object that looks into it."""

    def __init__(self, path: str) -> None:
        self._lib = library()
        self.pointer = ctypes.c_void_p()
        why = ctypes.create_string_buffer(4096)
        code = self._lib.assay_open(path.encode(), ctypes.byref(self.pointer), why, len(why))
        if code:
            raise error_of(code, why.value.decode(errors="replace"))

    def info(self) -> bytes:
        said: bytes = self._lib.assay_info(self.pointer)
        return said

    def __del__(self) -> None:
        if getattr(self, "pointer", None):
            self._lib.assay_close(self.pointer)


class Column:
    """One column. `numpy.asarray(column)` looks at its numbers without a copy. A value that is
    absent is there the type's least number (numpy's NaT, if instants are viewed as datetime64[ns]),
    or NaN.
    """

    def __init__(self, table: "Table", schema: _Schema, values: _Array) -> None:
        self._table = table  # keeps the memory
        self._array = values
        self.name: str = (schema.name or b"").decode()
        self._format: str = schema.format.decode()
        self._words: Optional[Column] = (
            Column(table, schema.dictionary.contents, values.dictionary.contents)
            if schema.dictionary else None)

    def __len__(self) -> int:
        return int(self._array.length)

    @property
    def absent(self) -> int:
        """How many values are absent."""
        return int(self._array.null_count)

    @property
    def words(self) -> Optional[List[str]]:
        """What the numbers of an enumeration stand for; None for any other column."""
        return None if self._words is None else self._words.to_list()

    @property
    def __array_interface__(self) -> Dict[str, Any]:
        if self._format not in _TYPES or len(self) == 0:
            raise AttributeError("__array_interface__")
        return {"shape": (len(self),), "typestr": _TYPES[self._format][0],
                "data": (self._array.buffers[1], True), "version": 3}

    def __array__(self, dtype: Any = None,
                  copy: Optional[bool] = None) -> "numpy.ndarray[Any, Any]":
        values = self.values
        return values if dtype is None else values.astype(dtype)

    @property
    def values(self) -> "numpy.ndarray[Any, Any]":
        """The numbers as they lie in memory; bits and texts are copied, for numpy has no such."""
        import numpy  # pylint: disable=import-outside-toplevel

        if self._format in _TYPES:
            if len(self) == 0:
                return numpy.empty(0, _TYPES[self._format][0])
            return numpy.asarray(_Window(self))
        if self._format == "b":
            return self._bits(1)
        return numpy.array(self.to_list(), dtype=object)

    @property
    def valid(self) -> "numpy.ndarray[Any, Any]":
        """True where a value is there."""
        import numpy  # pylint: disable=import-outside-toplevel

        return numpy.ones(len(self), bool) if self.absent == 0 else self._bits(0)

    def present(self) -> "numpy.ndarray[Any, Any]":
        """The values that are there."""
        return self.values if self.absent == 0 else self.values[self.valid]

    def _bits(self, buffer: int) -> "numpy.ndarray[Any, Any]":
        import numpy  # pylint: disable=import-outside-toplevel

        raw = ctypes.string_at(self._array.buffers[buffer] or 0, (len(self) + 7) // 8)
        bits = numpy.unpackbits(numpy.frombuffer(raw, numpy.uint8), bitorder="little")
        return bits[:len(self)].astype(bool)

    def _raw(self, buffer: int, size: int) -> bytes:
        address = self._array.buffers[buffer]
        return ctypes.string_at(address, size) if address and size else b""

    def to_list(self) -> List[Any]:
        """Python's own values; None where absent. Needs no other package."""
        rows = len(self)
        there = self._raw(0, (rows + 7) // 8) if self.absent else b""
        values: List[Any]
        if self._format == "U":
            ends = memoryview(self._raw(1, 8 * (rows + 1))).cast("q")
            text = self._raw(2, ends[rows] if rows else 0)
            values = [text[ends[i]:ends[i + 1]].decode() for i in range(rows)]
        elif self._format == "b":
            bits = self._raw(1, (rows + 7) // 8)
            values = [bool(bits[i // 8] >> (i % 8) & 1) for i in range(rows)]
        else:
            code = {"l": "q", "i": "i", "s": "h", "L": "Q", "I": "I", "S": "H", "g": "d"}
            raw = self._raw(1, rows * _TYPES[self._format][1])
            values = array.array(code[self._format], raw).tolist()
            if self._words is not None:
                names = self._words.to_list()
                values = [names[value] if 0 <= value < len(names) else None for value in values]
        if there:
            values = [value if there[i // 8] >> (i % 8) & 1 else None
                      for i, value in enumerate(values)]
        return values

    def __repr__(self) -> str:
        return f"<column {self.name}: {len(self):,} values, {self.absent:,} absent>"


class _Window:
    """What numpy keeps as an array's base: the column's numbers, by the array interface alone."""

    def __init__(self, column: Column) -> None:
        self._column = column
        self.__array_interface__ = column.__array_interface__


class Table:
    """Columns of equal length; any reader of Arrow takes it: pyarrow.table(table),
    polars.DataFrame(table), DuckDB's SELECT … FROM table, pandas by to_pandas()."""

    def __init__(self, handle: Handle, number: int) -> None:
        self._handle = handle
        self._number = number
        self._schema = _Schema()
        self._array = _Array()
        library().assay_export(handle.pointer, number, ctypes.byref(self._schema),
                               ctypes.byref(self._array))
        self._columns: Dict[str, Tuple[_Schema, _Array]] = {}
        for i in range(self._schema.n_children):
            schema = self._schema.children[i].contents
            self._columns[schema.name.decode()] = (schema, self._array.children[i].contents)

    def __del__(self) -> None:
        for made in (getattr(self, "_array", None), getattr(self, "_schema", None)):
            if made is not None and made.release:
                made.release(ctypes.byref(made))

    def __len__(self) -> int:
        return int(self._array.length)

    @property
    def column_names(self) -> List[str]:
        return list(self._columns)

    def __getitem__(self, name: str) -> Column:
        if name not in self._columns:
            raise KeyError(f"no column {name!r}; there are {', '.join(self._columns)}")
        return Column(self, *self._columns[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """A capsule of the table as one record batch, without a copy (Arrow's PyCapsule interface).
        """
        lib = library()
        make = ctypes.pythonapi.PyCapsule_New
        make.restype = ctypes.py_object
        make.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        stream = lib.assay_new_stream(self._handle.pointer, self._number)
        return make(stream, b"arrow_array_stream", ctypes.cast(lib.assay_drop_capsule,
                                                               ctypes.c_void_p))

    def to_arrow(self) -> "pyarrow.Table":
        import pyarrow  # pylint: disable=import-outside-toplevel

        return pyarrow.table(self)

    def to_pandas(self) -> "pandas.DataFrame":
        """By pyarrow; words become categories, absent whole numbers pandas' own (Int64)."""
        import pandas  # pylint: disable=import-outside-toplevel
        import pyarrow  # pylint: disable=import-outside-toplevel

        kinds: Dict[Any, Any] = {pyarrow.int64(): pandas.Int64Dtype(),
                                 pyarrow.int32(): pandas.Int32Dtype(),
                                 pyarrow.uint16(): pandas.UInt16Dtype()}
        table = self.to_arrow()
        with_absent = {field.type for i, field in enumerate(table.schema)
                       if table.column(i).null_count}
        return table.to_pandas(
            types_mapper=lambda kind: kinds.get(kind) if kind in with_absent else None)

    def to_polars(self) -> "polars.DataFrame":
        import polars  # pylint: disable=import-outside-toplevel

        return polars.DataFrame(self)

    def to_parquet(self, path: str, **how: Any) -> None:
        """A Parquet file, by pyarrow."""
        import pyarrow.parquet  # pylint: disable=import-outside-toplevel

        pyarrow.parquet.write_table(self.to_arrow(), path, **how)

    def to_arrow_file(self, path: str) -> None:
        """An Arrow file (Feather version 2), by pyarrow."""
        import pyarrow.feather  # pylint: disable=import-outside-toplevel

        pyarrow.feather.write_feather(self.to_arrow(), path, compression="uncompressed")

    def to_dict(self) -> Dict[str, List[Any]]:
        """Python's own lists. Needs no other package."""
        return {name: self[name].to_list() for name in self._columns}

    def __repr__(self) -> str:
        return f"<table: {len(self):,} rows, {len(self._columns)} columns>"

    def _repr_html_(self) -> str:
        names = self.column_names
        columns = [self[name].to_list() for name in names] if len(self) <= 1000 else None
        rows = [] if columns is None else [
            ["" if column[i] is None else str(column[i]) for column in columns]
            for i in range(min(len(self), 10))]
        return table_html(names, rows, f"{len(self):,} rows, {len(names)} columns")
