package mux

import (
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/manifest"
	"github.com/wardlet/wardlet/core/state"
)

// draft is a document as a user types it.
type draft struct {
	name    string
	version int
	fault   fault
}

// fault is the error in a draft.
type fault int

const (
	valid fault = iota
	// typo is a fault in a document that still names its pod.
	typo
	// nameless is a fault in a document that does not name its pod.
	nameless
	// garbled is a fault because of which the end of the document cannot be found.
	garbled
)

func (d draft) text() string {
	const spec = "spec:\n  %s: Always\n  containers: [{name: c, image: i:%d}]\n"
	meta, restart := "apiVersion: v1\nkind: Pod\nmetadata: {name: "+d.name+"}\n", "restartPolicy"
	switch d.fault {
	case typo:
		restart = "restartPolcy"
	case nameless:
		meta = "apiVersion: v1\nkind: Pod\nmetadata: {labels: {a: b}}\n"
	case garbled:
		meta = "apiVersion: [v1\nkind: Pod\n"
	}
	return meta + fmt.Sprintf(spec, restart, d.version)
}

func (d draft) String() string {
	return d.name + strconv.Itoa(d.version) + []string{"", "!", "?", "["}[d.fault]
}

// desk is a directory of manifests that a user edits. It delivers them as the file source does.
type desk struct {
	files map[string][]draft
	store *store
	disk  *disk
	now   time.Time
	// given is the text of each file that was delivered last.
	given map[string]string
}

func (d *desk) decode(file string) (text string, docs []api.Document) {
	parts := []string{"# pods\n"}
	for _, one := range d.files[file] {
		parts = append(parts, one.text())
	}
	text = strings.Join(parts, "---\n")
	return text, manifest.Decode([]byte(text), manifest.DecodeFrom{Source: "one", Kind: api.KindFile, File: file, NodeName: "n"})
}

// restart creates a new store from the disk and delivers a snapshot of all files.
func (d *desk) restart() {
	m := New(Config{Sources: []Source{{Name: "one", Kind: "file"}}, Documents: d.disk, Logger: slog.New(slog.DiscardHandler), Now: time.Now})
	d.store, d.given = m.store, map[string]string{}
	d.step(m.restore)
	var all []api.Document
	for file := range d.files {
		text, docs := d.decode(file)
		d.given[file] = text
		all = append(all, docs...)
	}
	d.merge(delivery{source: "one", snapshot: true, docs: all})
}

// deliver delivers the files that have changed since the last delivery.
func (d *desk) deliver() {
	change := delivery{source: "one"}
	for file := range d.given {
		if _, ok := d.files[file]; !ok {
			change.gone = append(change.gone, file)
			delete(d.given, file)
		}
	}
	for file := range d.files {
		text, docs := d.decode(file)
		switch {
		case text == d.given[file]:
		case len(docs) == 0:
			change.gone = append(change.gone, file)
		default:
			change.docs = append(change.docs, docs...)
		}
		d.given[file] = text
	}
	d.merge(change)
}

func (d *desk) merge(change delivery) {
	d.step(func(t *txn) outcome { return d.store.merge(change, t) })
}

func (d *desk) step(change func(*txn) outcome) {
	out := change(d.store.begin(d.now, slog.New(slog.DiscardHandler)))
	if err := d.disk.Apply(out.keep, out.drop); err != nil {
		panic(err)
	}
}

// runs returns the versions of the running pods, by name.
func (d *desk) runs() map[string]string {
	versions := map[string]string{}
	for _, sl := range d.store.owner {
		_, version, _ := strings.Cut(sl.sent.pod.Spec.Containers[0].Image, ":")
		versions[strings.TrimSuffix(sl.sent.pod.Name, "-n")] = version
	}
	return versions
}

// stands returns the file of each pod's document, by the pod's name.
func (d *desk) stands() map[string]string {
	files := map[string]string{}
	for _, sl := range d.store.sources["one"].slots {
		if sl.first != nil {
			files[strings.TrimSuffix(sl.first.Pod.Name, "-n")], _ = api.ManifestOf(sl.first.ID)
		}
	}
	return files
}

// edit makes a random change. faults is the number of kinds of faults that it chooses from.
func (d *desk) edit(random *rand.Rand, faults int) {
	file := []string{"f", "g"}[random.IntN(2)]
	drafts := slices.Clone(d.files[file])
	at := 0
	if len(drafts) > 0 {
		at = random.IntN(len(drafts))
	}
	switch n := random.IntN(8); {
	case n == 0 && len(drafts) > 0:
		drafts = slices.Delete(drafts, at, at+1)
	case n == 1 && len(drafts) > 0:
		other := random.IntN(len(drafts))
		drafts[at], drafts[other] = drafts[other], drafts[at]
	case n <= 3 && len(drafts) > 0:
		drafts[at].fault = fault(random.IntN(faults))
	case n == 4 && len(drafts) > 0:
		drafts[at].version++
	case n == 5 && random.IntN(3) == 0:
		delete(d.files, file)
		return
	case n == 6 && len(drafts) > 0:
		// The document moves to the other file.
		other := d.otherThan(file)
		d.files[other] = append(slices.Clone(d.files[other]), drafts[at])
		drafts = slices.Delete(drafts, at, at+1)
	default:
		name := string(rune('a' + random.IntN(5)))
		if random.IntN(4) != 0 && d.names()[name] > 0 {
			return
		}
		drafts = slices.Insert(drafts, random.IntN(len(drafts)+1), draft{name: name, version: random.IntN(3)})
	}
	d.files[file] = drafts
}

