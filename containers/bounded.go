package containers

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/build"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/api/types/system"
	"github.com/docker/docker/api/types/volume"
	"github.com/docker/docker/client"

	"gitlab.com/stopwatt/stopwatt"
)

// How long the engine may take. An answer takes milliseconds, and seconds on a board
// whose disk is busy; what tells of its progress may be silent for as long as a
// compiler is, or a registry that is asked for a large layer.
const (
	callWithin  = time.Minute
	pullSilence = 10 * time.Minute
	makeSilence = time.Hour
	vigilEvery  = 15 * time.Second
)

// A bounded is the engine's API, no call of which waits for ever. A call that was not
// answered in time fails with an error that is stopwatt.ErrStuck.
type bounded struct {
	*client.Client
	hurry time.Duration // in the place of every longer bound; 0: none
}

// A slow is the error of a call that was not answered in time.
type slow struct{ within time.Duration }

func (s slow) Error() string { return fmt.Sprintf("the engine did not answer within %v", s.within) }
func (s slow) Unwrap() error { return stopwatt.ErrStuck }

// usual is a bound, or the shorter one.
func (b bounded) usual(within time.Duration) time.Duration {
	if b.hurry > 0 {
		return min(within, b.hurry)
	}
	return within
}

// within bounds what is done under a context.
func (b bounded) within(ctx context.Context, most time.Duration) (context.Context, context.CancelFunc) {
	most = b.usual(most)
	return context.WithTimeoutCause(ctx, most, slow{most})
}

