package pod

import (
	"testing"

	v1 "k8s.io/api/core/v1"
)

// ranked returns a pod with a priority. A negative priority stands for none.
func ranked(name, source string, priority int32) *v1.Pod {
	p := &v1.Pod{}
	p.Namespace, p.Name = "shop", name
	if source != "" {
		p.Annotations = map[string]string{AnnotationSource: source}
	}
	if priority >= 0 {
		p.Spec.Priority = &priority
	}
	return p
}

// atMost returns the highest priority of a tenant by namespace. All pods of these tests are in the
// tenant's namespace, "shop".
func atMost(highest int32) func(string) (int32, bool) {
	return func(namespace string) (int32, bool) { return highest, namespace == "shop" }
}

func TestAPodIsCritical(t *testing.T) {
	t.Parallel()
	named := func(p *v1.Pod) bool { return p.Name == "dns" }
	mirror := ranked("web", "", 0)
	mirror.Annotations = map[string]string{AnnotationMirror: "x"}
	for name, test := range map[string]struct {
		by   Criticality
		pod  *v1.Pod
		want bool
	}{
		"by its priority":                               {Criticality{}, ranked("web", "", 2_000_000_000), true},
		"by a higher one":                               {Criticality{}, ranked("web", "", 2_000_001_000), true},
		"not by one that its tenant may not have":       {Criticality{Highest: atMost(1000)}, ranked("web", "", 2_000_000_000), false},
		"by one that its tenant may have":               {Criticality{Highest: atMost(2_000_000_000)}, ranked("web", "", 2_000_001_000), true},
		"though it has no tenant, by its priority":      {Criticality{Highest: func(string) (int32, bool) { return 0, false }}, ranked("web", "", 2_000_000_000), true},
		"not by one below":                              {Criticality{}, ranked("web", "", 1_999_999_999), false},
		"not without one":                               {Criticality{}, ranked("web", "", -1), false},
		"because the operator named it":                 {Criticality{Named: named}, ranked("dns", "static", 0), true},
		"not because others are named":                  {Criticality{Named: named}, ranked("web", "static", 0), false},
		"not because it is static":                      {Criticality{}, ranked("web", "static", 0), false},
		"because it is static, where that counts":       {Criticality{Static: true}, ranked("web", "static", 0), true},
		"as the mirror of one, where that counts":       {Criticality{Static: true}, mirror, true},
		"not as a pod of the API server, whatever is":   {Criticality{Static: true}, ranked("web", SourceAPI, 0), false},
		"not as a pod of which nobody knows where from": {Criticality{Static: true}, ranked("web", "", 0), false},
	} {
		if got := test.by.Critical(test.pod); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

func TestAPodGivesWayByThePriorityThatItsTenantMayHave(t *testing.T) {
	t.Parallel()
	by := Criticality{Highest: atMost(1000)}
	other := ranked("other", "", 1001)
	other.Namespace = "home"
	if proud := ranked("web", "", 2_000_000_000); !by.GivesWay(proud, other) || by.GivesWay(other, proud) {
		t.Error("a priority that the tenant may not have counts")
	}
}

func TestAPodGivesWay(t *testing.T) {
	t.Parallel()
	by := Criticality{Named: func(p *v1.Pod) bool { return p.Name == "dns" }}
	for name, test := range map[string]struct {
		pod, to *v1.Pod
		want    bool
	}{
		"to a critical one":                              {ranked("web", "", 0), ranked("net", "", lowestCritical), true},
		"to one that was named":                          {ranked("web", "", 5), ranked("dns", "", -1), true},
		"to one of a higher priority":                    {ranked("web", "", 5), ranked("shop", "", 6), true},
		"as a critical one, to one of a higher priority": {ranked("net", "", lowestCritical), ranked("node", "", lowestCritical+1000), true},
		"not to one of its own":                          {ranked("net", "", lowestCritical), ranked("other", "", lowestCritical), false},
		"not as a critical one, to one that is named":    {ranked("net", "", lowestCritical), ranked("dns", "", 0), false},
		"not where one has no priority":                  {ranked("web", "", -1), ranked("shop", "", 6), false},
		"not to one without":                             {ranked("web", "", 5), ranked("shop", "", -1), false},
	} {
		if got := by.GivesWay(test.pod, test.to); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

func TestRank(t *testing.T) {
	t.Parallel()
	c := Criticality{Static: true, Highest: atMost(1000), Named: func(p *v1.Pod) bool { return p.Name == "dns" }}
	for name, test := range map[string]struct {
		pod  *v1.Pod
		want int32
	}{
		"no priority":                      {ranked("web", "", -1), 0},
		"a priority":                       {ranked("web", "", 7), 7},
		"more than its tenant may have":    {ranked("web", "", 5000), 1000},
		"named by the operator":            {ranked("dns", "", 7), lowestCritical},
		"named, without a priority":        {ranked("dns", "", -1), lowestCritical},
		"a static pod, as with a kubelet":  {ranked("web", "files", -1), 0},
		"a static pod that was named, too": {ranked("dns", "files", -1), lowestCritical},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := c.Rank(test.pod); got != test.want {
				t.Errorf("%d, want %d", got, test.want)
			}
		})
	}
}
