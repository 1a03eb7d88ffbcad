package simulation

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// play runs a script in a bubble of its own. It returns how many steps were taken, the
// trace if tracing is on, and what was wrong, nil for nothing.
func play(t *testing.T, s *script, tracing bool) (steps int, trace []string, wrong error) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		p := &player{world: newWorld(s, tracing)}
		wrong = p.play(s)
		if p.agent != nil {
			p.agent.stop()
		}
		p.late.Wait()
		steps, trace = p.steps, p.trace
	})
	return steps, trace, wrong
}

// player does what a script says.
type player struct {
	*world
	agent *agent
	steps int
}

func (p *player) play(s *script) error {
	if err := p.start(); err != nil {
		return err
	}
	for i := range s.steps {
		st := &s.steps[i]
		p.mu.Lock()
		p.note("STEP %d: %v", i+1, st)
		p.mu.Unlock()
		if err := p.take(st); err != nil {
			return err
		}
		time.Sleep(st.after)
		synctest.Wait()
		p.steps++
		if err := p.check(); err != nil {
			return fmt.Errorf("after step %d: %w", i+1, err)
		}
	}
	return p.settle()
}

// check returns the first violation so far.
func (p *player) check() error {
	p.alone()
	if p.agent != nil {
		if wrong := p.misreported(p.agent); wrong != "" {
			return violation{"misreported", wrong}
		}
	}
	return p.first()
}

// alone checks that nothing runs twice, that static pods of one name exclude each
// other, and that the foreign pod still runs.
func (w *world) alone() {
	w.mu.Lock()
	defer w.mu.Unlock()
	names := map[string]types.UID{}
	for uid, g := range w.runtime.pods {
		running := map[string]bool{}
		for _, c := range g.containers {
			switch {
			case !c.running():
				continue
			case running[c.name]:
				w.violated("container %s of pod %s runs twice", c.name, uid)
			case c.fullName != "" && names[c.fullName] != "" && names[c.fullName] != uid:
				w.violated("two static pods of the name %s run: %s and %s", c.fullName, uid, names[c.fullName])
			case c.fullName != "":
				names[c.fullName] = uid
			}
			running[c.name] = true
		}
	}
	if s := w.runtime.sandboxes["foreign-sandbox"]; s == nil || !s.ready || !w.runtime.group("foreign").running() {
		w.violated("the pod of somebody else does not run any more")
	}
}

// moments are the times, after everything was repaired, at which settle checks whether the
// world has settled.
var moments = []time.Duration{
	20 * time.Second, 40 * time.Second, time.Minute, 90 * time.Second, 2 * time.Minute, 3 * time.Minute, 4 * time.Minute,
	330 * time.Second, 450 * time.Second, 10 * time.Minute,
}

// settle repairs everything and waits until the world is as it must be.
func (p *player) settle() error {
	p.mend()
	if p.agent == nil {
		if err := p.start(); err != nil {
			return err
		}
	}
	begun, why := time.Now(), ""
	for _, at := range moments {
		time.Sleep(time.Until(begun.Add(at)))
		synctest.Wait()
		if err := p.check(); err != nil {
			return fmt.Errorf("when all was quiet: %w", err)
		}
		if why = p.unsettled(p.agent); why == "" {
			return nil
		}
	}
	return fmt.Errorf("%s after all was quiet: %w", moments[len(moments)-1], violation{"unsettled: " + inKind(why), why})
}

// inKind returns a text without words of one letter, UIDs and words with digits.
func inKind(text string) string {
	return strings.Join(slices.DeleteFunc(strings.Fields(text), func(word string) bool {
		return len(word) == 1 || named(types.UID(word)) || strings.ContainsAny(word, "0123456789")
	}), " ")
}

// mend ends all troubles.
func (p *player) mend() {
	w := p.world
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note("ALL IS MENDED")
	clear(w.runtime.troubles)
	w.runtime.down, w.runtime.offline = time.Time{}, time.Time{}
	for _, s := range w.sources {
		s.silent = false
		s.poke()
	}
	w.policy.relaxed = true
	if p.agent != nil {
		p.agent.rethink()
	}
}

