-- name: latest_id
SELECT checkpoint_id FROM checkpoints
WHERE thread_id = %(thread_id)s AND checkpoint_ns = %(checkpoint_ns)s
ORDER BY checkpoint_id DESC LIMIT 1

-- name: copy_checkpoints
INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata)
SELECT
  %(target)s, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint,
  CASE WHEN metadata ? 'thread_id'
    THEN jsonb_set(metadata, '{thread_id}', to_jsonb(%(target)s::text)) ELSE metadata END - 'run_id'
FROM checkpoints WHERE thread_id = %(source)s

-- name: copy_blobs
INSERT INTO checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob)
SELECT %(target)s, checkpoint_ns, channel, version, type, blob
FROM checkpoint_blobs WHERE thread_id = %(source)s

-- name: copy_writes
INSERT INTO checkpoint_writes
  (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob, task_path)
SELECT %(target)s, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob, task_path
FROM checkpoint_writes WHERE thread_id = %(source)s

-- name: delete_of_runs
-- The checkpoints of the runs, except those that a checkpoint of another run was built on.
WITH RECURSIVE doomed AS (
  SELECT thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id
  FROM checkpoints WHERE metadata ->> 'run_id' = ANY(%(runs)s)
), needed AS (
  SELECT doomed.*
  FROM checkpoints AS child
  JOIN doomed ON doomed.thread_id = child.thread_id AND doomed.checkpoint_ns = child.checkpoint_ns
    AND doomed.checkpoint_id = child.parent_checkpoint_id
  WHERE (child.metadata ->> 'run_id' = ANY(%(runs)s)) IS NOT TRUE
  UNION
  SELECT doomed.*
  FROM needed
  JOIN doomed ON doomed.thread_id = needed.thread_id AND doomed.checkpoint_ns = needed.checkpoint_ns
    AND doomed.checkpoint_id = needed.parent_checkpoint_id
)
DELETE FROM checkpoints AS gone USING doomed
WHERE gone.thread_id = doomed.thread_id AND gone.checkpoint_ns = doomed.checkpoint_ns
  AND gone.checkpoint_id = doomed.checkpoint_id
  AND NOT EXISTS (
    SELECT FROM needed
    WHERE needed.thread_id = gone.thread_id AND needed.checkpoint_ns = gone.checkpoint_ns
      AND needed.checkpoint_id = gone.checkpoint_id
  )
RETURNING gone.thread_id, gone.checkpoint_ns, gone.checkpoint_id, gone.parent_checkpoint_id,
  gone.checkpoint -> 'channel_versions' AS versions

-- name: delete_writes_of
DELETE FROM checkpoint_writes
WHERE thread_id = %(thread_id)s AND checkpoint_ns = %(checkpoint_ns)s AND checkpoint_id = ANY(%(ids)s)

-- name: delete_writes_onto
-- A run keeps its input, and the work of its first step, on the checkpoint it starts from. They go with it unless
-- something else grew from there. What that checkpoint's own run left (errors and interrupts: idx -1 to -3) stays.
DELETE FROM checkpoint_writes
WHERE thread_id = %(thread_id)s AND checkpoint_ns = %(checkpoint_ns)s AND checkpoint_id = ANY(%(ids)s)
  AND idx NOT BETWEEN -3 AND -1
  AND NOT EXISTS (
    SELECT FROM checkpoints AS child
    WHERE child.thread_id = checkpoint_writes.thread_id
      AND child.checkpoint_ns = checkpoint_writes.checkpoint_ns
      AND child.parent_checkpoint_id = checkpoint_writes.checkpoint_id
  )

-- name: delete_unused_blobs
DELETE FROM checkpoint_blobs AS blob
USING unnest(%(channels)s::text[], %(versions)s::text[]) AS freed (channel, version)
WHERE blob.thread_id = %(thread_id)s AND blob.checkpoint_ns = %(checkpoint_ns)s
  AND blob.channel = freed.channel AND blob.version = freed.version
  AND NOT EXISTS (
    SELECT FROM checkpoints
    WHERE checkpoints.thread_id = blob.thread_id AND checkpoints.checkpoint_ns = blob.checkpoint_ns
      AND checkpoints.checkpoint -> 'channel_versions' ->> blob.channel = blob.version
  )

-- name: delete_checkpoints
DELETE FROM checkpoints WHERE thread_id = %(thread_id)s

-- name: delete_blobs
DELETE FROM checkpoint_blobs WHERE thread_id = %(thread_id)s

-- name: delete_writes
DELETE FROM checkpoint_writes WHERE thread_id = %(thread_id)s
