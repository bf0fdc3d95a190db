-- +goose Up

-- A pair of trials of which a side failed is measured once more: see column
-- attempt. The index is made in the place of the former, which it outdoes.
SET LOCAL lock_timeout = '3s';
ALTER VIEW stopwatt.trials RESET (security_barrier);

ALTER TABLE stopwatt_store.trials
    ADD COLUMN attempt integer NOT NULL DEFAULT 0 CHECK (attempt >= 0),
    DROP CONSTRAINT trials_run_id_case_id_revision_round_key,
    ADD UNIQUE (run_id, case_id, revision, round, attempt);

CREATE OR REPLACE VIEW stopwatt.trials AS
SELECT t.id AS trial, t.run_id AS run, p.name AS project, s.name AS suite,
       c.sha AS commit, nullif(r.branch, '') AS branch, r.on_default, r.dirty, m.name AS machine,
       k.implementation, k.workload, t.revision, t.round, t.position,
       t.status, nullif(t.reason, '') AS reason, t.warnings, t.started,
       (t.window_end - t.window_start) / 1e9::double precision AS window_seconds,
       t.part_of, t.attempt
FROM stopwatt_store.trials t
JOIN stopwatt_store.runs r ON r.id = t.run_id
JOIN stopwatt_store.cases k ON k.id = t.case_id
JOIN stopwatt_store.suites s ON s.id = r.suite_id
JOIN stopwatt_store.projects p ON p.id = s.project_id
JOIN stopwatt_store.machines m ON m.id = r.machine_id
LEFT JOIN stopwatt_store.commits c ON c.id = r.commit_id;