// rethink signals to the agent that policies and filters have changed.
func (a *agent) rethink() {
	if a.gate != nil {
		signal(a.gate.changed)
	}
	if a.filter != nil {
		signal(a.filter.changed)
	}
}

func (p *player) start() (err error) {
	p.agent, err = newAgent(p.world)
	return err
}

// take does one step.
func (p *player) take(st *step) error {
	switch st.do {
	case rest:
	case start:
		if p.agent == nil {
			return p.start()
		}
	case stop, crash:
		if p.agent == nil {
			return nil
		}
		if st.do == stop {
			p.agent.stop()
		} else {
			p.agent.kill()
		}
		p.agent = nil
	default:
		p.mu.Lock()
		defer p.mu.Unlock()
		p.disturb(st)
	}
	return nil
}

// disturb changes the world. mu is held.
func (p *player) disturb(st *step) {
	w := p.world
	until := time.Now().Add(time.Duration(1+st.n%40) * time.Second)
	switch st.do {
	case policies, filters:
		if st.do == policies {
			w.policy.generation++
		} else {
			w.policy.filtering++
		}
		if p.agent != nil {
			p.agent.rethink()
		}
	case exit:
		if c := w.anyRunning(st); c != nil {
			w.end(c, []int32{0, 1, 137}[st.n%3])
		}
	case killSandbox:
		if c := w.anyRunning(st); c != nil {
			w.endSandbox(c.sandbox)
		}
	case slow, fail, hang:
		t := trouble{how: st.do, until: until}
		if d := w.sources[st.source].documents[st.place]; d != nil && st.n%3 > 0 {
			t.uid = d.pod.UID
		}
		kind := calls[st.n/40%len(calls)]
		if w.runtime.troubles[kind] = t; kind == callWatch && st.do == fail {
			w.cutWatch()
		}
	case runtimeDown:
		w.runtime.down = until
		w.cutWatch()
	case networkDown:
		w.runtime.offline = until
	case lose:
		w.lose(st)
	case amnesia: // if policies judge, another part of the agent compensates for the loss
		if p.agent == nil && !w.set.gated && !w.set.filtered {
			clear(w.disk.records)
			for uid := range w.subjects {
				w.disk.untracked[uid] = true
				w.unknown(uid)
			}
		}
	case setClock:
		w.clock.jump(time.Duration(st.n-2048) * 42 * time.Hour) // at most ten years
	default:
		w.edit(st)
	}
}

// lose removes all that the runtime has of one of the pods whose outcome on the disk says
// that they have ended.
func (w *world) lose(st *step) {
	var gone []types.UID
	for _, uid := range sortedKeys(w.disk.outcomes) {
		if g := w.runtime.group(uid); w.disk.outcomes[uid].ended && len(g.containers) > 0 && !g.running() {
			gone = append(gone, uid)
		}
	}
	if len(gone) == 0 {
		return
	}
	g := w.runtime.group(gone[st.n%len(gone)])
	for _, c := range slices.Clone(g.containers) {
		w.runtime.dropContainer(c)
	}
	for _, s := range slices.Clone(g.sandboxes) {
		w.endSandbox(s)
		w.runtime.dropSandbox(s)
	}
	w.unknown(gone[st.n%len(gone)])
}

// unknown allows a pod to run again of which nothing is left. If both the documents and the
// pod's containers are gone, an agent cannot decide whether the stored outcome is one of this
// pod. mu is held.
func (w *world) unknown(uid types.UID) {
	if (len(w.disk.records) == 0 || w.disk.untracked[uid]) && len(w.runtime.group(uid).containers) == 0 {
		clear(w.subject(uid).ended)
	}
}

// anyRunning returns a running container of the document that the step names.
func (w *world) anyRunning(st *step) *container {
	d := w.sources[st.source].documents[st.place]
	if d == nil {
		return nil
	}
	var running []*container
	for _, c := range w.runtime.group(d.pod.UID).containers {
		if c.running() {
			running = append(running, c)
		}
	}
	if len(running) == 0 {
		return nil
	}
	return running[st.n%len(running)]
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
