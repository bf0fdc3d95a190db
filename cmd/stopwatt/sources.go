package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/git"
	"gitlab.com/stopwatt/stopwatt/orchestrator"
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
	for i := range suite.Implementations {
		implementation := &suite.Implementations[i]
		build, err := changed(implementation.Build, change)
		if err != nil {
			return suite, askedWrongly(fmt.Errorf("implementation %s: %w", implementation.Name, err))
		}
		implementation.Build = build
	}
	return eachService(suite, func(owner string, service *stopwatt.Service) error {
		build, err := changed(service.Build, change)
		service.Build = build
		if err != nil {
			return askedWrongly(fmt.Errorf("service %s of %s: %w", service.Name, owner, err))
		}
		return nil
	})
}

// changed is a build, if there is one, with a change made to it.
func changed(build *stopwatt.Build, change func(*stopwatt.Build) error) (*stopwatt.Build, error) {
	if build == nil {
		return nil, nil
	}
	to := *build
	return &to, change(&to)
}

// eachService is the suite with a change made to each of its services.
func eachService(suite stopwatt.Suite, change func(owner string, service *stopwatt.Service) error) (stopwatt.Suite, error) {
	suite.Implementations, suite.Workloads = slices.Clone(suite.Implementations), slices.Clone(suite.Workloads)
	each := func(owner string, services *[]stopwatt.Service) error {
		*services = slices.Clone(*services)
		for i := range *services {
			if err := change(owner, &(*services)[i]); err != nil {
				return err
			}
		}
		return nil
	}
	for i := range suite.Implementations {
		if err := each(suite.Implementations[i].Name, &suite.Implementations[i].Services); err != nil {
			return suite, err
		}
	}
	for i := range suite.Workloads {
		if err := each(suite.Workloads[i].Name, &suite.Workloads[i].Services); err != nil {
			return suite, err
		}
	}
	return suite, nil
}

// withServices gets the images of the services that these cases need, and names
// them in the suite. What is built or pulled alike is got once.
func withServices(ctx context.Context, suite stopwatt.Suite, cases []stopwatt.Case, builder orchestrator.Builder) (stopwatt.Suite, error) {
	needed := func(owner string) bool {
		return slices.ContainsFunc(cases, func(c stopwatt.Case) bool { return c.Implementation == owner || c.Workload == owner })
	}
	got := map[string]string{}
	return eachService(suite, func(owner string, service *stopwatt.Service) error {
		if !needed(owner) {
			return nil
		}
		of := fmt.Sprintf("%s %+v", service.Image, service.Build)
		if service.Build != nil {
			of = fmt.Sprintf("%+v", *service.Build)
		}
		if got[of] == "" {
			images, err := builder.Get(ctx, []stopwatt.Implementation{{Name: service.Name, Image: service.Image, Build: service.Build}})
			if err != nil {
				return fmt.Errorf("service of %s: %w", owner, err)
			}
			got[of] = images[service.Name].ID
		}
		service.ImageID = got[of]
		return nil
	})
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
		order.Dockerfile, err = c.readFile(ctx, file.folder, build.Dockerfile)
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
		return c.repo.Context(ctx, filepath.Join(folder, build.Context), cmp.Or(build.Commit, c.at))
	}
	return git.Plain(filepath.Join(folder, build.Context))
}

// readFile reads a Dockerfile beside the suite: of the commit that is built from, or on disk.
func (c checkout) readFile(ctx context.Context, folder, name string) ([]byte, error) {
	if c.at == "" {
		return readDockerfile(filepath.Join(folder, name))
	}
	tree, err := c.repo.Tree(ctx, folder, c.at)
	if err != nil {
		return nil, err
	}
	return tree.ReadFile(name)
}
