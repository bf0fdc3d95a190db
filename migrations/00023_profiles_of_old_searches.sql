-- +goose Up

SET LOCAL lock_timeout = '3s';

-- What was found and said before profiles were told apart is of the one profile that
-- a suite was ever measured with on its default branch; else of whole runs, as it is.
UPDATE stopwatt_store.latest_searches l
SET profile = o.profile
FROM stopwatt_store.cases k
JOIN (
    SELECT suite_id, min(profile) AS profile FROM stopwatt_store.tracks GROUP BY suite_id HAVING count(DISTINCT profile) = 1
) o ON o.suite_id = k.suite_id
WHERE k.id = l.case_id AND l.profile = '' AND o.profile <> '' AND NOT EXISTS (
    SELECT FROM stopwatt_store.latest_searches s
    WHERE s.case_id = l.case_id AND s.metric_id = l.metric_id AND s.against = l.against AND s.fingerprint = l.fingerprint AND s.profile = o.profile
);

UPDATE stopwatt_store.change_searches q
SET profile = l.profile
FROM stopwatt_store.latest_searches l
WHERE l.search_id = q.id AND q.profile <> l.profile;

UPDATE stopwatt_store.alerts a
SET profile = o.profile
FROM stopwatt_store.cases k
JOIN (
    SELECT suite_id, min(profile) AS profile FROM stopwatt_store.tracks GROUP BY suite_id HAVING count(DISTINCT profile) = 1
) o ON o.suite_id = k.suite_id
WHERE k.id = a.case_id AND a.profile = '' AND o.profile <> '';
