package worker

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAttemptFromLogs(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		files []string
		want  uint32
	}{
		"no logs":                     {nil, 0},
		"the first instance":          {[]string{"0.log"}, 1},
		"the highest counts":          {[]string{"0.log", "12.log", "3.log"}, 13},
		"rotated logs count":          {[]string{"4.log.20260102-030405", "7.log.20260102-030405.gz"}, 8},
		"other names do not count":    {[]string{"x.log", "-3.log", "9", "5.txt", "99999999999.log"}, 0},
		"names beside logs change it": {[]string{"junk", "2.log"}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, f := range tc.files {
				if err := os.WriteFile(filepath.Join(dir, f), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, err := attemptFromLogs(dir)
			if err != nil || got != tc.want {
				t.Errorf("attemptFromLogs = %d, %v; want %d", got, err, tc.want)
			}
		})
	}
	t.Run("no directory", func(t *testing.T) {
		t.Parallel()
		if got, err := attemptFromLogs(filepath.Join(t.TempDir(), "none")); err != nil || got != 0 {
			t.Errorf("attemptFromLogs = %d, %v; want 0", got, err)
		}
	})
}
