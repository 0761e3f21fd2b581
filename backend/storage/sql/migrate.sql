-- name: try_lock
SELECT pg_try_advisory_lock(%(key)s) AS locked

-- name: create_journal
CREATE TABLE IF NOT EXISTS afterthought_migrations (
  name text PRIMARY KEY,
  checksum text NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT now()
)

-- name: applied
SELECT name, checksum FROM afterthought_migrations ORDER BY name

-- name: record
INSERT INTO afterthought_migrations (name, checksum) VALUES (%(name)s, %(checksum)s)

-- name: create_extensions
-- An extension that is missing or not permitted is passed over; who needs it asks `extensions`.
DO $$
DECLARE
  wanted text;
BEGIN
  FOR wanted IN
    SELECT available.name FROM pg_available_extensions AS available
    WHERE available.name IN ('pg_trgm', 'unaccent', 'vector') AND available.installed_version IS NULL
  LOOP
    BEGIN
      EXECUTE format('CREATE EXTENSION IF NOT EXISTS %I', wanted);
    EXCEPTION WHEN OTHERS THEN
      RAISE NOTICE 'extension % was not created: %', wanted, SQLERRM;
    END;
  END LOOP;
END
$$

-- name: extensions
SELECT extname AS name, extversion AS version FROM pg_extension ORDER BY extname
