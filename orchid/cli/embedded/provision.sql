-- What an embedded cluster holds. Every step looks first, so a first run cut short is simply run again.
-- The broker has a role and a database of its own: it creates queues as it goes, and orchid_app,
-- which serves the product, shall own nothing.

SELECT format('CREATE ROLE %I LOGIN', role)
FROM (VALUES ('orchid_owner'), ('orchid_app'), ('orchid_broker')) wanted(role)
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role) \gexec

-- The first migration makes sure of orchid_app on any server, embedded or not.
ALTER ROLE orchid_owner CREATEROLE;
-- As a member, the owner can try out what the application may not do (SET ROLE orchid_app).
GRANT orchid_app TO orchid_owner WITH ADMIN OPTION;

SELECT format('CREATE DATABASE %I OWNER %I', name, owner)
FROM (VALUES ('orchid', 'orchid_owner'), ('orchid_broker', 'orchid_broker')) wanted(name, owner)
WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = name) \gexec

REVOKE ALL ON DATABASE orchid, orchid_broker FROM PUBLIC;
GRANT CONNECT, TEMPORARY ON DATABASE orchid TO orchid_app;

\connect orchid_broker orchid_broker
SELECT to_regclass('pgmq.meta') IS NULL AS without_pgmq \gset
\if :without_pgmq
BEGIN;
\i :pgmq
COMMIT;
\endif
