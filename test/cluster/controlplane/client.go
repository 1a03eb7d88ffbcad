package controlplane

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Client sends JSON requests to the API server over plain net/http. It shares no code with the code
// under test.
type Client struct {
	base string
	http *http.Client
}

// Client makes a client with a certificate of its own.
func (p *Cluster) Client(user string, groups ...string) (*Client, error) {
	pair, err := p.Clients.Client(user, groups...)
	if err != nil {
		return nil, err
	}
	certificate, err := tls.X509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(p.Serving.PEM)
	return &Client{base: "https://" + p.Address(), http: &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{
			Certificates: []tls.Certificate{certificate}, RootCAs: pool, MinVersion: tls.VersionTLS12,
		},
	}}}, nil
}

// StatusError is an answer with a status other than success.
type StatusError struct {
	Code int
	Body string
}

func (e *StatusError) Error() string { return fmt.Sprintf("API server answers %d: %s", e.Code, e.Body) }

// Do sends a request, with a JSON body if in is not nil. It decodes the answer if out is not nil. A
// PATCH is a merge patch.
func (c *Client) Do(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		request.Header.Set("Content-Type", "application/merge-patch+json")
	}
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	switch {
	case err != nil:
		return err
	case response.StatusCode >= http.StatusBadRequest:
		return &StatusError{response.StatusCode, string(text)}
	case out == nil:
		return nil
	}
	return json.Unmarshal(text, out)
}

// Close closes the connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// ready returns an error if the server is not ready.
func (c *Client) ready(ctx context.Context) error {
	if err := c.Do(ctx, http.MethodGet, "/readyz", nil, nil); err != nil {
		return err
	}
	return c.Do(ctx, http.MethodGet, "/api/v1/namespaces/default", nil, nil)
}

// tokenLine is a line of a token file.
func tokenLine(token string, user User) string {
	return fmt.Sprintf("%s,%s,%s,%q\n", token, user.Name, user.Name, strings.Join(user.Groups, ","))
}
