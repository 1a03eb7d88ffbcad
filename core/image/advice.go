package image

import (
	"errors"
	"fmt"
	"strings"

	"github.com/wardlet/wardlet/core/status"
)

// class is a kind of failed pull.
type class struct {
	// words are substrings of the error messages of this class, because the CRI has no codes for
	// them. Each contains a space, so that it cannot match the image name in the same message,
	// which contains none.
	words []string
	// away is true if no registry has answered.
	away bool
	// advice is the remedy.
	advice string
}

// classes are matched in order. Answers of a registry come before texts that look like a broken
// connection, because a registry chooses the text of its answers.
var classes = []class{
	{
		words:  []string{"no space left on device", "disk quota exceeded"},
		advice: "the disk of the images is full: free some of it; the pull is tried again",
	},
	{
		words:  []string{"429 Too Many Requests", "toomanyrequests: "},
		advice: "the registry limits how much is pulled: wait, or give it credentials in runtime.registry_config; the pull is tried again",
	},
	{
		words:  []string{"502 Bad Gateway", "503 Service Unavailable", "504 Gateway Timeout", "RegistryUnavailable: "},
		away:   true,
		advice: "the registry is out of service; the pull is tried again",
	},
	{
		words: []string{"401 Unauthorized", "403 Forbidden", "unauthorized: ", "access denied", "denied: ", "insufficient_scope: ", "authorization failed", "authentication required", "no basic auth credentials"},
		advice: "the registry wants credentials that the node does not have, or the image does not exist: " +
			"set runtime.registry_config or runtime.credential_provider_config in agent.toml, or correct the name",
	},
	{
		words:  []string{"404 Not Found", ": not found", "manifest unknown", "name unknown"},
		advice: "the registry does not have it: correct the name or tag, or push the image",
	},
	{
		words:  []string{"x509: "},
		advice: "the runtime does not trust the registry's certificate: add its authority to the runtime's configuration of that registry",
	},
	{
		words:  []string{"http: server gave HTTP response to HTTPS client"},
		advice: "the registry has no HTTPS: allow HTTP in the runtime's configuration of that registry, or correct the port",
	},
	{
		words:  []string{"unexpected status"},
		advice: "",
	},
	{
		words: []string{
			"unexpected EOF", "failed commit on ref", "size validation failed", "failed size validation", "digest mismatch", "unexpected commit digest",
			"short read",
		},
		advice: "the registry sent only a part of the image, or a broken one; the pull is tried again",
	},
	{
		words: []string{
			"dial tcp", "no such host", "connection refused", "connection reset", "i/o timeout", "TLS handshake timeout", "network is unreachable",
			"no route to host", "Client.Timeout exceeded", ": EOF", "context deadline exceeded",
		},
		away:   true,
		advice: "the registry cannot be reached: check its name and the network; the pull is tried again",
	},
}

// classify returns the class of a failed pull, the zero value if it is unknown.
func classify(err error) class {
	if _, ok := errors.AsType[*stalledError](err); ok {
		return class{away: true, advice: "the registry may hang: check that it answers; the pull is tried again"}
	}
	text := err.Error()
	for _, c := range classes {
		for _, word := range c.words {
			if strings.Contains(text, word) {
				return c
			}
		}
	}
	return class{}
}

// advised adds to the error of a failed pull the remedy, and why some credentials could not be
// read; unread is nil if all were read. It keeps the reason of a fault.
func advised(err, unread error) error {
	if advice := classify(err).advice; advice != "" {
		err = rewrap(err, func(err error) error { return fmt.Errorf("%w; %s", err, advice) })
	}
	if unread != nil {
		err = rewrap(err, func(err error) error { return fmt.Errorf("%w; credentials are missing: %w", err, unread) })
	}
	return err
}

// rewrap changes the detail of a fault, or another error itself.
func rewrap(err error, change func(error) error) error {
	if f, ok := errors.AsType[*status.Fault](err); ok {
		return &status.Fault{Reason: f.Reason, RetryAt: f.RetryAt, Err: change(f.Err)}
	}
	return change(err)
}
