-- What requests cost, in billionths of the currency that prices are in; NULL: there was no price for all that they used.
ALTER TABLE request ADD COLUMN cost bigint;

-- Sums of hours by upstream as well, and with costs. What was summed before knows neither.
ALTER TABLE usage_hour ADD COLUMN upstream text NOT NULL DEFAULT '';
ALTER TABLE usage_hour ADD COLUMN cost bigint NOT NULL DEFAULT 0;
ALTER TABLE usage_hour ADD COLUMN unpriced bigint NOT NULL DEFAULT 0;  -- requests that used tokens without a price
UPDATE usage_hour SET unpriced = requests;
ALTER TABLE usage_hour DROP CONSTRAINT usage_hour_pkey;
ALTER TABLE usage_hour ADD PRIMARY KEY (hour, model, key_name, upstream);

-- The same of requests by the tools that they called: `calls` are those of the tool, the rest is the whole request's.
CREATE TABLE usage_tool_hour (
  hour              bigint NOT NULL,
  model             text   NOT NULL,
  key_name          text   NOT NULL,
  upstream          text   NOT NULL,
  tool              text   NOT NULL,
  requests          bigint NOT NULL,
  failed            bigint NOT NULL,
  calls             bigint NOT NULL,
  prompt_tokens     bigint NOT NULL,
  completion_tokens bigint NOT NULL,
  cached_tokens     bigint NOT NULL,
  reasoning_tokens  bigint NOT NULL,
  cost              bigint NOT NULL,
  unpriced          bigint NOT NULL,
  PRIMARY KEY (hour, model, key_name, upstream, tool)
);
