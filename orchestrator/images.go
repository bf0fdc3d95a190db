package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// Images makes or fetches what implementations are started from.
type Images interface {
	Build(ctx context.Context, order stopwatt.BuildOrder, progress func(stopwatt.BuildStep)) (stopwatt.Image, error)
	Pull(ctx context.Context, reference string, progress func(stopwatt.BuildStep)) (stopwatt.Image, error)
}

// Builder gets the images of a suite's implementations.
type Builder struct {
	Images Images
	// Order says what an implementation is built from.
	Order func(ctx context.Context, implementation stopwatt.Implementation) (stopwatt.BuildOrder, error)
	SHA   string // of the head commit; {sha} in an image's reference stands for it
	// Begins, Step, Ended and Failed tell how it goes on.
	Begins func(implementation string)
	Step   func(implementation string, step stopwatt.BuildStep)
	Ended  func(implementation string, image stopwatt.Image)
	Failed func(implementation string, err error)
}

// Get returns the image of each of these implementations, by name. It tries
// them all: whoever mends one wants to hear of the others.
func (b Builder) Get(ctx context.Context, implementations []stopwatt.Implementation) (map[string]stopwatt.Image, error) {
	images := map[string]stopwatt.Image{}
	var failed []error
	for _, implementation := range implementations {
		b.Begins(implementation.Name)
		image, err := b.get(ctx, implementation)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", implementation.Name, err))
			b.Failed(implementation.Name, err)
			continue
		}
		images[implementation.Name] = image
		b.Ended(implementation.Name, image)
	}
	return images, errors.Join(failed...)
}

// get builds or pulls one image.
func (b Builder) get(ctx context.Context, implementation stopwatt.Implementation) (stopwatt.Image, error) {
	step := func(s stopwatt.BuildStep) { b.Step(implementation.Name, s) }
	if implementation.Build == nil {
		if b.SHA == "" && strings.Contains(implementation.Image, "{sha}") {
			return stopwatt.Image{}, fmt.Errorf("image %q: there is no commit that {sha} could stand for: the suite lies in no git checkout", implementation.Image)
		}
		reference := strings.ReplaceAll(implementation.Image, "{sha}", b.SHA)
		return b.Images.Pull(ctx, reference, step)
	}
	order, err := b.Order(ctx, implementation)
	if err != nil {
		return stopwatt.Image{}, err
	}
	return b.Images.Build(ctx, order, step)
}
