package fakestream

import (
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
)

// Forward is what a pod does with a connection to a port. Its error is one of the runtime, which could not connect.
type Forward func(port string, conn io.ReadWriter) error

// ServeHTTP implements http.Handler. As a runtime does it waits for two streams for each connection, which have its ID.
func (f Forward) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if _, err := httpstream.Handshake(req, w, []string{"portforward.k8s.io"}); err != nil {
		return
	}
	opened := make(chan httpstream.Stream)
	ended := make(chan struct{})
	var serving sync.WaitGroup
	conn := spdy.NewResponseUpgrader().UpgradeResponse(quiet{w}, req, func(stream httpstream.Stream, replied <-chan struct{}) error {
		serving.Go(func() {
			select {
			case <-replied:
			case <-ended:
				return
			}
			select {
			case opened <- stream:
			case <-ended:
			}
		})
		return nil
	})
	if conn == nil {
		return
	}
	defer serving.Wait()
	defer conn.Close()
	defer close(ended)
	pairs := map[string]map[string]httpstream.Stream{}
	for {
		select {
		case stream := <-opened:
			id := stream.Headers().Get(v1.PortForwardRequestIDHeader)
			if pairs[id] == nil {
				pairs[id] = map[string]httpstream.Stream{}
			}
			pairs[id][stream.Headers().Get(v1.StreamType)] = stream
			data, errors := pairs[id][v1.StreamTypeData], pairs[id][v1.StreamTypeError]
			if data == nil || errors == nil {
				continue
			}
			delete(pairs, id)
			serving.Go(func() {
				defer data.Close()
				defer errors.Close()
				if port := data.Headers().Get(v1.PortHeader); port != "" {
					if err := f(port, data); err != nil {
						fmt.Fprintf(errors, "error forwarding port %s to pod: %v", port, err)
					}
				}
			})
		case <-conn.CloseChan():
			return
		case <-req.Context().Done():
			return
		case <-time.After(time.Minute):
			return
		}
	}
}
