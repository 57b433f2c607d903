-- When somebody marked a request as resolved, and what they wrote about it; NULL: nobody did.
ALTER TABLE request ADD COLUMN resolved_at bigint;
ALTER TABLE request ADD COLUMN resolution text;
