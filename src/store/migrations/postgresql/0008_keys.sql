-- Keys that are made while gateways run. A secret is never here, only its SHA-256 in hexadecimal digits. Times are Unix
-- milliseconds of the database's own clock; 0 in a limit means none.
CREATE TABLE api_key (
  name text COLLATE "C" PRIMARY KEY,
  owner text NOT NULL,
  secret_hash text COLLATE "C" NOT NULL UNIQUE,
  former_hash text COLLATE "C",  -- of the secret before the last rotation, valid until former_until
  former_until bigint,
  created_at bigint NOT NULL,
  rotated_at bigint,
  expires_at bigint,
  revoked_at bigint,
  admin bigint NOT NULL,
  log_content bigint NOT NULL,
  models text NOT NULL,  -- JSON arrays of glob patterns
  tools text NOT NULL,
  deny_tools text NOT NULL,
  requests_per_minute bigint NOT NULL,
  tokens_per_minute bigint NOT NULL,
  max_streams bigint NOT NULL,
  tokens_per_day bigint NOT NULL,
  tokens_per_month bigint NOT NULL,
  cost_per_day bigint NOT NULL,  -- billionths of the currency that prices are in
  cost_per_month bigint NOT NULL
);
CREATE UNIQUE INDEX api_key_by_former_hash ON api_key (former_hash) WHERE former_hash IS NOT NULL;

-- One row, from the first change on: another version with every change of api_key, so that gateways read the table only then.
CREATE TABLE key_change (
  id bigint PRIMARY KEY,
  version bigint NOT NULL
);
