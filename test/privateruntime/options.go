package privateruntime

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync/atomic"
)

// Options say which runtime to start. The zero value is valid.
type Options struct {
	// Name tells the runtime from others on the machine: at most 20 lower-case letters, digits and inner dashes.
	// Empty: a name that no other runtime has.
	Name string
	// Dir holds images, snapshots and the log. It must be empty or not exist; Stop empties it again, and removes it if
	// Start made it. Empty: build/runtime/NAME in the repository.
	Dir string
	// reclaim tells that Dir was left empty: the directory is this package's own.
	reclaim bool
}

// namePattern keeps shim sockets, whose directory containerd limits to 42 bytes, short.
var namePattern = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,18}[a-z0-9])?$`)

// started numbers the runtimes that this process named itself.
var started atomic.Int64

// complete checks the options and fills in what was left out.
func (o Options) complete(repository string) (Options, error) {
	if o.Name == "" {
		o.Name = "t-" + strconv.Itoa(os.Getpid()) + "-" + strconv.FormatInt(started.Add(1), 10)
	}
	if err := checkName(o.Name); err != nil {
		return Options{}, err
	}
	if o.Dir == "" {
		o.Dir, o.reclaim = filepath.Join(repository, "build", "runtime", o.Name), true
	}
	absolute, err := filepath.Abs(o.Dir)
	if err != nil {
		return Options{}, fmt.Errorf("make the directory of runtime %s absolute: %w", o.Name, err)
	}
	o.Dir = absolute
	return o, nil
}

func checkName(name string) error {
	if !namePattern.MatchString(name) {
		return fmt.Errorf("runtime name %q: use 1 to 20 lower-case letters, digits and inner dashes", name)
	}
	return nil
}
