-- What was said: calls, bodies and a text to search in, each in a table of its own so that the log itself stays small.

ALTER TABLE request ADD COLUMN session TEXT;
ALTER TABLE request ADD COLUMN trace_id TEXT;
ALTER TABLE request ADD COLUMN cut TEXT;

CREATE INDEX request_by_key ON request (key_name, received_at);
CREATE INDEX request_by_upstream ON request (upstream, received_at);
CREATE INDEX request_by_session ON request (session, received_at) WHERE session IS NOT NULL;
-- These hold few rows of a healthy log. A query that wants one of them repeats its condition.
CREATE INDEX request_with_error ON request (received_at) WHERE error_code IS NOT NULL;
CREATE INDEX request_with_calls ON request (received_at) WHERE calls > 0;
CREATE INDEX request_by_rare_end ON request (finish_reason, received_at)
  WHERE finish_reason <> 'stop' AND finish_reason <> 'tool_calls';

-- number counts the calls of one request from 0. repeats is 1 when an earlier one has the same name.
CREATE TABLE call (
  seq         INTEGER NOT NULL,
  number      INTEGER NOT NULL,
  received_at INTEGER NOT NULL,
  id          TEXT,
  name        TEXT    NOT NULL,
  outcome     TEXT    NOT NULL,
  repeats     INTEGER NOT NULL,
  PRIMARY KEY (seq, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX call_by_name ON call (name, received_at, seq) WHERE repeats = 0;

-- place is seq * 4 plus the part: 0 received, 1 sent, 2 response, 3 events. codec is 0 for plain bytes, 1 for zstd.
CREATE TABLE content (
  place       INTEGER PRIMARY KEY,
  received_at INTEGER NOT NULL,
  codec       INTEGER NOT NULL,
  body        BLOB    NOT NULL
) STRICT;

-- rowid is seq.
CREATE VIRTUAL TABLE request_search USING fts5 (text, detail = none, columnsize = 0,
  tokenize = 'unicode61 remove_diacritics 0');

-- How far a journal was replayed; goes with its rows, so that none is written twice.
CREATE TABLE journal (
  id       TEXT    PRIMARY KEY,
  replayed INTEGER NOT NULL
) STRICT;
