-- +goose Up

SET LOCAL lock_timeout = '3s';

-- What a search for change points said about a series on one machine. Nothing is
-- changed afterwards: the last search of each holds.
CREATE TABLE stopwatt_store.change_searches (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    case_id     bigint      NOT NULL REFERENCES stopwatt_store.cases,
    metric_id   bigint      NOT NULL REFERENCES stopwatt_store.metrics,
    against     text        NOT NULL, -- the implementation that values were divided by; empty for none
    fingerprint text        NOT NULL, -- of the machine
    taken       timestamptz NOT NULL DEFAULT now(),
    document    jsonb       NOT NULL  -- the whole search, its points and change points aside
);

CREATE INDEX change_searches_series ON stopwatt_store.change_searches (case_id, metric_id, against, fingerprint, id DESC);

CREATE TABLE stopwatt_store.change_points (
    search_id  bigint  NOT NULL REFERENCES stopwatt_store.change_searches ON DELETE CASCADE,
    position   integer NOT NULL, -- in the order of history
    state      text    NOT NULL,
    withheld   text    NOT NULL, -- what else changed there; empty for nothing
    first_sha  text    NOT NULL,
    past_sha   text    NOT NULL,
    reached_sha text   NOT NULL,
    before     double precision NOT NULL,
    after      double precision NOT NULL,
    ratio      double precision,
    low        double precision,
    high       double precision,
    p          double precision NOT NULL,
    document   jsonb   NOT NULL,
    PRIMARY KEY (search_id, position)
);

CREATE VIEW stopwatt.changes AS
SELECT p.name AS project, s.name AS suite, k.implementation, k.workload, x.name AS metric, x.unit, x.better,
       nullif(q.against, '') AS against, m.name AS machine, q.fingerprint,
       v.state, nullif(v.withheld, '') AS withheld, v.first_sha AS first_commit, v.past_sha AS after_commit, v.reached_sha AS up_to_commit,
       v.before, v.after, v.ratio, v.low, v.high, v.p, q.taken, v.document AS details
FROM stopwatt_store.change_points v
JOIN stopwatt_store.change_searches q ON q.id = v.search_id
JOIN stopwatt_store.metrics x ON x.id = q.metric_id
JOIN stopwatt_store.cases k ON k.id = q.case_id
JOIN stopwatt_store.suites s ON s.id = k.suite_id
JOIN stopwatt_store.projects p ON p.id = s.project_id
LEFT JOIN stopwatt_store.machines m ON m.fingerprint = q.fingerprint
WHERE NOT EXISTS (
    SELECT FROM stopwatt_store.change_searches l
    WHERE l.case_id = q.case_id AND l.metric_id = q.metric_id AND l.against = q.against AND l.fingerprint = q.fingerprint AND l.id > q.id);
