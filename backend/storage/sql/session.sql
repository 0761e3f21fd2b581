-- name: configure
SELECT
  set_config('statement_timeout', %(statement_timeout)s, false),
  set_config('idle_in_transaction_session_timeout', %(idle_in_transaction_timeout)s, false),
  set_config('timezone', 'UTC', false)

-- name: wait_at_most
SELECT set_config('lock_timeout', %(lock_timeout)s, true)

-- name: lock
SELECT pg_advisory_xact_lock(%(key)s)

-- name: share_lock
SELECT pg_advisory_xact_lock_shared(%(key)s)

-- name: notify
SELECT pg_notify('memory_changed', %(payload)s)

-- name: notify_episode
-- A channel of its own: nothing that is cached becomes wrong by an episode.
SELECT pg_notify('episode_recorded', %(payload)s)

-- name: listen
LISTEN memory_changed

-- name: listen_for_episodes
LISTEN episode_recorded

-- name: server_version
SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number
