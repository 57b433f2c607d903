-- Sessions: conversations that an upstream keeps. Times are Unix milliseconds of the database's own clock.

CREATE TABLE session (
  id         TEXT    PRIMARY KEY,
  key_name   TEXT    NOT NULL,
  upstream   TEXT    NOT NULL,
  model      TEXT    NOT NULL,
  name       TEXT    NOT NULL,  -- the client's own; empty: it gave none
  parent     TEXT    NOT NULL,  -- the session that this one branched off; empty: none
  chat       TEXT    NOT NULL,  -- where the last answer is, in the upstream's words
  answer     TEXT    NOT NULL,
  told       TEXT    NOT NULL,
  identity   TEXT    NOT NULL,  -- of everything that was said
  opening    TEXT    NOT NULL,  -- of the first question and its answer
  turns      INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  used_at    INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  version    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX session_by_created_at ON session (created_at, id);
CREATE INDEX session_by_expires_at ON session (expires_at);
CREATE INDEX session_by_opening ON session (opening, used_at);

-- One row per answer. `identity` is what its conversation is known by: all that was said, with the answer; for one that
-- was cut or is running, what was said before it.
CREATE TABLE session_answer (
  upstream   TEXT    NOT NULL,
  chat       TEXT    NOT NULL,
  answer     TEXT    NOT NULL,
  session    TEXT    NOT NULL,
  identity   TEXT    NOT NULL,
  state      TEXT    NOT NULL CHECK (state = 'complete' OR state = 'running' OR state = 'cut'),
  continued  INTEGER NOT NULL,
  told       TEXT    NOT NULL,
  said       BLOB    NOT NULL,  -- of a cut one: its text
  called     BLOB    NOT NULL,  -- ... and its calls
  request    TEXT    NOT NULL,  -- the id of the request in the log
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (upstream, chat, answer)
) STRICT, WITHOUT ROWID;
CREATE INDEX session_answer_by_identity ON session_answer (identity);
CREATE INDEX session_answer_by_session ON session_answer (session, created_at);
CREATE INDEX session_answer_by_expires_at ON session_answer (expires_at);

-- Gateways that share the store. One is alive until the time that it last gave.
CREATE TABLE node (
  id       TEXT    PRIMARY KEY,
  alive_to INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What one request of a node holds alone. It is void when its node is not alive.
CREATE TABLE lease (
  name   TEXT PRIMARY KEY,
  node   TEXT NOT NULL,
  holder TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX lease_by_node ON lease (node);

-- A key's rate: when its burst is whole again, in microseconds; what nodes have been given counts as used.
CREATE TABLE rate_limit (
  key_name TEXT    PRIMARY KEY,
  full_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- How many requests of a key a node may run at a time.
CREATE TABLE stream_limit (
  key_name TEXT    NOT NULL,
  node     TEXT    NOT NULL,
  allowed  INTEGER NOT NULL,
  PRIMARY KEY (key_name, node)
) STRICT, WITHOUT ROWID;
