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

// Source is an origin of documents. The comment of each field names the kinds that use it; it is
// empty for other kinds.
type Source struct {
	// Name is a DNS label, unique among the sources; NameAPI for KindAPI and for no other.
	Name string `toml:"name"`
	// Kind is KindFile or KindHTTP, or KindAPI for the source that comes with Cluster.
	Kind string `toml:"kind"`
	// Path is a file or a directory of manifests, absolute (file), or the kubeconfig (api).
	Path string `toml:"path"`
	// MissingPath is MissingError or MissingEmpty (file).
	MissingPath string `toml:"missing_path"`
	// URL is the URL of the manifests, without user, password and fragment (http).
	URL string `toml:"url"`
	// Period is the time between two readings without a notification of a change; positive (file), at
	// least a second (http).
	Period time.Duration `toml:"period"`
	// Timeout limits the time of one reading; positive (http).
	Timeout time.Duration `toml:"timeout"`
	// HeaderFile has the headers of requests, as lines "Name: value"; empty for none (http).
	HeaderFile string `toml:"header_file"`
	// CAFile has the authorities for the server's certificate, as PEM; empty for those of the system
	// (http).
	CAFile string `toml:"ca_file"`
	// ClientCertFile and ClientKeyFile are the agent's client certificate and its key, as PEM: both or
	// neither (http).
	ClientCertFile string `toml:"client_cert_file"`
	ClientKeyFile  string `toml:"client_key_file"`
	// Tenant is the name of a Tenant, to whose namespaces the source is restricted; empty for all
	// namespaces (file and http).
	Tenant string `toml:"tenant"`
	// TokenFile and Experimental are keys of a source of KindAPI in earlier versions. They are read
	// only to report their replacement.
	TokenFile    string `toml:"token_file"`
	Experimental bool   `toml:"experimental"`
}

// The kinds of sources.
const (
	// KindFile reads manifest files.
	KindFile = "file"
	// KindHTTP requests manifests from a server.
	KindHTTP = "http"
	// KindAPI watches the pods of this node at a Kubernetes API server.
	KindAPI = "api"
)

// NameAPI is the name of the source of KindAPI.
const NameAPI = "api"

// How a source treats a path that does not exist.
const (
	// MissingError keeps the last listing in force.
	MissingError = "error"
	// MissingEmpty treats it as an empty directory, as a kubelet does.
	MissingEmpty = "empty"
)

// The defaults of a source.
const (
	DefaultPeriod  = 20 * time.Second
	DefaultTimeout = 10 * time.Second
)

// leastPeriod keeps a typo in a period from overloading a server or the node.
const leastPeriod = time.Second

// unset is the value of a duration that the document does not set.
const unset = time.Duration(math.MinInt64)

// SetDefaults implements strict.Defaulter. The defaults are filled in later, when the kind is
// known.
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

// Location returns the path or URL of a source.
func (s *Source) Location() string {
	if s.Path != "" {
		return s.Path
	}
	return s.URL
}

// keyPath is a key whose value is the path of a file.
type keyPath struct{ name, path string }

// fileKeys returns the keys that name files beside the documents.
func (s *Source) fileKeys() []keyPath {
	return []keyPath{
		{"header_file", s.HeaderFile},
		{"ca_file", s.CAFile},
		{"client_cert_file", s.ClientCertFile},
		{"client_key_file", s.ClientKeyFile},
	}
}

// checkURL accepts a URL that can be requested and shown: it must not contain secrets.
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
		// The text may contain a password here, too: "user:password@host".
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
