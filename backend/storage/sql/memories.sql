-- name: facts
SELECT id, scope, kind, key, categories, content, importance, said_by, thread_id, turn, message_ids, version, status,
  created_at, updated_at, accessed_at, access_count
FROM memories
WHERE scope = %(scope)s AND kind = 'fact' AND status = 'active'
ORDER BY updated_at DESC, id DESC

-- name: episodes
-- The newest first, behind a place, whether or not there is still one in it; `after_id` is null for the first page.
SELECT id, scope, kind, key, categories, content, importance, said_by, thread_id, turn, message_ids, version, status,
  created_at, updated_at, accessed_at, access_count
FROM memories
WHERE scope = %(scope)s AND kind = 'episode' AND status = 'active'
  AND (%(after_id)s::uuid IS NULL OR (created_at, id) < (%(after_created_at)s::timestamptz, %(after_id)s::uuid))
ORDER BY created_at DESC, id DESC
LIMIT %(limit)s

-- name: add
INSERT INTO memories (
  scope, kind, key, categories, content, content_hash, importance, said_by, thread_id, turn, message_ids, created_at, updated_at
) VALUES (
  %(scope)s, %(kind)s, %(key)s, %(categories)s, %(content)s, %(content_hash)s, %(importance)s, %(said_by)s, %(thread_id)s,
  %(turn)s, %(message_ids)s, %(at)s, %(at)s
)
RETURNING id, scope, kind, key, categories, content, importance, said_by, thread_id, turn, message_ids, version, status,
  created_at, updated_at, accessed_at, access_count

-- name: record
INSERT INTO memories (
  scope, kind, key, categories, content, content_hash, importance, said_by, thread_id, turn, message_ids, created_at, updated_at
)
SELECT
  %(scope)s, %(kind)s, %(key)s, %(categories)s, %(content)s, %(content_hash)s, %(importance)s, %(said_by)s, %(thread_id)s,
  %(turn)s, %(message_ids)s, %(at)s, %(at)s
WHERE NOT EXISTS (
  SELECT FROM memory_erasures
  WHERE scope = %(scope)s AND thread_id IN ('', %(thread_id)s) AND erased_at >= %(at)s
)
AND NOT EXISTS (SELECT FROM forgotten_episodes WHERE scope = %(scope)s AND content_hash = %(content_hash)s)
ON CONFLICT DO NOTHING

-- name: change
UPDATE memories
SET key = %(key)s, categories = %(categories)s, content = %(content)s, content_hash = %(content_hash)s,
  importance = %(importance)s, said_by = %(said_by)s, thread_id = %(thread_id)s, turn = %(turn)s,
  message_ids = %(message_ids)s, version = version + 1, updated_at = %(at)s
WHERE scope = %(scope)s AND id = %(id)s AND kind = 'fact' AND status = 'active' AND version = %(version)s
RETURNING id, scope, kind, key, categories, content, importance, said_by, thread_id, turn, message_ids, version, status,
  created_at, updated_at, accessed_at, access_count

-- name: remove
-- The version is null when any will do.
DELETE FROM memories
WHERE scope = %(scope)s AND kind = %(kind)s AND id = %(id)s AND (%(version)s::integer IS NULL OR version = %(version)s)

-- name: forget
-- An episode leaves a tombstone: a background run of its turn may come again. It is never of an earlier time than the turn,
-- so that an erasure from that time on stands for both.
WITH gone AS (
  DELETE FROM memories
  WHERE scope = %(scope)s AND kind = 'episode' AND id = %(id)s
  RETURNING id, scope, content_hash, created_at
),
forgotten AS (
  INSERT INTO forgotten_episodes (scope, content_hash, forgotten_at)
  SELECT scope, content_hash, greatest(%(at)s, created_at) FROM gone
  ON CONFLICT (scope, content_hash) DO UPDATE
  SET forgotten_at = greatest(forgotten_episodes.forgotten_at, excluded.forgotten_at)
)
SELECT id FROM gone

-- name: erase
-- When it was, is kept in the place of the episodes: a background run of an earlier turn may still be under way. It
-- stands for all threads of the scope and for the episodes deleted before, so that no ids and hashes of them are kept.
WITH noted AS (
  INSERT INTO memory_erasures (scope, thread_id, erased_at) SELECT %(scope)s, '', %(at)s WHERE %(kind)s = 'episode'
  ON CONFLICT (scope, thread_id) DO UPDATE SET erased_at = greatest(memory_erasures.erased_at, excluded.erased_at)
),
covered AS (
  DELETE FROM memory_erasures
  WHERE scope = %(scope)s AND thread_id <> '' AND erased_at <= %(at)s AND %(kind)s = 'episode'
),
covered_too AS (
  DELETE FROM forgotten_episodes WHERE scope = %(scope)s AND forgotten_at <= %(at)s AND %(kind)s = 'episode'
)
DELETE FROM memories WHERE scope = %(scope)s AND kind = %(kind)s

-- name: erase_thread
WITH noted AS (
  INSERT INTO memory_erasures (scope, thread_id, erased_at)
  SELECT %(scope)s, %(thread_id)s, %(at)s WHERE %(kind)s = 'episode'
  ON CONFLICT (scope, thread_id) DO UPDATE SET erased_at = greatest(memory_erasures.erased_at, excluded.erased_at)
)
DELETE FROM memories WHERE scope = %(scope)s AND kind = %(kind)s AND thread_id = %(thread_id)s

-- name: touch
-- The time is that of the turn, so that a run of it that comes again, or beside itself, counts nothing more.
UPDATE memories SET accessed_at = %(at)s, access_count = access_count + 1
WHERE scope = %(scope)s AND id = ANY(%(ids)s::uuid[]) AND (accessed_at IS NULL OR accessed_at < %(at)s)

-- name: known
SELECT id FROM memories WHERE scope = %(scope)s AND status = 'active' AND id = ANY(%(ids)s::uuid[])

-- name: count
SELECT count(*) AS count FROM memories WHERE scope = %(scope)s AND kind = %(kind)s AND status = 'active'
