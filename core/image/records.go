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

// pruneAt is how many records are kept before those of removed images are deleted. Records of
// present images are kept beyond that number.
const pruneAt = 256

// records determine which owners may use which images without a pull. An image without a record may
// be used by all: it was pulled without credentials, or not by this agent.
type records struct {
	store Store
	log   *slog.Logger

	mu   sync.Mutex
	byID map[string]*state.PulledImage
	// pending is the number of pulls with credentials by image name. A pull of an agent that was
	// killed counts until the image is pulled again.
	pending map[string]int
	prune   int
}

// loadRecords reads the records from the disk. Records that cannot be read are logged and left out.
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

// usable reports whether owner may use a present image without a pull: because owner has pulled it,
// or has a credential with which it was pulled. credentials is called only if necessary, and may be
// slow.
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

// begin records that an image is being pulled with a credential, nil for none.
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

// failed reverts begin.
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

// pulled records that an owner has pulled an image with a credential. A pull without one proves
// that the image is public.
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
		if r.byID[id] == record { // it was not pulled again in between
			delete(r.byID, id)
			r.remove(id)
		}
		r.mu.Unlock()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.prune = max(pruneAt, 2*len(r.byID))
}

// put writes a record. If the disk fails, the record is missing after a restart, but the pull
// succeeds.
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

// maxSharers is the maximum number of credentials and of owners in a record. The oldest are
// forgotten: they pull again.
const maxSharers = 64

// with returns a copy of list that contains text. It does not modify list.
func with(list []string, text string) []string {
	if slices.Contains(list, text) {
		return list
	}
	if len(list) >= maxSharers {
		list = list[1:]
	}
	return append(slices.Clone(list), text)
}

// hashOf returns the hash that is stored for a credential.
func hashOf(auth *pod.RegistryAuth) string {
	sum := sha256.Sum256([]byte(auth.Username + "\x00" + auth.Password))
	return hex.EncodeToString(sum[:])
}
