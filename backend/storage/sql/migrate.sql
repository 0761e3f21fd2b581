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
    DROP FUNCTION IF EXISTS memory_meanings(text, text, real[]);  -- of a version whose vectors had no scope
    IF to_regclass('memory_embeddings') IS NOT NULL AND 2 <> (
      SELECT count(*) FROM pg_attribute
      WHERE attrelid = to_regclass('memory_embeddings') AND attname IN ('embedding', 'scope') AND NOT attisdropped
    ) THEN
      DROP TABLE memory_embeddings;  -- its extension was dropped, and its column with it; vectors are made again
    END IF;
    -- The scope is that of the row: the vectors of one user are read without looking each row up.
    CREATE TABLE IF NOT EXISTS memory_embeddings (
      memory_id uuid NOT NULL REFERENCES memories ON DELETE CASCADE,
      model text NOT NULL,
      scope text NOT NULL,
      version integer NOT NULL,
      embedding halfvec NOT NULL,
      PRIMARY KEY (memory_id, model)
    );
    CREATE INDEX IF NOT EXISTS memory_embeddings_scope ON memory_embeddings (scope, model);

    -- The nearest rows of a scope, compared one by one. The vector is written `[1, 2]`, which is read once.
    CREATE OR REPLACE FUNCTION memory_meanings(of_scope text, of_model text, vector text, at_most integer)
    RETURNS TABLE (memory_id uuid, thread_id text, turn integer, similarity real) LANGUAGE sql STABLE
    BEGIN ATOMIC
      WITH asked AS MATERIALIZED (SELECT vector::halfvec AS meaning, vector_dims(vector::halfvec) AS dimension)
      SELECT m.id, m.thread_id, m.turn, near.similarity
      FROM (
        SELECT
          e.memory_id, e.version,
          -- a filter instead would be taken for a rare condition, and the whole table be read
          CASE
            WHEN vector_dims(e.embedding) = asked.dimension
            THEN NULLIF((1 - (e.embedding <=> asked.meaning))::real, 'NaN'::real)
          END AS similarity
        FROM asked CROSS JOIN memory_embeddings AS e
        WHERE asked.meaning IS NOT NULL AND e.scope = of_scope AND e.model = of_model
        ORDER BY similarity DESC NULLS LAST LIMIT at_most
      ) AS near
      JOIN memories AS m ON m.id = near.memory_id AND m.version = near.version AND m.status = 'active'
      WHERE near.similarity IS NOT NULL;
    END;

    -- How near these rows of a scope are.
    CREATE OR REPLACE FUNCTION memory_meanings_of(of_scope text, ids uuid[], of_model text, vector text)
    RETURNS TABLE (memory_id uuid, similarity real) LANGUAGE sql STABLE
    BEGIN ATOMIC
      WITH asked AS MATERIALIZED (SELECT vector::halfvec AS meaning, vector_dims(vector::halfvec) AS dimension)
      SELECT
        m.id,
        CASE
          WHEN vector_dims(e.embedding) = asked.dimension
          THEN NULLIF((1 - (e.embedding <=> asked.meaning))::real, 'NaN'::real)
        END
      FROM asked
      CROSS JOIN unnest(ids) AS wanted (id)
      JOIN memory_embeddings AS e ON e.memory_id = wanted.id AND e.model = of_model AND e.scope = of_scope
      JOIN memories AS m ON m.id = e.memory_id AND m.version = e.version
      WHERE asked.meaning IS NOT NULL;
    END;
  ELSE
    CREATE OR REPLACE FUNCTION memory_meanings(of_scope text, of_model text, vector text, at_most integer)
    RETURNS TABLE (memory_id uuid, thread_id text, turn integer, similarity real) LANGUAGE sql STABLE
    BEGIN ATOMIC
      SELECT NULL::uuid, NULL::text, NULL::integer, NULL::real WHERE false;
    END;
    CREATE OR REPLACE FUNCTION memory_meanings_of(of_scope text, ids uuid[], of_model text, vector text)
    RETURNS TABLE (memory_id uuid, similarity real) LANGUAGE sql STABLE
    BEGIN ATOMIC
      SELECT NULL::uuid, NULL::real WHERE false;
    END;
  END IF;
END
$$

-- name: extensions
SELECT extname AS name, extversion AS version FROM pg_extension ORDER BY extname

-- name: usable_extensions
SELECT extname AS name FROM pg_extension WHERE extname <> 'vector' OR to_regtype('halfvec') IS NOT NULL
