-- Responses that clients may ask for again and go on from: one row per response of a key. Times are Unix milliseconds of the
-- database's own clock.
CREATE TABLE response (
  key_name   TEXT    NOT NULL,
  id         TEXT    NOT NULL,
  previous   TEXT,              -- the response that it goes on from
  node       TEXT    NOT NULL,  -- where it runs or ran
  status     TEXT    NOT NULL,  -- as in `body`
  input      BLOB    NOT NULL,  -- its own input items, with commas between them
  output     BLOB    NOT NULL,  -- its output items, likewise
  body       BLOB    NOT NULL,  -- the response object
  events     BLOB    NOT NULL,  -- the event stream of one that ran in the background; empty: none
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (key_name, id)
) STRICT;
CREATE INDEX response_by_expires_at ON response (expires_at);
