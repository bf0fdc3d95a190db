-- +goose Up

SET LOCAL lock_timeout = '3s';

-- Figures of one meter lie in six metrics, by whose names they are told: no
-- meter's name has an underscore. The subquery is asked for one trial at a time,
-- so that a query for one run reads no other.
CREATE OR REPLACE VIEW stopwatt.energy AS
SELECT t.id AS trial, t.run_id AS run, p.name AS project, s.name AS suite,
       c.sha AS commit, nullif(r.branch, '') AS branch, r.on_default, r.dirty, m.name AS machine,
       k.implementation, k.workload, t.revision, t.round, t.status,
       f.meter, f.gross, f.net, f.uncertainty, f.power, f.per_request,
       (SELECT v.value FROM stopwatt_store.measurements v JOIN stopwatt_store.metrics x ON x.id = v.metric_id
        WHERE v.trial_id = t.id AND x.name = 'requests') AS requests,
       (t.window_end - t.window_start) / 1e9::double precision AS seconds,
       (SELECT min(y.coverage) FROM stopwatt_store.samples y
        WHERE y.trial_id = t.id AND y.meter = f.meter AND y.quantity IN ('energy', 'power')) AS coverage,
       f.reason, f.per_repetition,
       (SELECT v.value FROM stopwatt_store.measurements v JOIN stopwatt_store.metrics x ON x.id = v.metric_id
        WHERE v.trial_id = t.id AND x.name = 'repetitions') AS repetitions
FROM stopwatt_store.trials t
JOIN stopwatt_store.runs r ON r.id = t.run_id
JOIN stopwatt_store.cases k ON k.id = t.case_id
JOIN stopwatt_store.suites s ON s.id = r.suite_id
JOIN stopwatt_store.projects p ON p.id = s.project_id
JOIN stopwatt_store.machines m ON m.id = r.machine_id
LEFT JOIN stopwatt_store.commits c ON c.id = r.commit_id
CROSS JOIN LATERAL (
    SELECT split_part(x.name, '_', 2) AS meter,
           max(v.value) FILTER (WHERE x.name LIKE 'energy\_%\_gross') AS gross,
           max(v.value) FILTER (WHERE x.name = 'energy_' || split_part(x.name, '_', 2)) AS net,
           max(v.value) FILTER (WHERE x.name LIKE 'energy\_%\_uncertainty') AS uncertainty,
           max(v.value) FILTER (WHERE x.name LIKE 'power\_%') AS power,
           max(v.value) FILTER (WHERE x.name LIKE 'energy\_%\_per\_request') AS per_request,
           max(v.value) FILTER (WHERE x.name LIKE 'energy\_%\_per\_repetition') AS per_repetition,
           coalesce(max(v.reason) FILTER (WHERE x.name LIKE 'energy\_%\_gross'),
                    max(v.reason) FILTER (WHERE x.name = 'energy_' || split_part(x.name, '_', 2)),
                    max(v.reason)) AS reason
    FROM (
        SELECT metric_id, value, NULL AS reason FROM stopwatt_store.measurements WHERE trial_id = t.id
        UNION ALL
        SELECT metric_id, NULL, reason FROM stopwatt_store.absences WHERE trial_id = t.id
    ) v
    JOIN stopwatt_store.metrics x ON x.id = v.metric_id
    WHERE x.name LIKE 'energy\_%' OR x.name LIKE 'power\_%'
    GROUP BY 1
) f;
