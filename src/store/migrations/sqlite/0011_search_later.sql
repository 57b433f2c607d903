-- Requests whose text is not in request_search yet; it is part of their content.
-- content.codec is 2 for the parts of a request joined (five sizes of four bytes, lowest first: received, sent, response,
-- events, text to search in; then the bytes), 3 for that compressed with zstd. Such a row stands at any of the places of its request.
CREATE TABLE search_waiting (
  seq         INTEGER PRIMARY KEY,
  received_at INTEGER NOT NULL
) STRICT;
