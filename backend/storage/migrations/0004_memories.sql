-- Facts and episodes: sentences worth keeping and finished turns, of all users, found by their words.
CREATE TABLE memories (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  scope text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('fact', 'episode')),
  key text,
  categories text[] NOT NULL DEFAULT '{}',
  content text NOT NULL CHECK (content <> ''),
  content_hash bytea NOT NULL,
  importance real NOT NULL DEFAULT 0.5 CHECK (importance BETWEEN 0 AND 1),
  said_by text NOT NULL DEFAULT 'user',
  thread_id text,
  turn integer,
  message_ids text[] NOT NULL DEFAULT '{}',
  version integer NOT NULL DEFAULT 1,
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'merged')),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  accessed_at timestamptz,
  access_count integer NOT NULL DEFAULT 0
);

CREATE UNIQUE INDEX memories_fact_key ON memories (scope, key)
  WHERE kind = 'fact' AND status = 'active' AND key IS NOT NULL;
CREATE UNIQUE INDEX memories_fact_text ON memories (scope, content_hash)
  WHERE kind = 'fact' AND status = 'active' AND key IS NULL;
CREATE UNIQUE INDEX memories_episode ON memories (scope, content_hash) WHERE kind = 'episode';
CREATE INDEX memories_newest ON memories (scope, kind, created_at DESC, id DESC);
CREATE INDEX memories_turn ON memories (scope, thread_id, turn);

-- Search. Words are found by their stems: English for those in plain letters, Russian for those in Cyrillic.
CREATE TEXT SEARCH CONFIGURATION memory_words (COPY = pg_catalog.russian);

-- Latin letters without their marks, so that `canción` and `cancion` are one word and get the stemmer of plain letters;
-- full-width and decomposed forms as ordinary letters. A database in the C locale knows no capitals but A to Z, so
-- others are named. Nobody searches for what comes after 40,000 characters.
CREATE FUNCTION memory_folded(content text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN replace(
  translate(
    lower(normalize(left(content, 40000), NFKC)),
    'àáâãäåāăąçćčďđèéêëēęěìíîïīıłñńňòóôõöøōőŕřśšșşťțţùúûüūůűýÿźżžё'
      || 'ÀÁÂÃÄÅĀĂĄÇĆČĎĐÈÉÊËĒĘĚÌÍÎÏĪŁÑŃŇÒÓÔÕÖØŌŐŔŘŚŠȘŞŤȚŢÙÚÛÜŪŮŰÝŹŻŽЁ'
      || 'АБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯ',
    'aaaaaaaaacccddeeeeeeeiiiiiilnnnoooooooorrsssstttuuuuuuuyyzzzе'
      || 'aaaaaaaaacccddeeeeeeeiiiiilnnnoooooooorrsssstttuuuuuuuyzzzе'
      || 'абвгдежзийклмнопрстуфхцчшщъыьэюя'
  ),
  'ß',
  'ss'
);

-- Chinese and Japanese are written without spaces: every pair of neighbouring characters counts as a word, and every
-- character that has a meaning by itself.
CREATE FUNCTION memory_pieces(content text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN content ~ '[\u3005\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]' THEN (
  SELECT string_agg(
    concat_ws(
      ' ',
      CASE WHEN piece.letter !~ '[\u3041-\u30ff]' THEN piece.letter END,
      CASE WHEN piece.next ~ '[\u3005\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]' THEN piece.letter || piece.next END
    ),
    ' ' ORDER BY piece.place
  )
  FROM (
    SELECT letters.letter, letters.place, lead(letters.letter) OVER (ORDER BY letters.place) AS next
    FROM unnest(string_to_array(content, NULL)) WITH ORDINALITY AS letters (letter, place)
  ) AS piece
  WHERE piece.letter ~ '[\u3005\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]'
) ELSE '' END;

-- What a text is found by; the same for what is stored and for what is looked for.
CREATE FUNCTION memory_words(content text) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (
  SELECT
    to_tsvector(
      'memory_words'::regconfig,
      regexp_replace(folded, '[\u3005\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+', ' ', 'g')
    ) || to_tsvector('pg_catalog.simple'::regconfig, memory_pieces(folded))
  FROM memory_folded(content) AS folded
);

-- A fact is found by its key and its categories too: `home_city` is two words.
CREATE FUNCTION memory_row_words(content text, key text, categories text[]) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN memory_words(content)
  || memory_words(regexp_replace(concat_ws(' ', key, array_to_string(categories, ' ')), '[^[:alnum:]]+', ' ', 'g'));

-- The query that a word of `memory_words` is found with, whatever characters it has.
CREATE FUNCTION memory_word_query(word text) RETURNS tsquery LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ('''' || replace(replace(word, '\', '\\'), '''', '''''') || '''')::tsquery;

ALTER TABLE memories
  ADD COLUMN words tsvector NOT NULL GENERATED ALWAYS AS (memory_row_words(content, key, categories)) STORED,
  -- the logarithm of how many words there are, Chinese and Japanese ones at four characters each
  ADD COLUMN length real NOT NULL GENERATED ALWAYS AS (
    ln(1 + least(60, greatest(array_length(regexp_split_to_array(btrim(left(content, 2000)), '\s+'), 1), octet_length(content) / 12)))
  ) STORED,
  ADD COLUMN is_question boolean NOT NULL GENERATED ALWAYS AS (right(content, 300) ~ '[?？]\s*(\[[^]]*\]\s*)?$') STORED;

CREATE INDEX memories_said_by ON memories (scope, lower(said_by));
