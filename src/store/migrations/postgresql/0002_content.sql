-- What was said: calls, bodies and a text to search in, each in a table of its own so that the log itself stays small.

ALTER TABLE request ADD COLUMN session text;
ALTER TABLE request ADD COLUMN trace_id text;
ALTER TABLE request ADD COLUMN cut text;

CREATE INDEX request_by_key ON request (key_name, received_at, seq);
CREATE INDEX request_by_upstream ON request (upstream, received_at, seq);
CREATE INDEX request_by_session ON request (session, received_at, seq) WHERE session IS NOT NULL;
-- These hold few rows of a healthy log. A query that wants one of them repeats its condition.
CREATE INDEX request_with_error ON request (received_at, seq) WHERE error_code IS NOT NULL;
CREATE INDEX request_with_calls ON request (received_at, seq) WHERE calls > 0;
CREATE INDEX request_by_rare_end ON request (finish_reason, received_at, seq)
  WHERE finish_reason <> 'stop' AND finish_reason <> 'tool_calls';

-- number counts the calls of one request from 0. repeats is 1 when an earlier one has the same name.
CREATE TABLE call (
  seq         bigint   NOT NULL,
  number      bigint   NOT NULL,
  received_at bigint   NOT NULL,
  id          text,
  name        text     NOT NULL,
  outcome     text     NOT NULL,
  repeats     smallint NOT NULL,
  PRIMARY KEY (received_at, seq, number)
) PARTITION BY RANGE (received_at);
CREATE TABLE call_default PARTITION OF call DEFAULT;

CREATE INDEX call_by_name ON call (name, received_at, seq) WHERE repeats = 0;

-- place is seq * 4 plus the part: 0 received, 1 sent, 2 response, 3 events. codec is 0 for plain bytes, 1 for zstd.
CREATE TABLE content (
  place       bigint   NOT NULL,
  received_at bigint   NOT NULL,
  codec       smallint NOT NULL,
  body        bytea    NOT NULL,
  PRIMARY KEY (received_at, place)
) PARTITION BY RANGE (received_at);
-- Compressed already; of what is not, the most is too small to gain.
ALTER TABLE content ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE TABLE content_default PARTITION OF content DEFAULT;

-- Words end at every character that is neither letter nor digit, as SQLite's tokenizer has it: PostgreSQL's own would
-- take a path or an address for one word.
CREATE FUNCTION search_words(words text) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN
  to_tsvector('simple', translate(words, '!"#$%&''()*+,-./:;<=>?@[\]^_`{|}~', repeat(' ', 32)));

CREATE TABLE request_search (
  seq         bigint NOT NULL,
  received_at bigint NOT NULL,
  text        text   NOT NULL,
  PRIMARY KEY (received_at, seq)
) PARTITION BY RANGE (received_at);
CREATE TABLE request_search_default PARTITION OF request_search DEFAULT;

CREATE INDEX request_search_by_word ON request_search USING gin (search_words(text));

-- How far a journal was replayed; goes with its rows, so that none is written twice.
CREATE TABLE journal (
  id       text   PRIMARY KEY,
  replayed bigint NOT NULL
);
