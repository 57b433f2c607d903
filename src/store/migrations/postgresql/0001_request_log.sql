-- The request log. Times are Unix milliseconds, durations milliseconds, flags 0 or 1; NULL means not known.

-- One row per start of a process. A run without ended_at is alive while it renews seen_at, by the clock of the server.
CREATE TABLE run (
  id         bigint   GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  pid        bigint   NOT NULL,
  host       text     NOT NULL,
  version    text     NOT NULL,
  started_at bigint   NOT NULL,
  ended_at   bigint,
  seen_at    bigint   NOT NULL
);

-- One partition per day, made ahead; what falls in none of them goes to the last.
-- seq is run << 40 plus the number of the request within its run: a batch that is written again finds its own rows.
-- id is what the client sees and may have chosen; a client that tries again may send the same one again.
CREATE TABLE request (
  seq                bigint   NOT NULL,
  id                 text     NOT NULL,
  run                bigint   NOT NULL,
  state              text     NOT NULL
                     CHECK (state IN ('completed', 'running', 'failed', 'disconnected', 'interrupted')),
  received_at        bigint   NOT NULL,
  key_name           text,
  protocol           text,
  model              text,
  upstream           text,
  dialect            text,
  stream             smallint NOT NULL,
  client_address     text,

  http_status        integer,
  finish_reason      text,
  error_code         text,
  error_message      text,
  calls              bigint,
  prompt_tokens      bigint,
  completion_tokens  bigint,
  total_tokens       bigint,
  cached_tokens      bigint,
  cache_write_tokens bigint,
  reasoning_tokens   bigint,
  bytes_in           bigint,
  bytes_out          bigint,
  frames             bigint,
  repairs            bigint,
  attempts           bigint,
  first_byte_ms      bigint,
  first_token_ms     bigint,
  total_ms           bigint,
  PRIMARY KEY (received_at, seq)
) PARTITION BY RANGE (received_at);
CREATE TABLE request_default PARTITION OF request DEFAULT;

CREATE INDEX request_by_id ON request (id);
CREATE INDEX request_by_model ON request (model, received_at, seq);
CREATE INDEX request_by_state ON request (state, received_at, seq) WHERE state <> 'completed';
