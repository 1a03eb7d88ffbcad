package nodeapi

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"
)

// maxOpen limits the number of connections to the runtime's streams. Each has two buffers of 32
// KiB, and three open files in the agent.
const maxOpen = 256

// stream connects a client to a stream of the runtime until one of them closes it. find returns the
// URL of the stream. Data that the client does not read stays in the connections' buffers; then the
// runtime stops writing.
func (s *Streams) stream(w http.ResponseWriter, req *http.Request, find func() (*url.URL, error)) {
	defer s.open.Add(-1)
	if s.open.Add(1) > maxOpen {
		http.Error(w, fmt.Sprintf("there are %d programs and forwarded connections already; end one of them", maxOpen), http.StatusServiceUnavailable)
		return
	}
	target, err := find()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL, r.Out.Host = target, target.Host
			r.Out.Header.Del("Authorization") // it is meant for the node
		},
		FlushInterval: -1,
		ErrorLog:      slog.NewLogLogger(s.Logger.Handler(), slog.LevelDebug),
		Transport:     &http.Transport{ResponseHeaderTimeout: time.Minute, DisableKeepAlives: true},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, "the runtime's stream: "+err.Error(), http.StatusBadGateway)
		},
	}
	proxy.ServeHTTP(w, req)
}
