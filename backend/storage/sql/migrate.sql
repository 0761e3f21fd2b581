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

-- name: want_extensions
SELECT set_config('afterthought.wanted', array_to_string(%(names)s::text[], ','), false)

-- name: create_extensions
-- An extension that is missing or not permitted is passed over; who needs it asks `extensions`.
DO $$
DECLARE
  wanted text;
BEGIN
  FOR wanted IN
    SELECT available.name FROM pg_available_extensions AS available
    WHERE available.name = ANY(string_to_array(current_setting('afterthought.wanted'), ','))
      AND available.installed_version IS NULL
  LOOP
    BEGIN
      EXECUTE format('CREATE EXTENSION IF NOT EXISTS %I', wanted);
    EXCEPTION WHEN OTHERS THEN
      RAISE NOTICE 'extension % was not created: %', wanted, SQLERRM;
    END;
  END LOOP;
END
$$

-- name: fit_to_extensions
-- What the recall statement uses of the extensions, or what it uses in their place: so one statement serves every
-- database. An extension that came or went since the last start is followed here.
DO $$
BEGIN
  IF to_regclass('memories') IS NULL THEN
    RETURN;
  END IF;

  IF EXISTS (SELECT FROM pg_extension WHERE extname = 'btree_gin') THEN
    CREATE INDEX IF NOT EXISTS memories_scope_words ON memories USING gin (scope, words) WITH (fastupdate = off);
    DROP INDEX IF EXISTS memories_words;
  ELSE
    CREATE INDEX IF NOT EXISTS memories_words ON memories USING gin (words) WITH (fastupdate = off);
  END IF;

  IF EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_trgm') THEN
    CREATE OR REPLACE FUNCTION memory_likeness(one text, other text) RETURNS real LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN similarity(one, other);
  ELSE
    CREATE OR REPLACE FUNCTION memory_likeness(one text, other text) RETURNS real LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN 0::real;
  END IF;

  IF to_regtype('halfvec') IS NOT NULL THEN
    IF to_regclass('memory_embeddings') IS NOT NULL AND NOT EXISTS (
      SELECT FROM pg_attribute
      WHERE attrelid = to_regclass('memory_embeddings') AND attname = 'embedding' AND NOT attisdropped
    ) THEN
      DROP TABLE memory_embeddings;  -- its extension was dropped, and its column with it
    END IF;
    CREATE TABLE IF NOT EXISTS memory_embeddings (
      memory_id uuid NOT NULL REFERENCES memories ON DELETE CASCADE,
      model text NOT NULL,
      version integer NOT NULL,
      embedding halfvec NOT NULL,
      PRIMARY KEY (memory_id, model)
    );
    CREATE OR REPLACE FUNCTION memory_meanings(of_scope text, of_model text, vector real[])
    RETURNS TABLE (memory_id uuid, thread_id text, turn integer, similarity real) LANGUAGE sql STABLE
    BEGIN ATOMIC
      SELECT
        m.id, m.thread_id, m.turn,
        -- a filter instead would be taken for a rare condition, and the whole table be read
        CASE WHEN vector_dims(e.embedding) = cardinality(vector) THEN (1 - (e.embedding <=> asked.meaning))::real END
      FROM (SELECT vector::halfvec AS meaning OFFSET 0) AS asked  -- converted once, not for each row
      CROSS JOIN memories AS m
      JOIN memory_embeddings AS e ON e.memory_id = m.id AND e.model = of_model AND e.version = m.version
      WHERE vector IS NOT NULL AND m.scope = of_scope AND m.status = 'active';
    END;
  ELSE
    CREATE OR REPLACE FUNCTION memory_meanings(of_scope text, of_model text, vector real[])
    RETURNS TABLE (memory_id uuid, thread_id text, turn integer, similarity real) LANGUAGE sql STABLE
    BEGIN ATOMIC
      SELECT NULL::uuid, NULL::text, NULL::integer, NULL::real WHERE false;
    END;
  END IF;
END
$$

-- name: extensions
SELECT extname AS name, extversion AS version FROM pg_extension ORDER BY extname

-- name: usable_extensions
SELECT extname AS name FROM pg_extension WHERE extname <> 'vector' OR to_regtype('halfvec') IS NOT NULL