// heard is the error of a call, or that it was not answered in time, or why it was given up:
// the client takes that for a broken connection, unless it is context.Canceled itself.
func heard(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// ask makes one call whose answer comes at once.
func ask[A any](b bounded, ctx context.Context, call func(context.Context) (A, error)) (A, error) {
	ctx, cancel := b.within(ctx, callWithin)
	defer cancel()
	answer, err := call(ctx)
	return answer, heard(ctx, err)
}

// tell makes one call that has no answer.
func tell(b bounded, ctx context.Context, call func(context.Context) error) error {
	_, err := ask(b, ctx, func(ctx context.Context) (struct{}, error) { return struct{}{}, call(ctx) })
	return err
}

func (b bounded) Ping(ctx context.Context) (types.Ping, error) {
	return ask(b, ctx, b.Client.Ping)
}

func (b bounded) ServerVersion(ctx context.Context) (types.Version, error) {
	return ask(b, ctx, b.Client.ServerVersion)
}

func (b bounded) Info(ctx context.Context) (system.Info, error) {
	return ask(b, ctx, b.Client.Info)
}

func (b bounded) ContainerCreate(ctx context.Context, config *container.Config, host *container.HostConfig, net *network.NetworkingConfig, name string) (container.CreateResponse, error) {
	return ask(b, ctx, func(ctx context.Context) (container.CreateResponse, error) {
		return b.Client.ContainerCreate(ctx, config, host, net, nil, name)
	})
}

func (b bounded) ContainerStart(ctx context.Context, id string, options container.StartOptions) error {
	return tell(b, ctx, func(ctx context.Context) error { return b.Client.ContainerStart(ctx, id, options) })
}

func (b bounded) ContainerStop(ctx context.Context, id string, options container.StopOptions) error {
	return tell(b, ctx, func(ctx context.Context) error { return b.Client.ContainerStop(ctx, id, options) })
}

func (b bounded) ContainerKill(ctx context.Context, id, signal string) error {
	return tell(b, ctx, func(ctx context.Context) error { return b.Client.ContainerKill(ctx, id, signal) })
}

func (b bounded) ContainerRemove(ctx context.Context, id string, options container.RemoveOptions) error {
	return tell(b, ctx, func(ctx context.Context) error { return b.Client.ContainerRemove(ctx, id, options) })
}

func (b bounded) ContainerInspect(ctx context.Context, id string) (container.InspectResponse, error) {
	return ask(b, ctx, func(ctx context.Context) (container.InspectResponse, error) {
		return b.Client.ContainerInspect(ctx, id)
	})
}

func (b bounded) ContainerList(ctx context.Context, options container.ListOptions) ([]container.Summary, error) {
	return ask(b, ctx, func(ctx context.Context) ([]container.Summary, error) { return b.Client.ContainerList(ctx, options) })
}

func (b bounded) ContainerExecCreate(ctx context.Context, id string, options container.ExecOptions) (container.ExecCreateResponse, error) {
	return ask(b, ctx, func(ctx context.Context) (container.ExecCreateResponse, error) {
		return b.Client.ContainerExecCreate(ctx, id, options)
	})
}

func (b bounded) ContainerExecInspect(ctx context.Context, id string) (container.ExecInspect, error) {
	return ask(b, ctx, func(ctx context.Context) (container.ExecInspect, error) {
		return b.Client.ContainerExecInspect(ctx, id)
	})
}

func (b bounded) ContainerStatPath(ctx context.Context, id, path string) (container.PathStat, error) {
	return ask(b, ctx, func(ctx context.Context) (container.PathStat, error) {
		return b.Client.ContainerStatPath(ctx, id, path)
	})
}

func (b bounded) ImageInspect(ctx context.Context, name string, options ...client.ImageInspectOption) (image.InspectResponse, error) {
	return ask(b, ctx, func(ctx context.Context) (image.InspectResponse, error) {
		return b.Client.ImageInspect(ctx, name, options...)
	})
}

func (b bounded) ImageList(ctx context.Context, options image.ListOptions) ([]image.Summary, error) {
	return ask(b, ctx, func(ctx context.Context) ([]image.Summary, error) { return b.Client.ImageList(ctx, options) })
}

func (b bounded) ImageRemove(ctx context.Context, name string, options image.RemoveOptions) ([]image.DeleteResponse, error) {
	return ask(b, ctx, func(ctx context.Context) ([]image.DeleteResponse, error) {
		return b.Client.ImageRemove(ctx, name, options)
	})
}

func (b bounded) NetworkCreate(ctx context.Context, name string, options network.CreateOptions) (network.CreateResponse, error) {
	return ask(b, ctx, func(ctx context.Context) (network.CreateResponse, error) {
		return b.Client.NetworkCreate(ctx, name, options)
	})
}

func (b bounded) NetworkRemove(ctx context.Context, id string) error {
	return tell(b, ctx, func(ctx context.Context) error { return b.Client.NetworkRemove(ctx, id) })
}

func (b bounded) NetworkList(ctx context.Context, options network.ListOptions) ([]network.Summary, error) {
	return ask(b, ctx, func(ctx context.Context) ([]network.Summary, error) { return b.Client.NetworkList(ctx, options) })
}

func (b bounded) NetworkConnect(ctx context.Context, id, container string, settings *network.EndpointSettings) error {
	return tell(b, ctx, func(ctx context.Context) error { return b.Client.NetworkConnect(ctx, id, container, settings) })
}

func (b bounded) NetworkDisconnect(ctx context.Context, id, container string, force bool) error {
	return tell(b, ctx, func(ctx context.Context) error { return b.Client.NetworkDisconnect(ctx, id, container, force) })
}

func (b bounded) VolumeCreate(ctx context.Context, options volume.CreateOptions) (volume.Volume, error) {
	return ask(b, ctx, func(ctx context.Context) (volume.Volume, error) { return b.Client.VolumeCreate(ctx, options) })
}

func (b bounded) VolumeRemove(ctx context.Context, name string, force bool) error {
	return tell(b, ctx, func(ctx context.Context) error { return b.Client.VolumeRemove(ctx, name, force) })
}

func (b bounded) ImageBuild(ctx context.Context, packed io.Reader, options build.ImageBuildOptions) (build.ImageBuildResponse, error) {
	p := b.listen(ctx, makeSilence)
	answer, err := b.Client.ImageBuild(p.ctx, p.hearing(packed), options)
	answer.Body, err = p.follow(answer.Body, err)
	return answer, err
}

func (b bounded) ImagePull(ctx context.Context, name string, options image.PullOptions) (io.ReadCloser, error) {
	p := b.listen(ctx, pullSilence)
	return p.follow(b.Client.ImagePull(p.ctx, name, options))
}

func (b bounded) ImageImport(ctx context.Context, source image.ImportSource, name string, options image.ImportOptions) (io.ReadCloser, error) {
	p := b.listen(ctx, pullSilence)
	source.Source = p.hearing(source.Source)
	return p.follow(b.Client.ImageImport(p.ctx, source, name, options))
}

func (b bounded) ContainerLogs(ctx context.Context, id string, options container.LogsOptions) (io.ReadCloser, error) {
	p := b.listen(ctx, callWithin)
	return p.follow(b.Client.ContainerLogs(p.ctx, id, options))
}

func (b bounded) CopyFromContainer(ctx context.Context, id, path string) (io.ReadCloser, container.PathStat, error) {
	p := b.listen(ctx, callWithin)
	stream, stat, err := b.Client.CopyFromContainer(p.ctx, id, path)
	stream, err = p.follow(stream, err)
	return stream, stat, err
}

func (b bounded) ContainerAttach(ctx context.Context, id string, options container.AttachOptions) (types.HijackedResponse, error) {
	return b.hijack(ctx, func(ctx context.Context) (types.HijackedResponse, error) {
		return b.Client.ContainerAttach(ctx, id, options)
	})
}

func (b bounded) ContainerExecAttach(ctx context.Context, id string, options container.ExecAttachOptions) (types.HijackedResponse, error) {
	return b.hijack(ctx, func(ctx context.Context) (types.HijackedResponse, error) {
		return b.Client.ContainerExecAttach(ctx, id, options)
	})
}

// ContainerWait waits for as long as the container lives, and the engine with it: it is
// asked every now and then whether it is there.
func (b bounded) ContainerWait(ctx context.Context, id string, condition container.WaitCondition) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go b.vigil(ctx, cancel)
	ended, failed := b.Client.ContainerWait(ctx, id, condition)
	select { // both channels end with ctx
	case <-ended:
		return nil
	case err := <-failed:
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) { // the engine has hung up
			err = fmt.Errorf("%w: %w", stopwatt.ErrUnreachable, err)
		}
		return heard(ctx, err)
	}
}

// vigil cancels when the engine answers no more.
func (b bounded) vigil(ctx context.Context, cancel context.CancelCauseFunc) {
	ticker := time.NewTicker(b.usual(vigilEvery))
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if _, err := b.Ping(ctx); err != nil && ctx.Err() == nil {
			cancel(err)
		}
	}
}

// knock asks by a connection of its own whether the engine is there: one that stops takes
// no other, ends its containers, and answers by those that it has to the last.
func (b bounded) knock(ctx context.Context) error {
	ctx, cancel := b.within(ctx, callWithin)
	defer cancel()
	conn, err := b.Client.Dialer()(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", stopwatt.ErrUnreachable, err)
	}
	defer closing(conn)
	letGo := context.AfterFunc(ctx, func() { closing(conn) })
	defer letGo()
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, "http://engine/_ping", nil)
	if err != nil {
		return err
	}
	if err = request.Write(conn); err == nil {
		_, err = http.ReadResponse(bufio.NewReader(conn), request) // of a HEAD, which has no body
	}
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("%w: %w", stopwatt.ErrUnreachable, err)
	}
	return heard(ctx, err)
}
