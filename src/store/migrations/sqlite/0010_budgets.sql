-- Tokens per minute of a key: when its whole burst is there again, in Unix microseconds. As rate_limit for requests.
CREATE TABLE token_limit (
  key_name TEXT PRIMARY KEY,
  full_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What a key has used of its budget in a day or month: tokens, or billionths of the currency that prices are in.
CREATE TABLE budget (
  key_name TEXT NOT NULL,
  kind TEXT NOT NULL,  -- as the limit is called in [[key]]
  begins INTEGER NOT NULL,  -- of the day or month, Unix milliseconds
  spent INTEGER NOT NULL,
  PRIMARY KEY (key_name, kind, begins)
) STRICT, WITHOUT ROWID;

-- What a node may use of it before it asks again.
CREATE TABLE budget_share (
  key_name TEXT NOT NULL,
  kind TEXT NOT NULL,
  begins INTEGER NOT NULL,
  node TEXT NOT NULL,
  held INTEGER NOT NULL,
  PRIMARY KEY (key_name, kind, node)
) STRICT, WITHOUT ROWID;
