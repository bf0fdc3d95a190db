-- +goose NO TRANSACTION
-- +goose Up

-- These steps may take minutes where much is stored. None of them keeps anybody
-- from reading or from storing meanwhile, and one that was interrupted is taken again.

-- A series in one place, its rows next to each other and without a look into the
-- table: only the head has series.
DROP INDEX CONCURRENTLY IF EXISTS stopwatt_store.summaries_head;
CREATE INDEX CONCURRENTLY summaries_head ON stopwatt_store.summaries (case_id, metric_id, run_id) INCLUDE (n, mean, sd, median) WHERE revision = 'head';
DROP INDEX CONCURRENTLY IF EXISTS stopwatt_store.summaries_series;

-- The latest runs of all suites, of one machine, and the latest finished ones of a suite.
DROP INDEX CONCURRENTLY IF EXISTS stopwatt_store.runs_started;
CREATE INDEX CONCURRENTLY runs_started ON stopwatt_store.runs (started DESC, id DESC);
DROP INDEX CONCURRENTLY IF EXISTS stopwatt_store.runs_machine;
CREATE INDEX CONCURRENTLY runs_machine ON stopwatt_store.runs (machine_id, started DESC, id DESC);
DROP INDEX CONCURRENTLY IF EXISTS stopwatt_store.runs_latest;
CREATE INDEX CONCURRENTLY runs_latest ON stopwatt_store.runs (suite_id, started DESC, id DESC) INCLUDE (profile, machine_id) WHERE status = 'finished';

-- A commit by the beginning of its SHA.
DROP INDEX CONCURRENTLY IF EXISTS stopwatt_store.commits_prefix;
CREATE INDEX CONCURRENTLY commits_prefix ON stopwatt_store.commits (project_id, sha text_pattern_ops);

-- A run that finishes meanwhile makes its days by itself, from all that is stored,
-- and its longer spans from the days that are there yet: so those are made again.
SET work_mem = '256MB';
INSERT INTO stopwatt_store.spans (case_id, metric_id, track_id, days, number, last_run, runs, commits, trials, mean, low, high)
WITH placed AS MATERIALIZED (
    SELECT *, row_number() OVER (PARTITION BY track_id ORDER BY committed_at, run_id) AS place, stopwatt_store.span_number(committed_at, 1) AS day
    FROM stopwatt_store.history
)
SELECT g.case_id, g.metric_id, g.track_id, 1, g.day, p.run_id, g.runs, g.commits, g.trials, g.mean, g.low, g.high
FROM (
    SELECT y.case_id, y.metric_id, p.track_id, p.day, max(p.place) AS place,
           count(*) AS runs, count(DISTINCT p.commit_id) AS commits, sum(y.n) AS trials, avg(y.mean) AS mean, min(y.mean) AS low, max(y.mean) AS high
    FROM placed p
    JOIN stopwatt_store.summaries y ON y.run_id = p.run_id
    WHERE y.revision = 'head'
    GROUP BY y.case_id, y.metric_id, p.track_id, p.day
) g
JOIN placed p ON p.track_id = g.track_id AND p.place = g.place
ON CONFLICT DO NOTHING;

INSERT INTO stopwatt_store.spans (case_id, metric_id, track_id, days, number, last_run, runs, commits, trials, mean, low, high)
SELECT case_id, metric_id, track_id, 8, floor(number / 8.0)::int, (array_agg(last_run ORDER BY number DESC))[1],
       sum(runs), sum(commits), sum(trials), sum(mean * runs) / sum(runs), min(low), max(high)
FROM stopwatt_store.spans
WHERE days = 1
GROUP BY 1, 2, 3, 5
ON CONFLICT (case_id, metric_id, track_id, days, number) DO UPDATE
    SET last_run = excluded.last_run, runs = excluded.runs, commits = excluded.commits, trials = excluded.trials,
        mean = excluded.mean, low = excluded.low, high = excluded.high;

INSERT INTO stopwatt_store.spans (case_id, metric_id, track_id, days, number, last_run, runs, commits, trials, mean, low, high)
SELECT case_id, metric_id, track_id, 64, floor(number / 8.0)::int, (array_agg(last_run ORDER BY number DESC))[1],
       sum(runs), sum(commits), sum(trials), sum(mean * runs) / sum(runs), min(low), max(high)
FROM stopwatt_store.spans
WHERE days = 8
GROUP BY 1, 2, 3, 5
ON CONFLICT (case_id, metric_id, track_id, days, number) DO UPDATE
    SET last_run = excluded.last_run, runs = excluded.runs, commits = excluded.commits, trials = excluded.trials,
        mean = excluded.mean, low = excluded.low, high = excluded.high;

RESET work_mem;
ANALYZE stopwatt_store.spans, stopwatt_store.history, stopwatt_store.tracks;

INSERT INTO stopwatt_store.latest_searches AS l (case_id, metric_id, against, fingerprint, search_id)
SELECT case_id, metric_id, against, fingerprint, max(id) FROM stopwatt_store.change_searches
GROUP BY case_id, metric_id, against, fingerprint
ORDER BY case_id, metric_id, against, fingerprint
ON CONFLICT (case_id, metric_id, against, fingerprint) DO UPDATE SET search_id = greatest(l.search_id, excluded.search_id);
