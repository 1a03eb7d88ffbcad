package worker

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/status"
)

// attempt is the restart count of the instance that comes after newest. Where
// the runtime knows none, the log files of earlier ones are counted.
func (p *Pool) attempt(about *v1.Pod, container string, newest *status.ObservedContainer) (uint32, error) {
	if newest != nil {
		return newest.Attempt + 1, nil
	}
	return attemptFromLogs(filepath.Join(p.cfg.Layout.LogDir(about), container))
}

// attemptFromLogs is one more than the highest N of the files "N.log*" in
// dir, 0 if there is none.
func attemptFromLogs(dir string) (uint32, error) {
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("counting restarts by log files: %w", err)
	}
	var next uint32
	for _, f := range files {
		number, rest, found := strings.Cut(f.Name(), ".")
		if f.IsDir() || !found || !strings.HasPrefix(rest, "log") {
			continue
		}
		if n, err := strconv.ParseUint(number, 10, 31); err == nil {
			next = max(next, uint32(n)+1)
		}
	}
	return next, nil
}
