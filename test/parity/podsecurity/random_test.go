package podsecurity

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/yaml"
)

const (
	seed = 1
	// pods is the number of random pods. rare is how many of them must violate each check, and how
	// many must be allowed at each level.
	pods = 20_000
	rare = 30
)

// pull makes a pod from a fixture, mostly from one that complies with its level. It returns the
// level and the version to evaluate the pod by, which are mostly the fixture's.
func pull(from []fixture, pick chooser) (p *v1.Pod, level, version string) {
	f := &from[pick(len(from))]
	for range 3 {
		if f.pass {
			break
		}
		f = &from[pick(len(from))]
	}
	p, level, version = f.pod.DeepCopy(), f.level, f.version
	if pick(3) == 0 {
		level = one(pick, "baseline", "restricted")
		version = fmt.Sprintf("v1.%d", pick(newest+1))
	}
	for steps := 1; steps == 1 || pick(3) > 0; steps++ {
		mutate(p, pick)
	}
	return p, level, version
}

func excerpt(p *v1.Pod) string {
	text, err := yaml.Marshal(p)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func TestThePluginDecidesRandomPodsAsUpstreamDoes(t *testing.T) {
	from := all(t)
	r := rand.New(rand.NewPCG(seed, 0))
	seen, allowed, failed := map[string]int{}, map[string]int{}, 0
	for n := range pods {
		p, level, version := pull(from, r.IntN)
		violated, err := agree(t, p, level, version)
		if err != nil {
			t.Errorf("pod %d by %s:%s: %v\n%s", n, level, version, err, excerpt(p))
			if failed++; failed == 3 {
				t.FailNow()
			}
		}
		if violated == "" {
			allowed[level]++
			continue
		}
		for check := range strings.SplitSeq(violated, ",") {
			seen[check]++
		}
	}
	t.Logf("%d random pods have the same verdict and violated checks; allowed %v, violated %v", pods-failed, allowed, seen)
	for _, check := range policy.DefaultChecks() {
		if got := seen[string(check.ID)]; got < rare {
			t.Errorf("%d pods violate %s, want %d at least", got, check.ID, rare)
		}
	}
	if allowed["baseline"] < rare || allowed["restricted"] < rare {
		t.Errorf("allowed are %v: the test compares too little", allowed)
	}
}

// FuzzPods makes its random choices from the bytes of its input.
func FuzzPods(f *testing.F) {
	from, err := fixtures()
	if err != nil {
		f.Fatal(err)
	}
	r := rand.New(rand.NewPCG(seed, 1))
	for range 16 {
		input := make([]byte, 64)
		for i := range input {
			input[i] = byte(r.Uint32())
		}
		f.Add(input)
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		pick := func(n int) int {
			if len(input) < 2 {
				return 0
			}
			chosen := int(input[0])<<8 | int(input[1])
			input = input[2:]
			return chosen % n
		}
		p, level, version := pull(from, pick)
		if _, err := agree(t, p, level, version); err != nil {
			t.Errorf("by %s:%s: %v\n%s", level, version, err, excerpt(p))
		}
	})
}
