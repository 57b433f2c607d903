-- The request log. Times are Unix milliseconds, durations milliseconds, flags 0 or 1; NULL means not known.

-- One row per start of a process. A run without ended_at is alive while it holds its byte of the -runs file.
-- AUTOINCREMENT: an id is also that byte's offset, so it is never given twice.
CREATE TABLE run (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  pid        INTEGER NOT NULL,
  host       TEXT    NOT NULL,
  version    TEXT    NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at   INTEGER
) STRICT;

-- seq is run << 40 plus the number of the request within its run: a batch that is written again finds its own rows.
-- id is what the client sees and may have chosen; a client that tries again may send the same one again.
CREATE TABLE request (
  seq                INTEGER PRIMARY KEY,
  id                 TEXT    NOT NULL,
  run                INTEGER NOT NULL REFERENCES run (id),
  -- Not IN (...): that builds a table for each INSERT and makes it half as slow again.
  state              TEXT    NOT NULL
                     CHECK (state = 'completed' OR state = 'running' OR state = 'failed' OR
                            state = 'disconnected' OR state = 'interrupted'),
  received_at        INTEGER NOT NULL,
  key_name           TEXT,
  protocol           TEXT,
  model              TEXT,
  upstream           TEXT,
  dialect            TEXT,
  stream             INTEGER NOT NULL,
  client_address     TEXT,

  http_status        INTEGER,
  finish_reason      TEXT,
  error_code         TEXT,
  error_message      TEXT,
  calls              INTEGER,
  prompt_tokens      INTEGER,
  completion_tokens  INTEGER,
  total_tokens       INTEGER,
  cached_tokens      INTEGER,
  cache_write_tokens INTEGER,
  reasoning_tokens   INTEGER,
  bytes_in           INTEGER,
  bytes_out          INTEGER,
  frames             INTEGER,
  repairs            INTEGER,
  attempts           INTEGER,
  first_byte_ms      INTEGER,
  first_token_ms     INTEGER,
  total_ms           INTEGER
) STRICT;

CREATE INDEX request_by_id ON request (id);
CREATE INDEX request_by_received_at ON request (received_at);
CREATE INDEX request_by_model ON request (model, received_at);
-- Nearly every row is completed, and nobody looks those up by state. A query that wants this index says
-- state <> 'completed' beside its own condition.
CREATE INDEX request_by_state ON request (state, received_at) WHERE state <> 'completed';