func (d *desk) otherThan(file string) string {
	if file == "f" {
		return "g"
	}
	return "f"
}

// names returns the number of documents of each pod name, including documents with a fault.
func (d *desk) names() map[string]int {
	count := map[string]int{}
	for _, drafts := range d.files {
		for _, one := range drafts {
			count[one.name]++
		}
	}
	return count
}

func (d *desk) held(file string) bool {
	return slices.ContainsFunc(d.files[file], func(one draft) bool { return one.fault >= nameless })
}

// check returns the rules that the running pods violate. before, stood and named are the
// results of runs, stands and names before the edits.
func (d *desk) check(before, stood map[string]string, named map[string]int) (wrong []string) {
	runs, names := d.runs(), d.names()
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	bad, anyHeld := 0, false
	for file, drafts := range d.files {
		anyHeld = anyHeld || d.held(file)
		for _, one := range drafts {
			if one.fault != valid {
				bad++
			}
			version, run := runs[one.name]
			switch was, ran := before[one.name]; {
			case names[one.name] != 1 || named[one.name] > 1 || one.fault >= nameless:
			case one.fault == typo && ran && stood[one.name] == file && version != was:
				say("%s, of which %s ran, runs as %q", one, was, version)
			case one.fault == valid && !d.held(file) && !d.held(stood[one.name]) && version != strconv.Itoa(one.version):
				say("%s runs as %q", one, version)
			case ran && !run:
				say("%s has ended", one)
			}
		}
	}
	for name := range before {
		if d.held(stood[name]) && runs[name] == "" {
			say("%s has ended, though it stood in %s, of which the pods are uncertain", name, stood[name])
		}
	}
	unnamed := 0
	for name := range runs {
		if names[name] == 0 {
			unnamed++
		}
	}
	if unnamed > bad && !anyHeld {
		say("%d pods run that nobody names, with %d documents that are bad", unnamed, bad)
	}
	state := d.store.sources["one"].state(everything)
	for _, p := range state.Problems {
		file, place, _ := strings.Cut(p.Document, "#")
		at, err := strconv.Atoi(place)
		if err == nil && at < len(d.files[file]) && d.files[file][at].fault == valid && strings.Contains(p.Message, "unknown field") {
			say("%s was mended, and is told of: %s", p.Document, p.Message)
		}
		_, other, twice := strings.Cut(p.Message, "default/")
		name, _, _ := strings.Cut(other, "-n ")
		if twice && strings.Contains(p.Message, "already defined") && names[name] < 2 && !anyHeld {
			say("told without reason: %s", p.Message)
		}
	}
	return wrong
}

// TestManifests_randomEdits plays random edits of manifests, with faults and restarts. It
// checks that the running pods follow from the documents. It plays only a third of the seeds,
// because such a history takes long.
func TestManifests_randomEdits(t *testing.T) {
	t.Parallel()
	for seed := range *seeds / 3 {
		random := rand.New(rand.NewPCG(seed, 3))
		faults := []int{2, 4}[seed%2]
		d := &desk{files: map[string][]draft{}, disk: newDisk(), now: time.Now()}
		d.restart()
		var history []string
		for step := range 30 {
			before, stood, named := d.runs(), d.stands(), d.names()
			for range 1 + random.IntN(2) {
				d.edit(random, faults)
			}
			if step == 29 {
				for _, drafts := range d.files {
					for i := range drafts {
						drafts[i].fault = valid
					}
				}
			}
			line := fmt.Sprint(d.files)
			if random.IntN(4) == 0 {
				d.restart()
				line += " after a restart"
			} else {
				d.deliver()
			}
			history = append(history, line+": "+fmt.Sprint(d.runs()))
			wrong := d.check(before, stood, named)
			if step == 29 && !slices.Equal(slices.Sorted(maps.Keys(d.runs())), slices.Sorted(maps.Keys(d.names()))) {
				wrong = append(wrong, "mended, other pods run than are named")
			}
			if err := sameAsDisk(d); err != nil {
				wrong = append(wrong, err.Error())
			}
			if len(wrong) > 0 {
				t.Errorf("seed %d: %s\n  %s", seed, strings.Join(wrong, "; "), strings.Join(history, "\n  "))
				break
			}
		}
	}
}

// sameAsDisk returns an error unless the disk and the store have the same last valid versions.
func sameAsDisk(d *desk) error {
	have := map[state.DocumentID]*api.Document{}
	src := d.store.sources["one"]
	for identity := range src.slots {
		for _, e := range src.docs.Of(identity) {
			have[state.DocumentID{Source: "one", ID: e.ID}] = &api.Document{Pod: e.Pod}
		}
	}
	for id, r := range d.disk.records {
		if e := have[id]; e == nil || e.Pod.UID != r.Pod.UID {
			return fmt.Errorf("the disk has %s for %s", r.Pod.Name, id)
		}
		delete(have, id)
	}
	for id := range have {
		return fmt.Errorf("the disk has nothing for %s", id)
	}
	return nil
}
