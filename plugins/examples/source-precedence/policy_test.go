package main

import (
	"strings"
	"testing"

	"github.com/wardlet/wardlet/plugins/sdk/sdktest"
)

// usual is the order in most tests.
var usual = []string{"file:emergency", "api", "file"}

// from returns a candidate of a source, which is KIND or KIND:NAME. The marks are running
// and restored.
func from(source string, marks ...string) sdktest.Candidate {
	kind, name, ok := strings.Cut(source, ":")
	if !ok {
		name = "other"
	}
	c := sdktest.Candidate{Pod: `{"metadata": {"name": "web", "namespace": "shop"}}`, Kind: kind, Source: name, Document: "/" + name + ".yaml#0"}
	for _, mark := range marks {
		c.Running = c.Running || mark == "running"
		c.Restored = c.Restored || mark == "restored"
	}
	return c
}

func choose(t *testing.T, settings map[string]any, candidates ...sdktest.Candidate) sdktest.Result {
	t.Helper()
	return sdktest.Load(t, settings).Merge(t, sdktest.MergeRequest{Candidates: candidates})
}

func TestTheFirstSourceOfTheOrderWins(t *testing.T) {
	type list = []sdktest.Candidate
	for name, test := range map[string]struct {
		settings   map[string]any
		candidates list
		// want is the index of the winner, -1 for none.
		want int
	}{
		"a kind":                          {nil, list{from("file:a"), from("api")}, 1},
		"a source by name":                {nil, list{from("api"), from("file:a"), from("file:emergency")}, 2},
		"one alone":                       {nil, list{from("file:a")}, 0},
		"what is not in the order loses":  {nil, list{from("http:a"), from("file:a")}, 1},
		"nothing of the order":            {nil, list{from("http:a"), from("http:b", "running")}, -1},
		"the first of one source":         {nil, list{from("file:a"), from("file:a"), from("file:b")}, 0},
		"the first of one rank":           {nil, list{from("http:a"), from("file:b"), from("file:a")}, 1},
		"what runs has no right":          {nil, list{from("file:a"), from("file:b", "running")}, 0},
		"nor does what is confirmed":      {nil, list{from("file:a", "restored"), from("file:b")}, 0},
		"another kind of that name":       {nil, list{from("file:a"), from("http:emergency")}, 0},
		"a glob of names":                 {map[string]any{"order": []string{"http:edge-*", "file"}}, list{from("file:a"), from("http:edge"), from("http:edge-1")}, 2},
		"sticky, what runs stays":         {map[string]any{"order": usual, "sticky": true}, list{from("file:a"), from("file:b", "running")}, 1},
		"sticky, but a better one comes":  {map[string]any{"order": usual, "sticky": true}, list{from("file:a", "running"), from("api")}, 1},
		"sticky, with what is not in it":  {map[string]any{"order": usual, "sticky": true}, list{from("http:a", "running"), from("file:a")}, 1},
		"sticky, and nothing runs":        {map[string]any{"order": usual, "sticky": true}, list{from("file:b"), from("file:a")}, 0},
		"confirmed ones go first":         {map[string]any{"order": usual, "prefer_confirmed": true}, list{from("file:a", "restored"), from("file:b")}, 1},
		"but not before a better source":  {map[string]any{"order": usual, "prefer_confirmed": true}, list{from("api", "restored"), from("file:b")}, 0},
		"none is confirmed":               {map[string]any{"order": usual, "prefer_confirmed": true}, list{from("file:a", "restored"), from("file:b", "restored")}, 0},
		"confirmed goes before running":   {map[string]any{"order": usual, "prefer_confirmed": true, "sticky": true}, list{from("file:a", "restored", "running"), from("file:b")}, 1},
		"of the confirmed what runs":      {map[string]any{"order": usual, "prefer_confirmed": true, "sticky": true}, list{from("file:a", "restored"), from("file:b"), from("file:c", "running")}, 2},
		"an order of the namespace":       {map[string]any{"order": usual, "namespaces": map[string]any{"shop": []string{"file"}}}, list{from("api"), from("file:a")}, 1},
		"of another one":                  {map[string]any{"order": usual, "namespaces": map[string]any{"mine": []string{"file"}}}, list{from("file:a"), from("api")}, 1},
		"a name before a glob":            {map[string]any{"namespaces": map[string]any{"*": []string{"api"}, "shop": []string{"file"}, "shop*": []string{"api"}}}, list{from("api"), from("file:a")}, 1},
		"a longer glob before a shorter":  {map[string]any{"namespaces": map[string]any{"*": []string{"api"}, "s*": []string{"file"}, "a-long-one-*": []string{"api"}}}, list{from("api"), from("file:a")}, 1},
		"of one length the first by text": {map[string]any{"namespaces": map[string]any{"*op": []string{"file"}, "sh*": []string{"api"}}}, list{from("api"), from("file:a")}, 1},
		"no order for the namespace":      {map[string]any{"namespaces": map[string]any{"mine": []string{"file"}}}, list{from("api"), from("file:a")}, -1},
	} {
		settings := test.settings
		if settings == nil {
			settings = map[string]any{"order": usual}
		}
		got := choose(t, settings, test.candidates...)
		answer := sdktest.Win
		if test.want < 0 {
			answer = sdktest.Abstain
		}
		if got.Answer != answer || got.Answer == sdktest.Win && got.Winner != test.want {
			t.Errorf("%s: got %+v, want %d", name, got, test.want)
		}
	}
}

