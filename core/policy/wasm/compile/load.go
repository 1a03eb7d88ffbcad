package compile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
)

// errNotCached: wazero did not find the code where it looks for it.
var errNotCached = errors.New("wazero finds no code of it in its cache")

// neverCompile is a context with which wazero loads code it has, and compiles
// none. It has ended: wazero's workers look at that before they take a
// function, and only where there is more than one. The interpreter does not
// look; it has no code to keep.
func neverCompile(ctx context.Context) context.Context {
	ended, end := context.WithCancelCause(context.WithoutCancel(ctx))
	end(errNotCached)
	return experimental.WithCompilationWorkers(ended, 2)
}

// load loads the code of an opened entry, with the module's shell. wazero finds
// it under links to the files that are open here, so that whatever becomes of
// their names, it reads what was checked. Only one may load at a time. Where
// modules are interpreted it is the module itself that is loaded.
func (c *Cache) load(ctx context.Context, r wazero.Runtime, o *opened, source *Source) (_ wazero.CompiledModule, err error) {
	if c.interpreted {
		module, err := source.read()
		if err != nil {
			return nil, err
		}
		return r.CompileModule(ctx, module)
	}
	if o.shell == nil {
		return nil, errNotCached
	}
	dir := filepath.Join(c.view, c.engine)
	if err := os.MkdirAll(dir, 0o700); err != nil { // temporary files may have been cleared
		return nil, err
	}
	for i, f := range o.files {
		path := filepath.Join(c.view, o.Files[i].Name)
		_ = os.Remove(path) // nothing, unless it could not be removed last time
		if err := os.Symlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd()), path); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, os.Remove(path)) }()
	}
	return r.CompileModule(neverCompile(ctx), o.shell)
}

// isCacheFault says whether it is the cached code, not the module, that cannot
// be loaded.
func isCacheFault(err error) bool {
	if errors.Is(err, errNotCached) || errors.Is(err, errImage) {
		return true
	}
	text := err.Error() // wazero wraps none
	return strings.HasPrefix(text, "compilationcache: ") && !strings.Contains(text, syscall.ENOMEM.Error())
}
