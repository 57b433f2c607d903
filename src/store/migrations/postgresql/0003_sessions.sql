-- Sessions: conversations that an upstream keeps. Times are Unix milliseconds of the database's own clock. Texts
-- sort by their bytes, as in SQLite.

CREATE TABLE session (
  id text COLLATE "C" PRIMARY KEY,
  key_name text COLLATE "C" NOT NULL,
  upstream text COLLATE "C" NOT NULL,
  model text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,  -- the client's own; empty: it gave none
  parent text COLLATE "C" NOT NULL,  -- the session that this one branched off; empty: none
  chat text COLLATE "C" NOT NULL,  -- where the last answer is, in the upstream's words
  answer text COLLATE "C" NOT NULL,
  told text COLLATE "C" NOT NULL,
  identity text COLLATE "C" NOT NULL,  -- of everything that was said
  opening text COLLATE "C" NOT NULL,  -- of the first question and its answer
  turns bigint NOT NULL,
  created_at bigint NOT NULL,
  used_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  version bigint NOT NULL
);
CREATE INDEX session_by_created_at ON session (created_at, id);
CREATE INDEX session_by_expires_at ON session (expires_at);
CREATE INDEX session_by_opening ON session (opening, used_at);

-- One row per answer. `identity` is what its conversation is known by: all that was said, with the answer; for one that
-- was cut or is running, what was said before it.
CREATE TABLE session_answer (
  upstream text COLLATE "C" NOT NULL,
  chat text COLLATE "C" NOT NULL,
  answer text COLLATE "C" NOT NULL,
  session text COLLATE "C" NOT NULL,
  identity text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL CHECK (state = 'complete' OR state = 'running' OR state = 'cut'),
  continued bigint NOT NULL,
  told text COLLATE "C" NOT NULL,
  said bytea NOT NULL,  -- of a cut one: its text
  called bytea NOT NULL,  -- ... and its calls
  request text COLLATE "C" NOT NULL,  -- the id of the request in the log
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  PRIMARY KEY (upstream, chat, answer)
);
CREATE INDEX session_answer_by_identity ON session_answer (identity);
CREATE INDEX session_answer_by_session ON session_answer (session, created_at);
CREATE INDEX session_answer_by_expires_at ON session_answer (expires_at);

-- Gateways that share the store. One is alive until the time that it last gave.
CREATE TABLE node (
  id text COLLATE "C" PRIMARY KEY,
  alive_to bigint NOT NULL
);

-- What one request of a node holds alone. It is void when its node is not alive.
CREATE TABLE lease (
  name text COLLATE "C" PRIMARY KEY,
  node text COLLATE "C" NOT NULL,
  holder text COLLATE "C" NOT NULL
);
CREATE INDEX lease_by_node ON lease (node);

-- A key's rate: when its burst is whole again, in microseconds; what nodes have been given counts as used.
CREATE TABLE rate_limit (
  key_name text COLLATE "C" PRIMARY KEY,
  full_at bigint NOT NULL
);

-- How many requests of a key a node may run at a time.
CREATE TABLE stream_limit (
  key_name text COLLATE "C" NOT NULL,
  node text COLLATE "C" NOT NULL,
  allowed bigint NOT NULL,
  PRIMARY KEY (key_name, node)
);
