-- +goose Up

SET LOCAL lock_timeout = '3s';

CREATE OR REPLACE VIEW stopwatt.trials AS
SELECT t.id AS trial, t.run_id AS run, p.name AS project, s.name AS suite,
       c.sha AS commit, nullif(r.branch, '') AS branch, r.on_default, r.dirty, m.name AS machine,
       k.implementation, k.workload, t.revision, t.round, t.position,
       t.status, nullif(t.reason, '') AS reason, t.warnings, t.started,
       (t.window_end - t.window_start) / 1e9::double precision AS window_seconds,
       t.part_of
FROM stopwatt_store.trials t
JOIN stopwatt_store.runs r ON r.id = t.run_id
JOIN stopwatt_store.cases k ON k.id = t.case_id
JOIN stopwatt_store.suites s ON s.id = r.suite_id
JOIN stopwatt_store.projects p ON p.id = s.project_id
JOIN stopwatt_store.machines m ON m.id = r.machine_id
LEFT JOIN stopwatt_store.commits c ON c.id = r.commit_id;
