package nodeapi

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	// headerTimeout limits the time for a request's header. idleTimeout limits the time between
	// requests of a connection.
	headerTimeout = 10 * time.Second
	idleTimeout   = 90 * time.Second
	// maxHeader limits the size of a header, in bytes.
	maxHeader = 64 << 10
	// openTimeout limits the time of an answer without authentication.
	openTimeout = 30 * time.Second
	// maxConnections limits the connections to each address. A further one takes the place of a caller
	// that is not known yet, or waits.
	maxConnections = 1024
	// listenRetry is the time between attempts to get the port.
	listenRetry = time.Second
	// endTimeout limits the time that requests have to finish when the agent ends.
	endTimeout = 2 * time.Second
)

// Run serves at all addresses until ctx is done. If a port is in use, Run retries to listen on it.
func (s *Server) Run(ctx context.Context) {
	ports := []port{
		{s.cfg.Listen, s.mux, s.files.config},
		{s.cfg.ReadOnlyListen, s.readOnly, nil},
		{s.cfg.HealthzListen, s.health, nil},
	}
	var running sync.WaitGroup
	for _, p := range ports {
		if p.listen != "" {
			running.Go(func() { s.run(ctx, p) })
		}
	}
	running.Wait()
}

// port is an address and the handler there. certificate returns the TLS configuration for a client;
// nil means plain HTTP.
type port struct {
	listen      string
	handler     http.Handler
	certificate func(*tls.ClientHelloInfo) (*tls.Config, error)
}

func (s *Server) run(ctx context.Context, p port) {
	if p.certificate != nil && s.cfg.Certified != nil {
		select {
		case <-s.cfg.Certified:
		case <-ctx.Done():
			return
		}
	}
	said := ""
	for {
		err := s.serve(ctx, p)
		if ctx.Err() != nil {
			return
		}
		if text := err.Error(); said != text {
			s.cfg.Logger.Error("the node's API is not served; trying again", "listen", p.listen, "err", err)
			said = text
		}
		timer := time.NewTimer(listenRetry)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

func (s *Server) serve(ctx context.Context, p port) error {
	server := &http.Server{
		Handler: p.handler, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		BaseContext: func(net.Listener) context.Context { return ctx }, ConnContext: withConn,
		ErrorLog: slog.NewLogLogger(s.cfg.Logger.Handler(), slog.LevelDebug),
	}
	if p.certificate == nil {
		server.ReadTimeout, server.WriteTimeout = openTimeout, openTimeout
	} else if _, err := p.certificate(nil); err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", p.listen)
	if err != nil {
		return err
	}
	s.cfg.Logger.Info("the node's API is served", "listen", listener.Addr().String())
	listener = limit(listener, maxConnections)
	inner, cancel := context.WithCancel(ctx)
	var ending sync.WaitGroup
	ending.Go(func() {
		<-inner.Done()
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
		defer cancel()
		if server.Shutdown(grace) != nil {
			_ = server.Close() // closes the remaining connections
		}
	})
	defer func() { cancel(); ending.Wait() }()
	if p.certificate == nil {
		err = server.Serve(listener)
	} else {
		server.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetConfigForClient: p.certificate}
		// An HTTP/2 connection cannot be upgraded, which exec requires.
		server.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){}
		err = server.ServeTLS(listener, "", "")
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
