package compile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// watcher follows the children that compile a module.
type watcher struct {
	// started is called when a child has started: ran returns its processor time so
	// far, and end ends it with errDisplaced.
	started func(ran func() time.Duration, end func())
	// ended is called with the processor time of each child, whatever came of it.
	ended func(cpu time.Duration)
}

// compile has a child compile a module into the cache. The error is a *Refused
// where the module is at fault, and then it is remembered.
func (c *Cache) compile(ctx context.Context, digest Digest, module []byte, w *watcher) error {
	err := c.compileOn(ctx, c.primary, digest, module, w)
	if _, disk := errors.AsType[*diskFault](err); disk {
		spare, fault := c.needSpare(err)
		if fault != nil {
			return fault
		}
		err = c.compileOn(ctx, spare, digest, module, w)
	}
	if refused, ok := errors.AsType[*Refused](err); ok {
		// What is stored has no monotonic clock, and is the same when it is read.
		refused.Digest, refused.At = digest, c.options.Now().UTC().Round(time.Millisecond)
		c.remember(refused)
	}
	return err
}

// compileOn compiles onto one shelf.
func (c *Cache) compileOn(ctx context.Context, s *shelf, digest Digest, module []byte, w *watcher) (err error) {
	dir, err := s.temp()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	end, err := c.children.run(ctx, dir, digest, module, w.started)
	if err != nil {
		return err
	}
	w.ended(end.cpu)
	r, err := end.judge(c.options.Limits)
	if err != nil {
		return err
	}
	if c.interpreted && len(r.Files) > 0 {
		return fmt.Errorf("the child that compiles has made %d files of code for an interpreter", len(r.Files))
	}
	for _, f := range r.all() {
		made, err := f.open(dir)
		if err != nil {
			return fmt.Errorf("the child that compiles has not made what it reports: %w", err)
		}
		if err := made.Close(); err != nil {
			return err
		}
	}
	e := &entry{Module: digest.String(), Engine: c.maker, codeFiles: r.codeFiles, Cost: r.Cost}
	if err := s.install(dir, digest, e, c.options.Now()); err != nil {
		return err
	}
	if err := s.evict(c.options.MaxBytes, digest); err != nil {
		c.options.Log.Warn("compiled plugins that are not needed cannot be removed", "directory", s.dir, "error", err)
	}
	return nil
}

// remember stores a refusal.
func (c *Cache) remember(r *Refused) {
	err := c.primary.refuse(r, c.terms, c.options.MaxRefused)
	if err != nil {
		var s *shelf
		if s, err = c.needSpare(err); err == nil {
			err = s.refuse(r, c.terms, c.options.MaxRefused)
		}
	}
	if err != nil {
		c.options.Log.Warn("that a plugin is refused cannot be remembered: it will be tried again", "module", r.Digest.String(), "error", err)
	}
}