func TestTheExplanationSaysWhy(t *testing.T) {
	settings := map[string]any{"order": usual, "sticky": true, "prefer_confirmed": true}
	for name, test := range map[string]struct {
		candidates []sdktest.Candidate
		want       string
	}{
		"by the order": {
			[]sdktest.Candidate{from("http:x"), from("file:a"), from("api")},
			"api:other /other.yaml#0 wins: place 2 of the order file:emergency, api, file\n" +
				"http:x /x.yaml#0 loses: its source is not in the order\n" +
				"file:a /a.yaml#0 loses: its source comes later",
		},
		"among equals": {
			[]sdktest.Candidate{from("file:a", "restored"), from("file:b"), from("file:c", "running"), from("file:d", "restored")},
			"file:c /c.yaml#0 wins: place 3 of the order file:emergency, api, file\n" +
				"file:a /a.yaml#0 loses: its source has not confirmed it since the restart\n" +
				"file:b /b.yaml#0 loses: another of equal rank runs\n" +
				"file:d /d.yaml#0 loses: its source has not confirmed it since the restart",
		},
		"by place": {
			[]sdktest.Candidate{from("file:a"), from("file:b")},
			"file:a /a.yaml#0 wins: place 3 of the order file:emergency, api, file\n" +
				"file:b /b.yaml#0 loses: another of equal rank comes first",
		},
		"none": {[]sdktest.Candidate{from("http:x")}, "no candidate is of a source in the order file:emergency, api, file"},
	} {
		if got := choose(t, settings, test.candidates...); got.Explanation != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got.Explanation, test.want)
		}
	}
}

func TestTheWinnerDependsOnTheCandidatesOnly(t *testing.T) {
	// With any marks, exactly one candidate wins, and this candidate also wins against each
	// other candidate alone.
	settings := map[string]any{"order": usual, "sticky": true, "prefer_confirmed": true}
	sources := []string{"http:x", "file:emergency", "file:a", "file:b", "api"}
	for seed := range 200 {
		var list []sdktest.Candidate
		for i, n := 0, seed; i < 4; i, n = i+1, n*7+3 {
			c := from(sources[n%len(sources)])
			c.Restored, c.Running = n%3 == 0, i == seed%5
			list = append(list, c)
		}
		got := choose(t, settings, list...)
		if got.Answer == sdktest.Abstain {
			continue
		}
		for i := range list {
			pair, want := []sdktest.Candidate{list[got.Winner], list[i]}, 0
			if i < got.Winner {
				pair, want = []sdktest.Candidate{list[i], list[got.Winner]}, 1
			}
			if i == got.Winner {
				continue
			}
			if duel := choose(t, settings, pair...); duel.Answer != sdktest.Win || duel.Winner != want {
				t.Errorf("seed %d: %d wins, but not against %d: %+v", seed, got.Winner, i, duel)
			}
		}
	}
}

func TestWhatIsSaidHasBounds(t *testing.T) {
	var many []sdktest.Candidate
	for range 300 {
		c := from("file:a")
		c.Document = strings.Repeat("é", 2000)
		many = append(many, c)
	}
	got := choose(t, map[string]any{"order": usual}, many[:12]...)
	if got.Answer != sdktest.Win || !strings.Contains(got.Explanation, "…") || len(got.Explanation) > 4<<10 {
		t.Errorf("%d bytes of explanation, %s", len(got.Explanation), got.Answer)
	}
	for i := range many {
		many[i].Document = "/a.yaml#0"
	}
	got = choose(t, map[string]any{"order": usual}, many...)
	if got.Answer != sdktest.Win || strings.Count(got.Explanation, "\n") != maxLines || !strings.HasSuffix(got.Explanation, "\n…") {
		t.Errorf("%s, explanation %s", got.Answer, got.Explanation)
	}
}
