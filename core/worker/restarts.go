package worker

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/wardlet/wardlet/core/status"
)

// attempt is the restart count of the instance that comes after newest. Where
// the runtime knows none, the log files of earlier ones are counted. It goes on
// from what was counted before the agent started.
func (p *Pool) attempt(t turn, container string, newest *status.ObservedContainer) (uint32, error) {
	least := t.attempts[container]
	if newest != nil {
		return max(newest.Attempt+1, least), nil
	}
	next, err := attemptFromLogs(filepath.Join(p.cfg.Layout.LogDir(t.pod), container))
	return max(next, least), err
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
