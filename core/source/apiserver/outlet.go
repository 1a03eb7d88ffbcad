package apiserver

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/source"
)

// outlet delivers to the source's sink. The goroutines of list and watch report through it, too. It
// serializes the calls, and makes none before Run starts or after it has ended.
type outlet struct {
	server string
	log    *slog.Logger
	now    func() time.Time

	mu   sync.Mutex
	sink source.Sink
	// ctx is the context of Run, nil before Run. stop cancels it.
	ctx  context.Context
	stop context.CancelFunc
	// told is the last error that was logged, since the time when the first one was logged.
	told  string
	since time.Time
	// err is the error of the sink.
	err error
}

func (o *outlet) begin(ctx context.Context, stop context.CancelFunc) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ctx, o.stop = ctx, stop
}

func (o *outlet) replace(docs []api.Document) error {
	return o.deliver(func(ctx context.Context) error { return o.sink.Replace(ctx, docs) })
}

func (o *outlet) apply(changed []api.Document, gone []string) error {
	return o.deliver(func(ctx context.Context) error { return o.sink.Apply(ctx, changed, gone) })
}

// deliver calls the sink, which may block. After the sink has failed, nothing more is delivered:
// the failed delivery would be missing for ever.
func (o *outlet) deliver(call func(context.Context) error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ctx.Err() != nil {
		return nil
	}
	if err := call(o.ctx); err != nil {
		if o.ctx.Err() == nil {
			o.err = err
			o.stop()
		}
		return nil
	}
	o.tellGood()
	return nil
}

// good reports that the server answered without anything new. A watch always follows a list, so a
// snapshot was delivered before.
func (o *outlet) good() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tellGood()
}

func (o *outlet) tellGood() {
	if o.ctx.Err() != nil {
		return
	}
	o.sink.Health(nil)
	if o.told != "" {
		o.log.Info("API server is read again", "server", o.server, "after", o.now().Sub(o.since).Round(time.Second))
		o.told = ""
	}
}

// bad reports why the last answer stays in force.
func (o *outlet) bad(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ctx.Err() != nil {
		return
	}
	o.sink.Health(err)
	if o.told == "" {
		o.since = o.now()
	}
	if text := err.Error(); o.told != text {
		o.log.Warn("API server cannot be read; earlier objects stay", "err", err)
		o.told = text
	}
}

// failure returns the error of the sink.
func (o *outlet) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}
