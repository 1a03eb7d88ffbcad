package image

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
)

// Store keeps the records of images that were pulled with credentials; state.PulledImages is one.
type Store interface {
	Put(record *state.PulledImage) error
	Delete(image string) error
	Load() ([]state.PulledImage, []error)
}

// pruneAt is how many records are kept before those of images that are gone are removed; more are kept of images that
// are there.
const pruneAt = 256

// records say which images may be used by whom without a pull. An image without a record may be used by all: it was
// pulled without credentials, or not by this agent.
type records struct {
	store Store
	log   *slog.Logger

	mu   sync.Mutex
	byID map[string]*state.PulledImage
	// pending counts the pulls with credentials by the name of the image. One of an agent that was killed counts until
	// the image was pulled again.
	pending map[string]int
	prune   int
}

// loadRecords reads what is on the disk. What cannot be read is logged, and missing.
func loadRecords(store Store, log *slog.Logger) *records {
	r := &records{store: store, log: log, byID: map[string]*state.PulledImage{}, pending: map[string]int{}, prune: pruneAt}
	all, errs := store.Load()
	for _, err := range errs {
		log.Warn("a record of a pulled image cannot be read; the image is taken for a public one", "err", err)
	}
	for i := range all {
		if all[i].Pending {
			r.pending[all[i].Image] = 1
			continue
		}
		r.byID[all[i].Image] = &all[i]
	}
	return r
}

// usable reports whether a present image may be used without a pull: by the owner who pulled it, and with a credential
// that it was pulled with. credentials is called only where that counts, and may be slow.
func (r *records) usable(id, name, owner string, credentials func() []pod.RegistryAuth) bool {
	r.mu.Lock()
	record, pending := r.byID[id], r.pending[name] > 0
	var hashes []string
	if record != nil {
		if slices.Contains(record.Owners, owner) {
			r.mu.Unlock()
			return true
		}
		hashes = record.Credentials
	}
	r.mu.Unlock()
	if record == nil {
		return !pending
	}
	return slices.ContainsFunc(credentials(), func(a pod.RegistryAuth) bool { return slices.Contains(hashes, hashOf(&a)) })
}

// begin records that an image is being pulled with a credential; nil is none.
func (r *records) begin(name string, auth *pod.RegistryAuth) {
	if auth == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pending[name]++; r.pending[name] == 1 {
		r.put(&state.PulledImage{Image: name, Pending: true})
	}
}

// failed takes back begin.
func (r *records) failed(name string, auth *pod.RegistryAuth) {
	if auth == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch r.pending[name] {
	case 0: // another pull has succeeded
	case 1:
		delete(r.pending, name)
		r.remove(name)
	default:
		r.pending[name]--
	}
}

// pulled records who pulled an image with which credential. A pull without one shows that the image is public.
func (r *records) pulled(ctx context.Context, id, name, owner string, auth *pod.RegistryAuth, runtime Runtime) {
	r.mu.Lock()
	last := r.byID[id]
	switch {
	case auth != nil:
		next := &state.PulledImage{Image: id}
		if last != nil {
			next.Credentials, next.Owners = last.Credentials, last.Owners
		}
		next.Credentials, next.Owners = with(next.Credentials, hashOf(auth)), with(next.Owners, owner)
		r.byID[id] = next
		if last == nil || !slices.Equal(last.Credentials, next.Credentials) || !slices.Equal(last.Owners, next.Owners) {
			r.put(next)
		}
	case last != nil:
		delete(r.byID, id)
		r.remove(id)
	}
	if r.pending[name] > 0 {
		delete(r.pending, name)
		r.remove(name)
	}
	full := len(r.byID) >= r.prune
	r.mu.Unlock()
	if full {
		r.forgetGone(ctx, runtime)
	}
}

// forgetGone removes the records of images that are not on the node.
func (r *records) forgetGone(ctx context.Context, runtime Runtime) {
	r.mu.Lock()
	all := maps.Clone(r.byID)
	r.prune = max(pruneAt, 2*len(all))
	r.mu.Unlock()
	for id, record := range all {
		found, err := runtime.Image(ctx, id)
		if err != nil || found != nil {
			continue
		}
		r.mu.Lock()
		if r.byID[id] == record { // it was not pulled again meanwhile
			delete(r.byID, id)
			r.remove(id)
		}
		r.mu.Unlock()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.prune = max(pruneAt, 2*len(r.byID))
}

// put writes a record; a disk that fails costs the record after a restart, never the pull.
func (r *records) put(record *state.PulledImage) {
	if err := r.store.Put(record); err != nil {
		r.log.Warn("the record of a pulled image cannot be written; after a restart the image is taken for a public one", "image", record.Image, "err", err)
	}
}

func (r *records) remove(image string) {
	if err := r.store.Delete(image); err != nil {
		r.log.Warn("the record of a pulled image cannot be removed", "image", image, "err", err)
	}
}

// maxSharers bounds the credentials and owners of a record. The oldest are forgotten: they pull again.
const maxSharers = 64

// with returns list with text in it; list stays as it is.
func with(list []string, text string) []string {
	if slices.Contains(list, text) {
		return list
	}
	if len(list) >= maxSharers {
		list = list[1:]
	}
	return append(slices.Clone(list), text)
}

// hashOf returns what is kept of a credential.
func hashOf(auth *pod.RegistryAuth) string {
	sum := sha256.Sum256([]byte(auth.Username + "\x00" + auth.Password))
	return hex.EncodeToString(sum[:])
}
