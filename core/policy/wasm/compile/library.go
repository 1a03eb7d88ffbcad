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

// Library holds the loaded code: one copy for each module, in one runtime, shared
// by all its users. It is safe for concurrent use.
type Library struct {
	cache   *Cache
	runtime wazero.Runtime
	log     *slog.Logger
	// turns is the queue for children: one at a time for each owner.
	turns   queue
	budgets budgets
	// loading is a lock that is held while code is loaded. A module must never be loaded
	// twice in one runtime, because closing one copy would close the other, too.
	loading chan struct{}

	mu   sync.Mutex
	held map[Digest]*held
	// changed is closed when callers that wait for a turn must check again.
	changed chan struct{}
}

// held is loaded code in use.
type held struct {
	module wazero.CompiledModule
	entry  *opened
	// laid is the memory over which the image was mapped, nil if it was not.
	laid []byte
	// users is the number of users. idle is the number of users that have not run
	// the code lately. dropped: the pages were released and no user has run the
	// code since.
	users, idle int
	dropped     bool
}

// Code is a reference to compiled code that one user holds.
type Code struct {
	library *Library
	digest  Digest
	held    *held
	// idle is true if the last Trim reported no use. released is set by Release.
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

// tries is how often one Acquire compiles a module at most: once, and once more in
// case the cache is damaged.
const tries = 2

// Acquire returns the compiled code of a module. It uses code that is already
// loaded, or cached code, or starts a child to compile the module when it is the
// tenant's turn ("" is the operator). The error is a *Refused if the module is at
// fault, a *Spent if the tenant has used up its processor time, and the error of
// source if that fails. The caller must release the code.
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

// load returns code that is loaded or cached. It returns neither code nor an error
// if the module must be compiled.
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

// lay maps the image of code that was just loaded. It holds the lock under which
// modules are closed, and the caller holds loading, so no other module is loaded or
// closed.
func (l *Library) lay(module wazero.CompiledModule, entry *opened) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return layImage(module, entry.image)
}

// share returns code that is already loaded, nil if it is not.
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

// errDisplaced is the error if a child was killed because others waited for its
// place.
var errDisplaced = errors.New("other plugins wait for the compiler process")

// compile waits for a turn and starts a child to compile a module, unless another
// caller or process has compiled it by then. If the child had to make room for
// others, compile starts over.
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

// settled reports whether a module need not be compiled any more.
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

// Module returns the compiled code. The caller must not close it, nor use it after
// Release.
func (c *Code) Module() wazero.CompiledModule { return c.held.module }

// Digest returns the digest of the module.
func (c *Code) Digest() Digest { return c.digest }

// Cost returns the cost of the compilation, which may have been long ago.
func (c *Code) Cost() Cost { return c.held.entry.Cost }

// Release releases the code. Its instances must be closed before. When all users of
// a module have released its code, the code is freed. A second Release of the same
// Code does nothing.
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
	// The lock is held, so that no caller loads the code again before it is closed.
	if err := errors.Join(c.held.module.Close(context.Background()), c.held.entry.close()); err != nil {
		l.log.Warn("compiled code cannot be freed", "module", c.digest.String(), "error", err)
	}
}
