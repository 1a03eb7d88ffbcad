package metrics

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	// listenAgain is the delay after a failure to listen on the address.
	listenAgain = 30 * time.Second
	// stopTime limits the time of answers in progress when Serve ends.
	stopTime = time.Second
	// answerTime limits the time of one answer.
	answerTime = 10 * time.Second
)

// Serve serves /metrics at an address until ctx ends. Pods do not depend on metrics, so a failure
// to listen is only logged and retried.
func (m *Metrics) Serve(ctx context.Context, address string) {
	for ctx.Err() == nil {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
		if err == nil {
			err = m.serve(ctx, l)
		}
		if ctx.Err() != nil {
			return
		}
		m.log.Error("metrics are not served; they still are on the agent's own socket", "address", address, "err", err, "again", listenAgain)
		select {
		case <-ctx.Done():
		case <-time.After(listenAgain):
		}
	}
}

// serve answers on l, which it closes, until ctx ends or l fails.
func (m *Metrics) serve(ctx context.Context, l net.Listener) error {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", m.Handler())
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: answerTime, WriteTimeout: answerTime, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	ctx, cancel := context.WithCancel(ctx)
	var stopper sync.WaitGroup
	stopper.Go(func() {
		<-ctx.Done()
		bounded, done := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer done()
		if srv.Shutdown(bounded) != nil {
			srv.Close()
		}
	})
	m.log.Info("metrics are served", "address", l.Addr().String())
	err := srv.Serve(l)
	cancel()
	stopper.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
