"""Tool calls from the text that language models stream, over libcallgate.

    message = callgate.parse(text, model="Qwen/Qwen3-32B", tools=tools)
    message.content, message.reasoning, message.tool_calls, message.finish_reason

    parser = callgate.Parser(model="Qwen/Qwen3-32B", tools=tools)
    for piece in stream:                # cut anywhere
        for event in parser.feed(piece):
            ...                         # event.kind: text, reasoning, call, arguments, call_end
    for event in parser.finish("stop"):
        ...                             # the last one is `finish`

`tools` is a list of dictionaries, {"name": ..., "parameters": {...}} or as Chat Completions has them. It tells calls from
quotations, and arguments in tags are typed by it. None: any name is a tool. []: there are no tools, and no call is found.

An object belongs to one thread at a time; different objects are independent. The library has no global state.
"""
import ctypes
import dataclasses
import json
import os
import typing

from . import _library

__all__ = ["Call", "Event", "Message", "Parser", "Pipeline", "dialect_for", "dialects", "parse", "version"]

_lib = _library.load()


@dataclasses.dataclass(frozen=True)
class Event:
    """One ordered fact of a turn. Calls never interleave; their numbers count up from 0."""
    kind: str  # text, reasoning, refusal, call, arguments, call_end, field, usage, finish
    text: str = ""  # the piece; of `call` the tool's name; of `field` and `usage` JSON
    call: int = 0  # call, arguments, call_end
    id: str = ""  # call: the model's own id, often empty; field: its name
    outcome: str = ""  # call_end: complete, truncated (do not run it), malformed
    reason: str = ""  # finish: stop, tool_calls, length, content_filter, upstream_error


@dataclasses.dataclass
class Call:
    name: str
    arguments: str = ""  # JSON, if the outcome is `complete`
    id: str = ""
    outcome: str = "truncated"


@dataclasses.dataclass
class Message:
    """What a turn amounts to."""
    content: str = ""
    reasoning: str = ""
    tool_calls: typing.List[Call] = dataclasses.field(default_factory=list)
    finish_reason: str = ""

    def add(self, event: Event) -> None:
        if event.kind == "text":
            self.content += event.text
        elif event.kind == "reasoning":
            self.reasoning += event.text
        elif event.kind == "call":
            self.tool_calls.append(Call(name=event.text, id=event.id))
        elif event.kind == "arguments":
            self.tool_calls[event.call].arguments += event.text
        elif event.kind == "call_end":
            self.tool_calls[event.call].outcome = event.outcome
        elif event.kind == "finish":
            self.finish_reason = event.reason


def version() -> str:
    return _lib.callgate_version().decode()


def dialects() -> typing.List[str]:
    names = []
    while (name := _lib.callgate_dialect_name(len(names))) is not None:
        names.append(name.decode())
    return names


def dialect_for(model: str) -> str:
    """The dialect that models of this name write, "auto" if their name does not say."""
    return _lib.callgate_dialect_for(model.encode()).decode()


def _encoded(value):
    if value is None or isinstance(value, bytes):
        return value
    return value.encode("utf-8", "surrogatepass")


def _name(names, value):
    return names[value] if value < len(names) else str(value)


def _check(status):
    if status == _library.WRONG_STATE:
        raise RuntimeError("the turn is over")
    if status == _library.NO_MEMORY:
        raise MemoryError()
    if status != _library.OK:
        raise RuntimeError(f"libcallgate answered with status {status}")


def _made(handle, error):
    if not handle:
        raise ValueError(error.message.decode("utf-8", "replace"))
    return ctypes.c_void_p(handle)


