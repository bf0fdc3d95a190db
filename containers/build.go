package containers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"

	"github.com/docker/docker/api/types/build"
	"github.com/docker/docker/api/types/image"

	"gitlab.com/stopwatt/stopwatt"
)

// Build makes the image that the order asks for, or finds it: an image whose
// key is the same was made from the same context, Dockerfile, arguments, target
// and bases, for the same platform, and nothing is built. progress may be nil.
// The error of a failed build holds the step, its error and its last 30 lines.
func (d *Docker) Build(ctx context.Context, order stopwatt.BuildOrder, progress func(stopwatt.BuildStep)) (stopwatt.Image, error) {
	job, err := d.prepare(ctx, order, progress)
	if err != nil {
		return stopwatt.Image{}, fmt.Errorf("build: %w", err)
	}
	former, err := d.ours(ctx, job.tag, job.key)
	if err != nil {
		return stopwatt.Image{}, err
	}
	found, reused := former, former.ID != "" && !order.Anew
	if !reused {
		if found, err = d.construct(ctx, job, progress); err != nil {
			return stopwatt.Image{}, fmt.Errorf("build: %w", err)
		}
		d.outdated(ctx, former.ID, found.ID)
	}
	return stopwatt.Image{
		ID: found.ID, Key: job.key, Bytes: found.Size, Reused: reused, Digests: found.RepoDigests, Bases: job.bases,
	}, nil
}

// outdated removes an image that has lost its tag to a newer one. One that a
// container still needs stays: nothing is lost but space.
func (d *Docker) outdated(ctx context.Context, former, made string) {
	if former != "" && former != made {
		_, _ = d.client.ImageRemove(ctx, former, image.RemoveOptions{PruneChildren: true})
	}
}

// construct builds by BuildKit, or by the classic builder where the engine has
// nothing else.
func (d *Docker) construct(ctx context.Context, job buildJob, progress func(stopwatt.BuildStep)) (image.InspectResponse, error) {
	id, err := d.buildWith(ctx, build.BuilderBuildKit, job, progress)
	if errors.Is(err, errNoBuildKit) {
		id, err = d.buildWith(ctx, build.BuilderV1, job, progress)
	}
	if err != nil {
		return image.InspectResponse{}, err
	}
	made, err := d.client.ImageInspect(ctx, id)
	return made, attempted("inspect the image", err)
}

// errNoBuildKit says that an engine has no BuildKit.
var errNoBuildKit = errors.New("this engine has no BuildKit")

// buildWith has one of the builders build and returns the image's ID.
func (d *Docker) buildWith(ctx context.Context, builder build.BuilderVersion, job buildJob, progress func(stopwatt.BuildStep)) (string, error) {
	answer, err := d.send(ctx, builder, job)
	if err != nil {
		return "", err
	}
	defer closing(answer)
	log := newBuildLog(progress)
	err = readMessages(answer, log.take)
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "", log.explain(err)
	case log.imageID == "":
		return "", errors.New("the engine named no image at the end")
	}
	return log.imageID, nil
}

// send packs the context, sends it and returns the engine's answer.
func (d *Docker) send(ctx context.Context, builder build.BuilderVersion, job buildJob) (io.ReadCloser, error) {
	reader, writer := io.Pipe()
	packed := make(chan error, 1)
	go func() {
		err := job.writeTo(writer)
		_ = writer.CloseWithError(err) // never fails
		packed <- err
	}()
	answer, err := d.client.ImageBuild(ctx, reader, d.options(builder, job))
	if err == nil {
		return answer.Body, nil
	}
	_ = reader.Close() // never fails; it ends the packing
	if packErr := <-packed; packErr != nil && !errors.Is(packErr, io.ErrClosedPipe) {
		return nil, packErr
	}
	if builder == build.BuilderBuildKit && strings.Contains(strings.ToLower(err.Error()), "buildkit") {
		return nil, fmt.Errorf("%w: %w", errNoBuildKit, err)
	}
	return nil, attempted("send the context", err)
}

// options are what the builder is told beside the context.
func (d *Docker) options(builder build.BuilderVersion, job buildJob) build.ImageBuildOptions {
	return build.ImageBuildOptions{
		Version:     builder,
		Tags:        []string{job.tag},
		Dockerfile:  job.name,
		BuildArgs:   d.buildArgs(job.args),
		Target:      job.order.Target,
		NoCache:     job.order.Anew,
		Labels:      imageLabels(job.order.Labels, job.key),
		NetworkMode: d.buildNetwork,
		AuthConfigs: job.auths,
		Remove:      true, // the containers of the classic builder
		ForceRemove: true,
	}
}

// proxyNames are the build arguments that every Dockerfile knows without an
// ARG, and that leave no trace in the image.
var proxyNames = []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy"}

// buildArgs adds the proxies of the environment. They are no part of the key:
// the way to a package does not change the package.
func (d *Docker) buildArgs(args map[string]string) map[string]*string {
	given := map[string]*string{}
	for _, name := range proxyNames {
		if value := d.getenv(name); value != "" {
			given[name] = &value
		}
	}
	for name, value := range args {
		given[name] = &value
	}
	return given
}

// imageLabels are the order's labels with the key, but without those of a run:
// a container that somebody else starts inherits the labels of its image, and
// would be taken for a leftover.
func imageLabels(ordered map[string]string, key string) map[string]string {
	labels := map[string]string{}
	maps.Copy(labels, ordered)
	for _, ofRun := range []string{stopwatt.LabelRun, stopwatt.LabelOwner, stopwatt.LabelRole} {
		delete(labels, ofRun)
	}
	labels[labelKey] = key
	return labels
}
