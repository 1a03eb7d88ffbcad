package condition

import (
	"testing"
)

// BenchmarkMatches evaluates conditions of different kinds. The input is made once, as for
// all conditions of a decision; "input" measures making the input.
func BenchmarkMatches(b *testing.B) {
	for _, test := range []struct{ name, expression string }{
		{"flag", "object.spec.hostNetwork == true"},
		{"label", "object.metadata.labels['tier'] == 'web'"},
		{"images", "object.spec.containers.exists(c, c.image.startsWith('elsewhere.example/'))"},
		{"all-images", "containers(object.spec).exists(c, c.image.startsWith('elsewhere.example/'))"},
		{"request", "request.operation == 'ADD' && request.source == 'manifests'"},
		{"pattern", "object.spec.containers[0].image.matches('^elsewhere[.]example/')"},
		{"quantity", "quantity(object.spec.containers[0].resources.requests['memory']) > quantity('2Gi')"},
		{"keys", "object.metadata.labels.exists(k, k.startsWith('x'))"},
	} {
		b.Run(test.name, func(b *testing.B) {
			c := compiled(b, test.expression)
			in := NewInput(webRequest())
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := c.Matches(in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("input", func(b *testing.B) {
		r := webRequest()
		b.ReportAllocs()
		for b.Loop() {
			NewInput(r)
		}
	})
}

// BenchmarkUnit evaluates conditions that cost MaxCost. ns/unit is the time of one unit.
func BenchmarkUnit(b *testing.B) {
	pod := largePod()
	for name, expression := range dearest {
		b.Run(name, func(b *testing.B) {
			c := compiled(b, expression)
			in := NewInput(Request{Object: pod})
			var total uint64
			for b.Loop() {
				_, cost, _ := c.Matches(in)
				total += cost
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(total), "ns/unit")
			b.ReportMetric(float64(total)/float64(b.N), "units")
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		compiled(b, "object.spec.containers.exists(c, c.image.startsWith('elsewhere.example/'))")
	}
}