class Parser:
    """Text of one turn of a model in, events out. The joined events do not depend on how the text is cut."""

    def __init__(self, dialect=None, *, model=None, tools=None, reasoning_open=False, whole_calls=False, max_held_back=0):
        """`dialect`: None means that of `model`, and without one "auto". `reasoning_open`: the prompt already opened the
        reasoning. `whole_calls`: a call is held back until it is known to be well-formed. `max_held_back`: bytes of one
        call; 0 means 1 MiB."""
        self._handle = None
        options = _library.ParserOptions(
            size=ctypes.sizeof(_library.ParserOptions), dialect=_encoded(dialect), model=_encoded(model),
            tools=None if tools is None else json.dumps(tools).encode(), reasoning_open=bool(reasoning_open),
            whole_calls=bool(whole_calls), max_held_back=max_held_back)
        error = _library.Error()
        self._handle = _made(_lib.callgate_parser_new(ctypes.byref(options), ctypes.byref(error)), error)
        self._event = _library.Event()

    def feed(self, text, channel="text") -> typing.List[Event]:
        """The next piece, str or bytes. `channel`: "reasoning" if the server separates it itself."""
        data = _encoded(text)
        _check(_lib.callgate_parser_push(self._handle, _library.KINDS.index(channel), data, len(data)))
        return self._events()

    def finish(self, reason="stop") -> typing.List[Event]:
        """The model stopped. `reason` is the engine's view, "length" if it was cut off; the `finish` event has what it
        amounts to with the calls that were found."""
        _check(_lib.callgate_parser_finish(self._handle, _library.REASONS.index(reason)))
        return self._events()

    @property
    def settled_on(self) -> str:
        """The dialect that "auto" found calls in, or ""."""
        return _lib.callgate_parser_settled_on(self._handle).decode()

    def _events(self):
        found, event = [], self._event
        while _lib.callgate_parser_next(self._handle, ctypes.byref(event)):
            kind = _name(_library.KINDS, event.kind)
            found.append(Event(
                kind=kind, call=event.call,
                text=ctypes.string_at(event.text, event.text_size).decode("utf-8", "replace"),
                id=ctypes.string_at(event.id, event.id_size).decode("utf-8", "replace") if event.id_size else "",
                outcome=_name(_library.OUTCOMES, event.value) if kind == "call_end" else "",
                reason=_name(_library.REASONS, event.value) if kind == "finish" else ""))
        return found

    def __del__(self):
        if getattr(self, "_handle", None):
            _lib.callgate_parser_free(self._handle)


def parse(text, dialect=None, *, model=None, tools=None, reason="stop", **options) -> Message:
    """The whole text of a turn in one go. Options are those of Parser."""
    parser = Parser(dialect, model=model, tools=tools, **options)
    message = Message()
    for event in parser.feed(text) + parser.finish(reason):
        message.add(event)
    return message


class Pipeline:
    """Bytes of a model server in, bytes for a client out, for one response."""

    def __init__(self, request, *, path=None, protocol=None, wire=None, dialect=None, model=None, policies=None, created=0,
                 id_seed=None):
        """`request`: the client's body, as a dictionary or JSON. `policies`: a dictionary, as in docs/streaming.md. `id_seed`:
        the ids that callgate mints come from it; None means a random number."""
        self._handle = None
        body = request if isinstance(request, (str, bytes)) else json.dumps(request)
        words = [f"{name}={value}".encode() for name, value in (policies or {}).items()]
        listed = (ctypes.c_char_p * (len(words) + 1))(*words, None)
        if id_seed is None:
            id_seed = int.from_bytes(os.urandom(8), "little")
        options = _library.PipelineOptions(
            size=ctypes.sizeof(_library.PipelineOptions), request=_encoded(body), path=_encoded(path),
            protocol=_encoded(protocol), wire=_encoded(wire), dialect=_encoded(dialect), model=_encoded(model),
            policies=ctypes.cast(listed, ctypes.POINTER(ctypes.c_char_p)), created=created, id_seed=id_seed)
        error = _library.Error()
        self._handle = _made(_lib.callgate_pipeline_new(ctypes.byref(options), ctypes.byref(error)), error)

    def feed(self, data: bytes) -> bytes:
        _check(_lib.callgate_pipeline_push(self._handle, data, len(data)))
        return self._take()

    def finish(self) -> bytes:
        """The server closed its answer."""
        _check(_lib.callgate_pipeline_finish(self._handle))
        return self._take()

    def fail(self, message: str) -> bytes:
        """The connection failed."""
        _check(_lib.callgate_pipeline_fail(self._handle, _encoded(message)))
        return self._take()

    @property
    def finished(self) -> bool:
        return bool(_lib.callgate_pipeline_finished(self._handle))

    @property
    def error(self) -> typing.Optional[str]:
        message = _lib.callgate_pipeline_error(self._handle)
        return None if message is None else message.decode("utf-8", "replace")

    def _take(self):
        at = ctypes.c_void_p()
        size = _lib.callgate_pipeline_take(self._handle, ctypes.byref(at))
        return ctypes.string_at(at, size) if size else b""

    def __del__(self):
        if getattr(self, "_handle", None):
            _lib.callgate_pipeline_free(self._handle)
