package object

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/state"
)

// Disk stores the objects that earlier agents knew; state.Objects implements it.
type Disk interface {
	Load() ([]state.Object, []error)
	Put(o *state.Object) error
	Delete(key string) error
}

// unnamedTime is the time for which a copy from an earlier agent is kept while no pod names its
// object.
const unnamedTime = 24 * time.Hour

// keepPeriod is the time between attempts to store copies that could not be written, for example
// because the disk was full.
const keepPeriod = time.Minute

// loadKept loads the copies that earlier agents stored.
func (p *Objects) loadKept() {
	all, errs := p.cfg.Disk.Load()
	for _, err := range errs {
		p.cfg.Logger.Warn("the copy of an object that was known before cannot be read; it is read anew", "err", err)
	}
	for i := range all {
		p.kept[all[i].Key] = &all[i]
	}
}

// items returns the objects of a record, as JSON.
func (p *Objects) items(kept *state.Object) ([]json.RawMessage, error) {
	if kept.Sealed == nil {
		return kept.Items, nil
	}
	if p.cfg.Key == nil {
		return nil, errOtherKey
	}
	text, err := p.cfg.Key.open(kept.Key, kept.Sealed)
	if err != nil {
		return nil, err
	}
	var items []json.RawMessage
	return items, json.Unmarshal(text, &items)
}

// recalled returns the objects of a key that an earlier agent stored; ok is false for none. The
// caller holds the lock.
func (p *Objects) recalled(k key) (objects map[string]metav1.Object, ok bool) {
	kept := p.kept[k.String()]
	if kept == nil {
		return nil, false
	}
	items, err := p.items(kept)
	objects = map[string]metav1.Object{}
	for _, text := range items {
		object := reflect.New(reflect.TypeOf(k.kind.object).Elem()).Interface().(metav1.Object)
		if err = json.Unmarshal(text, object); err != nil {
			break
		}
		objects[object.GetName()] = object
	}
	if err != nil {
		p.cfg.Logger.Warn("the copy of an object that was known before cannot be read; it is read anew", "object", k.String(), "err", err)
		delete(p.kept, k.String())
		return nil, false
	}
	return objects, true
}

// recall sets w to the copy that an earlier agent stored, if there is one, and reports whether
// there is one. The caller holds the lock.
func (p *Objects) recall(k key, w *watched) bool {
	objects, ok := p.recalled(k)
	if ok {
		w.objects, w.recalled = objects, true
	}
	return ok
}

// keeps reports whether objects of a kind are stored on the disk. Secrets are stored only if there
// is a key.
func (p *Objects) keeps(k *kind) bool { return p.cfg.Disk != nil && (!k.secret || p.cfg.Key != nil) }

// record returns the record of the objects of a key.
func (p *Objects) record(k key, objects map[string]metav1.Object) (record *state.Object, items []json.RawMessage, err error) {
	items = []json.RawMessage{}
	for _, name := range sortedNames(objects) {
		text, err := json.Marshal(objects[name])
		if err != nil {
			return nil, nil, err
		}
		items = append(items, text)
	}
	record = &state.Object{Key: k.String(), Items: items}
	if k.kind.secret {
		text, err := json.Marshal(items)
		if err != nil {
			return nil, nil, err
		}
		record.Items, record.Sealed = []json.RawMessage{}, p.cfg.Key.seal(record.Key, text)
	}
	return record, items, nil
}

// keep writes the objects of a key to the disk, unless they are already there. Only one copy is
// written or removed at a time, so that the newest one stays.
func (p *Objects) keep(k key, w *watched) {
	if !p.keeps(k.kind) {
		return
	}
	p.keeping.Lock()
	defer p.keeping.Unlock()
	p.mu.Lock()
	objects, named := w.objects, p.objects[k] == w && w.heard
	version := versionOf(objects)
	same := p.versions[k.String()] == version
	p.mu.Unlock()
	if !named || same {
		return
	}
	record, items, err := p.record(k, objects)
	if err == nil && !p.isKept(record.Key, items) {
		err = p.cfg.Disk.Put(record)
	}
	if err != nil {
		p.cfg.Logger.Warn("an object cannot be saved; after a restart of the agent it is unknown until it can be read", "object", k.String(), "err", err)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept[record.Key], p.versions[record.Key] = record, version
}

// versionOf returns a text that identifies the versions of objects.
func versionOf(objects map[string]metav1.Object) string {
	var text strings.Builder
	for _, name := range sortedNames(objects) {
		text.WriteString(name + "=" + objects[name].GetResourceVersion() + "\n")
	}
	return text.String() + "."
}

// isKept reports whether the disk has these items under a key.
func (p *Objects) isKept(key string, items []json.RawMessage) bool {
	p.mu.Lock()
	old := p.kept[key]
	p.mu.Unlock()
	if old == nil {
		return false
	}
	before, err := p.items(old)
	return err == nil && slices.EqualFunc(before, items, func(a, b json.RawMessage) bool { return string(a) == string(b) })
}

// forget removes the copy of a key from the disk, unless a pod names it again.
func (p *Objects) forget(k key) {
	if p.cfg.Disk == nil {
		return
	}
	p.keeping.Lock()
	defer p.keeping.Unlock()
	p.mu.Lock()
	named := p.objects[k] != nil
	if !named {
		delete(p.kept, k.String())
		delete(p.versions, k.String())
	}
	p.mu.Unlock()
	if !named {
		p.deleteKept(k.String())
	}
}

func (p *Objects) deleteKept(key string) {
	if err := p.cfg.Disk.Delete(key); err != nil {
		p.cfg.Logger.Warn("the copy of an object cannot be removed", "object", key, "err", err)
	}
}

// tend runs until ctx is done. It retries to store copies that could not be written. After
// unnamedTime it removes the copies that no pod has named since this agent started.
func (p *Objects) tend(ctx context.Context) {
	again, unnamed := time.NewTicker(keepPeriod), time.NewTimer(unnamedTime)
	defer again.Stop()
	defer unnamed.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-again.C:
			p.mu.Lock()
			all := maps.Clone(p.objects)
			p.mu.Unlock()
			for k, w := range all {
				p.keep(k, w)
			}
		case <-unnamed.C:
			p.forgetUnnamed()
		}
	}
}

func (p *Objects) forgetUnnamed() {
	p.keeping.Lock()
	defer p.keeping.Unlock()
	p.mu.Lock()
	named := map[string]bool{}
	for k := range p.objects {
		named[k.String()] = true
	}
	for k := range p.tokens {
		named[k.String()] = true
	}
	var left []string
	for key := range p.kept {
		if !named[key] {
			left = append(left, key)
			delete(p.kept, key)
		}
	}
	p.mu.Unlock()
	for _, key := range left {
		p.deleteKept(key)
	}
}
