package object

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
)

// Directory has the objects of the node's own directory. Only static pods can name them. It is the
// sink of the source that reads the directory.
//
// A document with a fault changes nothing: its last valid version stays in force. If two documents
// define the same object, the first one by path and position is used.
type Directory struct {
	owner *Objects
	// files are the manifests by path. Only the goroutine of the source uses it.
	files map[string]*localFile

	// Objects.mu guards the following fields. heard is true after the directory was read, or if there
	// is none.
	heard bool
	// health is the reason why the directory cannot be read now, nil if it can be read.
	health error
	// current are the objects in force.
	current map[key]*localObject
	// known are the keys that were in force at some time.
	known map[key]bool
	// faults are the documents that cannot be used.
	faults []localFault
}

// localFile is a manifest of the directory.
type localFile struct {
	objects []*localObject
	faults  []localFault
}

// localObject is an object of the directory.
type localObject struct {
	key    key
	object metav1.Object
	// document is the ID of its document, see api.Document.ID.
	document string
}

// localFault is a document that cannot be used.
type localFault struct {
	document string
	// claims is the name of the object in the document, of any kind; zero if it is not known. Then
	// the document may be any object.
	claims types.NamespacedName
	err    error
}

// concerns reports whether the document may be the object of a key.
func (f *localFault) concerns(k key) bool {
	return f.claims.Name == "" || f.claims.Name == k.Name && (k.Namespace == "" || f.claims.Namespace == k.Namespace)
}

// Directory returns the sink for the documents of Config.Dir.
func (p *Objects) Directory() *Directory { return &p.local }

// Replace implements source.Sink.
func (d *Directory) Replace(_ context.Context, all []api.Document) error {
	byFile := filesOf(all)
	for path := range d.files {
		if _, ok := byFile[path]; !ok {
			delete(d.files, path)
		}
	}
	for path, docs := range byFile {
		d.put(path, docs)
	}
	d.settle()
	return nil
}

// Apply implements source.Sink.
func (d *Directory) Apply(_ context.Context, changed []api.Document, gone []string) error {
	for _, path := range gone {
		delete(d.files, path)
	}
	for path, docs := range filesOf(changed) {
		d.put(path, docs)
	}
	d.settle()
	return nil
}

// Health implements source.Sink.
func (d *Directory) Health(err error) {
	d.owner.mu.Lock()
	before := d.health
	d.health = err
	d.owner.mu.Unlock()
	switch {
	case err != nil && (before == nil || before.Error() != err.Error()):
		d.owner.cfg.Logger.Warn("the directory of objects cannot be read; what was read last stays in force", "path", d.owner.cfg.Dir, "err", err)
	case err == nil && before != nil:
		d.owner.cfg.Logger.Info("the directory of objects can be read again", "path", d.owner.cfg.Dir)
	}
}

func filesOf(docs []api.Document) map[string][]*api.Document {
	files := map[string][]*api.Document{}
	for i := range docs {
		path, _ := api.ManifestOf(docs[i].ID)
		files[path] = append(files[path], &docs[i])
	}
	return files
}

// put replaces the objects and faults of a manifest. An object without a document is kept if a
// faulty document may be that object.
func (d *Directory) put(path string, docs []*api.Document) {
	next, had := &localFile{}, d.files[path]
	if had == nil {
		had = &localFile{}
	}
	for _, doc := range docs {
		if doc.Err != nil {
			next.fail(doc.ID, doc.Claims, doc.Err)
			continue
		}
		next.objects = append(next.objects, &localObject{key: localKey(doc.Object), object: doc.Object, document: doc.ID})
	}
	for _, was := range had.objects {
		if next.find(was.key) == nil && slices.ContainsFunc(next.faults, func(f localFault) bool { return f.concerns(was.key) }) {
			next.objects = append(next.objects, was)
		}
	}
	d.files[path] = next
}

func (f *localFile) fail(document string, claims types.NamespacedName, err error) {
	f.faults = append(f.faults, localFault{document, claims, err})
}

func (f *localFile) find(k key) *localObject {
	for _, o := range f.objects {
		if o.key == k {
			return o
		}
	}
	return nil
}

func localKey(object metav1.Object) key {
	at := slices.IndexFunc(localKinds, func(k *kind) bool { return reflect.TypeOf(k.object) == reflect.TypeOf(object) })
	return key{localKinds[at], types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}, true}
}

func immutable(object metav1.Object) bool {
	switch o := object.(type) {
	case *v1.ConfigMap:
		return o.Immutable != nil && *o.Immutable
	case *v1.Secret:
		return o.Immutable != nil && *o.Immutable
	}
	return false
}

