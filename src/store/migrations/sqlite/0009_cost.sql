-- What requests cost, in billionths of the currency that prices are in; NULL: there was no price for all that they used.
ALTER TABLE request ADD COLUMN cost INTEGER;

-- Sums of hours by upstream as well, and with costs. What was summed before knows neither.
CREATE TABLE usage_hour_by_upstream (
  hour              INTEGER NOT NULL,  -- when it begins
  model             TEXT    NOT NULL,
  key_name          TEXT    NOT NULL,
  upstream          TEXT    NOT NULL,
  requests          INTEGER NOT NULL,
  failed            INTEGER NOT NULL,
  calls             INTEGER NOT NULL,
  prompt_tokens     INTEGER NOT NULL,
  completion_tokens INTEGER NOT NULL,
  cached_tokens     INTEGER NOT NULL,
  reasoning_tokens  INTEGER NOT NULL,
  cost              INTEGER NOT NULL,
  unpriced          INTEGER NOT NULL,  -- requests that used tokens without a price
  PRIMARY KEY (hour, model, key_name, upstream)
) STRICT, WITHOUT ROWID;
INSERT INTO usage_hour_by_upstream
  SELECT hour, model, key_name, '', requests, failed, calls, prompt_tokens, completion_tokens, cached_tokens,
         reasoning_tokens, 0, requests FROM usage_hour;
DROP TABLE usage_hour;
ALTER TABLE usage_hour_by_upstream RENAME TO usage_hour;

-- The same of requests by the tools that they called: `calls` are those of the tool, the rest is the whole request's.
CREATE TABLE usage_tool_hour (
  hour              INTEGER NOT NULL,
  model             TEXT    NOT NULL,
  key_name          TEXT    NOT NULL,
  upstream          TEXT    NOT NULL,
  tool              TEXT    NOT NULL,
  requests          INTEGER NOT NULL,
  failed            INTEGER NOT NULL,
  calls             INTEGER NOT NULL,
  prompt_tokens     INTEGER NOT NULL,
  completion_tokens INTEGER NOT NULL,
  cached_tokens     INTEGER NOT NULL,
  reasoning_tokens  INTEGER NOT NULL,
  cost              INTEGER NOT NULL,
  unpriced          INTEGER NOT NULL,
  PRIMARY KEY (hour, model, key_name, upstream, tool)
) STRICT, WITHOUT ROWID;
