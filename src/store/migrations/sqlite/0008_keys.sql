-- Keys that are made while gateways run. A secret is never here, only its SHA-256 in hexadecimal digits. Times are Unix
-- milliseconds of the database's own clock; 0 in a limit means none.
CREATE TABLE api_key (
  name TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  secret_hash TEXT NOT NULL UNIQUE,
  former_hash TEXT,  -- of the secret before the last rotation, valid until former_until
  former_until INTEGER,
  created_at INTEGER NOT NULL,
  rotated_at INTEGER,
  expires_at INTEGER,
  revoked_at INTEGER,
  admin INTEGER NOT NULL,
  log_content INTEGER NOT NULL,
  models TEXT NOT NULL,  -- JSON arrays of glob patterns
  tools TEXT NOT NULL,
  deny_tools TEXT NOT NULL,
  requests_per_minute INTEGER NOT NULL,
  tokens_per_minute INTEGER NOT NULL,
  max_streams INTEGER NOT NULL,
  tokens_per_day INTEGER NOT NULL,
  tokens_per_month INTEGER NOT NULL,
  cost_per_day INTEGER NOT NULL,  -- billionths of the currency that prices are in
  cost_per_month INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX api_key_by_former_hash ON api_key (former_hash) WHERE former_hash IS NOT NULL;

-- One row, from the first change on: another version with every change of api_key, so that gateways read the table only then.
CREATE TABLE key_change (
  id INTEGER PRIMARY KEY,
  version INTEGER NOT NULL
) STRICT;
