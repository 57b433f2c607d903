-- What tool loops remember: one row per conversation of a key. Times are Unix milliseconds of the database's own clock.
CREATE TABLE memory (
  key_name     TEXT    NOT NULL,
  conversation TEXT    NOT NULL,  -- the client's own name for it
  step         TEXT    NOT NULL,  -- of the last write; whoever writes says which one it has seen
  messages     INTEGER NOT NULL,  -- how many there are
  bytes        INTEGER NOT NULL,  -- of all of them
  prompt       BLOB    NOT NULL,  -- system messages, a JSON array
  pending      BLOB    NOT NULL,  -- of an answer that ended with calls for the client; empty: none
  created_at   INTEGER NOT NULL,
  used_at      INTEGER NOT NULL,
  expires_at   INTEGER NOT NULL,
  PRIMARY KEY (key_name, conversation)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_by_expires_at ON memory (expires_at);

-- Its messages, numbered from 0.
CREATE TABLE memory_message (
  key_name     TEXT    NOT NULL,
  conversation TEXT    NOT NULL,
  number       INTEGER NOT NULL,
  body         BLOB    NOT NULL,  -- as in a Chat request
  bytes        INTEGER NOT NULL,
  created_at   INTEGER NOT NULL,
  PRIMARY KEY (key_name, conversation, number)
) STRICT;
CREATE TRIGGER memory_gone AFTER DELETE ON memory BEGIN
  DELETE FROM memory_message WHERE key_name = old.key_name AND conversation = old.conversation;
END;

-- What became of a call that callgate ran itself; NULL for others.
ALTER TABLE call ADD COLUMN round INTEGER;
ALTER TABLE call ADD COLUMN is_error INTEGER;
ALTER TABLE call ADD COLUMN duration_ms INTEGER;
ALTER TABLE call ADD COLUMN result_bytes INTEGER;
ALTER TABLE call ADD COLUMN result TEXT;  -- its beginning, where content is kept
