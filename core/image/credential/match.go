package credential

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/wardlet/wardlet/core/pod"
)

// pattern is a pattern for the images of a credential: "[*.]host[:port][/path]". Each part of the
// host between dots may contain wildcards. The number of parts and the port must be those of the
// image. The path is a prefix.
type pattern struct {
	host []string
	port string
	path string
}

func parsePattern(text string) (pattern, error) {
	u, err := url.Parse("https://" + text)
	switch {
	case err != nil:
		return pattern{}, fmt.Errorf("want [*.]host[:port][/path], found %.80q", text)
	case u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return pattern{}, fmt.Errorf("want [*.]host[:port][/path], found %.80q", text)
	}
	p := pattern{host: strings.Split(u.Hostname(), "."), port: u.Port(), path: u.Path}
	for _, part := range p.host {
		if _, err := path.Match(part, ""); err != nil {
			return pattern{}, fmt.Errorf("the host of %.80q: %w", text, err)
		}
	}
	return p, nil
}

// matches reports whether the pattern matches a repository, which is a registry and a path.
func (p pattern) matches(repository string) bool {
	of, err := parsePattern(repository)
	if err != nil || p.port != of.port || len(p.host) != len(of.host) || !strings.HasPrefix(of.path, p.path) {
		return false
	}
	for i, part := range p.host {
		if ok, err := path.Match(part, of.host[i]); err != nil || !ok {
			return false
		}
	}
	return true
}

// keyring is a list of credentials with their patterns.
type keyring []keyringEntry

type keyringEntry struct {
	text    string
	pattern pattern
	auth    pod.RegistryAuth
}

var errEmptyAuth = errors.New("neither auth nor username and password are set")

// hub are the names of Docker Hub in registry configurations. Image names use docker.io.
var hub = []string{"index.docker.io", "registry-1.docker.io"}

// add adds the credential of a key of a registry configuration. The key is a host with or without
// scheme, and a path, in which a leading /v1/ or /v2/ is ignored.
func (k *keyring) add(key string, auth pod.RegistryAuth) error {
	text := strings.TrimPrefix(strings.TrimPrefix(key, "https://"), "http://")
	host, rest, _ := strings.Cut(text, "/")
	rest = strings.TrimPrefix("/"+rest, "/v1/")
	rest = strings.Trim(strings.TrimPrefix(rest, "/v2/"), "/")
	if rest == "v1" || rest == "v2" {
		rest = ""
	}
	if slices.Contains(hub, host) {
		host = "docker.io"
	}
	if rest != "" {
		host += "/" + rest
	}
	p, err := parsePattern(host)
	if err != nil {
		return err
	}
	if auth == (pod.RegistryAuth{}) {
		return errEmptyAuth
	}
	*k = append(*k, keyringEntry{host, p, auth})
	return nil
}

// sort puts more specific patterns first, as a kubelet does: in reverse alphabetical order.
func (k keyring) sort() {
	slices.SortStableFunc(k, func(a, b keyringEntry) int { return strings.Compare(b.text, a.text) })
}

// lookup returns the credentials for a repository.
func (k keyring) lookup(repository string) []pod.RegistryAuth {
	var auths []pod.RegistryAuth
	for i := range k {
		if k[i].pattern.matches(repository) {
			auths = append(auths, k[i].auth)
		}
	}
	return auths
}
