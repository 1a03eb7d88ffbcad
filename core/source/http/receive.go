package http

import (
	"errors"
	"fmt"
	"io"
	nethttp "net/http"
	"net/url"
)

// receive reads the answer of a server.
func (c *client) receive(resp *nethttp.Response, at *url.URL) (answer, error) {
	if resp.StatusCode == nethttp.StatusNotModified && asked(resp.Request) {
		return answer{unchanged: true}, nil
	}
	if resp.StatusCode != nethttp.StatusOK {
		return answer{}, fmt.Errorf("answered %s%s", resp.Status, c.advice(resp.StatusCode))
	}
	if coding := resp.Header.Get("Content-Encoding"); coding != "" && coding != "identity" {
		return answer{}, fmt.Errorf("the answer is compressed with %.40q, which was not asked for", coding)
	}
	if endless(resp) {
		return answer{}, errors.New("the answer has neither a length nor chunks, so that its end cannot be told from a broken connection; " +
			"let the server send Content-Length")
	}
	if resp.ContentLength > c.limit {
		return answer{}, c.tooLarge()
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, c.limit+1))
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return answer{}, fmt.Errorf("the answer broke off after %d bytes", len(body))
	case err != nil:
		return answer{}, err
	case int64(len(body)) > c.limit:
		return answer{}, c.tooLarge()
	}
	return answer{body: body, validators: validatorsOf(resp, at.String())}, nil
}

// endless reports whether only the end of the connection marks the end of the body.
func endless(resp *nethttp.Response) bool {
	return resp.ProtoMajor == 1 && resp.ContentLength < 0 && len(resp.TransferEncoding) == 0 && !resp.Uncompressed
}

func (c *client) tooLarge() error {
	return fmt.Errorf("the answer is larger than %d bytes; split it over several sources", c.limit)
}
