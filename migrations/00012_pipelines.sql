-- +goose Up

SET LOCAL lock_timeout = '3s';
ALTER VIEW stopwatt.runs RESET (security_barrier);

-- The pipeline is null outside one. Labels are an object of texts.
ALTER TABLE stopwatt_store.runs
    ADD COLUMN pipeline jsonb,
    ADD COLUMN choice   jsonb NOT NULL DEFAULT '{}', -- how the base was found
    ADD COLUMN labels   jsonb NOT NULL DEFAULT '{}';

-- All runs of a pipeline, and all of a merge request.
CREATE INDEX runs_pipeline ON stopwatt_store.runs (((pipeline ->> 'ID')::bigint)) WHERE pipeline IS NOT NULL;
CREATE INDEX runs_merge_request ON stopwatt_store.runs
    (((pipeline -> 'MergeRequest' ->> 'ProjectID')::bigint), ((pipeline -> 'MergeRequest' ->> 'IID')::bigint)) WHERE pipeline IS NOT NULL;
CREATE INDEX runs_labels ON stopwatt_store.runs USING gin (labels jsonb_path_ops);

CREATE OR REPLACE VIEW stopwatt.runs AS
SELECT r.id AS run, r.key, p.name AS project, s.name AS suite, r.status,
       c.sha AS commit, c.committed_at, c.author, c.subject,
       nullif(r.branch, '') AS branch, r.on_default, r.dirty,
       m.name AS machine, CASE WHEN m.fingerprint NOT LIKE 'named %' THEN m.fingerprint END AS fingerprint,
       r.baseline, nullif(r.profile, '') AS profile, r.rounds, r.planned, t.valid, t.invalid,
       r.started, r.ended, r.seed, r.tool, r.command,
       r.engine ->> 'Version' AS engine, coalesce(e.epoch, r.epoch) ->> 'Kernel' AS kernel,
       r.epoch_id AS epoch,
       b.sha AS base_commit, r.imported, nullif(r.source, '') AS source,
       r.pipeline ->> 'Kind' AS pipeline_kind, (r.pipeline ->> 'ID')::bigint AS pipeline,
       nullif((r.pipeline -> 'MergeRequest' ->> 'IID')::bigint, 0) AS merge_request,
       nullif(r.choice ->> 'Rule', '') AS base_rule, r.labels
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

-- Who measures on a machine. A row whose time has come is nobody's: its holder
-- renews it while it lives.
CREATE TABLE stopwatt_store.leases (
    fingerprint text        PRIMARY KEY, -- of the machine
    token       text        NOT NULL,    -- random; who holds it knows it
    holder      text        NOT NULL,    -- in words, for those that wait
    lock        text        NOT NULL,    -- which lock of the machine the holder holds beside it; empty where it is not known
    taken       timestamptz NOT NULL,
    expires     timestamptz NOT NULL
);

-- What somebody said to a change for the worse. Nothing is changed afterwards.
CREATE TABLE stopwatt_store.acceptances (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    suite_id      bigint      NOT NULL REFERENCES stopwatt_store.suites,
    pattern       text        NOT NULL, -- IMPLEMENTATION/WORKLOAD, globs allowed
    metric        text        NOT NULL, -- empty for every one
    reason        text        NOT NULL,
    said_by       text        NOT NULL,
    commit        text        NOT NULL, -- whose message says so; empty where it was said otherwise
    said_at       timestamptz NOT NULL,
    until         timestamptz,          -- null: it does not end
    merge_project bigint      NOT NULL, -- of the merge request; 0 for none
    merge_request bigint      NOT NULL,
    UNIQUE (suite_id, merge_project, merge_request, commit, pattern, metric, reason, said_at)
);

-- Changes for the worse on the default branch. What a search finds again keeps
-- its row; the states of a row follow the searches.
CREATE TABLE stopwatt_store.alerts (
    id          text        PRIMARY KEY,   -- that people type
    case_id     bigint      NOT NULL REFERENCES stopwatt_store.cases,
    metric_id   bigint      NOT NULL REFERENCES stopwatt_store.metrics,
    fingerprint text        NOT NULL,      -- of the machine
    state       text        NOT NULL CHECK (state IN ('open', 'resolved', 'withdrawn')),
    found       timestamptz NOT NULL DEFAULT now(),
    changed     timestamptz NOT NULL DEFAULT now(), -- its state
    document    jsonb       NOT NULL       -- the change point, as the last search has it
);

CREATE INDEX alerts_series ON stopwatt_store.alerts (case_id, metric_id, fingerprint);
CREATE INDEX alerts_open ON stopwatt_store.alerts (found) WHERE state = 'open';

-- Who said what to an alert. Nothing is changed afterwards: the last one holds.
CREATE TABLE stopwatt_store.acknowledgements (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    alert_id text        NOT NULL REFERENCES stopwatt_store.alerts,
    reason   text        NOT NULL,
    said_by  text        NOT NULL,
    commit   text        NOT NULL,
    said_at  timestamptz NOT NULL,
    until    timestamptz,
    UNIQUE (alert_id, commit, said_at, reason)
);

CREATE INDEX acknowledgements_alert ON stopwatt_store.acknowledgements (alert_id, id DESC);

-- An alert is open again when what was said to it has ended.
CREATE VIEW stopwatt.alerts AS
SELECT a.id AS alert, p.name AS project, s.name AS suite, k.implementation, k.workload, x.name AS metric, x.unit, x.better,
       m.name AS machine, a.fingerprint,
       CASE WHEN a.state = 'open' AND g.id IS NOT NULL AND (g.until IS NULL OR g.until > now()) THEN 'acknowledged' ELSE a.state END AS state,
       a.document ->> 'State' AS change, a.document -> 'First' ->> 'SHA' AS first_commit,
       nullif(a.document -> 'Past' ->> 'SHA', '') AS after_commit, a.document -> 'Reached' ->> 'SHA' AS up_to_commit,
       (a.document -> 'Before' ->> 'Mean')::double precision AS before, (a.document -> 'After' ->> 'Mean')::double precision AS after,
       CASE WHEN (a.document -> 'Ratio' ->> 'Known')::boolean THEN (a.document -> 'Ratio' ->> 'Value')::double precision END AS ratio,
       a.found, a.changed, g.reason, g.said_by AS acknowledged_by, g.said_at AS acknowledged_at, g.until AS acknowledged_until,
       a.document AS details
FROM stopwatt_store.alerts a
JOIN stopwatt_store.metrics x ON x.id = a.metric_id
JOIN stopwatt_store.cases k ON k.id = a.case_id
JOIN stopwatt_store.suites s ON s.id = k.suite_id
JOIN stopwatt_store.projects p ON p.id = s.project_id
LEFT JOIN stopwatt_store.machines m ON m.fingerprint = a.fingerprint
LEFT JOIN LATERAL (
    SELECT * FROM stopwatt_store.acknowledgements g
    WHERE g.alert_id = a.id
    ORDER BY g.id DESC LIMIT 1
) g ON true;
