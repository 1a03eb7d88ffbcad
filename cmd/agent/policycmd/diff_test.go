package policycmd

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/replay"
)

// changedTo returns a decision whose outcome differs in a replay.
func changedTo(hook, id string, field, was, would string, recorded, made *api.Verdict) *replay.Differing {
	return &replay.Differing{
		Replayed: replay.Replayed{
			ID: id, Hook: hook, Namespace: "shop", Name: "web", Outcome: replay.DiffChanged,
			Difference: &replay.Difference{Field: field, Recorded: was, Made: would},
		},
		Recorded: recorded, Made: made,
	}
}

func TestPolicyDiffSaysWhatChanges(t *testing.T) {
	t.Parallel()
	won := func(by string) *api.Verdict {
		return &api.Verdict{Answer: api.Answer(api.ChooseWinner), Policy: "p", Opinions: []api.Opinion{{Policy: "p", Answer: api.Answer("winner " + by)}}}
	}
	labels := func(hash string, paths ...string) *api.Verdict {
		return &api.Verdict{Answer: api.Allow, Mutation: &pod.Mutation{FinalHash: hash, By: []pod.Mutator{{Policy: "p", Changed: paths}}}}
	}
	for name, test := range map[string]struct {
		all  []*replay.Differing
		want string
	}{
		"another winner": {
			[]*replay.Differing{
				changedTo("merge", "operator-1", "answer", "winner a#0 of static", "winner b of cluster", won("a#0 of static"), won("b of cluster")),
				changedTo("merge", "operator-2", "answer", "winner b of cluster", "winner a#0 of static", won("b of cluster"), won("a#0 of static")),
			},
			"1 merge decision: winner a#0 of static -> winner b of cluster\n" +
				"  for example operator-1, shop/web\n    was:   winner a#0 of static\n    would: winner b of cluster\n" +
				"1 merge decision: winner b of cluster -> winner a#0 of static\n" +
				"  for example operator-2, shop/web\n    was:   winner b of cluster\n    would: winner a#0 of static\n" +
				"2 decisions made with the other policies: 0 the same, 2 otherwise\n",
		},
		"other values at the same places": {
			[]*replay.Differing{
				changedTo("admit", "operator-1", "mutation", "[one]", "[two]", labels("1", "/metadata/labels"), labels("2", "/metadata/labels")),
				changedTo("admit", "operator-2", "mutation", "[one]", "[three]", labels("1", "/metadata/labels"), labels("3", "/metadata/labels")),
			},
			"2 admit decisions: allow; p changed /metadata/labels -> allow; p changed /metadata/labels\n" +
				"  for example operator-2, shop/web\n    was:   mutation [one]\n    would: mutation [three]\n" +
				"2 decisions made with the other policies: 0 the same, 2 otherwise\n",
		},
		"other places": {
			[]*replay.Differing{
				changedTo("admit", "operator-1", "mutation", "[one]", "[two]", labels("1", "/a"), labels("2", "/a", "/b")),
				changedTo("admit", "operator-2", "mutation", "[one]", "", labels("1", "/a"), &api.Verdict{Answer: api.Allow}),
			},
			"1 admit decision: allow; p changed /a -> allow; p changed /a, /b\n" +
				"  for example operator-1, shop/web\n    was:   mutation [one]\n    would: mutation [two]\n" +
				"1 admit decision: allow; p changed /a -> allow\n" +
				"  for example operator-2, shop/web\n    was:   mutation [one]\n    would: mutation none\n" +
				"2 decisions made with the other policies: 0 the same, 2 otherwise\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &diffReport{}
			for _, x := range test.all {
				r.take(x)
			}
			var out bytes.Buffer
			(&app{&cli.App{Out: &out}}).printDiff(r)
			if diff := cmp.Diff(test.want, out.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			text, err := json.Marshal(r.Groups[0].Example)
			if err != nil || !bytes.Contains(text, []byte(`"was":"`+test.all[0].Difference.Recorded+`"`)) {
				t.Errorf("%v: %s", err, text)
			}
		})
	}
}
