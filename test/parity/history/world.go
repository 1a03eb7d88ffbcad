package history

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
)

// world is the content of the sources while a history is generated.
type world struct {
	rand   *rand.Rand
	kinds  map[kind]bool
	holds  map[string][]document
	past   map[string][]document
	edited map[string]int
	// versions and uids count the versions and UIDs generated so far.
	versions, uids int
}

// kind is a feature of a history that makes the two sides differ.
type kind string

// The kinds. A history without any of them must be the same on both sides.
const (
	duplicates kind = "duplicates"
	sharedUIDs kind = "shared UIDs"
	renames    kind = "renames"
	identities kind = "identities"
	unreadable kind = "unreadable documents"
	rewordings kind = "rewordings"
	early      kind = "differences first"
	restarts   kind = "restarts"
)

var kinds = []kind{duplicates, sharedUIDs, renames, identities, unreadable, rewordings, early, restarts}

// generate makes the history of a seed. Half of the histories have no kind.
func generate(seed uint64) *history {
	w := &world{
		rand: rand.New(rand.NewPCG(seed, 0)), kinds: map[kind]bool{}, edited: map[string]int{},
		holds: map[string][]document{}, past: map[string][]document{},
	}
	if w.rand.IntN(2) == 0 {
		for range 1 + w.rand.IntN(3) {
			w.kinds[pick(w.rand, kinds...)] = true
		}
	}
	h := &history{seed: seed, edited: w.edited}
	started := map[string]bool{}
	for range 10 + w.rand.IntN(20) {
		s := step{source: pick(w.rand, sources...), repeat: w.rand.IntN(4) == 0}
		if w.kinds[restarts] && w.rand.IntN(8) == 0 {
			s.restart, started = true, map[string]bool{}
		}
		s.difference = w.rand.IntN(2) == 0 && (started[s.source] || w.kinds[early])
		for range w.rand.IntN(5) {
			w.change(s.source)
		}
		started[s.source] = true
		s.documents = slices.Clone(w.holds[s.source])
		h.steps = append(h.steps, s)
	}
	return h
}

func (w *world) now() time.Time { return time.Unix(1_760_000_000, 0).UTC() }

// change makes one change to the content of a source.
func (w *world) change(source string) {
	all := w.holds[source]
	if len(all) == 0 || w.rand.IntN(6) == 0 {
		w.add(source)
		return
	}
	i := w.rand.IntN(len(all))
	switch n := w.rand.IntN(40); {
	case n < 22:
		w.put(source, i, w.edit)
	case n < 25:
		w.put(source, i, w.replace)
	case n < 28:
		w.past[source] = append(w.past[source], all[i])
		w.holds[source] = slices.Delete(all, i, i+1)
	case n < 29:
		w.past[source] = append(w.past[source], all...)
		w.holds[source] = nil
	case n < 31:
		w.rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	case n < 32:
		w.move(source, i)
	default:
		w.special(source, i)
	}
}

// special makes a change that only histories of some kinds contain.
func (w *world) special(source string, i int) {
	all := w.holds[source]
	switch k := pick(w.rand, kinds...); {
	case !w.kinds[k]:
		w.put(source, i, w.edit)
	case k == duplicates && source != apiSource && all[i].raw != nil:
		p := w.newPod(name(all[i].raw), w.newUID())
		if w.rand.IntN(4) == 0 {
			p.UID = all[i].raw.UID
		}
		w.insert(source, p)
	case k == sharedUIDs:
		from := w.holds[pick(w.rand, source, pick(w.rand, sources...))]
		if len(from) == 0 {
			return
		}
		if of := pick(w.rand, from...); of.raw != nil {
			w.put(source, i, func(p *v1.Pod) *v1.Pod {
				p = p.DeepCopy()
				p.UID = of.raw.UID
				return p
			})
		}
	case k == renames:
		w.rename(source, i)
	case k == identities:
		w.put(source, i, func(p *v1.Pod) *v1.Pod {
			p = p.DeepCopy()
			w.editMap(".Annotations", &p.Annotations, pod.AnnotationIdentity)
			return p
		})
	case k == unreadable && source == file:
		w.past[source] = append(w.past[source], all[i])
		w.versions++
		all[i] = newDocument(source, all[i].id, strconv.Itoa(w.versions), nil)
	case k == rewordings:
		w.put(source, i, w.rewrite)
	default:
		w.put(source, i, w.edit)
	}
}

