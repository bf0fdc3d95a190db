package containers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/network"

	"gitlab.com/stopwatt/stopwatt"
)

// A Leftover is a container or a network whose maker is gone.
type Leftover struct {
	ID string
	// Network is true of a network.
	Network bool
	Running bool   // a container that still takes what the machine has
	Name    string // the one that the engine gave it
	Run     string // of LabelRun
	Owner   string // of LabelOwner
	Role    string // of LabelRole
}

// Leftovers finds the containers, and behind them the networks, that carry
// LabelOwner and whose owner is dead. Nobody else's are looked at.
func (d *Docker) Leftovers(ctx context.Context, dead func(owner string) bool) ([]Leftover, error) {
	ours := filters.NewArgs(filters.Arg("label", stopwatt.LabelOwner))
	owned, err := d.client.ContainerList(ctx, container.ListOptions{All: true, Filters: ours})
	if err != nil {
		return nil, attempted("list containers", err)
	}
	var left []Leftover
	images := map[string]string{}
	for _, c := range owned {
		owner := c.Labels[stopwatt.LabelOwner]
		if !dead(owner) {
			continue
		}
		if inherited, err := d.inherited(ctx, c.ImageID, images); err != nil {
			return nil, err
		} else if inherited == owner {
			continue
		}
		left = append(left, Leftover{
			ID:      c.ID,
			Running: c.State == container.StateRunning,
			Name:    strings.TrimPrefix(strings.Join(c.Names, " "), "/"),
			Run:     c.Labels[stopwatt.LabelRun],
			Owner:   owner,
			Role:    c.Labels[stopwatt.LabelRole],
		})
	}
	networks, err := d.client.NetworkList(ctx, network.ListOptions{Filters: ours})
	if err != nil {
		return nil, attempted("list networks", err)
	}
	for _, n := range networks {
		if owner := n.Labels[stopwatt.LabelOwner]; dead(owner) {
			left = append(left, Leftover{ID: n.ID, Network: true, Name: n.Name, Run: n.Labels[stopwatt.LabelRun], Owner: owner, Role: n.Labels[stopwatt.LabelRole]})
		}
	}
	return left, nil
}

// inherited is the owner that an image gives to each container, as a hostile one does, or
// one that was committed of a container of ours: such a container is somebody else's. Each
// image is asked for once, whose answers are kept in known.
func (d *Docker) inherited(ctx context.Context, image string, known map[string]string) (string, error) {
	if owner, asked := known[image]; asked {
		return owner, nil
	}
	found, err := d.client.ImageInspect(ctx, image)
	switch {
	case errdefs.IsNotFound(err): // it was removed, or lost its name to another
	case err != nil:
		return "", attempted("inspect image "+image, err)
	case found.Config != nil:
		known[image] = found.Config.Labels[stopwatt.LabelOwner]
		return known[image], nil
	}
	known[image] = ""
	return "", nil
}

// Clean removes leftovers and counts those that are gone: what runs first, networks
// last. It goes on after an error, unless the engine is unreachable, and until ctx ends,
// and returns the first few errors.
func (d *Docker) Clean(ctx context.Context, leftovers []Leftover) (int, error) {
	networks := slices.IndexFunc(leftovers, func(l Leftover) bool { return l.Network })
	if networks < 0 {
		networks = len(leftovers)
	}
	all := slices.Clone(leftovers)
	slices.SortStableFunc(all[:networks], func(a, b Leftover) int { return cmp.Compare(untouched(a), untouched(b)) })
	removed, err := d.cleanAll(ctx, all[:networks])
	if err != nil && (ctx.Err() != nil || errors.Is(err, stopwatt.ErrUnreachable)) {
		return removed, err
	}
	more, networkErr := d.cleanAll(ctx, all[networks:])
	return removed + more, errors.Join(err, networkErr)
}

// untouched sorts what runs to the front.
func untouched(l Leftover) int {
	if l.Running {
		return 0
	}
	return 1
}

