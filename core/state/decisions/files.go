package decisions

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/wardlet/wardlet/core/state/durable"
)

const (
	// filesDir is the subdirectory with the files of policies.
	filesDir = "policies"
	// fileSuffix is the suffix of their names, after the digest of their content.
	fileSuffix = ".gz"
	// liveSets is the number of an owner's newest sets that are kept whole, whether or not records
	// name them: the set in force, a possible next one, and one to go back to.
	liveSets = 3
)

// fileKey is a file of one owner's policies.
type fileKey struct{ digest, tenant string }

// policyFiles are the modules and documents of policies. A file is kept while a segment names it,
// or while it belongs to one of its owner's newest sets. Log.mu guards them.
type policyFiles struct {
	// sizes are the sizes of the files on the disk, in bytes, by digest.
	sizes map[string]int64
	// held is the number of segments that name each file.
	held map[fileKey]int
	// live are the digests of each tenant's newest sets, the newest set last.
	live map[string][][]string
	// storing is the number of calls that are storing each file.
	storing map[string]int
	// sums are the results of kept, by tenant, as long as they are valid.
	sums map[string]int64
	// stale: there may be files that are no longer needed.
	stale atomic.Bool
}

// KeepFiles stores the files of a set of a tenant's policies on the disk, by digest, compressed. It
// is called before the set judges.
func (l *Log) KeepFiles(tenant string, files map[string][]byte) error {
	err := l.store(tenant, files)
	l.makeRoom(tenant, 0)
	return err
}

// store never waits for a file that another owner is writing: if two owners store the same file,
// both write it.
func (l *Log) store(tenant string, files map[string][]byte) error {
	digests := slices.Collect(maps.Keys(files))
	l.needs(digests)
	var errs []error
	written := map[string]int64{}
	for digest, data := range files {
		if l.has(digest) {
			continue
		}
		size, err := l.writeFile(digest, data)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		written[digest] = size
	}
	if len(written) > 0 {
		errs = append(errs, l.cfg.FS.SyncDir(l.filesPath()))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.Copy(l.files.sizes, written)
	live := slices.Concat(l.files.live[tenant], [][]string{digests})
	l.files.live[tenant] = live[max(0, len(live)-liveSets):]
	l.files.stored(digests)
	return errors.Join(errs...)
}

// needs keeps files that are about to be stored. After it returns, none of them is being removed.
func (l *Log) needs(digests []string) {
	// A removal in progress has already chosen its files: wait until they are removed.
	l.removing.Lock()
	defer l.removing.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, digest := range digests {
		l.files.storing[digest]++
	}
}

// PolicyFile reads the file of a policy with this digest, and checks the digest.
func (l *Log) PolicyFile(digest string) ([]byte, error) {
	packed, err := durable.Read(l.filePath(digest))
	if err != nil {
		return nil, err
	}
	return unpacked(l.filePath(digest), packed, digest)
}

func (l *Log) filesPath() string { return filepath.Join(l.path(), filesDir) }

func (l *Log) filePath(digest string) string {
	return filepath.Join(l.filesPath(), filepath.Base(digest)+fileSuffix)
}

func (l *Log) has(digest string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok := l.files.sizes[digest]
	return ok
}

func (l *Log) writeFile(digest string, data []byte) (size int64, err error) {
	packed, err := packedFile(data)
	if err != nil {
		return 0, err
	}
	return int64(len(packed)), durable.Replace(l.cfg.FS, l.filesPath(), digest+fileSuffix, packed)
}

// packedFile returns a policy's file in the compressed form of the disk.
func packedFile(data []byte) ([]byte, error) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

// stored records that the files are on the disk, or could not be written.
func (f *policyFiles) stored(digests []string) {
	for _, digest := range digests {
		if f.storing[digest]--; f.storing[digest] == 0 {
			delete(f.storing, digest)
		}
	}
	f.changed()
}

// changed discards the sums, and records that some files may no longer be needed.
func (f *policyFiles) changed() {
	clear(f.sums)
	f.stale.Store(true)
}

// needed returns the digests of the files that must be kept.
func (f *policyFiles) needed() map[string]bool {
	needed := map[string]bool{}
	for key := range f.held {
		needed[key.digest] = true
	}
	for digest := range f.storing {
		needed[digest] = true
	}
	for _, sets := range f.live {
		for _, digest := range slices.Concat(sets...) {
			needed[digest] = true
		}
	}
	return needed
}

// hold records that one more segment names files.
func (f *policyFiles) hold(keys []fileKey) {
	for _, key := range keys {
		if f.held[key]++; f.held[key] == 1 {
			clear(f.sums)
		}
	}
}

// letGo records that a segment is gone.
func (f *policyFiles) letGo(s *segment) {
	for key := range s.files {
		if f.held[key]--; f.held[key] <= 0 {
			delete(f.held, key)
			f.changed()
		}
	}
}

// only reports whether only records keep a file.
func (f *policyFiles) only(key fileKey) bool {
	return !slices.ContainsFunc(f.live[key.tenant], func(set []string) bool { return slices.Contains(set, key.digest) })
}

// kept returns the size, in bytes, of the files of a tenant's policies that are kept only by
// records.
func (f *policyFiles) kept(tenant string) (bytes int64) {
	if known, ok := f.sums[tenant]; ok {
		return known
	}
	for key := range f.held {
		if key.tenant == tenant && f.only(key) {
			bytes += f.sizes[key.digest]
		}
	}
	f.sums[tenant] = bytes
	return bytes
}

// heldBy reports whether one of the segments names a file of a tenant's policies that only records
// keep.
func (f *policyFiles) heldBy(segments []*segment, tenant string) bool {
	for _, s := range segments {
		for key := range s.files {
			if key.tenant == tenant && f.only(key) {
				return true
			}
		}
	}
	return false
}

func newPolicyFiles() policyFiles {
	return policyFiles{
		sizes: map[string]int64{}, held: map[fileKey]int{}, live: map[string][][]string{}, storing: map[string]int{}, sums: map[string]int64{},
	}
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
