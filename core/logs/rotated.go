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
	// CompressedSuffix ends the name of a compressed rotated file.
	CompressedSuffix = ".gz"
	// rotatedFormat is the suffix that a kubelet adds to the name of a rotated log. exactFormat is
	// used for a further rotation within the same second. Times are in UTC.
	rotatedFormat = "20060102-150405"
	exactFormat   = "20060102-150405.000"
)

// Rotated is a rotated file of a container's log.
type Rotated struct {
	Path string
	// At is the time of the rotation, from the file's name.
	At         time.Time
	Compressed bool
}

// ListRotated returns the rotated files of a log, the oldest first. A file that also has a
// compressed copy is listed twice, the compressed one last. The list is empty if the directory does
// not exist.
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
		// Parse accepts a fraction even if the format has none.
		if at, err := time.Parse(rotatedFormat, stamp); err == nil {
			files = append(files, Rotated{Path: filepath.Join(dir, e.Name()), At: at, Compressed: compressed})
		}
	}
	slices.SortFunc(files, func(a, b Rotated) int { return cmp.Or(a.At.Compare(b.At), strings.Compare(a.Path, b.Path)) })
	return files, nil
}

// RotatedPath returns the path for a log that is rotated at now. newest is the time of the last
// rotation, zero for none. The name always sorts as the newest, even if the clock was set back.
func RotatedPath(log string, now, newest time.Time) string {
	at, format := now.UTC().Truncate(time.Second), rotatedFormat
	if !at.After(newest) {
		at, format = newest.UTC().Add(time.Millisecond), exactFormat
	}
	return log + "." + at.Format(format)
}
