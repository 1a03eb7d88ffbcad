package state

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/wardlet/wardlet/core/state/durable"
)

// writers is the number of documents of a batch that are written at a time. Writes that wait for
// the journal of a file system together are written together: ten thousand documents took 3.7 s
// with four writers, 6.1 s with one and 3.2 s with sixteen. With sixteen, the decision records of
// other tenants waited a third longer.
const writers = 4

// Apply stores records in place of those with the same source and ID, and then removes others, as
// Put and Delete do in this order. When it returns nil, all changes are on the disk. If it is
// interrupted, each document is the old one or the new one. If it fails, it returns a *BatchError:
// the documents that the error does not name are on the disk.
func (s Documents) Apply(put []Record, remove []DocumentID) error {
	failed := BatchError{Of: len(put) + len(remove)}
	if put = last(put, remove); len(put) > 0 {
		s.putAll(put, &failed)
	}
	if len(remove) > 0 {
		s.removeAll(remove, &failed)
	}
	if len(failed.Documents) == 0 {
		return nil
	}
	return &failed
}

// last returns the records without those that a later record or a removal of the batch replaces.
func last(put []Record, remove []DocumentID) []Record {
	at := make(map[DocumentID]int, len(put))
	for i := range put {
		at[put[i].document()] = i
	}
	for _, id := range remove {
		delete(at, id)
	}
	if len(at) == len(put) {
		return put
	}
	kept := make([]Record, 0, len(at))
	for i := range put {
		if j, ok := at[put[i].document()]; ok && j == i {
			kept = append(kept, put[i])
		}
	}
	return kept
}

func (s Documents) putAll(put []Record, failed *BatchError) {
	errs := make([]error, len(put))
	inParallel(len(put), func(i int) { errs[i] = s.write(&put[i], durable.Replace) })
	var written []DocumentID
	for i, err := range errs {
		if err == nil {
			written = append(written, put[i].document())
		} else {
			failed.add(err, put[i].document())
		}
	}
	// The written records are on the disk before records are removed that they may replace.
	if len(written) > 0 {
		failed.add(s.dir.fs.SyncDir(s.path()), written...)
	}
}

func (s Documents) removeAll(remove []DocumentID, failed *BatchError) {
	var removed []DocumentID
	for _, id := range remove {
		err := s.dir.fs.Remove(filepath.Join(s.path(), id.file()))
		if err == nil || errors.Is(err, os.ErrNotExist) {
			removed = append(removed, id)
		} else {
			failed.add(fmt.Errorf("%s: %w", id, err), id)
		}
	}
	if len(removed) > 0 {
		failed.add(s.dir.fs.SyncDir(s.path()), removed...)
	}
}

// inParallel calls do for 0 to n-1, at most writers at a time, and returns when all calls have
// returned.
func inParallel(n int, do func(i int)) {
	if n == 1 {
		do(0)
		return
	}
	next := make(chan int)
	var group sync.WaitGroup
	for range min(n, writers) {
		group.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	group.Wait()
}

// fewReasons is the number of reasons that a BatchError has.
const fewReasons = 3

// BatchError names the documents of a batch that may not have been stored or removed on the disk.
type BatchError struct {
	// Documents are those documents. Of is the number of documents in the batch.
	Documents []DocumentID
	Of        int
	// reasons are the first few errors.
	reasons []error
}

// add records that documents failed for one reason. It does nothing if err is nil.
func (e *BatchError) add(err error, documents ...DocumentID) {
	if err == nil {
		return
	}
	if len(e.reasons) < fewReasons {
		e.reasons = append(e.reasons, err)
	}
	e.Documents = append(e.Documents, documents...)
}

// Error returns the number of documents and the first few reasons.
func (e *BatchError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d documents are not on the disk: ", len(e.Documents), e.Of)
	for i, err := range e.reasons {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(err.Error())
	}
	if more := len(e.Documents) - len(e.reasons); more > 0 {
		fmt.Fprintf(&b, "; and %d more", more)
	}
	return b.String()
}

// Unwrap returns the first few reasons.
func (e *BatchError) Unwrap() []error { return e.reasons }
