package policy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
)

func TestATenantThatKeepsItsBudgetEmptyIsJudgedAgain(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		own := policytest.NewTree(t)
		n := newRunning()
		for i := range 10 {
			p := runs(fmt.Sprintf("a%02d", i), func(p *v1.Pod) { p.Namespace = "a" })
			n.pods[p.Pod.UID] = p
		}
		s.AdmitFuel = 50_000_000
		d.Policy("operator", "deny", onChangeReports)
		own.Policy("mine", "allow")
		p := reviewing(t, d, s, n, func(c *Config) {
			c.Tenants = []Tenant{{Name: "a", Dir: own.Dir, FuelPerSecond: 1_000_000, Owns: func(namespace string) bool { return namespace == "a" }}}
		})
		run(t, p)
		asked := 0
		for end := time.Now().Add(30 * time.Minute); time.Now().Before(end); {
			for range 20 {
				asked++
				p.Judge(policytest.Question("new", func(q *api.Question) {
					q.Pod.Namespace = "a"
					q.Pod.UID = types.UID(fmt.Sprintf("u%d", asked))
				}), func(api.Verdict) {})
			}
			time.Sleep(500 * time.Millisecond)
		}
		of := map[bool]int{}
		for _, call := range s.Calls() {
			if strings.HasPrefix(call, "operator") {
				of[strings.HasPrefix(call, "operator a")]++
			}
		}
		if r := p.Sets()[0].Policies[0].Review; of[true] != 10 || of[false] < 10 || r.Judged != 10 {
			t.Errorf("in half an hour %d pods that run and %d new ones were judged, review %+v", of[true], of[false], r)
		}
	})
}
