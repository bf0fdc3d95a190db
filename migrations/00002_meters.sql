-- +goose Up

-- A stopwatt that waits for these tables holds up those that measure, which give
-- up a trial that cannot be saved within ten seconds: rather than that, this
-- step gives up.
SET LOCAL lock_timeout = '3s';

-- Changes nothing but takes the lock of the view, before those of the tables, as
-- its readers do: the other way round they and this step would wait for each
-- other. For the same reason machines, runs and trials follow in this order.
ALTER VIEW stopwatt.runs RESET (security_barrier);

-- What a machine was like for a time. Long texts, /proc/cpuinfo and the kernel's
-- command line, stand here and not with every run.
CREATE TABLE stopwatt_store.machine_epochs (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    machine_id bigint      NOT NULL REFERENCES stopwatt_store.machines,
    key        text        NOT NULL, -- hash of what is known, /proc/cpuinfo aside
    identity   jsonb       NOT NULL,
    epoch      jsonb       NOT NULL,
    first_seen timestamptz NOT NULL,
    last_seen  timestamptz NOT NULL,
    UNIQUE (machine_id, key)
);

-- A run that was stored before has its epoch in column epoch, its machine's
-- identity in table machines, and no epoch_id.
ALTER TABLE stopwatt_store.runs
    ADD COLUMN epoch_id bigint REFERENCES stopwatt_store.machine_epochs,
    ADD COLUMN meters   jsonb NOT NULL DEFAULT '[]',
    ALTER COLUMN epoch SET DEFAULT '{}';

-- What was read again and again while a trial was driven. It is large, and read
-- by nothing but its trial.
CREATE TABLE stopwatt_store.samples (
    trial_id bigint   NOT NULL REFERENCES stopwatt_store.trials ON DELETE CASCADE,
    position integer  NOT NULL, -- in the order in which they were handed in
    meter    text     NOT NULL,
    quantity text     NOT NULL,
    times    bigint[] NOT NULL, -- CLOCK_MONOTONIC of the machine, ns
    values   bigint[] NOT NULL,
    gaps     jsonb    NOT NULL, -- of {"From", "To", "Reason"}
    coverage double precision NOT NULL CHECK (coverage BETWEEN 0 AND 1), -- share of the window
    PRIMARY KEY (trial_id, meter, quantity),
    CHECK (cardinality(times) = cardinality(values))
);

CREATE TABLE stopwatt_store.idle_windows (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id       bigint      NOT NULL REFERENCES stopwatt_store.runs ON DELETE CASCADE,
    place        text        NOT NULL CHECK (place IN ('before', 'after')),
    started      timestamptz NOT NULL,
    window_start bigint      NOT NULL, -- CLOCK_MONOTONIC of the machine, ns
    window_end   bigint      NOT NULL,
    UNIQUE (run_id, started)
);

CREATE TABLE stopwatt_store.idle_powers (
    idle_id  bigint  NOT NULL REFERENCES stopwatt_store.idle_windows ON DELETE CASCADE,
    position integer NOT NULL, -- in the order of the machine's meters
    meter    text    NOT NULL,
    watts    double precision CHECK (watts BETWEEN -1e100 AND 1e100),
    error    double precision CHECK (error BETWEEN      0 AND 1e100), -- standard error of the mean
    over     bigint  NOT NULL, -- ns
    absent   text    NOT NULL, -- why there is no number; empty when there is
    warnings text[]  NOT NULL,
    PRIMARY KEY (idle_id, meter),
    CHECK ((absent = '') = (watts IS NOT NULL) AND (watts IS NULL) = (error IS NULL))
);

CREATE TABLE stopwatt_store.idle_samples (
    idle_id  bigint   NOT NULL REFERENCES stopwatt_store.idle_windows ON DELETE CASCADE,
    position integer  NOT NULL, -- in the order of the columns of vmstat(8)
    meter    text     NOT NULL,
    quantity text     NOT NULL,
    times    bigint[] NOT NULL,
    values   bigint[] NOT NULL,
    gaps     jsonb    NOT NULL,
    coverage double precision NOT NULL CHECK (coverage BETWEEN 0 AND 1),
    PRIMARY KEY (idle_id, meter, quantity),
    CHECK (cardinality(times) = cardinality(values))
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
    FROM stopwatt_store.trials WHERE run_id = r.id
) t;

CREATE VIEW stopwatt.machines AS
SELECT e.id AS epoch, m.name AS machine, m.fingerprint, e.first_seen, e.last_seen,
       nullif(e.identity ->> 'CPUModel', '') AS cpu,
       nullif((e.identity ->> 'Cores')::integer, 0) AS cores,
       nullif((e.identity ->> 'Threads')::integer, 0) AS threads,
       nullif(e.identity ->> 'Caches', '') AS caches,
       nullif(e.identity ->> 'SMT', '') AS smt,
       nullif(e.identity ->> 'Turbo', '') AS turbo,
       nullif((e.identity ->> 'MemoryBytes')::bigint, 0) AS memory,
       (e.identity ->> 'Virtual')::boolean AS virtual,
       nullif(e.epoch ->> 'Kernel', '') AS kernel,
       nullif(e.epoch ->> 'CommandLine', '') AS command_line,
       nullif(e.epoch ->> 'Microcode', '') AS microcode,
       nullif(e.epoch ->> 'Governor', '') AS governor,
       nullif(e.epoch ->> 'ClockSource', '') AS clock_source,
       nullif(e.epoch ->> 'EngineVersion', '') AS engine,
       nullif(e.epoch ->> 'CgroupVersion', '') AS cgroup,
       nullif(e.identity ->> 'CPUInfo', '') AS cpuinfo
FROM stopwatt_store.machine_epochs e
JOIN stopwatt_store.machines m ON m.id = e.machine_id;

-- Figures of one meter lie in five metrics, by whose names they are told: no
-- meter's name has an underscore. The subquery is asked for one trial at a time,
-- so that a query for one run reads no other.
CREATE VIEW stopwatt.energy AS
SELECT t.id AS trial, t.run_id AS run, p.name AS project, s.name AS suite,
       c.sha AS commit, nullif(r.branch, '') AS branch, r.on_default, r.dirty, m.name AS machine,
       k.implementation, k.workload, t.revision, t.round, t.status,
       f.meter, f.gross, f.net, f.uncertainty, f.power, f.per_request,
       (SELECT v.value FROM stopwatt_store.measurements v JOIN stopwatt_store.metrics x ON x.id = v.metric_id
        WHERE v.trial_id = t.id AND x.name = 'requests') AS requests,
       (t.window_end - t.window_start) / 1e9::double precision AS seconds,
       (SELECT min(y.coverage) FROM stopwatt_store.samples y
        WHERE y.trial_id = t.id AND y.meter = f.meter AND y.quantity IN ('energy', 'power')) AS coverage,
       f.reason
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

CREATE VIEW stopwatt.idle AS
SELECT w.run_id AS run, w.place, w.started, p.meter, p.watts, p.error,
       p.over / 1e9::double precision AS seconds, nullif(p.absent, '') AS reason, p.warnings
FROM stopwatt_store.idle_windows w
JOIN stopwatt_store.idle_powers p ON p.idle_id = w.id;
