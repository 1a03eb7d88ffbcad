package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// Line is a line of a watch; see api.WatchLine.
type Line struct {
	Type   string          `json:"type"`
	Object json.RawMessage `json:"object"`
}

// Watch requests path ("/v1/pods?watch=true") and calls take with every line of the answer. It
// returns when take fails, when ctx ends, or with an error when the agent ends the answer. It has
// no timeout.
func (c *Client) Watch(ctx context.Context, path string, take func(Line) error) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://wardlet"+path, http.NoBody)
	if err != nil {
		return err
	}
	patient := &http.Client{Transport: &http.Transport{
		DialContext: c.dial, DisableKeepAlives: true, ResponseHeaderTimeout: timeout,
	}}
	resp, err := patient.Do(req)
	if err != nil {
		return c.explain(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return c.refusal(resp)
	}
	for lines := json.NewDecoder(resp.Body); ; {
		var line Line
		if err := lines.Decode(&line); err != nil {
			return c.ended(err)
		}
		if err := take(line); err != nil {
			return err
		}
	}
}

// ended returns the reason why there are no more lines.
func (c *Client) ended(err error) error {
	_, noJSON := errors.AsType[*json.SyntaxError](err)
	_, another := errors.AsType[*json.UnmarshalTypeError](err)
	if noJSON || another {
		return fmt.Errorf("cannot read the answer of the agent at %s: %w", c.socket, err)
	}
	return fmt.Errorf("the agent at %s closed the connection: it was stopped, or this program read too slowly; watch again", c.socket)
}
