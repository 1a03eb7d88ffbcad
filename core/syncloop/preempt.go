package syncloop

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/admission"
)

// reasonMakingRoom is why an admitted pod has not begun to start.
const reasonMakingRoom = "MakingRoom"

// minRoomWait is how long a pod waits at least for others to end.
const minRoomWait = 10 * time.Second

// arrival is an admitted pod that starts when others have left, or at a time at
// which they should have.
type arrival struct {
	leaving []types.UID
	until   time.Time
}

// preempt has others end for an admitted pod, which starts after them. It uses the
// node from now on, so that nobody else takes the room.
func (l *Loop) preempt(m member, room *admission.Preemption) {
	var a arrival
	var names []string
	left := l.left(l.cfg.Workers.Ending())
	wait := minRoomWait
	for _, p := range slices.Concat(room.Victims, room.Await) {
		a.leaving = append(a.leaving, p.UID)
		names = append(names, p.Namespace+"/"+p.Name)
		rest, ends := left[p.UID]
		if s := p.Spec.TerminationGracePeriodSeconds; !ends && s != nil {
			rest = seconds(*s)
		}
		wait = max(wait, rest+rest/2)
	}
	a.until = l.cfg.Now().Add(wait)
	l.arrivals[m.pod.UID] = a
	l.cfg.Log.Info("pods end for a critical one", "pod", m.pod.Namespace+"/"+m.pod.Name, "uid", m.pod.UID, "ending", names)
	l.pending(m, reasonMakingRoom, "Pod starts when these have ended: "+strings.Join(names, ", "))
	l.lookAgain()
	for _, p := range room.Victims {
		l.expel(p)
	}
	l.arrive()
}

// seconds is a number of seconds, a century at most: more, or half of that on top, may
// be no duration.
func seconds(n int64) time.Duration {
	const century = 100 * 365 * 24 * time.Hour
	return time.Duration(min(max(n, 0), int64(century/time.Second))) * time.Second
}

// arrive starts the pods for which others have left.
func (l *Loop) arrive() {
	for uid, a := range l.arrivals {
		leaves := func(uid types.UID) bool { return l.cfg.Workers.Has(uid) && !l.cfg.Workers.KnownTerminated(uid) }
		late := l.cfg.Now().After(a.until)
		if slices.ContainsFunc(a.leaving, leaves) && !late {
			continue
		}
		delete(l.arrivals, uid)
		m, known := l.pods.get(uid)
		if !known {
			continue
		}
		if late {
			l.cfg.Log.Warn("pod starts although not all have ended that give way to it", "pod", m.pod.Namespace+"/"+m.pod.Name, "uid", uid)
		}
		l.pending(m, "", "")
		l.create(m, false)
	}
}
