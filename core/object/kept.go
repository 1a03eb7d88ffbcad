package object

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/state"
)

// Disk has what was known of objects when an agent before this one was there; state.Objects is one.
type Disk interface {
	Load() ([]state.Object, []error)
	Put(o *state.Object) error
	Delete(key string) error
}

// unnamedTime is for how long what an agent before this one knew is kept while no pod names it.
const unnamedTime = 24 * time.Hour

// loadKept reads what an agent before this one knew.
func (p *Plane) loadKept() {
	all, errs := p.cfg.Disk.Load()
	for _, err := range errs {
		p.cfg.Logger.Warn("an object of the API server that was known before cannot be read; it is read anew", "err", err)
	}
	for i := range all {
		p.kept[all[i].Key] = &all[i]
	}
}

// recall takes what was known of a key before this agent, where the server has yet to answer. It reports whether there is
// something. The caller holds the lock.
func (p *Plane) recall(k key, w *watched) bool {
	kept := p.kept[k.String()]
	if kept == nil {
		return false
	}
	objects := map[string]metav1.Object{}
	for _, text := range kept.Items {
		object := reflect.New(reflect.TypeOf(k.kind.object).Elem()).Interface().(metav1.Object)
		if err := json.Unmarshal(text, object); err != nil {
			p.cfg.Logger.Warn("an object of the API server that was known before cannot be read", "object", k.String(), "err", err)
			return false
		}
		objects[object.GetName()] = object
	}
	w.objects, w.recalled = objects, true
	return true
}

// keep puts what is known under a key on the disk, where it is no secret and not there yet.
func (p *Plane) keep(k key, w *watched, objects map[string]metav1.Object) {
	if k.kind.secret || p.cfg.Disk == nil {
		return
	}
	record := &state.Object{Key: k.String(), Items: []json.RawMessage{}}
	for _, name := range sortedNames(objects) {
		text, err := json.Marshal(objects[name])
		if err != nil {
			p.cfg.Logger.Warn("an object of the API server cannot be kept", "object", k.String(), "err", err)
			return
		}
		record.Items = append(record.Items, text)
	}
	p.mu.Lock()
	old := p.kept[record.Key]
	same := old != nil && slices.EqualFunc(old.Items, record.Items, func(a, b json.RawMessage) bool { return string(a) == string(b) })
	p.kept[record.Key] = record
	p.mu.Unlock()
	var err error
	if !same {
		err = p.cfg.Disk.Put(record)
	}
	p.mu.Lock()
	gone := p.objects[k] != w
	p.mu.Unlock()
	if gone {
		p.forget(k)
	}
	if err != nil {
		p.cfg.Logger.Warn("an object of the API server cannot be kept; it is not known after a restart of the agent until the server answers", "object", k.String(), "err", err)
	}
}

// forget removes what is kept of a key that no pod names any more.
func (p *Plane) forget(k key) {
	if k.kind.secret || p.cfg.Disk == nil {
		return
	}
	p.mu.Lock()
	delete(p.kept, k.String())
	p.mu.Unlock()
	p.deleteKept(k.String())
}

func (p *Plane) deleteKept(key string) {
	if err := p.cfg.Disk.Delete(key); err != nil {
		p.cfg.Logger.Warn("the copy of an object of the API server cannot be removed", "object", key, "err", err)
	}
}

// forgetUnnamed removes, after unnamedTime, what no pod has named since this agent began.
func (p *Plane) forgetUnnamed(ctx context.Context) {
	wait := time.NewTimer(unnamedTime)
	defer wait.Stop()
	select {
	case <-ctx.Done():
		return
	case <-wait.C:
	}
	p.mu.Lock()
	named := map[string]bool{}
	for k := range p.objects {
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
