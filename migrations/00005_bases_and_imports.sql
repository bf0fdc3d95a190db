-- +goose Up

SET LOCAL lock_timeout = '3s';
ALTER VIEW stopwatt.runs RESET (security_barrier);

-- The base is what the head is measured against: a commit, never a work tree.
-- An imported run holds figures that were brought in from elsewhere.
ALTER TABLE stopwatt_store.runs
    ADD COLUMN base_commit_id  bigint REFERENCES stopwatt_store.commits,
    ADD COLUMN base_branch     text    NOT NULL DEFAULT '',
    ADD COLUMN base_on_default boolean NOT NULL DEFAULT false,
    ADD COLUMN imported        boolean NOT NULL DEFAULT false,
    ADD COLUMN source          text    NOT NULL DEFAULT ''; -- a file's name or a URL

-- As run_images, of the base.
CREATE TABLE stopwatt_store.run_base_images (
    run_id         bigint  NOT NULL REFERENCES stopwatt_store.runs ON DELETE CASCADE,
    implementation text    NOT NULL,
    image_id       text    NOT NULL,
    key            text    NOT NULL,
    bytes          bigint  NOT NULL,
    reused         boolean NOT NULL,
    digests        text[]  NOT NULL,
    bases          jsonb   NOT NULL,
    PRIMARY KEY (run_id, implementation)
);

-- A machine that is known by its name alone has "named" and its name in the
-- place of a fingerprint, and no epoch.
CREATE OR REPLACE VIEW stopwatt.runs AS
SELECT r.id AS run, r.key, p.name AS project, s.name AS suite, r.status,
       c.sha AS commit, c.committed_at, c.author, c.subject,
       nullif(r.branch, '') AS branch, r.on_default, r.dirty,
       m.name AS machine, CASE WHEN m.fingerprint NOT LIKE 'named %' THEN m.fingerprint END AS fingerprint,
       r.baseline, nullif(r.profile, '') AS profile, r.rounds, r.planned, t.valid, t.invalid,
       r.started, r.ended, r.seed, r.tool, r.command,
       r.engine ->> 'Version' AS engine, coalesce(e.epoch, r.epoch) ->> 'Kernel' AS kernel,
       r.epoch_id AS epoch,
       b.sha AS base_commit, r.imported, nullif(r.source, '') AS source
FROM stopwatt_store.runs r
JOIN stopwatt_store.suites s ON s.id = r.suite_id
JOIN stopwatt_store.projects p ON p.id = s.project_id
JOIN stopwatt_store.machines m ON m.id = r.machine_id
LEFT JOIN stopwatt_store.machine_epochs e ON e.id = r.epoch_id
LEFT JOIN stopwatt_store.commits c ON c.id = r.commit_id
LEFT JOIN stopwatt_store.commits b ON b.id = r.base_commit_id
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE status = 'valid') AS valid,
           count(*) FILTER (WHERE status = 'invalid') AS invalid
    FROM stopwatt_store.trials WHERE run_id = r.id AND part_of IS NULL
) t;
