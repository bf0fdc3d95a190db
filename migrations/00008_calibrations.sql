-- +goose Up

SET LOCAL lock_timeout = '3s';

-- What rounds of the same against the same say about a machine. The run that they
-- were taken in may go; what it said stays.
CREATE TABLE stopwatt_store.calibrations (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    machine_id bigint      NOT NULL REFERENCES stopwatt_store.machines,
    suite_id   bigint      NOT NULL REFERENCES stopwatt_store.suites,
    run_id     bigint      REFERENCES stopwatt_store.runs ON DELETE SET NULL,
    taken      timestamptz NOT NULL,
    document   jsonb       NOT NULL, -- the whole calibration, its cases aside
    UNIQUE (machine_id, suite_id, taken)
);

CREATE INDEX calibrations_run ON stopwatt_store.calibrations (run_id);

CREATE TABLE stopwatt_store.calibration_cases (
    calibration_id bigint  NOT NULL REFERENCES stopwatt_store.calibrations ON DELETE CASCADE,
    position       integer NOT NULL, -- in the order in which they were handed in
    case_id        bigint  NOT NULL REFERENCES stopwatt_store.cases,
    metric_id      bigint  NOT NULL REFERENCES stopwatt_store.metrics,
    n              integer NOT NULL, -- pairs
    pair_sd        double precision NOT NULL, -- of a pair's log ratio
    smallest       double precision, -- relative change; null when none can be seen
    alarms         integer NOT NULL,
    alarms_of      integer NOT NULL,
    document       jsonb   NOT NULL,
    PRIMARY KEY (calibration_id, position)
);

CREATE VIEW stopwatt.calibrations AS
SELECT m.name AS machine, m.fingerprint, p.name AS project, s.name AS suite, l.run_id AS run, l.taken,
       k.implementation, k.workload, x.name AS metric, x.unit, x.better,
       v.n, v.pair_sd, v.smallest, v.alarms AS false_alarms, v.alarms_of AS stretches, v.document AS details
FROM stopwatt_store.calibration_cases v
JOIN stopwatt_store.metrics x ON x.id = v.metric_id
JOIN stopwatt_store.calibrations l ON l.id = v.calibration_id
JOIN stopwatt_store.cases k ON k.id = v.case_id
JOIN stopwatt_store.suites s ON s.id = l.suite_id
JOIN stopwatt_store.projects p ON p.id = s.project_id
JOIN stopwatt_store.machines m ON m.id = l.machine_id;
