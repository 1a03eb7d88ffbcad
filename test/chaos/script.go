package main

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

// form is how long the parts of a run take.
type form struct {
	rounds int
	// disturb is how long a round disturbs, and freeze how long containerd is frozen in it. settle is
	// how soon after the disturbances everything must be as it should.
	disturb, freeze, settle time.Duration
}

// formFor returns a form that takes about as long as whole, without setting up and cleaning up.
func formFor(whole time.Duration) form {
	const settle = 10 * time.Second
	if long := whole / (80 * time.Second); long >= 2 {
		return form{rounds: int(long), disturb: 70 * time.Second, freeze: 30 * time.Second, settle: settle}
	}
	const rounds = 2
	disturb := max(whole/rounds-settle, 15*time.Second)
	return form{rounds: rounds, disturb: disturb, freeze: min(10*time.Second, disturb/2), settle: settle}
}

// author writes a script.
type author struct {
	form   form
	random *rand.Rand
	ledger *ledger
	// began is the beginning of the ledger's times, independent of the real time.
	began time.Time
	steps []step
}

// newScript returns the steps of each round. They depend only on the seed, the form and the pods.
func newScript(f form, seed uint64, all []*shape) [][]step {
	began := time.Unix(0, 0)
	a := &author{form: f, random: rand.New(rand.NewPCG(seed, seed)), ledger: newLedger(all, began), began: began}
	script := make([][]step, f.rounds)
	for round := range script {
		script[round] = a.round(round)
	}
	return script
}

// round returns the steps of a round in the order of time. At its end agent and containerd run, and
// the policy is valid.
func (a *author) round(number int) []step {
	a.steps = nil
	last := number == a.form.rounds-1
	a.runtime(number)
	a.agent(last)
	a.small(number)
	slices.SortStableFunc(a.steps, func(x, y step) int { return cmp.Compare(x.At, y.At) })
	return a.steps
}

func (a *author) add(s step) { a.steps = append(a.steps, s) }

// after returns a random time with that mean.
func (a *author) after(mean time.Duration) time.Duration {
	return min(time.Duration(a.random.ExpFloat64()*float64(mean)), 4*mean)
}

func (a *author) upTo(most time.Duration) time.Duration {
	return time.Duration(a.random.Int64N(int64(most) + 1))
}

// agent kills the agent again and again and starts it at once or after some seconds. In the last
// round it leaves the agent alone after a third, so that what the agent holds at the end is what it
// has not released for a while.
func (a *author) agent(last bool) {
	end := a.form.disturb
	if last {
		end /= 3
	}
	const longest = 4 * time.Second
	for at := a.after(3 * time.Second); at < end; at += time.Second + a.after(5*time.Second) {
		how := killAgent
		if a.random.IntN(6) == 0 {
			how = endAgent
		}
		a.add(step{At: at, Kind: how})
		if a.random.IntN(2) == 0 {
			at = min(at+a.upTo(longest), end)
		}
		a.add(step{At: at, Kind: startAgent})
	}
}

// runtime freezes containerd once in a round, and kills it before and after. In a run of many
// rounds it freezes containerd only in every other round.
func (a *author) runtime(number int) {
	free := [][2]time.Duration{{0, a.form.disturb}}
	if a.form.rounds < 4 || number%2 == 1 {
		at := a.upTo(a.form.disturb - a.form.freeze)
		a.add(step{At: at, Kind: freezeRuntime})
		a.add(step{At: at + a.form.freeze, Kind: thawRuntime})
		free = [][2]time.Duration{{0, at}, {at + a.form.freeze + time.Second, a.form.disturb}}
	}
	const longest = 3 * time.Second
	largest := slices.MaxFunc(free, func(x, y [2]time.Duration) int { return cmp.Compare(x[1]-x[0], y[1]-y[0]) })
	for _, span := range free {
		at := span[0] + a.after(8*time.Second)
		if span == largest { // there is always one kill in the largest span
			at = span[0] + a.upTo(min(8*time.Second, span[1]-span[0]-longest))
		}
		for at+longest <= span[1] {
			a.add(step{At: at, Kind: killRuntime})
			at += a.upTo(longest)
			a.add(step{At: at, Kind: resumeRuntime})
			at += 2*time.Second + a.after(12*time.Second)
		}
	}
}

// small disturbs pods, manifests and policies.
func (a *author) small(number int) {
	begins := a.began.Add(time.Duration(number) * time.Hour) // far beyond the times of the round before
	for at := a.after(time.Second); at < a.form.disturb; at += a.after(450 * time.Millisecond) {
		if s, ok := a.draw(); ok {
			s.At = at
			a.ledger.note(&s, begins.Add(at))
			a.add(s)
		}
	}
	mended := step{At: a.form.disturb, Kind: editPolicy, List: a.random.IntN(len(lists))}
	a.ledger.note(&mended, begins.Add(mended.At))
	a.add(mended)
}

