package condition

import (
	"strings"
	"testing"
	"time"
)

// seeds are valid and invalid expressions of every kind.
var seeds = []string{
	"object.spec.hostNetwork == true",
	"object.metadata.labels['tier'] == 'web' || has(object.spec.hostUsers)",
	"containers(object.spec).exists(c, c.image.startsWith('registry.example/') && !(c.name in ['a', 'b']))",
	"object.metadata.annotations.all(k, object.metadata.annotations[k].size() < 10)",
	"[object.metadata.annotations['text']].map(x, x + x).map(x, x + x)[0].contains('a')",
	"object.metadata.annotations['text'].matches('^(a|b)*c$')",
	"[1, 2].map(x, [x, x]).all(x, x.exists_one(y, y == 1))",
	"quantity(object.spec.containers[0].resources.requests['cpu']) > quantity(object.metadata.annotations['text'])",
	"int(object.metadata.annotations['text']) % 7 == 1 ? request.time.getHours() < 3 : request.clockSynchronized",
	"timestamp(object.metadata.annotations['text']) - duration('1h') > object.metadata.creationTimestamp",
	"object.spec.containers.map(c, c.livenessProbe.tcpSocket.port).exists(p, string(p) == object.metadata.annotations['text'])",
	"oldObject == null && object.spec.containers.filter(c, c.securityContext.privileged).size() == 0",
	"1.5 < 2.0 && 1u == 1u && b'a' == b'a' && -3 < 2",
	"Pod{metadata: object.metadata} == object", "{'a': 1}.a", "a.b.c(", "'", "((((", "object.spec.x", "\u20ac\n\t",
}

func FuzzCompile(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, expression string) {
		begin := time.Now()
		c, err := Compile(expression)
		if took := time.Since(begin); took > patience {
			t.Fatalf("it took %v", took)
		}
		if err == nil {
			if c.String() != expression {
				t.Fatalf("the condition is shown as %s", c)
			}
			return
		}
		if strings.ContainsAny(err.Error(), "\n\r") || len(err.Error()) > 2*maxFault {
			t.Fatalf("%q is not one short line", err.Error())
		}
	})
}

// FuzzMatches evaluates each condition twice, with equal pods whose maps Go iterates over in
// different orders. The results must be equal.
func FuzzMatches(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed, "aabbc", uint16(3))
		f.Add(seed, "1e999", uint16(900))
	}
	f.Fuzz(func(t *testing.T, expression, text string, many uint16) {
		c, err := Compile(expression)
		if err != nil {
			return
		}
		r := webRequest()
		r.Object.Annotations["text"] = text
		for range many % 1024 {
			r.Object.Spec.Containers = append(r.Object.Spec.Containers, r.Object.Spec.Containers[1])
			r.Object.Spec.Containers[0].Args = append(r.Object.Spec.Containers[0].Args, text)
		}
		begin := time.Now()
		matched, cost, err := c.Matches(NewInput(r))
		if took := time.Since(begin); took > patience {
			t.Fatalf("it took %v for %d", took, cost)
		}
		if cost == 0 || cost > MaxCost || err != nil && (matched || strings.ContainsAny(err.Error(), "\n\r") || len(err.Error()) > 2*maxFault) {
			t.Fatalf("matches %t for %d: %v", matched, cost, err)
		}
		if err != nil && strings.Contains(err.Error(), "internal error") {
			t.Fatal(err)
		}
		r.Object = r.Object.DeepCopy()
		again, costAgain, errAgain := c.Matches(NewInput(r))
		if again != matched || costAgain != cost || (err == nil) != (errAgain == nil) || err != nil && err.Error() != errAgain.Error() {
			t.Fatalf("first %t for %d (%v), then %t for %d (%v)", matched, cost, err, again, costAgain, errAgain)
		}
	})
}
