package main

import (
	"context"

	"gitlab.com/stopwatt/stopwatt/git"
	"gitlab.com/stopwatt/stopwatt/storage"
)

// placeStored tells the database where the commits of a project stand on its default
// branch, and who brought them there, where this is a checkout of that project with all of its history: a shallow
// clone does not know how many came before.
func (d *desk) placeStored(ctx context.Context, store *storage.Store, project string) error {
	repo, err := git.Open(ctx, ".")
	if err != nil {
		return nil // the pages order by time then
	}
	repo.Getenv = d.getenv
	branch := repo.DefaultBranch(ctx)
	if branch == "" || repo.Project(ctx) != project {
		return nil
	}
	whole, err := repo.Whole(ctx)
	if err != nil || !whole {
		return err
	}
	landings, err := repo.Landings(ctx, "", branch)
	if err != nil {
		return err
	}
	return store.PlaceCommits(ctx, project, landings)
}
