-- As in PostgreSQL, so that both engines have the same tables. A SQLite file is one gateway's own, which needs none of it.
ALTER TABLE node ADD COLUMN address TEXT NOT NULL DEFAULT '';
ALTER TABLE node ADD COLUMN token TEXT NOT NULL DEFAULT '';

CREATE TABLE room_message (
  room TEXT NOT NULL,
  place INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  content TEXT NOT NULL,
  body TEXT NOT NULL,
  peer TEXT NOT NULL,
  stream TEXT NOT NULL,
  end_seq INTEGER NOT NULL,
  answer TEXT NOT NULL,
  said_at INTEGER NOT NULL,
  UNIQUE (room, id)
) STRICT;
CREATE INDEX room_message_by_place ON room_message (room, place);
CREATE INDEX room_message_by_said_at ON room_message (said_at);
