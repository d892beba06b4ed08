"""Messages between a policy and who asks it: msgpack, with NumPy arrays in the usual way.

An array is a mapping `{b"__ndarray__": True, b"data": bytes, b"dtype": "<f4", b"shape": [...]}`, a
NumPy scalar `{b"__npgeneric__": True, b"data": value, b"dtype": ...}`, as the msgpack-numpy
convention has it. Numbers, booleans and text only: nothing that is received can run code.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from envs.errors import InputError

try:
    import msgpack
except ImportError:
    raise InputError("msgpack is needed: pip install 'heldout[remote]'") from None

KINDS = "biufSU"  # of dtypes: booleans, numbers, text
SCALARS = (bool, int, float, str, bytes)


class WireError(ValueError):
    """A message that cannot be packed or is not what it should be. Its text is one line."""


def pack(message: Any) -> bytes:
    """Return a message as bytes.

    Raises:
        WireError: something in it is no plain data and no array of numbers or text.
    """
    try:
        return msgpack.packb(message, default=_packed)
    except (TypeError, ValueError, OverflowError) as error:
        raise WireError(f"cannot be sent: {error}") from None


def unpack(data: bytes) -> dict[str, Any]:
    """Return the mapping in a message; its arrays are read-only.

    Raises:
        WireError: not msgpack, not a mapping, or an array that contradicts itself.
    """
    try:
        message = msgpack.unpackb(data, object_hook=_unpacked)
    except WireError:
        raise
    except Exception as error:  # msgpack raises many kinds
        raise WireError(f"not a msgpack message ({type(error).__name__}: {error})") from None
    if not isinstance(message, dict):
        raise WireError(f"a message is a mapping, not {type(message).__name__}")
    return message


def _packed(value: Any) -> dict[bytes, Any]:
    if isinstance(value, (np.ndarray, np.generic)):
        _check_dtype(value.dtype)
        if isinstance(value, np.generic):
            return {b"__npgeneric__": True, b"data": value.item(), b"dtype": value.dtype.str}
        shape, data = list(value.shape), np.ascontiguousarray(value).tobytes()
        return {b"__ndarray__": True, b"data": data, b"dtype": value.dtype.str, b"shape": shape}
    raise TypeError(f"{type(value).__name__} is neither plain data nor a NumPy array")


def _unpacked(mapping: dict) -> Any:
    if b"__ndarray__" in mapping:
        dtype, data, shape = (_entry(mapping, name) for name in (b"dtype", b"data", b"shape"))
        dtype = _dtype(dtype)
        sizes = all(isinstance(one, int) and one >= 0 for one in shape)
        if not sizes or math.prod(shape) * dtype.itemsize != len(data):
            raise WireError(f"an array of {len(data)} bytes is not {dtype}{list(shape)}")
        return np.frombuffer(data, dtype).reshape(shape)
    if b"__npgeneric__" in mapping:
        value = _entry(mapping, b"data")
        if not isinstance(value, SCALARS):
            raise WireError(f"a scalar is a number or text, not {type(value).__name__}")
        return _dtype(_entry(mapping, b"dtype")).type(value)
    return mapping


def _entry(mapping: dict, name: bytes) -> Any:
    if name not in mapping:
        raise WireError(f"an array without its {name.decode()}")
    return mapping[name]


def _dtype(text: Any) -> np.dtype:
    try:
        dtype = np.dtype(text if isinstance(text, str) else "")
    except (TypeError, ValueError):
        raise WireError(f"no dtype {text!r}") from None
    _check_dtype(dtype)
    return dtype


def _check_dtype(dtype: np.dtype) -> None:
    if dtype.kind not in KINDS or dtype.fields:
        raise WireError(f"arrays of dtype {dtype} are not sent; numbers, booleans and text are")
