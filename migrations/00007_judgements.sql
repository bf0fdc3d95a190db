-- +goose Up

SET LOCAL lock_timeout = '3s';

-- What was said about a run of head against base, again at each look. Nothing is
-- changed afterwards: the last one holds.
CREATE TABLE stopwatt_store.judgements (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id   bigint      NOT NULL REFERENCES stopwatt_store.runs ON DELETE CASCADE,
    taken    timestamptz NOT NULL DEFAULT now(),
    look     integer     NOT NULL,
    family   integer     NOT NULL,
    document jsonb       NOT NULL -- the whole judgement, its comparisons aside
);

CREATE INDEX judgements_run ON stopwatt_store.judgements (run_id, id DESC);

-- Columns are what people ask for; the document is all of it. What is not known
-- is null.
CREATE TABLE stopwatt_store.comparisons (
    judgement_id bigint  NOT NULL REFERENCES stopwatt_store.judgements ON DELETE CASCADE,
    position     integer NOT NULL, -- in the order in which they were handed in
    case_id      bigint  NOT NULL REFERENCES stopwatt_store.cases,
    metric_id    bigint  NOT NULL REFERENCES stopwatt_store.metrics,
    verdict      text    NOT NULL,
    look         integer NOT NULL, -- that decided; 0 when none has
    n            integer NOT NULL, -- pairs
    base         double precision, -- medians
    head         double precision,
    ratio        double precision,
    low          double precision,
    high         double precision,
    p_worse      double precision NOT NULL,
    p_better     double precision NOT NULL,
    threshold    double precision NOT NULL,
    smallest     double precision,
    document     jsonb   NOT NULL,
    PRIMARY KEY (judgement_id, position)
);

-- The verdicts on a case and a metric.
CREATE INDEX comparisons_case ON stopwatt_store.comparisons (case_id, metric_id);

CREATE VIEW stopwatt.verdicts AS
SELECT j.run_id AS run, p.name AS project, s.name AS suite,
       c.sha AS commit, b.sha AS base_commit, nullif(r.branch, '') AS branch, r.on_default, r.dirty, m.name AS machine,
       k.implementation, k.workload, x.name AS metric, x.unit, x.better,
       v.verdict, v.ratio, v.low, v.high, v.n, v.base, v.head, v.p_worse, v.p_better,
       v.threshold, v.smallest, j.family, nullif(v.look, 0) AS look, j.taken, v.document AS details
FROM stopwatt_store.comparisons v
JOIN stopwatt_store.metrics x ON x.id = v.metric_id
JOIN stopwatt_store.judgements j ON j.id = v.judgement_id
JOIN stopwatt_store.runs r ON r.id = j.run_id
JOIN stopwatt_store.cases k ON k.id = v.case_id
JOIN stopwatt_store.suites s ON s.id = r.suite_id
JOIN stopwatt_store.projects p ON p.id = s.project_id
JOIN stopwatt_store.machines m ON m.id = r.machine_id
LEFT JOIN stopwatt_store.commits c ON c.id = r.commit_id
LEFT JOIN stopwatt_store.commits b ON b.id = r.base_commit_id
WHERE NOT EXISTS (SELECT FROM stopwatt_store.judgements l WHERE l.run_id = j.run_id AND l.id > j.id);
