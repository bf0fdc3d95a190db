-- +goose Up

-- Tables are stopwatt's own, in schema stopwatt_store (which exists before this
-- file: the table of versions lies there). What people read are the views in
-- schema stopwatt, which docs/sql.md describes.

CREATE SCHEMA IF NOT EXISTS stopwatt;

CREATE TABLE stopwatt_store.projects (
    id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE
);

CREATE TABLE stopwatt_store.suites (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id bigint NOT NULL REFERENCES stopwatt_store.projects,
    name       text   NOT NULL,
    UNIQUE (project_id, name)
);

CREATE TABLE stopwatt_store.machines (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    fingerprint text        NOT NULL UNIQUE, -- of the identity
    name        text        NOT NULL,        -- the latest one
    identity    jsonb       NOT NULL,
    first_seen  timestamptz NOT NULL,
    last_seen   timestamptz NOT NULL
);

CREATE TABLE stopwatt_store.commits (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id   bigint      NOT NULL REFERENCES stopwatt_store.projects,
    sha          text        NOT NULL,
    parents      text[]      NOT NULL,
    author       text        NOT NULL,
    committed_at timestamptz NOT NULL,
    subject      text        NOT NULL,
    UNIQUE (project_id, sha)
);

CREATE TABLE stopwatt_store.cases (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    suite_id       bigint NOT NULL REFERENCES stopwatt_store.suites,
    implementation text   NOT NULL,
    workload       text   NOT NULL,
    UNIQUE (suite_id, implementation, workload)
);

CREATE TABLE stopwatt_store.metrics (
    id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name   text NOT NULL UNIQUE,
    unit   text NOT NULL,
    better text NOT NULL CHECK (better IN ('less', 'more', 'neither'))
);

CREATE TABLE stopwatt_store.runs (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key        text        NOT NULL UNIQUE, -- a run that is begun again with its key is the same run
    plan_key   text        NOT NULL,
    suite_id   bigint      NOT NULL REFERENCES stopwatt_store.suites,
    machine_id bigint      NOT NULL REFERENCES stopwatt_store.machines,
    commit_id  bigint               REFERENCES stopwatt_store.commits, -- null outside git
    branch     text        NOT NULL, -- empty when HEAD was detached
    on_default boolean     NOT NULL,
    dirty      boolean     NOT NULL,
    profile    text        NOT NULL,
    baseline   text        NOT NULL,
    seed       numeric(20) NOT NULL, -- 64 bits without a sign
    rounds     integer     NOT NULL,
    planned    integer     NOT NULL, -- trials
    status     text        NOT NULL CHECK (status IN ('running', 'finished', 'aborted')),
    started    timestamptz NOT NULL,
    ended      timestamptz,
    tool       text        NOT NULL,
    command    text        NOT NULL,
    settings   jsonb       NOT NULL, -- the suite as it was carried out
    engine     jsonb       NOT NULL,
    epoch      jsonb       NOT NULL  -- of the machine
);

-- The latest run of a suite.
CREATE INDEX runs_suite ON stopwatt_store.runs (suite_id, started DESC);
-- An unfinished run to be continued.
CREATE INDEX runs_unfinished ON stopwatt_store.runs (plan_key, machine_id) WHERE status <> 'finished';
-- All runs of a commit.
CREATE INDEX runs_commit ON stopwatt_store.runs (commit_id);

CREATE TABLE stopwatt_store.run_images (
    run_id         bigint  NOT NULL REFERENCES stopwatt_store.runs ON DELETE CASCADE,
    implementation text    NOT NULL,
    image_id       text    NOT NULL,
    key            text    NOT NULL, -- what it was built from, hashed; empty for a pulled one
    bytes          bigint  NOT NULL,
    reused         boolean NOT NULL,
    digests        text[]  NOT NULL,
    bases          jsonb   NOT NULL,
    PRIMARY KEY (run_id, implementation)
);

