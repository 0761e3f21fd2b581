-- name: claim
-- Nobody else may hold the thread; a claim that ran out was left by a process that died.
INSERT INTO summarized_threads AS known (scope, thread_id, claim, claimed_until)
VALUES (%(scope)s, %(thread_id)s, gen_random_uuid(), clock_timestamp() + make_interval(secs => %(seconds)s))
ON CONFLICT (scope, thread_id) DO UPDATE
SET claim = excluded.claim, claimed_until = excluded.claimed_until
WHERE known.claim IS NULL OR known.claimed_until < clock_timestamp()
RETURNING claim

-- name: renew
UPDATE summarized_threads SET claimed_until = clock_timestamp() + make_interval(secs => %(seconds)s)
WHERE scope = %(scope)s AND thread_id = %(thread_id)s AND claim = %(claim)s

-- name: holds
SELECT EXISTS (
  SELECT FROM summarized_threads
  WHERE scope = %(scope)s AND thread_id = %(thread_id)s AND claim = %(claim)s
) AS holds

-- name: release
UPDATE summarized_threads SET claim = NULL, claimed_until = NULL
WHERE scope = %(scope)s AND thread_id = %(thread_id)s AND claim = %(claim)s

-- name: fence
INSERT INTO summarized_threads (scope, thread_id, fenced)
VALUES (%(scope)s, %(thread_id)s, %(fenced)s)
ON CONFLICT (scope, thread_id) DO UPDATE
SET fenced = excluded.fenced, claim = NULL, claimed_until = NULL

-- name: void
UPDATE summarized_threads SET claim = NULL, claimed_until = NULL
WHERE scope = %(scope)s AND thread_id = %(thread_id)s

-- name: fenced
SELECT fenced FROM summarized_threads WHERE scope = %(scope)s AND thread_id = %(thread_id)s

-- name: forget
DELETE FROM summarized_threads WHERE scope = %(scope)s AND thread_id = %(thread_id)s

-- name: threads_of
SELECT thread_id FROM summarized_threads WHERE scope = %(scope)s ORDER BY thread_id

-- name: scopes_of
SELECT scope FROM summarized_threads WHERE thread_id = %(thread_id)s ORDER BY scope
