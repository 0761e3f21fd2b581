-- name: claim
-- One row comes back for whoever is first since then; a second one waits for the first and finds it done.
INSERT INTO maintenance AS known (name, done_at) VALUES (%(name)s, %(at)s)
ON CONFLICT (name) DO UPDATE SET done_at = excluded.done_at
WHERE known.done_at < %(since)s
RETURNING name

-- name: scopes
-- So many scopes, each found in the index by the one before it, and the oldest of their episodes that stays, which is
-- null where there are not so many.
WITH RECURSIVE page (scope, place) AS (
  SELECT (SELECT min(scope) FROM memories WHERE scope > %(after)s), 1
  UNION ALL
  SELECT (SELECT min(following.scope) FROM memories AS following WHERE following.scope > page.scope), page.place + 1
  FROM page
  WHERE page.scope IS NOT NULL AND page.place < %(limit)s
)
SELECT page.scope, oldest.created_at, oldest.id
FROM page
LEFT JOIN LATERAL (
  SELECT created_at, id FROM memories
  WHERE scope = page.scope AND kind = 'episode'
  ORDER BY created_at DESC, id DESC
  OFFSET %(keep)s - 1
  LIMIT 1
) AS oldest ON true
WHERE page.scope IS NOT NULL
ORDER BY page.scope

-- name: older_by
-- The episode that has so many places behind another one, of all scopes, from the newest on.
SELECT created_at, id FROM memories
WHERE kind = 'episode' AND (created_at, id) < (%(created_at)s, %(id)s::uuid)
ORDER BY created_at DESC, id DESC
OFFSET %(places)s - 1
LIMIT 1

-- name: prune
-- The oldest first. What somebody else is changing or deleting is left for the next time, so that nobody is waited for.
DELETE FROM memories WHERE id = ANY(ARRAY(
  SELECT id FROM memories
  WHERE kind = 'episode' AND (created_at, id) < (%(created_at)s, %(id)s::uuid)
  ORDER BY created_at, id
  LIMIT %(limit)s
  FOR UPDATE SKIP LOCKED
))

-- name: prune_scope
DELETE FROM memories WHERE scope = %(scope)s AND id = ANY(ARRAY(
  SELECT id FROM memories
  WHERE scope = %(scope)s AND kind = 'episode' AND (created_at, id) < (%(created_at)s, %(id)s::uuid)
  ORDER BY created_at, id
  LIMIT %(limit)s
  FOR UPDATE SKIP LOCKED
))

-- name: drop_erasures
-- One row comes back for each that goes: the notes of erasures and, as far as the limit goes, the tombstones of episodes.
WITH notes AS (
  SELECT scope, thread_id FROM memory_erasures
  WHERE erased_at < %(before)s
  LIMIT %(limit)s
  FOR UPDATE SKIP LOCKED
),
tombstones AS (
  SELECT scope, content_hash FROM forgotten_episodes
  WHERE forgotten_at < %(before)s
  LIMIT %(limit)s - (SELECT count(*) FROM notes)
  FOR UPDATE SKIP LOCKED
),
dropped_notes AS (
  DELETE FROM memory_erasures WHERE (scope, thread_id) IN (SELECT scope, thread_id FROM notes)
),
dropped_tombstones AS (
  DELETE FROM forgotten_episodes WHERE (scope, content_hash) IN (SELECT scope, content_hash FROM tombstones)
)
SELECT scope FROM notes UNION ALL SELECT scope FROM tombstones
