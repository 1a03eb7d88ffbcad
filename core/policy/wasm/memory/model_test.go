package memory

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
)

// modelSteps is the number of random steps on memories.
var modelSteps = flag.Int("steps", 9000, "how much is done to memories at random; make soak takes 30000")

// actor is one instance, with a model of what its memory holds.
type actor struct {
	memory *Linear
	bytes  []byte
	model  []byte
}

// world is a plugin and its instances. Each step applies a random operation to an instance
// and to its model.
type world struct {
	*testing.T
	random   *rand.Rand
	options  []Option
	size     int
	snapshot *Snapshot
	content  []byte
	actors   []*actor
	noise    []byte // random bytes for writes
	restores int
}

func TestMemoriesHoldWhatAModelHolds(t *testing.T) {
	t.Parallel()
	steps := *modelSteps
	impatient := func(l *Linear) { l.patience = patience{keep: 20 * pageSize, waste: 200 * pageSize, calls: 50} }
	noFile := without(func(k *kernel) { k.newFile = func() (int, error) { return -1, errNone } })
	for name, options := range map[string][]Option{
		"scan": {By(Scan)}, "impatient scan": {By(Scan), impatient}, "drop": {By(Drop)}, "copy": {By(Copy)}, "no files": {noFile},
	} {
		for _, size := range []int{wasmPage, 2 * wasmPage} {
			t.Run(fmt.Sprintf("%s/%d KiB", name, size>>10), func(t *testing.T) {
				t.Parallel()
				random := seeded(uint64(size + len(name)))
				w := &world{T: t, random: random, options: options, size: size, noise: content(random, size)}
				for range steps {
					w.step()
				}
				w.release()
				if w.restores < steps/10 {
					t.Errorf("only %d of %d steps put a memory back", w.restores, steps)
				}
			})
		}
	}
}

func (w *world) step() {
	switch n := w.random.IntN(1000); {
	case w.snapshot == nil || n < 1:
		w.begin()
	case len(w.actors) == 0 || n < 10 && len(w.actors) < 4:
		w.adopt()
	case n < 15:
		w.grow(w.pick())
	case n < 25:
		w.free(w.pick())
	case n < 30:
		a := w.actors[w.pick()]
		if err := a.memory.Trim(); err != nil {
			w.Fatal(err)
		}
		copy(a.model, w.content)
		a.check(w)
	case n < 200:
		a := w.actors[w.pick()]
		restore(w, a.memory)
		copy(a.model, w.content)
		a.check(w)
		w.restores++
	case n < 700:
		w.write(w.actors[w.pick()])
	default:
		a := w.actors[w.pick()]
		start, end := w.span(2 * pageSize)
		if !bytes.Equal(a.bytes[start:end], a.model[start:end]) {
			w.Fatalf("bytes %#x to %#x are not what was written", start, end)
		}
	}
}

// begin replaces the plugin: a new instance initialises its memory, and the memory is
// captured.
func (w *world) begin() {
	w.release()
	a := w.instance()
	w.content = content(w.random, w.size)
	copy(a.bytes, w.content)
	copy(a.model, w.content)
	s, err := a.memory.Capture()
	if err != nil {
		w.Fatal(err)
	}
	w.snapshot = s
	a.check(w)
}

// release closes the plugin and its instances.
func (w *world) release() {
	if w.snapshot != nil {
		w.snapshot.Release()
		w.snapshot = nil
	}
	for len(w.actors) > 0 {
		w.free(0)
	}
}

func (w *world) instance() *actor {
	l, err := NewLinear(uint64(2*w.size), w.options...)
	if err != nil {
		w.Fatal(err)
	}
	a := &actor{memory: l, bytes: l.Reallocate(uint64(w.size)), model: make([]byte, w.size)}
	w.actors = append(w.actors, a)
	return a
}

func (w *world) adopt() {
	a := w.instance()
	w.write(a) // content that Adopt must replace
	if err := a.memory.Adopt(w.snapshot); err != nil {
		w.Fatal(err)
	}
	copy(a.model, w.content)
	if w.random.IntN(2) == 0 { // otherwise its pages stay untouched
		a.check(w)
	}
}

func (w *world) free(n int) {
	w.actors[n].memory.Free()
	w.actors = append(w.actors[:n], w.actors[n+1:]...)
}

func (w *world) pick() int { return w.random.IntN(len(w.actors)) }

// grow enlarges a memory, and then restores it or closes its instance.
func (w *world) grow(n int) {
	a := w.actors[n]
	of := &growing{a.memory, uint64(w.size)}
	of.Grow(1)
	grown := a.memory.all[:a.memory.size]
	if !bytes.Equal(grown[:w.size], a.model) || bytes.Count(grown[w.size:], []byte{0}) != wasmPage {
		w.Fatal("a grown memory holds something else")
	}
	if _, err := a.memory.Restore(); !errors.Is(err, errGrown) {
		w.Fatalf("put back a grown memory: %v", err)
	}
	copy(grown[w.size+w.random.IntN(wasmPage):], w.noise)
	if w.random.IntN(4) == 0 {
		w.free(n)
		return
	}
	if !a.memory.Shrink(of) {
		w.Fatal("it does not shrink")
	}
	if w.random.IntN(4) == 0 {
		if err := a.memory.Trim(); err != nil {
			w.Fatal(err)
		}
	}
	restore(w, a.memory)
	copy(a.model, w.content)
	a.check(w)
}

// write writes random bytes or zeros to a random range of the memory.
func (w *world) write(a *actor) {
	most := 16
	if w.random.IntN(4) == 0 {
		most = 8 * pageSize
	}
	start, end := w.span(most)
	if w.random.IntN(4) == 0 {
		clear(a.bytes[start:end])
		clear(a.model[start:end])
		return
	}
	at := w.random.IntN(w.size - (end - start) + 1)
	copy(a.bytes[start:end], w.noise[at:])
	copy(a.model[start:end], w.noise[at:])
}

// span returns a random range of the memory, of most bytes or fewer.
func (w *world) span(most int) (start, end int) {
	start = w.random.IntN(w.size)
	return start, min(w.size, start+1+w.random.IntN(most))
}

// check compares the whole memory with the model.
func (a *actor) check(w *world) {
	w.Helper()
	mustEqual(w, a.bytes, a.model)
}
