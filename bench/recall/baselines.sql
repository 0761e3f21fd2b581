-- name: prepare
-- Those who index text put the speaker before it; ours has a cue for that instead.
ALTER TABLE memories ADD COLUMN spoken tsvector GENERATED ALWAYS AS (memory_words(said_by || ': ' || content)) STORED

-- name: prepare_index
CREATE INDEX memories_spoken ON memories USING gin (scope, spoken) WITH (fastupdate = off)

-- name: text_and
SELECT id FROM memories
WHERE scope = %(scope)s AND spoken @@ plainto_tsquery('memory_words', %(text)s)
ORDER BY ts_rank(spoken, plainto_tsquery('memory_words', %(text)s)) DESC, id LIMIT %(limit)s::bigint

-- name: text_or
WITH asked AS MATERIALIZED (
  SELECT string_agg(memory_word_query(lexeme)::text, ' | ')::tsquery AS query FROM unnest(memory_words(%(text)s))
)
SELECT id FROM asked, memories
WHERE scope = %(scope)s AND spoken @@ query
ORDER BY ts_rank(spoken, query) DESC, id LIMIT %(limit)s::bigint

-- name: trigram
SELECT id FROM memories
WHERE scope = %(scope)s
ORDER BY word_similarity(%(text)s, content) DESC, id LIMIT %(limit)s::bigint

-- name: weighted
WITH asked AS MATERIALIZED (
  SELECT string_agg(memory_word_query(lexeme)::text, ' | ')::tsquery AS query FROM unnest(memory_words(%(text)s))
), scored AS MATERIALIZED (
  SELECT id, importance, ts_rank(spoken, query) AS text, word_similarity(%(text)s, content) AS trigram,
    exp(-extract(epoch FROM max(created_at) OVER () - created_at) / 2592000) AS recency
  FROM asked, memories WHERE scope = %(scope)s
)
SELECT id FROM scored
ORDER BY
  %(text_weight)s::float8 * text / NULLIF(max(text) OVER (), 0) + %(trigram_weight)s::float8 * trigram
    + %(recency_weight)s::float8 * recency + 0.1 * importance DESC NULLS LAST, id
LIMIT %(limit)s::bigint

-- name: bm25
-- With the scope's own idf, k1 = 0.9 and b = 0.4.
WITH asked AS MATERIALIZED (
  SELECT lexeme, memory_word_query(lexeme) AS query FROM unnest(memory_words(%(text)s))
), size AS MATERIALIZED (
  SELECT count(*)::real AS rows, avg(length(spoken))::real AS words FROM memories WHERE scope = %(scope)s
), hit AS MATERIALIZED (
  SELECT m.id, asked.lexeme, cardinality(posting.positions) AS times, length(m.spoken) AS words
  FROM asked JOIN memories AS m ON m.scope = %(scope)s AND m.spoken @@ asked.query
  JOIN LATERAL unnest(m.spoken) AS posting ON posting.lexeme = asked.lexeme
), rarity AS MATERIALIZED (
  SELECT lexeme, ln(1 + (size.rows - count(*) + 0.5) / (count(*) + 0.5)) AS weight FROM hit, size GROUP BY lexeme, size.rows
)
SELECT hit.id, sum(rarity.weight * times * 1.9 / (times + 0.9 * (0.6 + 0.4 * hit.words / size.words))) AS score
FROM hit JOIN rarity USING (lexeme) CROSS JOIN size
GROUP BY hit.id ORDER BY score DESC, hit.id LIMIT %(limit)s::bigint

-- name: vectors
SELECT memory_id AS id, similarity AS score FROM memory_meanings(%(scope)s, %(model)s, %(vector)s::text, 500)
ORDER BY similarity DESC, memory_id LIMIT %(limit)s::bigint

-- name: fill
-- So many rows in scopes of so many rows each, out of the turns that are there, with words that only some of them have.
WITH turn AS (
  SELECT row_number() OVER (ORDER BY created_at, id) - 1 AS number, count(*) OVER () AS turns, memories.*
  FROM memories WHERE kind = 'episode' AND scope LIKE 'conv-%%'
)
INSERT INTO memories (scope, kind, content, content_hash, said_by, thread_id, turn, message_ids, created_at, updated_at)
SELECT
  %(name)s || '-' || made / %(each)s, 'episode', turn.content || ' (' || md5((made / 3)::text) || ')',
  sha256(made::text::bytea), turn.said_by, 'thread-' || made / 20, made %% 20, ARRAY[turn.id::text],
  turn.created_at + made * interval '1 minute', turn.created_at
FROM generate_series(0, %(rows)s::integer - 1) AS made
JOIN turn ON turn.number = (made::bigint * 7919) %% turn.turns

-- name: fill_vectors
INSERT INTO memory_embeddings (memory_id, model, scope, version, embedding)
SELECT m.id, known.model, m.scope, m.version, known.embedding
FROM memories AS m JOIN memory_embeddings AS known ON known.memory_id = m.message_ids[1]::uuid
WHERE m.scope LIKE %(name)s || '-%%'

-- name: analyze
ANALYZE memories
