package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/git"
)

// resolved is the suite whose builds of other commits of this checkout name them
// whole. A ref that is not there is told before anything is started.
func (c checkout) resolved(ctx context.Context, suite stopwatt.Suite) (stopwatt.Suite, error) {
	return eachBuild(suite, func(build *stopwatt.Build) error {
		switch {
		case build.Ref == "" || build.Repository != "":
			return nil
		case c.repo == nil:
			return fmt.Errorf("ref %s: the suite lies in no git checkout", quote(build.Ref))
		}
		commit, err := c.repo.Resolve(ctx, build.Ref)
		build.Commit = commit.SHA
		return err
	})
}

// mirror fetches the other repositories that a suite is built from, and names
// their commits whole.
func (d *desk) mirror(ctx context.Context, c *checkout, suite stopwatt.Suite) (stopwatt.Suite, error) {
	c.mirrors = map[string]*git.Mirror{}
	cache := filepath.Join(d.dataFolder(), "repositories")
	return eachBuild(suite, func(build *stopwatt.Build) error {
		if build.Repository == "" {
			return nil
		}
		mirror, fetched := c.mirrors[build.Repository]
		if !fetched {
			fmt.Fprintf(d.stderr, "fetch   %s\n", build.Repository)
			var err error
			if mirror, err = git.OpenMirror(ctx, cache, build.Repository, build.Ref); err != nil {
				return err
			}
			c.mirrors[build.Repository] = mirror
		}
		commit, err := mirror.Resolve(ctx, build.Ref)
		build.Commit = commit.SHA
		return err
	})
}

// eachBuild is the suite with a change made to each of its builds.
func eachBuild(suite stopwatt.Suite, change func(*stopwatt.Build) error) (stopwatt.Suite, error) {
	suite.Implementations = slices.Clone(suite.Implementations)
	for i, implementation := range suite.Implementations {
		if implementation.Build == nil {
			continue
		}
		build := *implementation.Build
		if err := change(&build); err != nil {
			return suite, askedWrongly(fmt.Errorf("implementation %s: %w", implementation.Name, err))
		}
		suite.Implementations[i].Build = &build
	}
	return suite, nil
}

// buildOrder says what an implementation of this suite is built from.
func (c checkout) buildOrder(ctx context.Context, file suiteFile, standIns map[string]string, implementation stopwatt.Implementation) (stopwatt.BuildOrder, error) {
	build := *implementation.Build
	context, err := c.context(ctx, file.folder, build)
	if err != nil {
		return stopwatt.BuildOrder{}, askedWrongly(err)
	}
	order := stopwatt.BuildOrder{
		Name:     implementation.Name,
		Context:  context,
		Args:     build.Args,
		Target:   build.Target,
		StandIns: standIns,
	}
	if build.Dockerfile != "" {
		order.Dockerfile, err = os.ReadFile(filepath.Join(file.folder, build.Dockerfile))
		if err != nil {
			return stopwatt.BuildOrder{}, askedWrongly(fmt.Errorf("read the Dockerfile: %w", err))
		}
	}
	return order, nil
}

// context is a folder of the checkout, of another commit of it, or of another
// repository.
func (c checkout) context(ctx context.Context, folder string, build stopwatt.Build) (stopwatt.BuildContext, error) {
	switch {
	case build.Repository != "":
		return c.mirrors[build.Repository].Context(ctx, build.Context, build.Commit)
	case c.repo != nil:
		return c.repo.Context(ctx, filepath.Join(folder, build.Context), build.Commit)
	}
	return git.Plain(filepath.Join(folder, build.Context))
}
