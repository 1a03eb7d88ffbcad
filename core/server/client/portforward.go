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
	// portForward is the protocol of connections to ports, as kubelets and runtimes call it.
	portForward = "portforward.k8s.io"
	// maxForwardError bounds what a runtime may say of a connection that failed, in bytes.
	maxForwardError = 4 << 10
)

// PortForward connects conn with a port of a pod at path ("/v1/portforward/..."), 1 to
// 65535, until the pod has written all, one of them breaks off, or ctx ends; then it closes
// conn. Each call has a connection to the agent of its own, so that one that is read slowly
// holds up no other. A Refusal is the agent's.
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
	failure.Close() // nothing is sent there
	headers.Set(v1.StreamType, v1.StreamTypeData)
	data, err := streams.CreateStream(headers)
	if err != nil {
		return c.brokenOff(ctx, err)
	}
	return c.copyBoth(ctx, conn, streams, data, failure)
}

// copyBoth passes on what both ends write, and returns why the runtime could not connect them.
func (c *Client) copyBoth(ctx context.Context, conn net.Conn, streams httpstream.Connection, data, failure httpstream.Stream) error {
	// The end of each of the two ends the waiting for the other.
	stop := context.AfterFunc(ctx, func() { conn.Close(); streams.Close() })
	defer stop()
	var copying sync.WaitGroup
	copying.Go(func() {
		if _, err := io.Copy(data, conn); err != nil {
			_ = data.Reset() // what the pod still writes reaches nothing
			return
		}
		data.Close()
	})
	_, err := io.Copy(conn, data)
	conn.Close()
	_ = data.Reset() // else what is left in the stream would hold up the one of errors
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
