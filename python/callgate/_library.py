"""Finds libcallgate_c and declares its functions, as include/callgate/callgate.h does."""
import ctypes
import ctypes.util
import os
import pathlib

VERSIONED = "libcallgate_c.so.0"

KINDS = ("", "text", "reasoning", "refusal", "call", "arguments", "call_end", "field", "usage", "finish")
OUTCOMES = ("complete", "truncated", "malformed")
REASONS = ("stop", "tool_calls", "length", "content_filter", "upstream_error")
OK, INVALID, WRONG_STATE, UNREAD, NO_MEMORY = range(5)

_text = ctypes.c_char_p
_size = ctypes.c_size_t


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int32), ("message", ctypes.c_char * 252)]


class Event(ctypes.Structure):
    _fields_ = [
        ("kind", ctypes.c_uint32), ("call", ctypes.c_uint32), ("value", ctypes.c_uint32), ("reserved", ctypes.c_uint32),
        ("text", ctypes.c_void_p), ("text_size", _size), ("id", ctypes.c_void_p), ("id_size", _size),
        ("prompt_tokens", ctypes.c_int64), ("completion_tokens", ctypes.c_int64),
    ]


class ParserOptions(ctypes.Structure):
    _fields_ = [
        ("size", _size), ("dialect", _text), ("model", _text), ("tools", _text), ("reasoning_open", ctypes.c_int32),
        ("whole_calls", ctypes.c_int32), ("max_held_back", _size), ("max_unread", _size),
    ]


class PipelineOptions(ctypes.Structure):
    _fields_ = [
        ("size", _size), ("request", _text), ("path", _text), ("protocol", _text), ("wire", _text), ("dialect", _text),
        ("model", _text), ("policies", ctypes.POINTER(_text)), ("created", ctypes.c_int64), ("id_seed", ctypes.c_uint64),
        ("max_held_back", _size), ("max_frame", _size), ("max_body", _size), ("max_unread", _size),
    ]


_handle = ctypes.c_void_p
_FUNCTIONS = {
    "callgate_version": (_text, []),
    "callgate_dialect_name": (_text, [_size]),
    "callgate_dialect_for": (_text, [_text]),
    "callgate_parser_new": (_handle, [ctypes.POINTER(ParserOptions), ctypes.POINTER(Error)]),
    "callgate_parser_push": (ctypes.c_int, [_handle, ctypes.c_int, _text, _size]),
    "callgate_parser_finish": (ctypes.c_int, [_handle, ctypes.c_int]),
    "callgate_parser_next": (ctypes.c_int, [_handle, ctypes.POINTER(Event)]),
    "callgate_parser_settled_on": (_text, [_handle]),
    "callgate_parser_free": (None, [_handle]),
    "callgate_pipeline_new": (_handle, [ctypes.POINTER(PipelineOptions), ctypes.POINTER(Error)]),
    "callgate_pipeline_push": (ctypes.c_int, [_handle, _text, _size]),
    "callgate_pipeline_finish": (ctypes.c_int, [_handle]),
    "callgate_pipeline_fail": (ctypes.c_int, [_handle, _text]),
    "callgate_pipeline_take": (_size, [_handle, ctypes.POINTER(ctypes.c_void_p)]),
    "callgate_pipeline_finished": (ctypes.c_int, [_handle]),
    "callgate_pipeline_error": (_text, [_handle]),
    "callgate_pipeline_free": (None, [_handle]),
}


def _candidates():
    named = os.environ.get("CALLGATE_LIBRARY")
    if named:
        yield named
        return  # a wrong name is an error, not a reason to take another library
    yield str(pathlib.Path(__file__).with_name(VERSIONED))
    yield VERSIONED
    found = ctypes.util.find_library("callgate_c")
    if found:
        yield found


def load():
    faults = []
    for name in _candidates():
        try:
            library = ctypes.CDLL(name)
        except OSError as fault:
            faults.append(str(fault))
            continue
        for function, (result, arguments) in _FUNCTIONS.items():
            declared = getattr(library, function)
            declared.restype, declared.argtypes = result, arguments
        return library
    raise ImportError(f"{VERSIONED} was not found: install libcallgate-c0, put the library beside this module, or set "
                      "CALLGATE_LIBRARY to its path. " + "; ".join(faults))
