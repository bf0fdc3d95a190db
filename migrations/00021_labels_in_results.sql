-- +goose Up

SET LOCAL lock_timeout = '3s';

CREATE OR REPLACE VIEW stopwatt.results AS
SELECT p.name AS project, s.name AS suite, r.id AS run, r.status AS run_status, r.started,
       c.sha AS commit, c.committed_at, nullif(r.branch, '') AS branch, r.on_default, r.dirty,
       m.name AS machine, k.implementation, k.workload, y.revision,
       x.name AS metric, x.unit, x.better, y.n, y.mean, y.sd, y.median, y.min, y.max,
       r.baseline,
       CASE WHEN y.mean = b.mean THEN 1
            WHEN abs(b.mean) < 1e-100 THEN NULL
            WHEN abs(y.mean) < 1e-100 THEN b.mean - b.mean
            ELSE y.mean / b.mean
       END AS ratio,
       r.imported,
       r.pipeline ->> 'Kind' AS pipeline_kind, (r.pipeline ->> 'ID')::bigint AS pipeline,
       nullif((r.pipeline -> 'MergeRequest' ->> 'IID')::bigint, 0) AS merge_request, r.labels
FROM stopwatt_store.summaries y
JOIN stopwatt_store.metrics x ON x.id = y.metric_id
JOIN stopwatt_store.runs r ON r.id = y.run_id
JOIN stopwatt_store.cases k ON k.id = y.case_id
JOIN stopwatt_store.suites s ON s.id = k.suite_id
JOIN stopwatt_store.projects p ON p.id = s.project_id
JOIN stopwatt_store.machines m ON m.id = r.machine_id
LEFT JOIN stopwatt_store.commits c ON c.id = r.commit_id
LEFT JOIN stopwatt_store.cases bk
       ON bk.suite_id = k.suite_id AND bk.workload = k.workload AND bk.implementation = r.baseline
LEFT JOIN stopwatt_store.summaries b
       ON b.run_id = y.run_id AND b.case_id = bk.id AND b.revision = y.revision AND b.metric_id = y.metric_id;
