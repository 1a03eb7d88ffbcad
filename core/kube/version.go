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

// Version is the Kubernetes version whose API the agent uses: that of its Kubernetes modules.
const Version = "v1.36.3"

// MinorVersion is Version in the short form of a user agent.
const MinorVersion = "1.36"

// newerServer is the maximum number of minor versions by which a server may be newer than its
// nodes.
const newerServer = 3

// NodeVersion returns the version that a node of this release of Wardlet registers with.
func NodeVersion(release string) string {
	return Version + "-wardlet." + strings.TrimPrefix(release, "v")
}

// CheckServer returns an error if the server is older than Version, or more than 3 minor versions
// newer, because the API may then have a different meaning.
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