CREATE TABLE stopwatt_store.trials (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id       bigint      NOT NULL REFERENCES stopwatt_store.runs ON DELETE CASCADE,
    case_id      bigint      NOT NULL REFERENCES stopwatt_store.cases,
    revision     text        NOT NULL,
    round        integer     NOT NULL CHECK (round > 0),
    position     integer     NOT NULL,
    status       text        NOT NULL CHECK (status IN ('valid', 'invalid')),
    reason       text        NOT NULL,
    warnings     text[]      NOT NULL,
    started      timestamptz NOT NULL,
    window_start bigint      NOT NULL, -- CLOCK_MONOTONIC of the machine, ns
    window_end   bigint      NOT NULL,
    UNIQUE (run_id, case_id, revision, round)
);

CREATE INDEX trials_case ON stopwatt_store.trials (case_id, run_id);

-- Figures are in base units. NaN is greater than all numbers to Postgres, and
-- fails the check as infinity does; the bound of 1e100 keeps squares and products
-- of figures within range.
CREATE TABLE stopwatt_store.measurements (
    trial_id  bigint NOT NULL REFERENCES stopwatt_store.trials ON DELETE CASCADE,
    metric_id bigint NOT NULL REFERENCES stopwatt_store.metrics,
    value     double precision NOT NULL CHECK (value BETWEEN -1e100 AND 1e100),
    PRIMARY KEY (trial_id, metric_id)
);

CREATE TABLE stopwatt_store.absences (
    trial_id  bigint NOT NULL REFERENCES stopwatt_store.trials ON DELETE CASCADE,
    metric_id bigint NOT NULL REFERENCES stopwatt_store.metrics,
    reason    text   NOT NULL,
    PRIMARY KEY (trial_id, metric_id)
);

CREATE TABLE stopwatt_store.histograms (
    trial_id bigint NOT NULL REFERENCES stopwatt_store.trials ON DELETE CASCADE,
    kind     text   NOT NULL, -- latency
    encoded  bytea  NOT NULL, -- HdrHistogram, V2, compressed; ns
    PRIMARY KEY (trial_id, kind)
);

CREATE TABLE stopwatt_store.summaries (
    run_id    bigint  NOT NULL REFERENCES stopwatt_store.runs ON DELETE CASCADE,
    case_id   bigint  NOT NULL REFERENCES stopwatt_store.cases,
    metric_id bigint  NOT NULL REFERENCES stopwatt_store.metrics,
    revision  text    NOT NULL,
    n         integer NOT NULL CHECK (n > 0), -- trials
    mean      double precision NOT NULL CHECK (mean   BETWEEN -1e100 AND 1e100),
    sd        double precision          CHECK (sd     BETWEEN      0 AND 1e100), -- null when n is 1
    median    double precision NOT NULL CHECK (median BETWEEN -1e100 AND 1e100),
    min       double precision NOT NULL CHECK (min    BETWEEN -1e100 AND 1e100),
    max       double precision NOT NULL CHECK (max    BETWEEN -1e100 AND 1e100),
    PRIMARY KEY (run_id, case_id, revision, metric_id)
);

-- The series of a case and a metric.
CREATE INDEX summaries_series ON stopwatt_store.summaries (case_id, metric_id, run_id);

CREATE VIEW stopwatt.runs AS
SELECT r.id AS run, r.key, p.name AS project, s.name AS suite, r.status,
       c.sha AS commit, c.committed_at, c.author, c.subject,
       nullif(r.branch, '') AS branch, r.on_default, r.dirty,
       m.name AS machine, m.fingerprint,
       r.baseline, nullif(r.profile, '') AS profile, r.rounds, r.planned, t.valid, t.invalid,
       r.started, r.ended, r.seed, r.tool, r.command,
       r.engine ->> 'Version' AS engine, r.epoch ->> 'Kernel' AS kernel
FROM stopwatt_store.runs r
JOIN stopwatt_store.suites s ON s.id = r.suite_id
JOIN stopwatt_store.projects p ON p.id = s.project_id
JOIN stopwatt_store.machines m ON m.id = r.machine_id
LEFT JOIN stopwatt_store.commits c ON c.id = r.commit_id
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE status = 'valid') AS valid,
           count(*) FILTER (WHERE status = 'invalid') AS invalid
    FROM stopwatt_store.trials WHERE run_id = r.id
) t;

