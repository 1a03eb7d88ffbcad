package config

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Source is a place documents come from. The comment of each field names the
// kinds that have it; a kind's other fields are empty.
type Source struct {
	// Name is a DNS label, unique among the sources; NameAPI for KindAPI and for no other.
	Name string `toml:"name"`
	// Kind is KindFile or KindHTTP, or KindAPI for the source that comes with Cluster.
	Kind string `toml:"kind"`
	// Path is a file or a directory of manifests, absolute (file), or the kubeconfig (api).
	Path string `toml:"path"`
	// MissingPath is MissingError or MissingEmpty (file).
	MissingPath string `toml:"missing_path"`
	// URL is where manifests are answered, without user, password and fragment (http).
	URL string `toml:"url"`
	// Period is the time from one reading to the next, without being told of a
	// change; positive (file), at least a second (http).
	Period time.Duration `toml:"period"`
	// Timeout bounds one reading; positive (http).
	Timeout time.Duration `toml:"timeout"`
	// HeaderFile has the headers that are sent, as lines "Name: value"; empty
	// for none (http).
	HeaderFile string `toml:"header_file"`
	// CAFile has the authorities that the server's certificate may come from,
	// as PEM; empty for those of the system (http).
	CAFile string `toml:"ca_file"`
	// ClientCertFile and ClientKeyFile are what the agent shows the server, as
	// PEM: both or neither (http).
	ClientCertFile string `toml:"client_cert_file"`
	ClientKeyFile  string `toml:"client_key_file"`
	// Tenant is the name of a Tenant, to whose namespaces the source is bound; empty for all namespaces (file and
	// http).
	Tenant string `toml:"tenant"`
	// TokenFile and Experimental are keys that a source of KindAPI had in former versions: they are read to say
	// what replaces it.
	TokenFile    string `toml:"token_file"`
	Experimental bool   `toml:"experimental"`
}

// The kinds of sources.
const (
	// KindFile reads manifest files.
	KindFile = "file"
	// KindHTTP asks a server for a manifest.
	KindHTTP = "http"
	// KindAPI watches the pods of this node at a Kubernetes API server.
	KindAPI = "api"
)

// NameAPI is the name of the source of KindAPI.
const NameAPI = "api"

// What a source makes of a path that is not there.
const (
	// MissingError keeps the last listing in force.
	MissingError = "error"
	// MissingEmpty takes it for an empty directory, as a kubelet does.
	MissingEmpty = "empty"
)

// What a source has that does not say otherwise.
const (
	DefaultPeriod  = 20 * time.Second
	DefaultTimeout = 10 * time.Second
)

// leastPeriod keeps a typo in a period from becoming a load, for a server or
// for the node.
const leastPeriod = time.Second

// unset is a duration that no document names.
const unset = time.Duration(math.MinInt64)

// SetDefaults makes s a source that names nothing. What it does not say
// follows once its kind is known.
func (s *Source) SetDefaults() { s.Period, s.Timeout = unset, unset }

// complete fills in the defaults of the source's kind.
func (s *Source) complete() {
	either := func(d *time.Duration, other time.Duration) {
		if *d == unset {
			*d = other
		}
	}
	switch s.Kind {
	case KindFile:
		either(&s.Period, DefaultPeriod)
		if s.MissingPath == "" {
			s.MissingPath = MissingError
		}
	case KindHTTP:
		either(&s.Period, DefaultPeriod)
		either(&s.Timeout, DefaultTimeout)
	}
	either(&s.Period, 0)
	either(&s.Timeout, 0)
}

// Location is what a source reads: a path or a URL.
func (s *Source) Location() string {
	if s.Path != "" {
		return s.Path
	}
	return s.URL
}

// keyPath is a key whose value is the path of a file.
type keyPath struct{ name, path string }

// fileKeys are the keys that name a file to read beside the documents.
func (s *Source) fileKeys() []keyPath {
	return []keyPath{
		{"header_file", s.HeaderFile},
		{"ca_file", s.CAFile},
		{"client_cert_file", s.ClientCertFile},
		{"client_key_file", s.ClientKeyFile},
	}
}

// checkURL takes a URL that a request can be sent to and that can be shown:
// what is secret does not belong in it.
func checkURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		// The text may hold a password.
		return nil, fmt.Errorf("is no URL: %w", wrapped.Err)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("is no URL: %w", err)
	case u.User != nil:
		return nil, errors.New("holds a user or password, which would be shown in logs; " +
			"send them with header_file, as a line \"Authorization: Basic ...\"")
	case u.Scheme != "http" && u.Scheme != "https":
		// The text may hold a password here too: "user:password@host".
		return nil, errors.New("want a URL that begins with https:// or http://")
	case u.Hostname() == "" || u.Opaque != "":
		return nil, fmt.Errorf("%q names no host", text)
	case strings.Contains(text, "#"):
		return nil, fmt.Errorf("%q has a fragment, which no server gets to see; remove all from the #", text)
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return nil, fmt.Errorf("%q has no port between 1 and 65535", text)
		}
	}
	return u, nil
}
