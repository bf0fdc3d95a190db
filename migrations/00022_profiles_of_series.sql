-- +goose Up

SET LOCAL lock_timeout = '3s';

-- A short run is no long one: each profile has series of its own, with searches and
-- alerts of their own. What an older stopwatt stores is of whole runs, as far as can
-- be told.
ALTER TABLE stopwatt_store.change_searches ADD COLUMN profile text NOT NULL DEFAULT '';
ALTER TABLE stopwatt_store.latest_searches ADD COLUMN profile text NOT NULL DEFAULT '';
ALTER TABLE stopwatt_store.latest_searches DROP CONSTRAINT latest_searches_pkey;
ALTER TABLE stopwatt_store.latest_searches ADD PRIMARY KEY (case_id, metric_id, against, fingerprint, profile);
ALTER TABLE stopwatt_store.alerts ADD COLUMN profile text NOT NULL DEFAULT '';

-- Who brought a commit to the default branch, and by which merge request: null where
-- nobody who has the whole checkout has told yet, 0 where there was none.
ALTER TABLE stopwatt_store.commits ADD COLUMN merger text;
ALTER TABLE stopwatt_store.commits ADD COLUMN merge_request integer;

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION stopwatt_store.hold_search() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO stopwatt_store.latest_searches AS l (case_id, metric_id, against, fingerprint, profile, search_id)
    VALUES (NEW.case_id, NEW.metric_id, NEW.against, NEW.fingerprint, NEW.profile, NEW.id)
    ON CONFLICT (case_id, metric_id, against, fingerprint, profile) DO UPDATE SET search_id = greatest(l.search_id, excluded.search_id);
    RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE OR REPLACE VIEW stopwatt.changes AS
SELECT p.name AS project, s.name AS suite, k.implementation, k.workload, x.name AS metric, x.unit, x.better,
       nullif(q.against, '') AS against, m.name AS machine, q.fingerprint,
       v.state, nullif(v.withheld, '') AS withheld, v.first_sha AS first_commit, v.past_sha AS after_commit, v.reached_sha AS up_to_commit,
       v.before, v.after, v.ratio, v.low, v.high, v.p, q.taken, v.document AS details, nullif(q.profile, '') AS profile,
       c.author, c.merger, nullif(c.merge_request, 0) AS merge_request, c.subject
FROM stopwatt_store.change_points v
JOIN stopwatt_store.latest_searches l ON l.search_id = v.search_id
JOIN stopwatt_store.change_searches q ON q.id = v.search_id
JOIN stopwatt_store.metrics x ON x.id = q.metric_id
JOIN stopwatt_store.cases k ON k.id = q.case_id
JOIN stopwatt_store.suites s ON s.id = k.suite_id
JOIN stopwatt_store.projects p ON p.id = s.project_id
LEFT JOIN stopwatt_store.commits c ON c.project_id = p.id AND c.sha = v.first_sha
LEFT JOIN stopwatt_store.machines m ON m.fingerprint = q.fingerprint;

CREATE OR REPLACE VIEW stopwatt.alerts AS
SELECT a.id AS alert, p.name AS project, s.name AS suite, k.implementation, k.workload, x.name AS metric, x.unit, x.better,
       m.name AS machine, a.fingerprint,
       CASE WHEN a.state = 'open' AND g.id IS NOT NULL AND (g.until IS NULL OR g.until > now()) THEN 'acknowledged' ELSE a.state END AS state,
       a.document ->> 'State' AS change, a.document -> 'First' ->> 'SHA' AS first_commit,
       nullif(a.document -> 'Past' ->> 'SHA', '') AS after_commit, a.document -> 'Reached' ->> 'SHA' AS up_to_commit,
       (a.document -> 'Before' ->> 'Mean')::double precision AS before, (a.document -> 'After' ->> 'Mean')::double precision AS after,
       CASE WHEN (a.document -> 'Ratio' ->> 'Known')::boolean THEN (a.document -> 'Ratio' ->> 'Value')::double precision END AS ratio,
       a.found, a.changed, g.reason, g.said_by AS acknowledged_by, g.said_at AS acknowledged_at, g.until AS acknowledged_until,
       a.document AS details, nullif(a.profile, '') AS profile
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

CREATE OR REPLACE VIEW stopwatt.series AS
SELECT p.name AS project, s.name AS suite, k.implementation, k.workload, x.name AS metric, x.unit, x.better,
       nullif(t.profile, '') AS profile, m.name AS machine, CASE WHEN m.fingerprint NOT LIKE 'named %' THEN m.fingerprint END AS fingerprint,
       c.position, c.sha AS commit, h.committed_at, c.author, c.subject, h.run_id AS run,
       y.n, y.mean, y.sd, y.median, y.min, y.max, h.epoch, c.merger, nullif(c.merge_request, 0) AS merge_request
FROM stopwatt_store.history h
JOIN stopwatt_store.tracks t ON t.id = h.track_id
JOIN stopwatt_store.suites s ON s.id = t.suite_id
JOIN stopwatt_store.projects p ON p.id = s.project_id
JOIN stopwatt_store.machines m ON m.id = t.machine_id
JOIN stopwatt_store.commits c ON c.id = h.commit_id
JOIN stopwatt_store.summaries y ON y.run_id = h.run_id AND y.revision = 'head'
JOIN stopwatt_store.cases k ON k.id = y.case_id
JOIN stopwatt_store.metrics x ON x.id = y.metric_id;
