package containers

import (
	"context"
	"io"
	"time"

	"github.com/docker/docker/api/types"
)

// A patience ends a call of which nothing has been heard for too long.
type patience struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	within time.Duration
	timer  *time.Timer
	body   io.ReadCloser
}

// listen begins to wait for news.
func (b bounded) listen(ctx context.Context, within time.Duration) *patience {
	p := &patience{within: b.usual(within)}
	p.ctx, p.cancel = context.WithCancelCause(ctx)
	p.timer = time.AfterFunc(p.within, func() { p.cancel(slow{p.within}) })
	return p
}

// follow takes over the engine's answer, which ends the call when it is closed.
func (p *patience) follow(body io.ReadCloser, err error) (io.ReadCloser, error) {
	if err != nil {
		err = heard(p.ctx, err)
		p.end()
		return nil, err
	}
	p.body = body
	return p, nil
}

func (p *patience) Read(into []byte) (int, error) {
	n, err := p.body.Read(into)
	p.timer.Reset(p.within)
	if err != io.EOF {
		err = heard(p.ctx, err)
	}
	return n, err
}

func (p *patience) Close() error {
	defer p.end()
	return p.body.Close()
}

func (p *patience) end() {
	p.timer.Stop()
	p.cancel(nil)
}

// hearing is what is sent: that the engine takes it is news, too.
func (p *patience) hearing(sent io.Reader) io.Reader { return taken{sent, p} }

type taken struct {
	io.Reader
	by *patience
}

func (t taken) Read(into []byte) (int, error) {
	t.by.timer.Reset(t.by.within)
	return t.Reader.Read(into)
}

// hijack opens streams. The client's own call outlives its context: what comes of one
// that was given up is closed.
func (b bounded) hijack(ctx context.Context, open func(context.Context) (types.HijackedResponse, error)) (types.HijackedResponse, error) {
	type opened struct {
		streams types.HijackedResponse
		err     error
	}
	ctx, cancel := b.within(ctx, callWithin)
	defer cancel()
	answers := make(chan opened, 1)
	go func() {
		streams, err := open(ctx)
		answers <- opened{streams, err}
	}()
	select {
	case answer := <-answers:
		return answer.streams, heard(ctx, answer.err)
	case <-ctx.Done():
	}
	go func() {
		if late := <-answers; late.err == nil {
			late.streams.Close()
		}
	}()
	return types.HijackedResponse{}, heard(ctx, ctx.Err())
}
