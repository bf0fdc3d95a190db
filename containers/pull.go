package containers

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/distribution/reference"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/registry"
	"github.com/docker/docker/client"

	"gitlab.com/stopwatt/stopwatt"
)

// Pull gets the image of this reference: the one that the engine holds, or
// else the registry's, with whatever credentials are known for it. progress
// may be nil. The error for an image that cannot be had says what to do.
func (d *Docker) Pull(ctx context.Context, name string, progress func(stopwatt.BuildStep)) (stopwatt.Image, error) {
	held, reused, err := d.obtain(ctx, name, "", progress)
	if err != nil {
		return stopwatt.Image{}, err
	}
	return stopwatt.Image{ID: held.ID, Bytes: held.Size, Reused: reused, Digests: held.RepoDigests}, nil
}

// obtain inspects an image, and pulls it before when the engine lacks it. The
// platform is the engine's own when it is empty.
func (d *Docker) obtain(ctx context.Context, name, platform string, progress func(stopwatt.BuildStep)) (image.InspectResponse, bool, error) {
	named, err := reference.ParseDockerRef(name)
	if err != nil {
		return image.InspectResponse{}, false, fmt.Errorf("image %q: %w; write it as name:tag or name@sha256:…", name, err)
	}
	held, err := d.client.ImageInspect(ctx, name)
	if err == nil || !errdefs.IsNotFound(err) {
		return held, true, attempted("inspect image "+name, err)
	}
	if err := d.fetch(ctx, named, platform, progress); err != nil {
		return image.InspectResponse{}, false, err
	}
	held, err = d.client.ImageInspect(ctx, name)
	return held, false, attempted("inspect image "+name, err)
}

// fetch pulls an image from its registry.
func (d *Docker) fetch(ctx context.Context, named reference.Named, platform string, progress func(stopwatt.BuildStep)) error {
	known, doubt := d.credentials.of(ctx, reference.Domain(named))
	options := image.PullOptions{Platform: platform}
	if known != (registry.AuthConfig{}) {
		var err error
		if options.RegistryAuth, err = registry.EncodeAuthConfig(known); err != nil {
			return fmt.Errorf("image %s: %w", reference.FamiliarString(named), err)
		}
	}
	err := d.pull(ctx, named, options, progress)
	if err == nil || ctx.Err() != nil || client.IsErrConnectionFailed(err) {
		return attempted("pull image "+reference.FamiliarString(named), err)
	}
	return fmt.Errorf("image %s: %w; %s", reference.FamiliarString(named), errors.Join(err, doubt), pullRemedy(err, named, platform))
}

// pull lets the engine pull and follows what it tells.
func (d *Docker) pull(ctx context.Context, named reference.Named, options image.PullOptions, progress func(stopwatt.BuildStep)) error {
	stream, err := d.client.ImagePull(ctx, named.String(), options)
	if err != nil {
		return err
	}
	defer closing(stream)
	layers := pulledLayers{name: reference.FamiliarString(named), done: map[string]bool{}}
	return readMessages(stream, func(m message) {
		if layers.take(m) && progress != nil {
			progress(layers.step())
		}
	})
}

// pulledLayers counts the layers of an image that is pulled.
type pulledLayers struct {
	name string
	done map[string]bool // by ID of the layer
}

// take notes what a message says and tells whether the count has changed.
func (l *pulledLayers) take(m message) bool {
	switch m.Status {
	case "Pulling fs layer":
		l.done[m.ID] = false
	case "Pull complete", "Already exists":
		l.done[m.ID] = true
	default:
		return false
	}
	return true
}

// step is the progress so far.
func (l *pulledLayers) step() stopwatt.BuildStep {
	step := stopwatt.BuildStep{Total: len(l.done), Text: "pull " + l.name}
	for _, done := range l.done {
		if done {
			step.Done++
		}
	}
	return step
}

// pullRemedy says what to do about an image that was not pulled. Registries
// and engines give no codes that can be relied upon, so their words are looked
// at; when they are unknown, the remedy is general.
func pullRemedy(err error, named reference.Named, platform string) string {
	host := reference.Domain(named)
	said := func(phrases ...string) bool {
		for _, phrase := range phrases {
			if strings.Contains(strings.ToLower(err.Error()), phrase) {
				return true
			}
		}
		return false
	}
	switch {
	case said("no matching manifest", "does not match the specified platform"):
		return "it is not published for this engine's platform" + platformNote(platform)
	case said("denied", "unauthorized", "authentication required", "no basic auth"):
		return fmt.Sprintf("correct its name, or give credentials: docker login %s, or DOCKER_AUTH_CONFIG", host)
	case said("manifest unknown", "not found", "unknown blob"):
		return "no such image in its registry: correct its name or tag"
	case said("no space left"):
		return "the engine's disk is full: free some, for instance by docker system df and docker image rm"
	}
	return fmt.Sprintf("the engine cannot get it from %s: check its network, or build or load the image there beforehand", host)
}

// platformNote names a platform that was asked for.
func platformNote(platform string) string {
	if platform == "" {
		return ""
	}
	return " (" + platform + " was asked for)"
}
