package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/streaming/pkg/httpstream"
	streamspdy "k8s.io/streaming/pkg/httpstream/spdy"
)

const (
	// portForward is the protocol name for connections to ports, as in kubelets and runtimes.
	portForward = "portforward.k8s.io"
	// maxForwardError limits the size of a runtime's message about a failed connection, in bytes.
	maxForwardError = 4 << 10
)

// PortForward connects conn to a port of a pod, 1 to 65535, at path ("/v1/portforward/..."). It
// returns after the pod has written everything, one side has failed, or ctx has ended, and closes
// conn. Each call uses its own connection to the agent, so that a slow reader does not delay other
// connections. It returns a Refusal if the agent refuses.
func (c *Client) PortForward(ctx context.Context, path string, port uint16, conn net.Conn) error {
	defer conn.Close()
	u := &upgrade{client: c}
	defer u.close()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://wardlet"+path, http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set(httpstream.HeaderProtocolVersion, portForward)
	resp, err := u.RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	streams, err := streamspdy.NewClientConnection(u.conn)
	if err != nil {
		return err
	}
	defer streams.Close()
	headers := http.Header{}
	headers.Set(v1.PortHeader, strconv.Itoa(int(port)))
	headers.Set(v1.PortForwardRequestIDHeader, "0")
	headers.Set(v1.StreamType, v1.StreamTypeError)
	failure, err := streams.CreateStream(headers)
	if err != nil {
		return c.brokenOff(ctx, err)
	}
	failure.Close() // this direction is not used
	headers.Set(v1.StreamType, v1.StreamTypeData)
	data, err := streams.CreateStream(headers)
	if err != nil {
		return c.brokenOff(ctx, err)
	}
	return c.copyBoth(ctx, conn, streams, data, failure)
}

// copyBoth copies data in both directions, and returns the runtime's error if it could not connect.
func (c *Client) copyBoth(ctx context.Context, conn net.Conn, streams httpstream.Connection, data, failure httpstream.Stream) error {
	// If ctx ends, closing both ends makes both copies return.
	stop := context.AfterFunc(ctx, func() { conn.Close(); streams.Close() })
	defer stop()
	var copying sync.WaitGroup
	copying.Go(func() {
		if _, err := io.Copy(data, conn); err != nil {
			_ = data.Reset() // further output of the pod is discarded
			return
		}
		data.Close()
	})
	_, err := io.Copy(conn, data)
	conn.Close()
	_ = data.Reset() // otherwise data left in this stream would block the error stream
	text, failed := io.ReadAll(io.LimitReader(failure, maxForwardError))
	streams.Close()
	copying.Wait()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case len(text) > 0:
		return errors.New(strings.TrimSpace(string(text)))
	case failed != nil:
		return c.brokenOff(ctx, failed)
	case err != nil && !errors.Is(err, net.ErrClosed):
		return err
	}
	return nil
}

func (c *Client) brokenOff(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("the agent at %s closed the connection: %w; the agent, the runtime or the pod was stopped", c.socket, err)
}
