package packaging

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// dashboard is what counts of Grafana's format.
type dashboard struct {
	UID        string
	Panels     []panel
	Templating struct {
		List []struct{ Name, Definition string }
	}
	Annotations struct{ List []struct{ Expr string } }
}

type panel struct {
	ID                       int
	Type, Title, Description string
	GridPos                  struct{ X, Y, W, H int }
	Targets                  []struct{ Expr string }
}

func theDashboard(t *testing.T) (d dashboard, queries []string) {
	t.Helper()
	if err := json.Unmarshal([]byte(read(t, "grafana-dashboard.json")), &d); err != nil {
		t.Fatal(err)
	}
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			queries = append(queries, target.Expr)
		}
	}
	for _, v := range d.Templating.List {
		queries = append(queries, v.Definition)
	}
	for _, a := range d.Annotations.List {
		queries = append(queries, a.Expr)
	}
	return d, queries
}

// metric is a name of a metric with the labels that it is chosen by.
var (
	metric = regexp.MustCompile(`\b((?:wardlet|kubelet|process|go)_[a-z0-9_]+)(\{[^}]*\})?`)
	chosen = regexp.MustCompile(`(\w+)(?:=~|!~|!=|=)"`)
	by     = regexp.MustCompile(`by \(([^)]*)\) \(.*?((?:wardlet|kubelet)_[a-z0-9_]+)`)
	row    = regexp.MustCompile("(?m)^\\| `([a-z0-9_]+)` \\| (\\w+) \\| ([^|]*) \\|")
)

// described are the labels of each metric of docs/metrics.md.
func described(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, m := range row.FindAllStringSubmatch(read(t, "../docs/metrics.md"), -1) {
		labels := strings.FieldsFunc(strings.ReplaceAll(m[3], "`", ""), func(r rune) bool { return r == ',' || r == ' ' })
		all[m[1]] = append(labels, "instance", "job")
		if m[2] == "histogram" {
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				all[m[1]+suffix] = append(slices.Clone(all[m[1]]), "le")
			}
		}
	}
	if len(all) < 50 {
		t.Fatalf("docs/metrics.md describes only %d metrics", len(all))
	}
	return all
}

func TestTheDashboardShowsWhatTheAgentMeasures(t *testing.T) {
	t.Parallel()
	known := described(t)
	_, queries := theDashboard(t)
	used := map[string]bool{}
	for _, query := range queries {
		for _, m := range metric.FindAllStringSubmatch(query, -1) {
			used[m[1]] = true
			labels, ok := known[m[1]]
			if !ok && !strings.HasPrefix(m[1], "process_") && !strings.HasPrefix(m[1], "go_") {
				t.Errorf("%s is in %s, and not in docs/metrics.md", m[1], query)
			}
			for _, label := range chosen.FindAllStringSubmatch(m[2], -1) {
				if ok && !slices.Contains(labels, label[1]) {
					t.Errorf("%s has no label %s: %s", m[1], label[1], query)
				}
			}
		}
		for _, m := range by.FindAllStringSubmatch(query, -1) {
			for label := range strings.SplitSeq(m[1], ", ") {
				if !slices.Contains(known[m[2]], label) {
					t.Errorf("%s has no label %s: %s", m[2], label, query)
				}
			}
		}
	}
	for name := range known {
		if strings.HasPrefix(name, "wardlet_policy_") && !used[name] && !used[name+"_bucket"] && known[name+"_bucket"] == nil && !strings.HasSuffix(name, "_sum") && !strings.HasSuffix(name, "_count") {
			t.Errorf("%s is not on the dashboard", name)
		}
	}
}

func TestThePanelsOfTheDashboardStandBesideEachOther(t *testing.T) {
	t.Parallel()
	d, _ := theDashboard(t)
	if d.UID != "wardlet" || len(d.Panels) < 20 {
		t.Errorf("dashboard %q has %d panels", d.UID, len(d.Panels))
	}
	ids := map[int]bool{}
	for i, p := range d.Panels {
		if ids[p.ID] || p.Title == "" || p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("panel %d, %q, is there twice or shows nothing", p.ID, p.Title)
		}
		ids[p.ID] = true
		a := p.GridPos
		if a.X < 0 || a.W <= 0 || a.H <= 0 || a.X+a.W > 24 {
			t.Errorf("%q stands at %+v", p.Title, a)
		}
		for _, q := range d.Panels[:i] {
			b := q.GridPos
			if a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H {
				t.Errorf("%q and %q overlap", p.Title, q.Title)
			}
		}
	}
}

var quoted = regexp.MustCompile(`wardlet (?:get \w+|policy \w+)`)

func TestTheDashboardNamesCommandsThatThereAre(t *testing.T) {
	t.Parallel()
	d, _ := theDashboard(t)
	help := read(t, "../cmd/agent/testdata/help-policy.golden") + read(t, "../cmd/agent/testdata/help-get.golden")
	n := 0
	for _, p := range d.Panels {
		for _, command := range quoted.FindAllString(p.Description, -1) {
			n++
			if last := command[strings.LastIndexByte(command, ' ')+1:]; !strings.Contains(help, last) {
				t.Errorf("%q: there is no %s", p.Title, command)
			}
		}
	}
	if n < 10 {
		t.Errorf("only %d commands are named", n)
	}
}
