package mux

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// randomUmpire returns a resolver that answers at random, or nil in half of all calls. The
// resolver answers equal conflicts equally, and never answers a quarter of them.
func randomUmpire(random *rand.Rand) *umpire {
	if random.IntN(2) == 0 {
		return nil
	}
	u, salt := newUmpire(), random.Uint64()
	u.answer = func(c api.Contest) *api.Resolution {
		h := fnv.New64a()
		fmt.Fprint(h, salt, c.Identity.Name)
		for _, candidate := range c.Candidates {
			fmt.Fprint(h, candidate.Pod.UID)
		}
		choices := []api.Choice{api.ChooseWinner, api.ChooseWinner, api.ChooseCurrent, api.ChooseNone, api.NoChoice}
		if n := h.Sum64(); n%4 != 0 {
			r := &api.Resolution{Choice: choices[n%5], Winner: int(n>>8) % 3}
			if r.Choice == api.ChooseWinner && r.Winner < len(c.Candidates) && n>>16%2 == 0 {
				r.Mutation = madeOf(c.Candidates[r.Winner].Pod, "of-"+c.Identity.Name)
			}
			return r
		}
		return nil
	}
	return u
}

func described(documents []api.Document) string {
	var all []string
	for _, d := range documents {
		if d.Pod == nil {
			all = append(all, d.ID+" would be "+d.Claims.Name)
			continue
		}
		all = append(all, d.ID+"="+d.Pod.Name+":"+string(d.Pod.UID))
	}
	return strings.Join(all, " ")
}

// randomDocuments returns up to four documents. Some of them have the same name or UID.
func randomDocuments(random *rand.Rand, source string) []api.Document {
	var all []api.Document
	images := []string{"web:1", "web:2", "evil:1", "wait:1"}
	for _, id := range []string{"a#0", "b#0", "c#0", "d#0"} {
		if random.IntN(4) == 0 {
			continue
		}
		name, img := fmt.Sprint("n", random.IntN(4)), images[random.IntN(len(images))]
		uid := types.UID(name + "-" + img)
		if random.IntN(5) == 0 {
			uid = types.UID(fmt.Sprint("fixed", random.IntN(2)))
		} else if random.IntN(4) != 0 {
			uid += types.UID("-" + source)
		}
		d := doc(id, name, uid, img, func(p *v1.Pod) {
			if random.IntN(6) == 0 {
				p.Annotations[pod.AnnotationIdentity] = fmt.Sprint("n", random.IntN(4))
			}
			if random.IntN(4) == 0 {
				p.Status.Phase = []v1.PodPhase{v1.PodPending, v1.PodRunning}[random.IntN(2)]
			}
			if p.Annotations[pod.AnnotationSource] = source; source == "api" {
				delete(p.Annotations, pod.AnnotationHash)
			}
		})
		if random.IntN(5) == 0 {
			claims := types.NamespacedName{}
			if random.IntN(5) != 0 {
				claims = pod.Identity(d.Pod)
			}
			d = wouldBe(id, claims)
		}
		all = append(all, d)
	}
	return all
}
