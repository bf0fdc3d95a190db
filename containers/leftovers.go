package containers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

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
	for _, c := range owned {
		if !dead(c.Labels[stopwatt.LabelOwner]) || d.inherits(ctx, c) {
			continue
		}
		left = append(left, Leftover{
			ID:    c.ID,
			Name:  strings.TrimPrefix(strings.Join(c.Names, " "), "/"),
			Run:   c.Labels[stopwatt.LabelRun],
			Owner: c.Labels[stopwatt.LabelOwner],
			Role:  c.Labels[stopwatt.LabelRole],
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

// inherits tells whether a container has its owner from its image, as one has that
// somebody starts from a hostile image, or from what was committed of a container of ours:
// it is theirs.
func (d *Docker) inherits(ctx context.Context, c container.Summary) bool {
	found, err := d.client.ImageInspect(ctx, c.ImageID)
	return err == nil && found.Config != nil && found.Config.Labels[stopwatt.LabelOwner] == c.Labels[stopwatt.LabelOwner]
}

// Clean removes leftovers. It goes on after an error and returns them all.
func (d *Docker) Clean(ctx context.Context, leftovers []Leftover) error {
	var failed []error
	for _, left := range leftovers {
		remove := func() error { return d.Remove(ctx, left.ID, "") }
		if left.Network {
			remove = func() error { return d.RemoveNetwork(ctx, left.ID) }
		}
		if err := remove(); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", left.Name, err))
		}
	}
	return errors.Join(failed...)
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