// sameData reports whether two objects of a kind have the same data.
func sameData(a, b metav1.Object) bool {
	switch a := a.(type) {
	case *v1.ConfigMap:
		b := b.(*v1.ConfigMap)
		return maps.Equal(a.Data, b.Data) && maps.EqualFunc(a.BinaryData, b.BinaryData, bytes.Equal)
	case *v1.Secret:
		return maps.EqualFunc(a.Data, b.(*v1.Secret).Data, bytes.Equal)
	}
	return true
}

// settle puts the objects of the manifests into force, and wakes the pods that name a changed
// object.
func (d *Directory) settle() {
	p := d.owner
	current, faults := map[key]*localObject{}, []localFault(nil)
	for _, path := range slices.Sorted(maps.Keys(d.files)) {
		f := d.files[path]
		faults = append(faults, f.faults...)
		slices.SortFunc(f.objects, func(a, b *localObject) int { return api.CompareDocuments(a.document, b.document) })
		for _, o := range f.objects {
			first := current[o.key]
			if first == nil {
				current[o.key] = o
				continue
			}
			faults = append(faults, localFault{o.document, o.key.NamespacedName, fmt.Errorf("%s: %s is in %s already, which counts; remove one of them", path, o.key, first.document)})
		}
	}
	p.mu.Lock()
	for k, o := range current {
		was := d.before(k)
		if was == nil || !immutable(was) || immutable(o.object) && sameData(was, o.object) {
			continue
		}
		path, _ := api.ManifestOf(o.document)
		faults = append(faults, localFault{o.document, k.NamespacedName, fmt.Errorf("%s: %s is immutable, and not as it was: remove its document, and add it again", path, k)})
		current[k] = &localObject{key: k, object: was, document: o.document}
	}
	for k := range current {
		d.known[k] = true
	}
	news := slices.DeleteFunc(slices.Clone(faults), func(f localFault) bool {
		return slices.ContainsFunc(d.faults, func(other localFault) bool { return other.document == f.document && other.err.Error() == f.err.Error() })
	})
	d.current, d.faults, d.heard = current, faults, true
	changed := map[key]*watched{}
	for k, w := range p.objects {
		if k.local {
			changed[k] = w
		}
	}
	p.mu.Unlock()
	for _, f := range news {
		p.cfg.Logger.Warn("a document of the directory of objects cannot be used; what it was before stays in force", "document", f.document, "err", f.err)
	}
	for k, w := range changed {
		p.take(w, d.objects(k), false)
		p.keep(k, w)
	}
}

// before returns the earlier object of a key, nil for none. This may be a copy that an earlier
// agent stored. The caller holds Objects.mu.
func (d *Directory) before(k key) metav1.Object {
	if was := d.current[k]; was != nil {
		return was.object
	}
	if d.known[k] {
		return nil
	}
	was, _ := d.owner.recalled(k)
	return was[k.Name]
}

// objects returns the objects in force for a key, by name.
func (d *Directory) objects(k key) map[string]metav1.Object {
	d.owner.mu.Lock()
	defer d.owner.mu.Unlock()
	return d.inForce(k)
}

// inForce returns the objects in force for a key. If the object's document has a fault, this may be
// a copy that an earlier agent stored. The caller holds Objects.mu.
func (d *Directory) inForce(k key) map[string]metav1.Object {
	if o := d.current[k]; o != nil {
		return map[string]metav1.Object{k.Name: o.object}
	}
	if !d.known[k] && slices.ContainsFunc(d.faults, func(f localFault) bool { return f.concerns(k) }) {
		if objects, ok := d.owner.recalled(k); ok {
			return objects
		}
	}
	return map[string]metav1.Object{}
}

// begin sets the objects in force for a key when a pod first names it. The caller holds Objects.mu.
func (d *Directory) begin(k key, w *watched) {
	if d.heard {
		w.objects, w.heard = d.inForce(k), true
		close(w.known)
	}
}

// missing adds details to the error for a missing object.
func (d *Directory) missing(k key, err error) error {
	p := d.owner
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range d.faults {
		if f.claims.Name != "" && f.concerns(k) {
			return fmt.Errorf("%w: its document has a fault: %w", err, f.err)
		}
	}
	if p.cfg.Dir == "" {
		return fmt.Errorf("%w: agent.toml names no directory of objects ([objects] dir)", err)
	}
	return fmt.Errorf("%w in %s; put a manifest of it there, and the pod starts by itself", err, p.cfg.Dir)
}
