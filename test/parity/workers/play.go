package workers

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// wish is something that a history wants to happen to a pod. version is used only by the operations
// that carry a version.
type wish struct {
	op      Op
	version Version
}

// player plays wishes on our side and records the resulting steps. It leaves out what neither
// product does. It also leaves out the cases after which the two stay different: those have
// histories of their own, in known.go.
type player struct {
	*ours
	pods map[types.UID]*playedPod
	// steps are the steps that were played, looks are the states after each.
	steps []Step
	looks []Look
	step  Step
	look  Look
}

// playedPod is the player's state of a pod.
type playedPod struct {
	// latest is the version in the source, nil before there is any. If the pod was created again
	// while it terminated, next is the version that starts afterwards.
	latest, next *Version
	// stray: its worker was created for a pod that only the runtime has.
	stray bool
	// begun: a set-up of the pod was tried since it has a worker. placed: a static pod terminated
	// without a set-up, and so keeps its place in a kubelet's queue for its name.
	begun, placed bool
}

// playWishes plays wishes in a synctest bubble.
func playWishes(wishes []wish) *player {
	p := &player{ours: newOurs(), pods: map[types.UID]*playedPod{}}
	defer p.stop()
	for _, w := range wishes {
		if w.op.UID != "" && p.pods[w.op.UID] == nil {
			p.pods[w.op.UID] = &playedPod{}
		}
	}
	for i := range wishes {
		p.step, p.look = nil, Look{Pods: map[types.UID]Seen{}}
		p.wish(&wishes[i])
		// Static pods are synced repeatedly, so that the next pod of a name starts when it may. Two
		// rounds are needed, because the next pod may come before the one that leaves.
		for range 2 {
			for _, uid := range p.uids() {
				if at := p.pods[uid]; at.latest != nil && at.latest.Static && p.pool.Has(uid) {
					p.do(Op{Do: doSync, UID: uid, Pod: at.latest})
				}
			}
		}
		if len(p.step) == 0 {
			continue
		}
		for _, uid := range p.uids() {
			p.look.Pods[uid] = p.seen(uid)
		}
		p.steps, p.looks = append(p.steps, p.step), append(p.looks, p.look)
	}
	return p
}

// playSteps plays recorded steps on our side.
func playSteps(steps []Step) (looks []Look) {
	o := newOurs()
	defer o.stop()
	uids := podsOf(steps)
	for _, s := range steps {
		look := Look{Pods: map[types.UID]Seen{}}
		for i := range s {
			o.apply(&s[i], &look)
		}
		for _, uid := range uids {
			look.Pods[uid] = o.seen(uid)
		}
		looks = append(looks, look)
	}
	return looks
}

func (p *player) uids() []types.UID { return slices.Sorted(maps.Keys(p.pods)) }

// do applies one operation and records it.
func (p *player) do(op Op) {
	p.step = append(p.step, op)
	had := map[types.UID]bool{}
	for _, uid := range p.uids() {
		had[uid] = p.pool.Has(uid)
	}
	p.apply(&p.step[len(p.step)-1], &p.look)
	for uid, at := range p.pods {
		state := p.read(uid)
		at.begun = at.begun || state.setUp
		has := p.pool.Has(uid)
		if static := at.latest != nil && at.latest.Static; static && !at.begun && (had[uid] && !has || has && p.pool.Done(uid)) {
			at.placed = true
		}
		if !has {
			at.begun, at.stray = false, false
		}
	}
}

// wish plays a wish as far as it makes sense.
func (p *player) wish(w *wish) {
	uid, at := w.op.UID, p.pods[w.op.UID]
	switch w.op.Do {
	case doSet:
		p.do(w.op)
		if w.op.Mode != modeHangs || p.pool.TerminationRequested(uid) {
			p.again(uid)
		}
	case doKnown:
		p.known(w)
	case doAppear:
		if state := p.read(uid); !w.version.Static && !p.pool.Has(uid) && !state.dead && !state.runs {
			p.do(w.op)
		}
	case doExit:
		if state := p.read(uid); w.version.Never && state.runs {
			p.do(w.op)
			p.again(uid)
		}
	case doStray:
		if state := p.read(uid); !w.version.Static && !p.pool.Has(uid) && state.runs {
			p.do(w.op)
			at.stray, at.next = p.pool.Has(uid), nil
		}
	default:
		p.request(w, uid, at)
	}
}

// again requests another attempt of what has failed.
func (p *player) again(uid types.UID) {
	at := p.pods[uid]
	switch {
	case !p.pool.Has(uid):
	case at.stray:
		p.do(Op{Do: doStray, UID: uid})
	case at.latest != nil:
		p.do(Op{Do: doSync, UID: uid, Pod: at.latest})
	}
}

func (p *player) request(w *wish, uid types.UID, at *playedPod) {
	has := p.pool.Has(uid)
	ending := has && p.pool.TerminationRequested(uid)
	op, version := w.op, &w.version
	if !has {
		at.next = nil
	}
	switch {
	case !has && at.placed:
		return
	case ending && op.Do == doCreate:
		at.next = version
	case at.stray:
		return // it can only come back, or terminate
	case ending && at.next != nil, op.Do != doCreate && op.Do != doUpdate && at.latest != nil:
		version = at.latest
	}
	if !has || version != at.next {
		at.latest = version
	}
	op.Pod = version
	p.do(op)
}

// known sets which pods sources have, and creates those of them that have no worker.
func (p *player) known(w *wish) {
	op := w.op
	op.Wanted = slices.Clone(op.Wanted)
	for _, uid := range p.uids() {
		if p.hangs(uid) == callSetUp && !slices.Contains(op.Wanted, uid) {
			op.Wanted = append(op.Wanted, uid)
		}
	}
	p.do(op)
	for _, uid := range op.Wanted {
		at := p.pods[uid]
		if at == nil || at.placed || p.pool.Has(uid) {
			continue
		}
		if at.next != nil {
			at.latest, at.next = at.next, nil
		}
		if at.latest == nil {
			continue
		}
		p.do(Op{Do: doCreate, UID: uid, Pod: at.latest})
	}
}
