package compile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
)

// Library is the compiled code that is loaded: one piece for each module, in
// one runtime, however many use it. It may be used from any goroutine.
type Library struct {
	cache   *Cache
	runtime wazero.Runtime
	log     *slog.Logger
	// turns are for children: one at a time for each owner.
	turns   queue
	budgets budgets
	// loading is held while code is loaded: two pieces of one module must never
	// be in one runtime, as closing one would close the other.
	loading chan struct{}

	mu   sync.Mutex
	held map[Digest]*held
	// changed is closed when callers that wait for a turn have to look again.
	changed chan struct{}
}

// held is code in use.
type held struct {
	module wazero.CompiledModule
	entry  *opened
	// laid is the code where its image was mapped, else nil.
	laid []byte
	// users are all, idle those that have not run it lately; dropped: its pages were
	// given back since the last did.
	users, idle int
	dropped     bool
}

// Code is one user's hold on compiled code.
type Code struct {
	library *Library
	digest  Digest
	held    *held
	// idle and released are as Rest and Release were told.
	idle, released bool
}

// NewLibrary makes a library in runtime, which must be made with
// cache.RuntimeConfig and outlive the library's code.
func NewLibrary(cache *Cache, runtime wazero.Runtime) *Library {
	return &Library{
		cache: cache, runtime: runtime, log: cache.options.Log,
		loading: make(chan struct{}, 1), held: map[Digest]*held{}, changed: make(chan struct{}),
		budgets: budgets{perHour: cache.options.PerHour, now: cache.options.Now},
	}
}

// tries is how often a module is compiled for one Acquire at most: once, and once
// more in case the cache is damaged.
const tries = 2

// Acquire returns the compiled code of a module: what is loaded, else from the
// cache, else compiled by a child when it is the tenant's turn ("" is the
// operator). The error is a *Refused where the module is at fault, a *Spent where
// the tenant may have nothing compiled now, and that of source if it has no module. The code must be released.
func (l *Library) Acquire(ctx context.Context, tenant string, source Source) (*Code, error) {
	for range tries {
		if code, err := l.load(ctx, &source); code != nil || err != nil {
			return code, err
		}
		if err := l.compile(ctx, tenant, &source); err != nil {
			return nil, err
		}
	}
	code, err := l.load(ctx, &source)
	if code == nil && err == nil {
		err = fmt.Errorf("the code of module %s was compiled %d times and is not in the cache: see the log, and who else changes the directory",
			source.Digest, tries)
	}
	return code, err
}

// load returns code that is loaded or cached, and neither code nor error if it
// must be compiled.
func (l *Library) load(ctx context.Context, source *Source) (*Code, error) {
	digest := source.Digest
	if code := l.share(digest); code != nil {
		return code, nil
	}
	if refused := l.cache.Refused(digest); refused != nil {
		return nil, refused
	}
	select {
	case l.loading <- struct{}{}:
		defer func() { <-l.loading }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if code := l.share(digest); code != nil {
		return code, nil
	}
	entry, shelf, err := l.cache.open(digest)
	if entry == nil {
		return nil, err
	}
	compiled, err := l.cache.load(ctx, l.runtime, entry, source)
	var laid []byte
	if err == nil {
		laid, err = l.lay(compiled, entry)
	}
	err = errors.Join(err, entry.closeFiles())
	if err == nil {
		return l.hold(digest, &held{module: compiled, entry: entry, laid: laid}), nil
	}
	if compiled != nil {
		err = errors.Join(err, compiled.Close(ctx))
	}
	err = errors.Join(err, entry.close())
	if !isCacheFault(err) {
		return nil, fmt.Errorf("compiled code cannot be loaded: %w", err)
	}
	l.cache.drop(shelf, digest, err)
	return nil, nil
}

// lay maps the image of what was just loaded. Modules are closed under the lock,
// and no other is loaded meanwhile.
func (l *Library) lay(module wazero.CompiledModule, entry *opened) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return layImage(module, entry.image)
}

// share returns code that is loaded, nil if it is not.
func (l *Library) share(digest Digest) *Code {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.held[digest]
	if h == nil {
		return nil
	}
	h.users++
	h.dropped = false
	return &Code{library: l, digest: digest, held: h}
}

func (l *Library) hold(digest Digest, h *held) *Code {
	h.users = 1
	l.mu.Lock()
	l.held[digest] = h
	l.mu.Unlock()
	l.announce()
	return &Code{library: l, digest: digest, held: h}
}

// errDisplaced is that a child was ended because others waited for its place.
var errDisplaced = errors.New("other plugins wait for the compiler process")

// compile waits for a turn and has a child compile a module, unless another caller
// or process does before. It begins anew if the child had to make room for others.
func (l *Library) compile(ctx context.Context, tenant string, source *Source) error {
	for again := false; ; again = true {
		if err := l.compileOnce(ctx, tenant, source, again); !errors.Is(err, errDisplaced) {
			return err
		}
	}
}

func (l *Library) compileOnce(ctx context.Context, tenant string, source *Source, again bool) error {
	digest := source.Digest
	t := l.turns.join(tenant, digest, again)
	defer l.turns.leave(t)
	for waiting := true; waiting; {
		changed := l.news()
		if l.settled(digest) {
			return nil
		}
		select {
		case <-t.turn:
			waiting = false
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if l.settled(digest) {
		return nil
	}
	module, err := source.read()
	if err != nil {
		return err
	}
	if err := l.budgets.check(tenant); err != nil {
		return err
	}
	err = l.cache.compile(ctx, digest, module, &watcher{
		started: func(ran func() time.Duration, end func()) { l.turns.started(t, ran, end) },
		ended: func(cpu time.Duration) {
			l.turns.ended(t, cpu)
			l.budgets.spend(tenant, cpu)
		},
	})
	l.announce()
	return err
}

// settled says whether a module need not be compiled any more.
func (l *Library) settled(digest Digest) bool {
	l.mu.Lock()
	loaded := l.held[digest] != nil
	l.mu.Unlock()
	return loaded || l.cache.Refused(digest) != nil || l.cache.Ready(digest)
}

func (l *Library) news() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed
}

func (l *Library) announce() {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.changed)
	l.changed = make(chan struct{})
}

// Module is the compiled code. It must not be used after Release, nor closed.
func (c *Code) Module() wazero.CompiledModule { return c.held.module }

// Digest is the digest of the module.
func (c *Code) Digest() Digest { return c.digest }

// Cost is what compiling it took, when that was.
func (c *Code) Cost() Cost { return c.held.entry.Cost }

// Release releases the code; its instances must be closed before. The last
// release of a module's code frees it. A second one of the same Code does
// nothing.
func (c *Code) Release() {
	l := c.library
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.released {
		return
	}
	c.released = true
	if c.idle {
		c.held.idle--
	}
	if c.held.users--; c.held.users > 0 {
		return
	}
	delete(l.held, c.digest)
	// Under the lock: no caller loads it anew before it is closed.
	if err := errors.Join(c.held.module.Close(context.Background()), c.held.entry.close()); err != nil {
		l.log.Warn("compiled code cannot be freed", "module", c.digest.String(), "error", err)
	}
}
