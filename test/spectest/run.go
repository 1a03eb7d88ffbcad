package spectest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/tetratelabs/wazero"
)

// Files returns the names of the scripts of a suite, which is a folder, in order.
func Files(suite fs.FS) ([]string, error) {
	files, err := fs.Glob(suite, "*.json")
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, errors.New("the suite has no scripts: no file *.json in it")
	}
	slices.Sort(files)
	return files, nil
}

// Run runs all scripts of a suite, one after the other. An error means that a script could not be
// run; the findings of the tests are in the result.
func Run(ctx context.Context, suite fs.FS, c Config) (*Result, error) {
	files, err := Files(suite)
	if err != nil {
		return nil, err
	}
	all := &Result{}
	for _, file := range files {
		r, err := RunFile(ctx, suite, file, c)
		if err != nil {
			return nil, err
		}
		all.add(r)
	}
	return all, nil
}

// RunFile runs one script of a suite, in a runtime of its own.
func RunFile(ctx context.Context, suite fs.FS, file string, c Config) (_ *Result, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("script %s: %w", file, err)
		}
	}()
	data, err := fs.ReadFile(suite, file)
	if err != nil {
		return nil, err
	}
	s, err := parse(data)
	if err != nil {
		return nil, err
	}
	r := &runner{config: &c, suite: suite, file: file, named: map[string]*instance{}}
	r.runtime = wazero.NewRuntimeWithConfig(ctx, c.Runtime)
	defer func() {
		if closeErr := r.runtime.Close(ctx); err == nil && closeErr != nil {
			err = fmt.Errorf("close the runtime: %w", closeErr)
		}
	}()
	if c.Ready != nil {
		if err := c.Ready(ctx, r.runtime); err != nil {
			return nil, fmt.Errorf("offer host functions: %w", err)
		}
	}
	host, err := r.runtime.InstantiateWithConfig(ctx, c.Host, wazero.NewModuleConfig().WithName("spectest").WithStartFunctions())
	if err != nil {
		return nil, fmt.Errorf("the module spectest: %w", err)
	}
	r.instances = []*instance{{module: host}}
	for i := range s.Commands {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := r.command(ctx, s.Commands, i); err != nil {
			return nil, err
		}
	}
	return &r.result, r.states()
}
