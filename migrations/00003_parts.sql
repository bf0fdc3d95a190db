-- +goose Up

-- For these two see 00002_meters.sql. A step that replaces a view locks no other
-- view, and one that changes a table that is there no other such table: those who
-- read take views and tables in any order.
SET LOCAL lock_timeout = '3s';
ALTER VIEW stopwatt.runs RESET (security_barrier);

-- What a harness measured by itself in one trial: each of its benchmarks is a
-- trial of a case of its own, and a part of the trial that the container was.
ALTER TABLE stopwatt_store.trials
    ADD COLUMN part_of bigint REFERENCES stopwatt_store.trials ON DELETE CASCADE;

CREATE INDEX trials_parts ON stopwatt_store.trials (part_of) WHERE part_of IS NOT NULL;

-- The single values behind a measurement.
CREATE TABLE stopwatt_store.repetitions (
    trial_id  bigint NOT NULL REFERENCES stopwatt_store.trials ON DELETE CASCADE,
    metric_id bigint NOT NULL REFERENCES stopwatt_store.metrics,
    values    double precision[] NOT NULL CHECK (
        -1e100 <= ALL (values) AND 1e100 >= ALL (values) AND array_position(values, NULL) IS NULL),
    PRIMARY KEY (trial_id, metric_id)
);

CREATE OR REPLACE VIEW stopwatt.runs AS
SELECT r.id AS run, r.key, p.name AS project, s.name AS suite, r.status,
       c.sha AS commit, c.committed_at, c.author, c.subject,
       nullif(r.branch, '') AS branch, r.on_default, r.dirty,
       m.name AS machine, m.fingerprint,
       r.baseline, nullif(r.profile, '') AS profile, r.rounds, r.planned, t.valid, t.invalid,
       r.started, r.ended, r.seed, r.tool, r.command,
       r.engine ->> 'Version' AS engine, coalesce(e.epoch, r.epoch) ->> 'Kernel' AS kernel,
       r.epoch_id AS epoch
FROM stopwatt_store.runs r
JOIN stopwatt_store.suites s ON s.id = r.suite_id
JOIN stopwatt_store.projects p ON p.id = s.project_id
JOIN stopwatt_store.machines m ON m.id = r.machine_id
LEFT JOIN stopwatt_store.machine_epochs e ON e.id = r.epoch_id
LEFT JOIN stopwatt_store.commits c ON c.id = r.commit_id
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE status = 'valid') AS valid,
           count(*) FILTER (WHERE status = 'invalid') AS invalid
    FROM stopwatt_store.trials WHERE run_id = r.id AND part_of IS NULL
) t;

-- One row for each single value.
CREATE VIEW stopwatt.repetitions AS
SELECT t.id AS trial, t.run_id AS run, p.name AS project, s.name AS suite,
       c.sha AS commit, nullif(r.branch, '') AS branch, r.on_default, r.dirty, m.name AS machine,
       k.implementation, k.workload, t.revision, t.round, t.status,
       x.name AS metric, x.unit, x.better, v.repetition, v.value
FROM stopwatt_store.repetitions n
JOIN stopwatt_store.metrics x ON x.id = n.metric_id
JOIN stopwatt_store.trials t ON t.id = n.trial_id
JOIN stopwatt_store.runs r ON r.id = t.run_id
JOIN stopwatt_store.cases k ON k.id = t.case_id
JOIN stopwatt_store.suites s ON s.id = r.suite_id
JOIN stopwatt_store.projects p ON p.id = s.project_id
JOIN stopwatt_store.machines m ON m.id = r.machine_id
LEFT JOIN stopwatt_store.commits c ON c.id = r.commit_id
CROSS JOIN LATERAL unnest(n.values) WITH ORDINALITY v (value, repetition);
