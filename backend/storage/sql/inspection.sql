-- name: extensions
SELECT name, COALESCE(installed_version, default_version) AS version
FROM pg_available_extensions WHERE name = ANY(%(names)s)

-- name: journal
SELECT to_regclass('afterthought_migrations') IS NOT NULL AS found
