-- Responses that clients may ask for again and go on from: one row per response of a key. Times are Unix milliseconds of the
-- database's own clock.
CREATE TABLE response (
  key_name text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  previous text COLLATE "C",  -- the response that it goes on from
  node text COLLATE "C" NOT NULL,  -- where it runs or ran
  status text COLLATE "C" NOT NULL,  -- as in `body`
  input bytea NOT NULL,  -- its own input items, with commas between them
  output bytea NOT NULL,  -- its output items, likewise
  body bytea NOT NULL,  -- the response object
  events bytea NOT NULL,  -- the event stream of one that ran in the background; empty: none
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  PRIMARY KEY (key_name, id)
);
CREATE INDEX response_by_expires_at ON response (expires_at);
