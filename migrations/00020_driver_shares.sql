-- +goose Up

SET LOCAL lock_timeout = '3s';

-- What the driver takes by itself, measured once a run under the load of each
-- workload against a server that costs next to nothing. It stands apart from
-- trials, so that nothing that reads cases, summaries or history meets it.
CREATE TABLE stopwatt_store.driver_shares (
    run_id       bigint      NOT NULL REFERENCES stopwatt_store.runs ON DELETE CASCADE,
    workload     text        NOT NULL,
    started      timestamptz NOT NULL,
    window_start bigint      NOT NULL, -- CLOCK_MONOTONIC of the machine, ns; 0 where nothing was measured
    window_end   bigint      NOT NULL,
    reason       text        NOT NULL, -- why nothing was measured; empty when something was
    figures      jsonb       NOT NULL, -- of {"Metric", "Value"}
    absent       jsonb       NOT NULL, -- of {"Metric", "Reason"}
    PRIMARY KEY (run_id, workload)
);

CREATE VIEW stopwatt.driver_shares AS
SELECT d.run_id AS run, d.workload, d.started, (d.window_end - d.window_start) / 1e9::double precision AS seconds,
       f.metric, f.value, coalesce(f.reason, nullif(d.reason, '')) AS reason
FROM stopwatt_store.driver_shares d
LEFT JOIN LATERAL (
    SELECT v ->> 'Metric' AS metric, (v ->> 'Value')::double precision AS value, NULL AS reason FROM jsonb_array_elements(d.figures) v
    UNION ALL
    SELECT v ->> 'Metric', NULL, v ->> 'Reason' FROM jsonb_array_elements(d.absent) v
) f ON true;
