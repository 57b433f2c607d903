-- What tool loops remember: one row per conversation of a key. Times are Unix milliseconds of the database's own clock.
CREATE TABLE memory (
  key_name text COLLATE "C" NOT NULL,
  conversation text COLLATE "C" NOT NULL,  -- the client's own name for it
  step text COLLATE "C" NOT NULL,  -- of the last write; whoever writes says which one it has seen
  messages bigint NOT NULL,  -- how many there are
  bytes bigint NOT NULL,  -- of all of them
  prompt bytea NOT NULL,  -- system messages, a JSON array
  pending bytea NOT NULL,  -- of an answer that ended with calls for the client; empty: none
  created_at bigint NOT NULL,
  used_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  PRIMARY KEY (key_name, conversation)
);
CREATE INDEX memory_by_expires_at ON memory (expires_at);

-- Its messages, numbered from 0.
CREATE TABLE memory_message (
  key_name text COLLATE "C" NOT NULL,
  conversation text COLLATE "C" NOT NULL,
  number bigint NOT NULL,
  body bytea NOT NULL,  -- as in a Chat request
  bytes bigint NOT NULL,
  created_at bigint NOT NULL,
  PRIMARY KEY (key_name, conversation, number),
  FOREIGN KEY (key_name, conversation) REFERENCES memory ON DELETE CASCADE
);

-- What became of a call that callgate ran itself; NULL for others.
ALTER TABLE call ADD COLUMN round bigint;
ALTER TABLE call ADD COLUMN is_error bigint;
ALTER TABLE call ADD COLUMN duration_ms bigint;
ALTER TABLE call ADD COLUMN result_bytes bigint;
ALTER TABLE call ADD COLUMN result text;  -- its beginning, where content is kept
