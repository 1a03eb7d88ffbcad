package credential

import (
	"maps"
	"strings"
	"sync"
	"time"
)

// maxAnswers is how many answers of providers are cached.
const maxAnswers = 256

// cache has the answers of providers that have not expired.
type cache struct {
	now func() time.Time

	mu      sync.Mutex
	answers map[cacheKey]cached
}

// cacheKey is the scope of an answer: a repository, a registry or, if of is empty, all images.
type cacheKey struct{ provider, scope, of string }

type cached struct {
	keys  keyring
	until time.Time
}

func newCache(now func() time.Time) *cache {
	return &cache{now: now, answers: map[cacheKey]cached{}}
}

func keyOf(provider, scope, repository string) cacheKey {
	registry, _, _ := strings.Cut(repository, "/")
	switch scope {
	case scopeImage:
		return cacheKey{provider, scope, repository}
	case scopeRegistry:
		return cacheKey{provider, scope, registry}
	default:
		return cacheKey{provider, scope, ""}
	}
}

// get returns the cached answer of a provider for a repository.
func (c *cache) get(provider, repository string) (keyring, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, scope := range []string{scopeImage, scopeRegistry, scopeGlobal} {
		if a, ok := c.answers[keyOf(provider, scope, repository)]; ok && c.now().Before(a.until) {
			return a.keys, true
		}
	}
	return nil, false
}

// put caches an answer for the duration lasts; if that is 0 or less, it caches nothing.
func (c *cache) put(provider, scope, repository string, keys keyring, lasts time.Duration) {
	if lasts <= 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	maps.DeleteFunc(c.answers, func(_ cacheKey, a cached) bool { return !now.Before(a.until) })
	if len(c.answers) >= maxAnswers {
		clear(c.answers) // the providers run once more
	}
	c.answers[keyOf(provider, scope, repository)] = cached{keys, now.Add(lasts)}
}
