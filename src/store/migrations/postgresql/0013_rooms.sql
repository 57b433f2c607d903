-- Where other gateways reach a node, and the word that opens its internal routes. Empty: it takes no part in rooms of others.
ALTER TABLE node ADD COLUMN address text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE node ADD COLUMN token text COLLATE "C" NOT NULL DEFAULT '';

-- What a user said in a room, and what became of it. The gateway that has the lease of the room writes; the next one reads.
CREATE TABLE room_message (
  room text COLLATE "C" NOT NULL,  -- as its lease is called
  place bigint GENERATED ALWAYS AS IDENTITY,
  id text COLLATE "C" NOT NULL,
  content text COLLATE "C" NOT NULL,  -- JSON
  body text COLLATE "C" NOT NULL,  -- the request that a turn is made of; empty once it has begun
  peer text COLLATE "C" NOT NULL,
  stream text COLLATE "C" NOT NULL,  -- of its turn; empty: it waits
  end_seq bigint NOT NULL,  -- the number of the frame that ended the turn; 0: it has not ended
  answer text COLLATE "C" NOT NULL,  -- what the model said
  said_at bigint NOT NULL,
  PRIMARY KEY (room, id)
);
CREATE INDEX room_message_by_place ON room_message (room, place);
CREATE INDEX room_message_by_said_at ON room_message (said_at);
