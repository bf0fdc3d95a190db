package main

import (
	"context"
	"errors"
	"slices"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/git"
	"gitlab.com/stopwatt/stopwatt/report"
	"gitlab.com/stopwatt/stopwatt/storage"
)

// mostBrought bounds for how many merges of one question it is asked what they
// brought: each asks git once more.
const mostBrought = 100

// landings are the commits among which the change points lie: of the checkout, with
// what merges brought, or outside it, of the database, which knows the measured ones.
func (d *desk) landings(ctx context.Context, store *storage.Store, project string, traced []report.Traced) ([]stopwatt.Landing, error) {
	changes := changesOf(traced)
	if len(changes) == 0 {
		return nil, nil
	}
	repo, err := git.Open(ctx, ".")
	if err != nil {
		return storedLandings(ctx, store, project, changes)
	}
	repo.Getenv = d.getenv
	past, reached := changes[0].Past, changes[0].Reached
	for _, c := range changes {
		if c.Past.Position < past.Position {
			past = c.Past
		}
		if c.Reached.Position > reached.Position {
			reached = c.Reached
		}
	}
	all, err := repo.Landings(ctx, past.SHA, reached.SHA)
	if err != nil || len(all) != reached.Position-past.Position {
		return storedLandings(ctx, store, project, changes) // a checkout of something else
	}
	return within(ctx, repo, all, past.Position, changes)
}

// within are those landings that a change may lie in, with what they brought.
func within(ctx context.Context, repo *git.Repo, all []stopwatt.Landing, before int, changes []stopwatt.ChangePoint) ([]stopwatt.Landing, error) {
	wanted := map[int]bool{}
	for _, c := range changes {
		for position := c.Past.Position + 1; position <= c.Reached.Position; position++ {
			wanted[position] = true
		}
	}
	var landings []stopwatt.Landing
	asked := 0
	for i, landing := range all {
		if landing.Position = before + i + 1; !wanted[landing.Position] {
			continue
		}
		if len(landing.Commit.Parents) > 1 && asked < mostBrought {
			asked++
			var err error
			if landing.Brought, err = repo.Brought(ctx, landing.Commit); err != nil {
				return nil, err
			}
		}
		landings = append(landings, landing)
	}
	return landings, nil
}

// storedLandings are those of the commits that the changes name which were measured.
func storedLandings(ctx context.Context, store *storage.Store, project string, changes []stopwatt.ChangePoint) ([]stopwatt.Landing, error) {
	var landings []stopwatt.Landing
	seen := map[int]bool{}
	for _, c := range changes {
		for _, place := range []stopwatt.CommitPlace{c.First, c.Reached} {
			if seen[place.Position] || place.SHA == "" {
				continue
			}
			seen[place.Position] = true
			commit, err := store.Commit(ctx, project, place.SHA)
			if errors.Is(err, storage.ErrNotFound) {
				continue
			}
			if err != nil {
				return nil, err
			}
			landings = append(landings, stopwatt.Landing{Position: place.Position, Commit: commit, Merger: commit.Author})
		}
	}
	slices.SortFunc(landings, func(a, b stopwatt.Landing) int { return a.Position - b.Position })
	return landings, nil
}

// changesOf are all change points of these series.
func changesOf(traced []report.Traced) []stopwatt.ChangePoint {
	var changes []stopwatt.ChangePoint
	for _, one := range traced {
		for _, search := range one.Searches {
			changes = append(changes, search.ChangePoints...)
		}
	}
	return changes
}
