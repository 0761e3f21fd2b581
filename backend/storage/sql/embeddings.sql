-- name: table
-- Without its extension the table may be there and its column not.
SELECT EXISTS (
  SELECT FROM pg_attribute
  WHERE attrelid = to_regclass('memory_embeddings') AND attname = 'embedding' AND NOT attisdropped
) AS found

-- name: missing
-- What changed last first. A vector of an older version, or of another dimension, is none; a null dimension is any.
-- The vector is looked up row by row: as a join, the planner may read the vectors of all users.
SELECT id, version, content
FROM memories
WHERE scope = %(scope)s AND status = 'active'
  AND NOT coalesce((
    SELECT e.version = memories.version
      AND (%(dimension)s::integer IS NULL OR vector_dims(e.embedding) = %(dimension)s::integer)
    FROM memory_embeddings AS e
    WHERE e.memory_id = memories.id AND e.model = %(model)s
  ), false)
ORDER BY updated_at DESC, id DESC
LIMIT %(limit)s

-- name: put
-- Rows that somebody deletes just now are passed over, not waited for: who deletes many would wait for us in turn.
-- In the order of their ids, so that two who do the same at once do not wait for each other.
WITH given AS (
  SELECT * FROM unnest(%(ids)s::uuid[], %(versions)s::integer[], %(vectors)s::text[]) AS given (id, version, vector)
), there AS (
  SELECT memories.id, memories.version, given.vector
  FROM memories JOIN given ON given.id = memories.id AND given.version = memories.version
  WHERE memories.scope = %(scope)s
  ORDER BY memories.id
  FOR KEY SHARE OF memories SKIP LOCKED
)
INSERT INTO memory_embeddings (memory_id, model, scope, version, embedding)
SELECT id, %(model)s, %(scope)s, version, vector::halfvec FROM there
ON CONFLICT (memory_id, model) DO UPDATE SET version = excluded.version, embedding = excluded.embedding
WHERE memory_embeddings.version <= excluded.version

-- name: drop_others
DELETE FROM memory_embeddings
WHERE (memory_id, model) IN (
  SELECT memory_id, model FROM memory_embeddings WHERE model <> %(model)s LIMIT %(limit)s FOR UPDATE SKIP LOCKED
)
