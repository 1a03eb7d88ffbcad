package state

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/state/durable/durabletest"
)

func TestARecordHarmedAtAnyByteIsMovedAsideAndTheOthersAreRead(t *testing.T) {
	t.Parallel()
	for name, harm := range durabletest.Harms {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := prepared(t)
			d, log := open(t, path)
			s := d.Documents()
			file := recordPath(d, "files", "a")
			data, err := os.ReadFile(file)
			check(t, err)
			for at := range data {
				harmed := harm(data, at)
				if bytes.Equal(harmed, data) {
					continue
				}
				log.Reset()
				check(t, os.WriteFile(file, harmed, 0o600))
				var r Record
				if found, err := loadOne(d, filepath.Join(documentsDir, filepath.Base(file)), (*Record).file, &r); found || err != nil {
					t.Fatalf("at byte %d: record %v, %v", at, &r, err)
				}
				aside, err := os.ReadFile(filepath.Join(path, quarantineDir, filepath.Base(file)))
				if err != nil || !bytes.Equal(aside, harmed) || !strings.Contains(log.String(), file) {
					t.Fatalf("at byte %d: %v, moved aside %q; log:\n%s", at, err, aside, log)
				}
			}
			if got := stored(t, s); len(got) != 2 {
				t.Errorf("the others are not read: %v", got)
			}
			check(t, os.WriteFile(file, data, 0o600))
			if got := stored(t, s); len(got) != 3 {
				t.Errorf("the whole record is not read: %v", got)
			}
		})
	}
}