// shape is a kind of pod.
type shape struct {
	name string
	// count is how many pods of the shape there are.
	count int
	// steady: these pods are never disturbed themselves. Their containers must go on whatever happens
	// to the agent and to containerd.
	steady bool
	// ends: its containers exit by themselves, or must not restart after their exit. once: they run at
	// most once.
	ends, once bool
	// containers are the names of its containers.
	containers []string
	// spec is the spec of the pod, with $IMAGE for the image.
	spec string
}

const (
	hostSleep = `  hostNetwork: true
  terminationGracePeriodSeconds: 1
  containers:
  - {name: main, image: $IMAGE, args: [sleep]}
`
	ownNetwork = `  terminationGracePeriodSeconds: 1
  containers:
  - {name: main, image: $IMAGE, args: [serve]}
`
	// stubborn ignores SIGTERM, and so uses its whole grace period.
	stubborn = `  terminationGracePeriodSeconds: 2
  containers:
  - {name: main, image: $IMAGE, args: [serve, -ignore-term]}
`
	twoContainers = `  hostNetwork: true
  terminationGracePeriodSeconds: 1
  containers:
  - name: main
    image: $IMAGE
    args: [sleep]
    resources: {requests: {cpu: 1m, memory: 1Mi}}
    volumeMounts: [{name: shared, mountPath: /shared}, {name: disk, mountPath: /disk}]
  - name: beside
    image: $IMAGE
    args: [sleep]
    volumeMounts: [{name: shared, mountPath: /shared}]
  volumes:
  - {name: shared, emptyDir: {medium: Memory, sizeLimit: 1Mi}}
  - {name: disk, emptyDir: {}}
`
	jobOnce = `  hostNetwork: true
  restartPolicy: Never
  terminationGracePeriodSeconds: 1
  containers:
  - {name: main, image: $IMAGE, args: [exit, -code, "0", -after, 4s]}
`
	// serviceOnce does not exit by itself.
	serviceOnce = `  hostNetwork: true
  restartPolicy: Never
  terminationGracePeriodSeconds: 1
  containers:
  - {name: main, image: $IMAGE, args: [sleep]}
`
	jobAgain = `  hostNetwork: true
  restartPolicy: OnFailure
  terminationGracePeriodSeconds: 1
  containers:
  - {name: main, image: $IMAGE, args: [exit, -code, "1", -after, 3s]}
`
	jobUntilDone = `  hostNetwork: true
  restartPolicy: OnFailure
  terminationGracePeriodSeconds: 1
  containers:
  - {name: main, image: $IMAGE, args: [exit, -code, "0", -after, 6s]}
`
)

// shapes returns the shapes of a run, with fifty pods in total.
func shapes() []*shape {
	one := []string{"main"}
	return []*shape{
		{name: "steady", count: 9, steady: true, containers: one, spec: hostSleep},
		{name: "stand", count: 4, steady: true, containers: one, spec: ownNetwork},
		{name: "web", count: 13, containers: one, spec: hostSleep},
		{name: "net", count: 6, containers: one, spec: ownNetwork},
		{name: "stubborn", count: 3, containers: one, spec: stubborn},
		{name: "pair", count: 5, containers: []string{"main", "beside"}, spec: twoContainers},
		{name: "once", count: 3, ends: true, once: true, containers: one, spec: jobOnce},
		{name: "single", count: 3, ends: true, once: true, containers: one, spec: serviceOnce},
		{name: "again", count: 2, ends: true, containers: one, spec: jobAgain},
		{name: "done", count: 2, ends: true, containers: one, spec: jobUntilDone},
	}
}

// fewer reduces the number of pods by the factor part, but leaves at least one of each shape.
func fewer(all []*shape, part int) []*shape {
	for _, s := range all {
		s.count = max(1, s.count/part)
	}
	return all
}

// labelVersion is the label with the version of a pod, in manifests and on sandboxes.
const labelVersion = "version"

// manifest returns the manifest of a pod of the shape.
func (s *shape) manifest(pod string, version int, image string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Pod
metadata:
  name: %s
  labels: {team: chaos, %s: %q}
spec:
`, pod, labelVersion, strconv.Itoa(version)) + strings.ReplaceAll(s.spec, "$IMAGE", image)
}

// broken returns the manifest with a mistake in it.
func broken(good string) string { return strings.Replace(good, "containers:", "contaners:", 1) }
