package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"
)

// Version is the Kubernetes whose API the agent speaks: that of the modules it is built from.
const Version = "v1.36.3"

// MinorVersion is Version without what a user agent leaves out.
const MinorVersion = "1.36"

// newerServer is how many minor versions a server may be ahead of its nodes.
const newerServer = 3

// NodeVersion returns the version that a node of this release of Wardlet registers with.
func NodeVersion(release string) string {
	return Version + "-wardlet." + strings.TrimPrefix(release, "v")
}

// CheckServer fails where the server is older than Version, or more than 3 minor versions newer: what the two say to
// each other may then mean different things.
func (c *Client) CheckServer(ctx context.Context) error {
	text, err := c.Request(http.MethodGet, v1.SchemeGroupVersion).AbsPath("/version").Do(ctx).Raw()
	if err != nil {
		return c.Explain(err)
	}
	var info struct {
		GitVersion string `json:"gitVersion"`
	}
	if err := json.Unmarshal(text, &info); err != nil {
		return c.Explain(fmt.Errorf("its version: %w", err))
	}
	return c.Explain(checkSkew(info.GitVersion))
}

func checkSkew(of string) error {
	server, err := version.ParseGeneric(of)
	if err != nil {
		return fmt.Errorf("its version %q is none: %w", of, err)
	}
	own := version.MustParseGeneric(Version)
	if ahead := int(server.Minor()) - int(own.Minor()); server.Major() != own.Major() || ahead < 0 || ahead > newerServer {
		return fmt.Errorf("it is %s; this node agent is made for %d.%d to %d.%d: use the release of Wardlet for it",
			of, own.Major(), own.Minor(), own.Major(), own.Minor()+newerServer)
	}
	return nil
}