const (
	// atATime is how many leftovers are removed at the same time: the engine waits for the
	// disk with each.
	atATime = 4
	// mostErrors is how many errors are told of thousands, and how many removals may fail
	// before no other is tried.
	mostErrors = 5
)

// cleanAll removes leftovers in their order, some at a time.
func (d *Docker) cleanAll(ctx context.Context, leftovers []Leftover) (int, error) {
	var all sync.WaitGroup
	var mu sync.Mutex
	var failed []error
	next, removed, gone := 0, 0, false
	take := func() (left Leftover, any bool) {
		mu.Lock()
		defer mu.Unlock()
		if next == len(leftovers) || ctx.Err() != nil || gone || len(failed) >= mostErrors {
			return left, false
		}
		next++
		return leftovers[next-1], true
	}
	for range atATime {
		all.Go(func() {
			for left, any := take(); any; left, any = take() {
				err := d.cleanOne(ctx, left)
				mu.Lock()
				if err != nil {
					failed = append(failed, fmt.Errorf("%s: %w", left.Name, err))
					gone = gone || errors.Is(err, stopwatt.ErrUnreachable)
				} else {
					removed++
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if ctx.Err() != nil && next < len(leftovers) {
		failed = append(failed, context.Cause(ctx))
	}
	return removed, errors.Join(failed...)
}

// cleanOne removes one.
func (d *Docker) cleanOne(ctx context.Context, left Leftover) error {
	if left.Network {
		return d.RemoveNetwork(ctx, left.ID)
	}
	return d.Remove(ctx, left.ID, "")
}

// A MadeImage is an image that stopwatt has made, by one of its tags.
type MadeImage struct {
	Tag   string // stopwatt/NAME:KEY
	ID    string
	Key   string // what it was made from, hashed
	Bytes int64  // of all its layers, shared ones too
	InUse bool   // a container was made from it
}

// Images finds the images that stopwatt has made: those that carry its key and
// one of its tags. An image that somebody builds on one of ours inherits the
// label, and gets a tag of its own.
func (d *Docker) Images(ctx context.Context) ([]MadeImage, error) {
	labelled, err := d.client.ImageList(ctx, image.ListOptions{Filters: filters.NewArgs(filters.Arg("label", labelKey))})
	if err != nil {
		return nil, attempted("list images", err)
	}
	all, err := d.client.ContainerList(ctx, container.ListOptions{All: true})
	if err != nil {
		return nil, attempted("list containers", err)
	}
	var made []MadeImage
	for _, i := range labelled {
		inUse := slices.ContainsFunc(all, func(c container.Summary) bool { return c.ImageID == i.ID })
		for _, tag := range i.RepoTags {
			if key := i.Labels[labelKey]; isOurTag(tag, key) {
				made = append(made, MadeImage{Tag: tag, ID: i.ID, Key: key, Bytes: i.Size, InUse: inUse})
			}
		}
	}
	return made, nil
}

// isOurTag says whether a tag is the one that we give to an image of this key.
func isOurTag(tag, key string) bool {
	return len(key) >= keyPrefix && strings.HasPrefix(tag, ourImages) && strings.HasSuffix(tag, ":"+key[:keyPrefix])
}

// RemoveImages removes images that no container uses, by their tags: what
// somebody has tagged otherwise remains. An image that is in use is passed
// over, as is one that is gone already. It goes on after an error and returns
// them all.
func (d *Docker) RemoveImages(ctx context.Context, images []MadeImage) error {
	var failed []error
	for _, made := range images {
		if made.InUse {
			continue
		}
		_, err := d.client.ImageRemove(ctx, made.Tag, image.RemoveOptions{PruneChildren: true})
		if err != nil && !errdefs.IsNotFound(err) && !errdefs.IsConflict(err) {
			failed = append(failed, attempted("remove image "+made.Tag, err))
		}
	}
	return errors.Join(failed...)
}