CREATE VIEW stopwatt.trials AS
SELECT t.id AS trial, t.run_id AS run, p.name AS project, s.name AS suite,
       c.sha AS commit, nullif(r.branch, '') AS branch, r.on_default, r.dirty, m.name AS machine,
       k.implementation, k.workload, t.revision, t.round, t.position,
       t.status, nullif(t.reason, '') AS reason, t.warnings, t.started,
       (t.window_end - t.window_start) / 1e9::double precision AS window_seconds
FROM stopwatt_store.trials t
JOIN stopwatt_store.runs r ON r.id = t.run_id
JOIN stopwatt_store.cases k ON k.id = t.case_id
JOIN stopwatt_store.suites s ON s.id = r.suite_id
JOIN stopwatt_store.projects p ON p.id = s.project_id
JOIN stopwatt_store.machines m ON m.id = r.machine_id
LEFT JOIN stopwatt_store.commits c ON c.id = r.commit_id;

CREATE VIEW stopwatt.measurements AS
SELECT t.id AS trial, t.run_id AS run, p.name AS project, s.name AS suite,
       c.sha AS commit, nullif(r.branch, '') AS branch, r.on_default, r.dirty, m.name AS machine,
       k.implementation, k.workload, t.revision, t.round, t.status,
       x.name AS metric, x.unit, x.better, v.value
FROM stopwatt_store.measurements v
JOIN stopwatt_store.metrics x ON x.id = v.metric_id
JOIN stopwatt_store.trials t ON t.id = v.trial_id
JOIN stopwatt_store.runs r ON r.id = t.run_id
JOIN stopwatt_store.cases k ON k.id = t.case_id
JOIN stopwatt_store.suites s ON s.id = r.suite_id
JOIN stopwatt_store.projects p ON p.id = s.project_id
JOIN stopwatt_store.machines m ON m.id = r.machine_id
LEFT JOIN stopwatt_store.commits c ON c.id = r.commit_id;

-- A ratio is 1 where both are equal, 0 and 0 too, and null where the baseline
-- is missing or something stands against nothing. What is next to nothing counts
-- as nothing: Postgres fails a whole query for a quotient that is out of range.
CREATE VIEW stopwatt.results AS
SELECT p.name AS project, s.name AS suite, r.id AS run, r.status AS run_status, r.started,
       c.sha AS commit, c.committed_at, nullif(r.branch, '') AS branch, r.on_default, r.dirty,
       m.name AS machine, k.implementation, k.workload, y.revision,
       x.name AS metric, x.unit, x.better, y.n, y.mean, y.sd, y.median, y.min, y.max,
       r.baseline,
       CASE WHEN y.mean = b.mean THEN 1
            WHEN abs(b.mean) < 1e-100 THEN NULL
            WHEN abs(y.mean) < 1e-100 THEN b.mean - b.mean
            ELSE y.mean / b.mean
       END AS ratio
FROM stopwatt_store.summaries y
JOIN stopwatt_store.metrics x ON x.id = y.metric_id
JOIN stopwatt_store.runs r ON r.id = y.run_id
JOIN stopwatt_store.cases k ON k.id = y.case_id
JOIN stopwatt_store.suites s ON s.id = r.suite_id
JOIN stopwatt_store.projects p ON p.id = s.project_id
JOIN stopwatt_store.machines m ON m.id = r.machine_id
LEFT JOIN stopwatt_store.commits c ON c.id = r.commit_id
LEFT JOIN stopwatt_store.cases bk
       ON bk.suite_id = k.suite_id AND bk.workload = k.workload AND bk.implementation = r.baseline
LEFT JOIN stopwatt_store.summaries b
       ON b.run_id = y.run_id AND b.case_id = bk.id AND b.revision = y.revision AND b.metric_id = y.metric_id;
