package logs

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// CompressedSuffix ends the name of a rotated file that is compressed.
	CompressedSuffix = ".gz"
	// rotatedFormat is what a kubelet puts behind the name of a log that it rotates; exactFormat is for more than one
	// in a second. Times are in UTC.
	rotatedFormat = "20060102-150405"
	exactFormat   = "20060102-150405.000"
)

// Rotated is a file that was a container's log until it was rotated.
type Rotated struct {
	Path string
	// At is the time in its name: when it was rotated.
	At         time.Time
	Compressed bool
}

// ListRotated returns the rotated files of a log, the oldest first. A file of which there is a compressed copy is there
// twice, the compressed one last. A directory that does not exist has none.
func ListRotated(log string) ([]Rotated, error) {
	dir, base := filepath.Split(log)
	entries, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var files []Rotated
	for _, e := range entries {
		stamp, ok := strings.CutPrefix(e.Name(), base+".")
		if !ok {
			continue
		}
		stamp, compressed := strings.CutSuffix(stamp, CompressedSuffix)
		// Parse takes a fraction that is not in the format.
		if at, err := time.Parse(rotatedFormat, stamp); err == nil {
			files = append(files, Rotated{Path: filepath.Join(dir, e.Name()), At: at, Compressed: compressed})
		}
	}
	slices.SortFunc(files, func(a, b Rotated) int { return cmp.Or(a.At.Compare(b.At), strings.Compare(a.Path, b.Path)) })
	return files, nil
}

// RotatedPath returns where a log goes that is rotated at now, when newest was rotated last; newest is zero for a log
// that never was. The name is always that of the newest file, also where the clock was set back.
func RotatedPath(log string, now, newest time.Time) string {
	at, format := now.UTC().Truncate(time.Second), rotatedFormat
	if !at.After(newest) {
		at, format = newest.UTC().Add(time.Millisecond), exactFormat
	}
	return log + "." + at.Format(format)
}
