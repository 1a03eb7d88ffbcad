package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// Copy requests path ("/v1/logs/...") and writes the answer to w, until the answer or ctx ends. It
// has no timeout.
func (c *Client) Copy(ctx context.Context, path string, w io.Writer) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://wardlet"+path, http.NoBody)
	if err != nil {
		return err
	}
	// The header of the answer arrives with the first line of a log, which may take long.
	patient := &http.Client{Transport: &http.Transport{DialContext: c.dial, DisableKeepAlives: true}}
	resp, err := patient.Do(req)
	if err != nil {
		return c.explain(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return c.refusal(resp)
	}
	from := &source{Reader: resp.Body}
	_, err = io.Copy(w, from)
	if from.err != nil && ctx.Err() == nil {
		return fmt.Errorf("the agent at %s closed the connection: it was stopped; ask again", c.socket)
	}
	return err
}

// source records the error that ended reading.
type source struct {
	io.Reader

	err error
}

// Read implements io.Reader.
func (s *source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}