// put makes a new version of a document. An unreadable document becomes readable.
func (w *world) put(source string, i int, change func(*v1.Pod) *v1.Pod) {
	at := &w.holds[source][i]
	p := at.raw
	if p == nil {
		p = w.mended(source, at.id)
	}
	w.versions++
	*at = newDocument(source, at.id, strconv.Itoa(w.versions), change(p))
}

// mended returns a pod for an unreadable document: a pod that the document had before if no
// document has its name or UID now, else a new pod.
func (w *world) mended(source, id string) *v1.Pod {
	for _, d := range w.past[source] {
		if d.id == id && d.raw != nil && !w.named(source, name(d.raw)) && !w.has(d.raw.UID) {
			return d.raw
		}
	}
	return w.newPod(w.newName(source), w.newUID())
}

// add adds a pod: a new pod, or a pod that was there before, in its former document or in another.
func (w *world) add(source string) {
	if past := w.past[source]; len(past) > 0 && w.rand.IntN(3) == 0 {
		d := pick(w.rand, past...)
		if d.raw != nil && !w.named(source, name(d.raw)) && !w.has(d.raw.UID) {
			if w.free(source, d.id) && w.rand.IntN(2) == 0 {
				w.holds[source] = append(w.holds[source], d)
			} else {
				w.insert(source, d.raw)
			}
			return
		}
	}
	w.insert(source, w.newPod(w.newName(source), w.newUID()))
}

// insert puts a pod in a new document at a random place.
func (w *world) insert(source string, p *v1.Pod) {
	id, ok := w.newID(source, p)
	if !ok {
		return
	}
	w.versions++
	d := newDocument(source, id, strconv.Itoa(w.versions), p)
	at := w.rand.IntN(len(w.holds[source]) + 1)
	w.holds[source] = slices.Insert(w.holds[source], at, d)
}

// replace returns a pod with a new UID, as in an edited manifest.
func (w *world) replace(p *v1.Pod) *v1.Pod {
	p = w.edit(p)
	p.UID = w.newUID()
	return p
}

// move changes the ID of a document, as a renamed file does.
func (w *world) move(source string, i int) {
	d := w.holds[source][i]
	if d.raw == nil || source == apiSource {
		return
	}
	w.past[source] = append(w.past[source], d)
	w.holds[source] = slices.Delete(w.holds[source], i, i+1)
	w.insert(source, d.raw)
}

// rename changes the name or namespace of a pod and keeps its UID.
func (w *world) rename(source string, i int) {
	d := w.holds[source][i]
	if d.raw == nil {
		return
	}
	p := d.raw.DeepCopy()
	to := w.newName(source)
	p.Name, p.Namespace = to.Name, to.Namespace
	if source == apiSource {
		w.holds[source] = slices.Delete(w.holds[source], i, i+1)
		w.insert(source, p)
		return
	}
	w.put(source, i, func(*v1.Pod) *v1.Pod { return p })
}

func (w *world) newUID() types.UID {
	w.uids++
	return types.UID(fmt.Sprintf("uid-%d", w.uids))
}

// newName returns a name that no pod of the source has now.
func (w *world) newName(source string) types.NamespacedName {
	for {
		n := types.NamespacedName{
			Namespace: pick(w.rand, "default", "kube-system"),
			Name:      "pod-" + strconv.Itoa(w.rand.IntN(20)),
		}
		if !w.named(source, n) {
			return n
		}
	}
}

// newID returns the ID of a new document: the ID of the object if the source is an API server, else
// the ID of a file or an item, which sorts at any position.
func (w *world) newID(source string, p *v1.Pod) (string, bool) {
	if source == apiSource {
		id := p.Namespace + "/" + p.Name
		return id, w.free(source, id)
	}
	for {
		if id := fmt.Sprintf("/%s/%03d.yaml#0", source, w.rand.IntN(1000)); w.free(source, id) {
			return id, true
		}
	}
}

func (w *world) free(source, id string) bool {
	return !slices.ContainsFunc(w.holds[source], func(d document) bool { return d.id == id })
}

func (w *world) named(source string, n types.NamespacedName) bool {
	return slices.ContainsFunc(w.holds[source], func(d document) bool { return d.raw != nil && name(d.raw) == n })
}

func (w *world) has(uid types.UID) bool {
	for _, s := range sources {
		if slices.ContainsFunc(w.holds[s], func(d document) bool { return d.raw != nil && d.raw.UID == uid }) {
			return true
		}
	}
	return false
}

func name(p *v1.Pod) types.NamespacedName {
	return types.NamespacedName{Namespace: p.Namespace, Name: p.Name}
}
