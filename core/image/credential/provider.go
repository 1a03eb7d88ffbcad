package credential

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/printable"
)

const (
	// programTimeout is how long a provider's program may run, as with a kubelet.
	programTimeout = time.Minute
	// programEnds is how long its children may keep its output open after that.
	programEnds = time.Second
	// maxAnswer is the longest answer of a program, in bytes. maxComplaint is how many bytes of its
	// standard error are shown.
	maxAnswer    = 1 << 20
	maxComplaint = 300
)

// providerRequest is a CredentialProviderRequest.
type providerRequest struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Image      string `json:"image"`
}

// providerResponse is a CredentialProviderResponse.
type providerResponse struct {
	APIVersion    string                  `json:"apiVersion"`
	Kind          string                  `json:"kind"`
	CacheKeyType  string                  `json:"cacheKeyType"`
	CacheDuration *metav1.Duration        `json:"cacheDuration"`
	Auth          map[string]registryAuth `json:"auth"`
}

// The scopes of an answer.
const (
	scopeImage    = "Image"
	scopeRegistry = "Registry"
	scopeGlobal   = "Global"
)

// ask returns the answer of a provider for a repository, from the cache if it has not expired.
func (n *Node) ask(ctx context.Context, p *provider, repository string) (keyring, error) {
	if keys, ok := n.cache.get(p.Name, repository); ok {
		return keys, nil
	}
	answer, err := p.run(ctx, n.dir, repository)
	if err != nil {
		return nil, fmt.Errorf("credential provider %s: %w", p.Name, err)
	}
	keys, err := answer.keyring()
	if err != nil {
		return nil, fmt.Errorf("credential provider %s: its answer cannot be used: %w", p.Name, err)
	}
	lasts := p.cacheFor()
	if answer.CacheDuration != nil {
		lasts = answer.CacheDuration.Duration
	}
	n.cache.put(p.Name, answer.CacheKeyType, repository, keys, lasts)
	return keys, nil
}

// run runs the program of a provider.
func (p *provider) run(ctx context.Context, dir, repository string) (*providerResponse, error) {
	request, err := json.Marshal(providerRequest{providerVersion, "CredentialProviderRequest", repository})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, programTimeout)
	defer cancel()
	out, complaint := &bounded{limit: maxAnswer}, &bounded{limit: maxComplaint}
	program := exec.CommandContext(ctx, filepath.Join(dir, p.Name), p.Args...)
	program.Stdin, program.Stdout, program.Stderr, program.WaitDelay = bytes.NewReader(request), out, complaint, programEnds
	program.Env = os.Environ()
	for _, v := range p.Env {
		program.Env = append(program.Env, v.Name+"="+v.Value)
	}
	switch err := program.Run(); {
	case context.Cause(ctx) != nil && errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return nil, fmt.Errorf("%s did not answer within %s", program.Path, programTimeout)
	case err != nil:
		if said := strings.TrimSpace(string(complaint.data)); said != "" {
			return nil, fmt.Errorf("%s: %w: %s", program.Path, pathless(err), printable.Line(said))
		}
		return nil, fmt.Errorf("%s: %w", program.Path, pathless(err))
	case out.full:
		return nil, fmt.Errorf("%s: its answer is longer than %d bytes", program.Path, maxAnswer)
	}
	answer := &providerResponse{}
	if err := json.Unmarshal(out.data, answer); err != nil {
		return nil, fmt.Errorf("%s: its answer is no CredentialProviderResponse: %w", program.Path, jsonFault(err))
	}
	return answer, nil
}

// keyring returns the credentials of an answer.
func (a *providerResponse) keyring() (keyring, error) {
	switch {
	case a.APIVersion != providerVersion || a.Kind != "CredentialProviderResponse":
		return nil, fmt.Errorf("want apiVersion %s and kind CredentialProviderResponse, found %.80q and %.80q", providerVersion, a.APIVersion, a.Kind)
	case !slices.Contains([]string{scopeImage, scopeRegistry, scopeGlobal}, a.CacheKeyType):
		return nil, fmt.Errorf("cacheKeyType: want Image, Registry or Global, found %.80q", a.CacheKeyType)
	}
	var keys keyring
	for _, key := range slices.Sorted(maps.Keys(a.Auth)) {
		if err := keys.add(key, pod.RegistryAuth{Username: a.Auth[key].Username, Password: a.Auth[key].Password}); err != nil {
			return nil, fmt.Errorf("auth[%.80q]: %w", key, err)
		}
	}
	keys.sort()
	return keys, nil
}

// bounded stores the beginning of what is written to it.
type bounded struct {
	data  []byte
	limit int
	full  bool
}

// Write never fails, so a program that writes more is not stopped by it.
func (b *bounded) Write(data []byte) (int, error) {
	kept := data[:min(len(data), b.limit-len(b.data))]
	b.full = b.full || len(kept) < len(data)
	b.data = append(b.data, kept...)
	return len(data), nil
}
