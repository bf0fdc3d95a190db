-- +goose Up

SET LOCAL lock_timeout = '3s';

-- Of the searches that hold alone, however many there were.
CREATE OR REPLACE VIEW stopwatt.changes AS
SELECT p.name AS project, s.name AS suite, k.implementation, k.workload, x.name AS metric, x.unit, x.better,
       nullif(q.against, '') AS against, m.name AS machine, q.fingerprint,
       v.state, nullif(v.withheld, '') AS withheld, v.first_sha AS first_commit, v.past_sha AS after_commit, v.reached_sha AS up_to_commit,
       v.before, v.after, v.ratio, v.low, v.high, v.p, q.taken, v.document AS details
FROM stopwatt_store.change_points v
JOIN stopwatt_store.latest_searches l ON l.search_id = v.search_id
JOIN stopwatt_store.change_searches q ON q.id = v.search_id
JOIN stopwatt_store.metrics x ON x.id = q.metric_id
JOIN stopwatt_store.cases k ON k.id = q.case_id
JOIN stopwatt_store.suites s ON s.id = k.suite_id
JOIN stopwatt_store.projects p ON p.id = s.project_id
LEFT JOIN stopwatt_store.machines m ON m.fingerprint = q.fingerprint;

CREATE VIEW stopwatt.series AS
SELECT p.name AS project, s.name AS suite, k.implementation, k.workload, x.name AS metric, x.unit, x.better,
       nullif(t.profile, '') AS profile, m.name AS machine, CASE WHEN m.fingerprint NOT LIKE 'named %' THEN m.fingerprint END AS fingerprint,
       c.position, c.sha AS commit, h.committed_at, c.author, c.subject, h.run_id AS run,
       y.n, y.mean, y.sd, y.median, y.min, y.max, h.epoch
FROM stopwatt_store.history h
JOIN stopwatt_store.tracks t ON t.id = h.track_id
JOIN stopwatt_store.suites s ON s.id = t.suite_id
JOIN stopwatt_store.projects p ON p.id = s.project_id
JOIN stopwatt_store.machines m ON m.id = t.machine_id
JOIN stopwatt_store.commits c ON c.id = h.commit_id
JOIN stopwatt_store.summaries y ON y.run_id = h.run_id AND y.revision = 'head'
JOIN stopwatt_store.cases k ON k.id = y.case_id
JOIN stopwatt_store.metrics x ON x.id = y.metric_id;
