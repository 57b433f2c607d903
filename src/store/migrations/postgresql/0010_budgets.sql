-- Tokens per minute of a key: when its whole burst is there again, in Unix microseconds. As rate_limit for requests.
CREATE TABLE token_limit (
  key_name text COLLATE "C" PRIMARY KEY,
  full_at bigint NOT NULL
);

-- What a key has used of its budget in a day or month: tokens, or billionths of the currency that prices are in.
CREATE TABLE budget (
  key_name text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,  -- as the limit is called in [[key]]
  begins bigint NOT NULL,  -- of the day or month, Unix milliseconds
  spent bigint NOT NULL,
  PRIMARY KEY (key_name, kind, begins)
);

-- What a node may use of it before it asks again.
CREATE TABLE budget_share (
  key_name text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  begins bigint NOT NULL,
  node text COLLATE "C" NOT NULL,
  held bigint NOT NULL,
  PRIMARY KEY (key_name, kind, node)
);
