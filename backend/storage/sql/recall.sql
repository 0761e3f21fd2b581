-- name: plan_once
-- For the transaction: compiling the statement takes longer than running it, and so does planning it every time.
SELECT set_config('jit', 'off', true), set_config('plan_cache_mode', 'force_generic_plan', true)

-- name: recall
-- The rows of a scope that a text is about, best first. Each step is small and is worked out once. The weights in the
-- last step are those of a linear model over normalized parts; bench/recall says what they were fitted on.
WITH
speaker AS MATERIALIZED (  -- who is named in the text and has said something
  SELECT named.name FROM unnest(%(names)s::text[]) AS named (name)
  WHERE EXISTS (SELECT FROM memories WHERE scope = %(scope)s AND lower(said_by) = named.name)
),
naming AS MATERIALIZED (
  SELECT COALESCE(tsvector_to_array(memory_words(string_agg(name, ' '))), '{}') AS lexemes FROM speaker
),
word AS MATERIALIZED (  -- what is looked for; a speaker's name is not, as it is the others who say it
  SELECT (row_number() OVER ())::integer AS place, lexeme, memory_word_query(lexeme) AS query
  FROM (
    SELECT each.lexeme, each.positions, is_name, bool_and(is_name) OVER () AS are_all_names
    FROM naming, unnest(memory_words(%(text)s)) AS each, LATERAL (SELECT each.lexeme = ANY(lexemes)) AS said (is_name)
  ) AS asked
  WHERE NOT is_name OR are_all_names
  ORDER BY positions[cardinality(positions)] DESC LIMIT 200  -- of a very long text the end
),
size AS MATERIALIZED (
  -- among fewer than five rows every word would be common
  SELECT greatest(count(*), 5)::real AS rows, (SELECT count(*)::integer FROM word) AS words
  FROM memories WHERE scope = %(scope)s
),
exact AS MATERIALIZED (  -- one row for each word that a memory has; what is sent anyway tells how common a word is
  SELECT m.id, m.thread_id, m.turn, word.place, 1::real AS likeness,
    COALESCE(m.kind = 'episode' AND m.thread_id = %(sent_thread)s::text AND m.turn >= %(sent_from_turn)s::integer, false) AS is_sent
  FROM word JOIN memories AS m ON m.scope = %(scope)s AND m.words @@ word.query
  WHERE m.status = 'active' AND m.kind = ANY(%(kinds)s::text[])
),
unknown AS MATERIALIZED (
  SELECT place, lexeme FROM word
  WHERE length(lexeme) > 3 AND place NOT IN (SELECT place FROM exact)
),
vocabulary AS MATERIALIZED (  -- the words of the newest rows, when there is a word to repair
  SELECT DISTINCT known.lexeme
  FROM (
    SELECT unnest(tsvector_to_array(newest.words)) AS lexeme
    FROM (
      (SELECT words FROM memories WHERE scope = %(scope)s AND kind = 'fact' ORDER BY created_at DESC, id DESC LIMIT 200)
      UNION ALL
      (SELECT words FROM memories WHERE scope = %(scope)s AND kind = 'episode' ORDER BY created_at DESC, id DESC LIMIT 500)
    ) AS newest
    WHERE EXISTS (SELECT FROM unknown)
  ) AS known
  WHERE left(known.lexeme, 1) = ANY((SELECT array_agg(left(lexeme, 1)) FROM unknown)::text[])  -- few err in the first letter
),
repair AS MATERIALIZED (
  SELECT unknown.place, memory_word_query(near.lexeme) AS query, near.likeness
  FROM unknown, LATERAL (
    SELECT lexeme, memory_likeness(unknown.lexeme, lexeme) AS likeness FROM vocabulary
    WHERE length(lexeme) BETWEEN length(unknown.lexeme) - 5 AND length(unknown.lexeme) + 2
    ORDER BY 2 DESC LIMIT 2
  ) AS near
  WHERE near.likeness >= 0.33
),
hit AS MATERIALIZED (
  SELECT * FROM exact
  UNION ALL
  SELECT m.id, m.thread_id, m.turn, repair.place, repair.likeness,
    COALESCE(m.kind = 'episode' AND m.thread_id = %(sent_thread)s::text AND m.turn >= %(sent_from_turn)s::integer, false) AS is_sent
  FROM repair JOIN memories AS m ON m.scope = %(scope)s AND m.words @@ repair.query
  WHERE m.status = 'active' AND m.kind = ANY(%(kinds)s::text[])
),
found AS MATERIALIZED (  -- of each word in how many rows it is, and all that are rarer together
  SELECT place, count(*) AS rows, sum(count(*)) OVER (ORDER BY count(*), place) AS hits FROM hit GROUP BY place
),
rarity AS MATERIALIZED (  -- how much each word says in this scope, by its place; unknown ones count only in `all_words`
  SELECT
    array_agg(each.weight ORDER BY each.place) AS weights,
    -- most of the work would be done for words that say least: they are not spread, and of a long text not counted
    array_agg(each.place) FILTER (WHERE each.hits <= greatest(300, each.rows / 2)) AS rare,
    sum(each.weight) AS known_words,
    sum(CASE WHEN each.hits IS NULL THEN ln(2 * each.rows + 2) ELSE each.weight END) AS all_words
  FROM (
    SELECT
      places.place, found.hits, size.rows,
      CASE
        WHEN found.hits <= greatest(600, size.rows)
        THEN ln(1 + (size.rows - found.rows + 0.5) / (found.rows + 0.5))
        ELSE 0
      END::real AS weight
    FROM size CROSS JOIN generate_series(1, size.words) AS places (place) LEFT JOIN found USING (place)
  ) AS each
),
seed AS MATERIALIZED (  -- the strongest rows by their own words, with a number for where each stands: its thread and turn
  SELECT
    strongest.*,
    CASE
      WHEN thread_id IS NULL OR turn IS NULL THEN -row_number() OVER (ORDER BY thread_id)
      ELSE (dense_rank() OVER (ORDER BY thread_id) << 32) + turn
    END AS spot
  FROM (
    SELECT
      hit.id, hit.thread_id, hit.turn, array_agg(hit.place) AS places, array_agg(hit.likeness) AS likenesses,
      sum(rarity.weights[hit.place] * hit.likeness) AS own
    FROM hit, rarity
    WHERE NOT hit.is_sent AND rarity.weights[hit.place] > 0
    GROUP BY hit.id, hit.thread_id, hit.turn
    ORDER BY own DESC, hit.turn DESC
    LIMIT 500
  ) AS strongest
),
spot AS MATERIALIZED (  -- their words, and the rare ones of them spread over the turns around
  SELECT spot, sum(rarity.weights[place] * amount * 2.2 / (amount + 1.2)) AS words
  FROM (
    SELECT spot, place, sum(amount) AS amount
    FROM (
      SELECT seed.spot, own.place, own.likeness AS amount
      FROM seed CROSS JOIN unnest(seed.places, seed.likenesses) AS own (place, likeness)
      UNION ALL
      SELECT seed.spot + step.turns, own.place, own.likeness * step.share
      FROM rarity
      CROSS JOIN seed
      CROSS JOIN unnest(seed.places, seed.likenesses) AS own (place, likeness)
      CROSS JOIN (
        VALUES (-1, 0.5::real), (1, 0.5), (-2, 0.4), (2, 0.4), (-3, 0.3), (3, 0.3), (-4, 0.2), (4, 0.2)
      ) AS step (turns, share)
      WHERE own.place = ANY(rarity.rare) AND seed.spot >= 0 AND seed.turn + step.turns >= 0
    ) AS amounts
    GROUP BY spot, place
  ) AS spread, rarity
  GROUP BY spot
),
best_spot AS MATERIALIZED (
  SELECT
    best.words, thread.thread_id, CASE WHEN best.spot >= 0 THEN (best.spot & 4294967295)::integer END AS turn, alone.id AS alone
  FROM (SELECT spot, words FROM spot ORDER BY words DESC LIMIT 150) AS best
  LEFT JOIN (SELECT DISTINCT spot >> 32 AS number, thread_id FROM seed WHERE spot >= 0) AS thread ON thread.number = best.spot >> 32
  LEFT JOIN seed AS alone ON alone.spot = best.spot AND best.spot < 0
),
peak AS MATERIALIZED (SELECT max(words) AS words FROM best_spot),
meaning AS MATERIALIZED (
  SELECT memory_id, thread_id, turn, similarity FROM memory_meanings(%(scope)s, %(model)s, %(vector)s::text, 300)
),
literal AS MATERIALIZED (  -- a text without words, such as `%%` or `the who`, is looked for as it stands
  SELECT id FROM memories
  WHERE (SELECT words FROM size) = 0
    AND scope = %(scope)s AND status = 'active' AND strpos(lower(content), lower(%(text)s)) > 0
  ORDER BY created_at DESC, id DESC LIMIT 150
),
candidate AS MATERIALIZED (
  SELECT
    id, max(thread_id) AS thread_id, max(turn) AS turn, max(words) AS words, max(share) AS share,
    max(similarity) AS similarity
  FROM (
    SELECT
      m.id, m.thread_id, m.turn, best_spot.words / peak.words AS words, best_spot.words / rarity.all_words AS share,
      NULL::real AS similarity
    FROM peak, rarity, best_spot JOIN memories AS m
      ON m.scope = %(scope)s AND m.thread_id = best_spot.thread_id AND m.turn = best_spot.turn
    UNION ALL
    SELECT best_spot.alone, NULL, NULL, best_spot.words / peak.words, best_spot.words / rarity.all_words, NULL
    FROM peak, rarity, best_spot WHERE best_spot.alone IS NOT NULL
    UNION ALL
    SELECT memory_id, thread_id, turn, 0, 0, similarity FROM meaning
    UNION ALL
    SELECT id, NULL, NULL, 1, 1, NULL FROM literal
  ) AS found
  GROUP BY id
),
other_meaning AS MATERIALIZED (  -- of those that only their words brought here
  SELECT memory_id, similarity FROM memory_meanings_of(
    %(scope)s,
    ARRAY(SELECT id FROM candidate WHERE %(vector)s::text IS NOT NULL AND similarity IS NULL),
    %(model)s,
    %(vector)s::text
  )
),
single AS MATERIALIZED (  -- grouped, not joined: how many rows a step has is not known when the statement is planned
  SELECT
    id, max(thread_id) AS thread_id, max(turn) AS turn, max(words) AS words, max(share) AS share,
    COALESCE(max(own), 0) AS own, max(similarity) AS similarity
  FROM (
    SELECT id, thread_id, turn, words, share, NULL::real AS own, similarity FROM candidate
    UNION ALL
    SELECT id, NULL, NULL, NULL, NULL, own, NULL FROM seed
    UNION ALL
    SELECT memory_id, NULL, NULL, NULL, NULL, NULL, similarity FROM other_meaning
  ) AS each
  GROUP BY id
  HAVING max(words) IS NOT NULL
),
signal AS MATERIALIZED (  -- with the better of the turns next to it, where that is near
  SELECT id, words, share, own, similarity, around
  FROM (
    SELECT id, words, share, own, similarity, COALESCE(max(beside) OVER (PARTITION BY thread_id, turn), 0) AS around
    FROM (
      SELECT id, thread_id, turn, words, share, own, similarity, NULL::real AS beside FROM single
      UNION ALL
      SELECT NULL, thread_id, turn + step.turns, NULL, NULL, NULL, NULL, similarity
      FROM meaning CROSS JOIN (VALUES (-1), (1)) AS step (turns)
      WHERE turn IS NOT NULL
    ) AS each
  ) AS surrounded
  WHERE id IS NOT NULL
),
part AS MATERIALIZED (
  SELECT
    m.id,
    6.80::float8 * signal.words AS words_part,
    0.40::float8 * COALESCE(signal.own / NULLIF(rarity.known_words, 0), 0) AS coverage_part,
    5.00::float8 * COALESCE(signal.similarity, 0) + 4.15::float8 * signal.around AS meaning_part,
    2.90::float8 * (lower(m.said_by) IN (SELECT name FROM speaker))::integer AS name_part,
    6.00::float8 * (cardinality(%(first_days)s::date[]) > 0 AND EXISTS (
      SELECT FROM unnest(%(first_days)s::date[], %(last_days)s::date[]) AS days (first_day, last_day)
      WHERE (m.created_at AT TIME ZONE 'UTC')::date BETWEEN days.first_day AND days.last_day
    ))::integer AS date_part,
    0.25::float8 * m.length AS length_part,
    -0.70::float8 * m.is_question::integer AS question_part,
    0.30::float8 * m.importance AS importance_part,
    0.05::float8 * exp(-least(greatest(0, extract(epoch FROM now() - m.created_at)::float8 / 2592000), 700)) AS recency_part
  FROM signal
  CROSS JOIN rarity
  JOIN memories AS m ON m.id = signal.id
  WHERE m.scope = %(scope)s AND m.status = 'active' AND m.kind = ANY(%(kinds)s::text[])
    AND (m.kind = 'fact' OR m.thread_id IS DISTINCT FROM %(sent_thread)s::text OR m.turn < %(sent_from_turn)s::integer)
    AND m.id <> ALL(%(besides)s::uuid[])
    AND (SELECT max(share) >= %(least_share)s::float8 OR max(similarity) >= %(least_similarity)s::float8 FROM signal)
    AND (
      signal.share >= %(least_share)s::float8 / 4 OR signal.similarity >= %(least_similarity)s::float8 / 2
      OR signal.around >= %(least_similarity)s::float8
    )
),
best AS MATERIALIZED (  -- only these are read whole
  SELECT part.*,
    words_part + coverage_part + meaning_part + name_part + date_part + length_part + question_part + importance_part
      + recency_part AS score
  FROM part ORDER BY score DESC, id DESC LIMIT %(limit)s::bigint
)
SELECT
  id, scope, kind, key, categories, content, importance, said_by, thread_id, turn, message_ids, version, status,
  created_at, updated_at, accessed_at, access_count,
  words_part, coverage_part, meaning_part, name_part, date_part, length_part, question_part, importance_part, recency_part,
  score
FROM best JOIN memories USING (id)
ORDER BY score DESC, created_at DESC, id DESC
