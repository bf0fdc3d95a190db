package storage

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"gitlab.com/stopwatt/stopwatt"
)

// document is a value as JSON that jsonb can hold: it refuses U+0000, in whose
// place the replacement character stands then.
func document(value any) ([]byte, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", value, err)
	}
	return replaceNUL(text), nil
}

func replaceNUL(text []byte) []byte {
	for at := 0; at < len(text); at++ {
		if text[at] != '\\' {
			continue
		}
		if bytes.HasPrefix(text[at:], []byte(`\u0000`)) {
			copy(text[at:], `\ufffd`)
		}
		at++ // the character after the backslash begins no escape
	}
	return text
}

// runDocuments are the parts of a run that are stored as JSON.
func runDocuments(run stopwatt.Run) (settings, engine, meters []byte, err error) {
	if settings, err = document(run.Settings); err != nil {
		return nil, nil, nil, err
	}
	if engine, err = document(run.Engine); err != nil {
		return nil, nil, nil, err
	}
	meters, err = document(append([]stopwatt.Meter{}, run.Meters...)) // [] and not null
	return settings, engine, meters, err
}

// originDocuments are where a run comes from: its pipeline, nil outside one, how
// its base was found, and what it is to be found by.
func originDocuments(run stopwatt.Run) (pipeline, choice, labels []byte, err error) {
	if run.Pipeline != nil {
		if pipeline, err = document(run.Pipeline); err != nil {
			return nil, nil, nil, err
		}
	}
	if choice, err = document(run.Choice); err != nil {
		return nil, nil, nil, err
	}
	if len(run.Labels) == 0 {
		return pipeline, choice, []byte("{}"), nil
	}
	labels, err = document(run.Labels)
	return pipeline, choice, labels, err
}

// readRun reads the whole run.
func readRun(ctx context.Context, tx pgx.Tx, id int64) (stopwatt.Run, error) {
	run, err := readRunRow(ctx, tx, id)
	if err != nil {
		return stopwatt.Run{}, err
	}
	if run.Images, err = readImages(ctx, tx, headImages, id); err != nil {
		return stopwatt.Run{}, err
	}
	if run.BaseImages, err = readImages(ctx, tx, baseImages, id); err != nil {
		return stopwatt.Run{}, err
	}
	if run.Idle, err = readIdle(ctx, tx, id); err != nil {
		return stopwatt.Run{}, err
	}
	run.DriverShares, err = readShares(ctx, tx, id)
	return run, err
}

func readRunRow(ctx context.Context, tx pgx.Tx, id int64) (stopwatt.Run, error) {
	run := stopwatt.Run{ID: id}
	commit, base := &run.Checkout.Commit, &run.Against.Commit
	var seed, fingerprint string
	var ended *time.Time
	var settings, engine, meters, epoch, identity, pipeline, choice, labels []byte
	err := tx.QueryRow(ctx, `
		SELECT r.key, r.plan_key, p.name, s.name, r.baseline, r.profile, r.seed::text, r.rounds, r.planned,
			coalesce(c.sha, ''), c.parents, coalesce(c.author, ''), coalesce(c.committed_at, '0001-01-01Z'), coalesce(c.subject, ''),
			r.branch, r.on_default, r.dirty, m.fingerprint, m.name, coalesce(e.identity, m.identity), coalesce(e.epoch, r.epoch),
			coalesce(b.sha, ''), b.parents, coalesce(b.author, ''), coalesce(b.committed_at, '0001-01-01Z'), coalesce(b.subject, ''),
			r.base_branch, r.base_on_default, r.imported, r.source,
			r.engine, r.meters, r.settings, r.tool, r.command, r.status, r.started, r.ended,
			r.pipeline, r.choice, r.labels
		FROM stopwatt_store.runs r
		JOIN stopwatt_store.suites s ON s.id = r.suite_id
		JOIN stopwatt_store.projects p ON p.id = s.project_id
		JOIN stopwatt_store.machines m ON m.id = r.machine_id
		LEFT JOIN stopwatt_store.machine_epochs e ON e.id = r.epoch_id
		LEFT JOIN stopwatt_store.commits c ON c.id = r.commit_id
		LEFT JOIN stopwatt_store.commits b ON b.id = r.base_commit_id
		WHERE r.id = $1`, id).Scan(
		&run.Key, &run.PlanKey, &run.Project, &run.Suite, &run.Baseline, &run.Profile, &seed, &run.Rounds, &run.Planned,
		&commit.SHA, &commit.Parents, &commit.Author, &commit.Time, &commit.Subject,
		&run.Checkout.Branch, &run.Checkout.Default, &run.Checkout.Dirty, &fingerprint, &run.Machine.Name, &identity, &epoch,
		&base.SHA, &base.Parents, &base.Author, &base.Time, &base.Subject,
		&run.Against.Branch, &run.Against.Default, &run.Imported, &run.Source,
		&engine, &meters, &settings, &run.Tool, &run.Command, &run.Status, &run.Started, &ended,
		&pipeline, &choice, &labels)
	if err != nil {
		return stopwatt.Run{}, notFound(err)
	}
	if _, err := fmt.Sscan(seed, &run.Seed); err != nil {
		return stopwatt.Run{}, fmt.Errorf("seed: %w", err)
	}
	if ended != nil {
		run.Ended = *ended
	}
	run.Machine.Named = strings.HasPrefix(fingerprint, named)
	for _, part := range []struct {
		text []byte
		into any
	}{{settings, &run.Settings}, {engine, &run.Engine}, {meters, &run.Meters}, {epoch, &run.Machine.Epoch}, {identity, &run.Machine.Identity},
		{pipeline, &run.Pipeline}, {choice, &run.Choice}, {labels, &run.Labels}} {
		if part.text == nil {
			continue // outside a pipeline
		}
		if err := json.Unmarshal(part.text, part.into); err != nil {
			return stopwatt.Run{}, fmt.Errorf("decode %T: %w", part.into, err)
		}
	}
	return run, nil
}

// The tables of images, of the head and of the base.
const (
	headImages = "run_images"
	baseImages = "run_base_images"
)

// insertImages stores what each implementation's containers are started from.
func insertImages(ctx context.Context, tx pgx.Tx, table string, runID int64, images map[string]stopwatt.Image) error {
	for _, implementation := range slices.Sorted(maps.Keys(images)) {
		image := images[implementation]
		bases, err := document(image.Bases)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `
			INSERT INTO stopwatt_store.`+table+` (run_id, implementation, image_id, key, bytes, reused, digests, bases)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
			runID, implementation, image.ID, image.Key, image.Bytes, image.Reused, allPlain(image.Digests), bases)
		if err != nil {
			return err
		}
	}
	return nil
}

func readImages(ctx context.Context, tx pgx.Tx, table string, runID int64) (map[string]stopwatt.Image, error) {
	rows, err := tx.Query(ctx, `
		SELECT implementation, image_id, key, bytes, reused, digests, bases
		FROM stopwatt_store.`+table+` WHERE run_id = $1`, runID)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	images := map[string]stopwatt.Image{}
	for rows.Next() {
		var implementation string
		var image stopwatt.Image
		err := rows.Scan(&implementation, &image.ID, &image.Key, &image.Bytes, &image.Reused, &image.Digests, &image.Bases)
		if err != nil {
			return nil, err
		}
		images[implementation] = image
	}
	return images, rows.Err()
}
