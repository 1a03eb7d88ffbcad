package decisions

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/wardlet/wardlet/core/state/durable"
)

// openFiles loads the list of the files of policies.
func (l *Log) openFiles() error {
	l.files = newPolicyFiles()
	if err := durable.OwnDir(l.filesPath()); err != nil {
		return fmt.Errorf("%s: %w", filesDir, err)
	}
	if err := durable.RemoveTemps(l.filesPath()); err != nil {
		return err
	}
	entries, err := os.ReadDir(l.filesPath())
	if err != nil {
		return err
	}
	for _, e := range entries {
		digest, ok := strings.CutSuffix(e.Name(), fileSuffix)
		if info, err := e.Info(); ok && err == nil {
			l.files.sizes[digest] = info.Size()
		}
	}
	return nil
}

// openOwners loads the segments of all owners.
func (l *Log) openOwners() error {
	entries, err := os.ReadDir(l.path())
	if err != nil {
		return err
	}
	ages := map[*segment]int64{}
	for _, e := range entries {
		tenant, ok := ownerCalled(e.Name())
		if !ok || !e.IsDir() {
			continue
		}
		if err := l.openOwner(l.owner(tenant), ages); err != nil {
			return fmt.Errorf("%s: %w", e.Name(), err)
		}
	}
	for _, s := range slices.SortedFunc(maps.Keys(ages), func(a, b *segment) int { return cmp.Compare(ages[a], ages[b]) }) {
		l.order++
		s.order = l.order
	}
	return nil
}

// openOwner loads the segments of one owner, and continues to write to the last one. It removes a
// segment without any record: no write to it was ever reported as successful.
func (l *Log) openOwner(o *ownerLog, ages map[*segment]int64) error {
	names, err := segmentNames(o.path)
	if err != nil {
		return err
	}
	goOn := func() {}
	for _, name := range names {
		path := filepath.Join(o.path, name)
		text, info, err := readSegment(path)
		if err != nil {
			if odd := new(durable.OddFileError); !errors.As(err, &odd) {
				l.log().Error("some of the log of decisions cannot be read", "file", path, "err", err)
				goOn = func() {} // new records belong into a newer segment
				continue
			}
			if err := l.cfg.Quarantine(filepath.Join(filepath.Base(o.path), name), err); err != nil {
				return err
			}
			continue
		}
		s, inputs, last, torn := scan(path, text)
		if last == 0 {
			if err := l.cfg.FS.Remove(path); err != nil {
				return err
			}
			continue
		}
		if torn > 0 {
			l.log().Warn("lines of the log of decisions are not whole and were passed over", "file", path, "lines", torn)
		}
		o.next = max(o.next, last+1)
		o.segments = append(o.segments, s)
		ages[s] = info.ModTime().UnixNano()
		for key := range s.files {
			l.files.held[key]++
		}
		half := len(text) > 0 && text[len(text)-1] != '\n'
		goOn = func() { o.goOn(s, inputs, half) }
	}
	goOn()
	o.kept = o.next - 1
	return nil
}

// scan reads the lines of a segment. inputs are the digests of its documents, last is the number of
// its last record, 0 for none, torn the number of invalid lines.
func scan(path string, text []byte) (s *segment, inputs map[string]bool, last uint64, torn int) {
	s, inputs = &segment{path: path, size: int64(len(text)), files: map[fileKey]bool{}}, map[string]bool{}
	var newest []byte
	for len(text) > 0 {
		one, rest, err := cutLine(text)
		text = rest
		switch {
		case errors.Is(err, errTorn):
		case err != nil:
			torn++
		case one.kind == lineInput:
			inputs[one.digest] = true
		case one.kind == lineFile:
			if tenant, ok := ownerCalled(string(one.body)); ok {
				s.files[fileKey{one.digest, tenant}] = true
			}
		case one.kind == lineRecord:
			newest = one.body
		}
	}
	var r struct {
		ID string `json:"id"`
	}
	if newest != nil && json.Unmarshal(newest, &r) == nil {
		last, _ = strconv.ParseUint(r.ID[strings.LastIndexByte(r.ID, '-')+1:], 10, 64)
	}
	return s, inputs, last, torn
}

// segmentNames returns the names of the segments in a directory, the oldest first.
func segmentNames(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if _, ok := segmentNumber(e.Name()); ok {
			names = append(names, e.Name())
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		x, _ := segmentNumber(a)
		y, _ := segmentNumber(b)
		return cmp.Compare(x, y)
	})
	return names, nil
}

func readSegment(path string) ([]byte, fs.FileInfo, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, nil, err
	}
	text, err := durable.Read(path)
	return text, info, err
}

// ownerCalled returns the tenant, empty for the operator, of a name that OwnerDir returned.
func ownerCalled(name string) (tenant string, ok bool) {
	if name == OwnerDir("") {
		return "", true
	}
	tenant, ok = strings.CutPrefix(name, "tenant-")
	return tenant, ok && tenant != ""
}

// OwnerDir returns the directory name of an owner. A tenant's name is a DNS label.
func OwnerDir(tenant string) string {
	if tenant == "" {
		return "operator"
	}
	return "tenant-" + tenant
}
