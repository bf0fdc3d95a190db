-- +goose Up

SET LOCAL lock_timeout = '3s';

-- In the order in which a run that begins takes them: the other way round it and
-- this step would wait for each other.
LOCK TABLE stopwatt_store.machines IN SHARE ROW EXCLUSIVE MODE;
LOCK TABLE stopwatt_store.suites IN SHARE ROW EXCLUSIVE MODE;

-- Where the commit stands in the first-parent history of the default branch, from
-- 1; null where nobody with the checkout has said so.
ALTER TABLE stopwatt_store.commits ADD COLUMN position integer CHECK (position > 0);

LOCK TABLE stopwatt_store.runs IN SHARE ROW EXCLUSIVE MODE;

-- What one machine measures of a suite under one profile: its series are charted
-- together, and with no others.
CREATE TABLE stopwatt_store.tracks (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    suite_id   bigint NOT NULL REFERENCES stopwatt_store.suites,
    machine_id bigint NOT NULL REFERENCES stopwatt_store.machines,
    profile    text   NOT NULL,
    UNIQUE (suite_id, profile, machine_id)
);

-- The runs that entered the history of the default branch: finished, of a commit,
-- from a clean checkout, measured here. A row of table runs is a hundred times as
-- large, its settings included.
CREATE TABLE stopwatt_store.history (
    run_id       bigint      PRIMARY KEY REFERENCES stopwatt_store.runs ON DELETE CASCADE,
    track_id     bigint      NOT NULL REFERENCES stopwatt_store.tracks,
    commit_id    bigint      NOT NULL REFERENCES stopwatt_store.commits,
    committed_at timestamptz NOT NULL,
    epoch        text        NOT NULL -- of the machine; other cores, and another way to the server, shift figures as another kernel does
);

-- A track in the order of its commits.
CREATE INDEX history_track ON stopwatt_store.history (track_id, committed_at, run_id);
-- The runs of a commit.
CREATE INDEX history_commit ON stopwatt_store.history (commit_id);

-- Stretches of series, so that a chart of many years reads hundreds of rows. Each
-- can be made again from table summaries: see refresh_spans.
CREATE TABLE stopwatt_store.spans (
    case_id   bigint   NOT NULL,
    metric_id bigint   NOT NULL,
    track_id  bigint   NOT NULL REFERENCES stopwatt_store.tracks,
    days      smallint NOT NULL, -- length: 1, 8 or 64
    number    integer  NOT NULL, -- of days, 8 days or 64 days since 1970 in UTC, by the commits' times
    last_run  bigint   NOT NULL, -- of the latest commit
    runs      integer  NOT NULL,
    commits   integer  NOT NULL,
    trials    integer  NOT NULL,
    mean      double precision NOT NULL, -- of the runs' means
    low       double precision NOT NULL, -- the smallest of them
    high      double precision NOT NULL, -- the largest of them
    -- A series' spans next to each other, although they were stored years apart.
    PRIMARY KEY (case_id, metric_id, track_id, days, number) INCLUDE (last_run, runs, commits, trials, mean, low, high)
);

-- The searches that hold, one for each series on each machine.
CREATE TABLE stopwatt_store.latest_searches (
    case_id     bigint NOT NULL,
    metric_id   bigint NOT NULL,
    against     text   NOT NULL,
    fingerprint text   NOT NULL,
    search_id   bigint NOT NULL REFERENCES stopwatt_store.change_searches ON DELETE CASCADE,
    PRIMARY KEY (case_id, metric_id, against, fingerprint)
);

CREATE INDEX latest_searches_search ON stopwatt_store.latest_searches (search_id);

