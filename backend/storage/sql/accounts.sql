-- name: overlay
SELECT name, email, avatar, socials FROM accounts WHERE user_id = %(user_id)s

-- name: keep
-- Says whether anything changed, so that caches are dropped only then.
INSERT INTO accounts AS kept (user_id, name, email, avatar, socials)
VALUES (%(user_id)s, %(name)s, %(email)s, %(avatar)s, %(socials)s)
ON CONFLICT (user_id) DO UPDATE
SET name = excluded.name, email = excluded.email, avatar = excluded.avatar, socials = excluded.socials, updated_at = now()
WHERE (kept.name, kept.email, kept.avatar, kept.socials)
  IS DISTINCT FROM (excluded.name, excluded.email, excluded.avatar, excluded.socials)
RETURNING user_id

-- name: forget
DELETE FROM accounts WHERE user_id = %(user_id)s

-- name: users
SELECT user_id FROM accounts ORDER BY user_id