-- +goose StatementBegin
-- The number of the stretch of so many days that a time lies in.
CREATE FUNCTION stopwatt_store.span_number(at timestamptz, days int) RETURNS int LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT floor(extract(epoch FROM at) / 86400 / days)::int
$$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Makes the spans again that a run's figures lie in: the day from its runs, the
-- longer ones from the shorter. What is made from what is stored does not drift,
-- whoever makes it and however often. A run that is not in history has none.
CREATE FUNCTION stopwatt_store.refresh_spans(run bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    at     stopwatt_store.history;
    length int;
    nth    int;
BEGIN
    SELECT * INTO at FROM stopwatt_store.history WHERE run_id = run;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    nth := stopwatt_store.span_number(at.committed_at, 1);
    INSERT INTO stopwatt_store.spans (case_id, metric_id, track_id, days, number, last_run, runs, commits, trials, mean, low, high)
    SELECT y.case_id, y.metric_id, at.track_id, 1, nth, (array_agg(h.run_id ORDER BY h.committed_at DESC, h.run_id DESC))[1],
           count(*), count(DISTINCT h.commit_id), sum(y.n), avg(y.mean), min(y.mean), max(y.mean)
    FROM stopwatt_store.history h
    JOIN stopwatt_store.summaries y ON y.run_id = h.run_id AND y.revision = 'head'
    JOIN stopwatt_store.summaries o ON o.run_id = run AND o.case_id = y.case_id AND o.revision = 'head' AND o.metric_id = y.metric_id
    WHERE h.track_id = at.track_id AND h.committed_at >= to_timestamp(nth * 86400.0) AND h.committed_at < to_timestamp((nth + 1) * 86400.0)
    GROUP BY y.case_id, y.metric_id
    ORDER BY y.case_id, y.metric_id -- two that make the same rows in different orders would wait for each other
    ON CONFLICT (case_id, metric_id, track_id, days, number) DO UPDATE
        SET last_run = excluded.last_run, runs = excluded.runs, commits = excluded.commits, trials = excluded.trials,
            mean = excluded.mean, low = excluded.low, high = excluded.high;
    FOREACH length IN ARRAY ARRAY[8, 64] LOOP
        nth := stopwatt_store.span_number(at.committed_at, length);
        INSERT INTO stopwatt_store.spans (case_id, metric_id, track_id, days, number, last_run, runs, commits, trials, mean, low, high)
        SELECT p.case_id, p.metric_id, at.track_id, length, nth, (array_agg(p.last_run ORDER BY p.number DESC))[1],
               sum(p.runs), sum(p.commits), sum(p.trials), sum(p.mean * p.runs) / sum(p.runs), min(p.low), max(p.high)
        FROM stopwatt_store.summaries o
        JOIN stopwatt_store.spans p ON p.case_id = o.case_id AND p.metric_id = o.metric_id AND p.track_id = at.track_id
             AND p.days = length / 8 AND p.number BETWEEN nth * 8 AND nth * 8 + 7
        WHERE o.run_id = run AND o.revision = 'head'
        GROUP BY p.case_id, p.metric_id
        ORDER BY p.case_id, p.metric_id
        ON CONFLICT (case_id, metric_id, track_id, days, number) DO UPDATE
            SET last_run = excluded.last_run, runs = excluded.runs, commits = excluded.commits, trials = excluded.trials,
                mean = excluded.mean, low = excluded.low, high = excluded.high;
    END LOOP;
END $$;
-- +goose StatementEnd

-- What enters history, as stopwatt.Run.EntersHistory says: dirty and imported runs
-- never do, nor do those of a merge request.
CREATE VIEW stopwatt_store.entrants AS
SELECT r.id AS run_id, r.suite_id, r.machine_id, r.profile, r.commit_id, c.committed_at,
       coalesce(e.key, '') || coalesce(r.settings ->> 'ServerCPUs', '') || coalesce(r.settings -> 'DriverHost' ->> 'Address', '') AS epoch
FROM stopwatt_store.runs r
JOIN stopwatt_store.commits c ON c.id = r.commit_id
LEFT JOIN stopwatt_store.machine_epochs e ON e.id = r.epoch_id
WHERE r.status = 'finished' AND r.on_default AND NOT r.dirty AND NOT r.imported
  AND coalesce(r.pipeline ->> 'Kind', 'default branch') = 'default branch';

-- +goose StatementBegin
-- A trigger, because an older stopwatt that shares the database finishes runs, too,
-- and knows of no history.
CREATE FUNCTION stopwatt_store.enter_history() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO stopwatt_store.tracks (suite_id, machine_id, profile)
    SELECT suite_id, machine_id, profile FROM stopwatt_store.entrants WHERE run_id = NEW.id
    ON CONFLICT DO NOTHING;
    INSERT INTO stopwatt_store.history (run_id, track_id, commit_id, committed_at, epoch)
    SELECT e.run_id, t.id, e.commit_id, e.committed_at, e.epoch
    FROM stopwatt_store.entrants e
    JOIN stopwatt_store.tracks t USING (suite_id, machine_id, profile)
    WHERE e.run_id = NEW.id
    ON CONFLICT DO NOTHING;
    PERFORM stopwatt_store.refresh_spans(NEW.id);
    RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER enter_history AFTER INSERT OR UPDATE OF status ON stopwatt_store.runs
FOR EACH ROW WHEN (NEW.status = 'finished' AND NEW.on_default AND NOT NEW.dirty AND NOT NEW.imported)
EXECUTE FUNCTION stopwatt_store.enter_history();

-- +goose StatementBegin
CREATE FUNCTION stopwatt_store.hold_search() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO stopwatt_store.latest_searches AS l (case_id, metric_id, against, fingerprint, search_id)
    VALUES (NEW.case_id, NEW.metric_id, NEW.against, NEW.fingerprint, NEW.id)
    ON CONFLICT (case_id, metric_id, against, fingerprint) DO UPDATE SET search_id = greatest(l.search_id, excluded.search_id);
    RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER hold_search AFTER INSERT ON stopwatt_store.change_searches
FOR EACH ROW EXECUTE FUNCTION stopwatt_store.hold_search();

-- +goose StatementBegin
-- Lets the web pages' role read without a right to any table: each table has a view
-- of its own in schema stopwatt_pages, made again when a step has added columns.
-- Table leases is nobody's to read.
CREATE FUNCTION stopwatt_store.show_pages() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    name text;
BEGIN
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'stopwatt_store' AND tablename <> 'leases' ORDER BY tablename LOOP
        EXECUTE format('CREATE OR REPLACE VIEW stopwatt_pages.%1$I AS SELECT * FROM stopwatt_store.%1$I', name);
    END LOOP;
END $$;
-- +goose StatementEnd

CREATE SCHEMA stopwatt_pages;

INSERT INTO stopwatt_store.tracks (suite_id, machine_id, profile)
SELECT DISTINCT suite_id, machine_id, profile FROM stopwatt_store.entrants;

INSERT INTO stopwatt_store.history (run_id, track_id, commit_id, committed_at, epoch)
SELECT e.run_id, t.id, e.commit_id, e.committed_at, e.epoch
FROM stopwatt_store.entrants e
JOIN stopwatt_store.tracks t USING (suite_id, machine_id, profile);
