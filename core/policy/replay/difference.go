package replay

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wardlet/wardlet/core/admission/pacing"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/state/decisions"
)

// Difference is the first place where a repeated verdict differs from the one on record.
type Difference struct {
	// Field is the path of the field, as in "opinions[0].fuel".
	Field string `json:"field"`
	// Recorded and Made are the values of the field as JSON, empty if it is missing.
	Recorded string `json:"recorded,omitempty"`
	Made     string `json:"made,omitempty"`
}

// String returns the difference as one line.
func (d *Difference) String() string {
	shown := func(s string) string {
		if s == "" {
			return "nothing"
		}
		return s
	}
	return fmt.Sprintf("%s is %s on record, made again %s", d.Field, shown(d.Recorded), shown(d.Made))
}

// Compare returns the first difference between the verdict that Replay returned and the
// recorded one, nil if they are the same to the last bit.
func Compare(record *decisions.Record, made api.Verdict) (*Difference, error) {
	recorded := asCompared(record, &made)
	before, err := json.Marshal(&recorded)
	if err != nil {
		return nil, err
	}
	now, err := json.Marshal(&made)
	if err != nil {
		return nil, err
	}
	if bytes.Equal(before, now) {
		return nil, nil
	}
	var a, b any
	if err := decodeNumbers(before, &a); err != nil {
		return nil, err
	}
	if err := decodeNumbers(now, &b); err != nil {
		return nil, err
	}
	if d := firstDifference("", a, b); d != nil {
		d.Field = strings.TrimPrefix(d.Field, ".")
		return d, nil
	}
	return &Difference{Field: "verdict", Recorded: string(before), Made: string(now)}, nil
}

// asCompared returns the verdict on record in the form that is compared with a repeated
// one.
func asCompared(record *decisions.Record, made *api.Verdict) api.Verdict {
	v := unpaced(record, made)
	if record.Hook == api.HookMerge {
		if o := decider(&v); o != nil {
			v.Tenant = cmp.Or(v.Tenant, o.Tenant) // earlier agents did not record it
		}
	}
	return v
}

// decider returns the opinion that decided a contest, nil for none: the first one that
// counts and does not abstain, or else the last one that counts.
func decider(v *api.Verdict) (o *api.Opinion) {
	for i := range v.Opinions {
		if v.Opinions[i].Mode != "" {
			continue
		}
		if o = &v.Opinions[i]; o.Answer != api.Answer(wasm.MergeAbstain) {
			return o
		}
	}
	return o
}

// unpaced returns the verdict on record as it was before pacing put it off. How long a
// verdict is put off depends on the denials before it.
func unpaced(record *decisions.Record, made *api.Verdict) api.Verdict {
	v := record.Verdict
	if record.Paced && v.Answer == api.Hold && made.Answer == api.Deny {
		if at := strings.LastIndex(v.Message, pacing.Note); at >= 0 {
			v.Message = v.Message[:at]
		}
		v.Answer, v.RetryAfter = api.Deny, made.RetryAfter
	}
	return v
}

// asPaced returns a verdict that is put off in the same way as the one on record.
func asPaced(record *decisions.Record, made api.Verdict) api.Verdict {
	v := &record.Verdict
	if record.Paced && v.Answer == api.Hold && made.Answer == api.Deny {
		if at := strings.LastIndex(v.Message, pacing.Note); at >= 0 {
			made.Message += v.Message[at:]
		}
		made.Answer, made.RetryAfter = v.Answer, v.RetryAfter
	}
	return made
}

// differs returns how a repeated verdict decides differently from the one on record, nil
// for no difference. It compares the answer (for a contest also the winner), the reason and
// its policy, and the changes of the pod. made was made from the record from, which may
// name the candidates differently.
func differs(record, from *decisions.Record, made *api.Verdict) *Difference {
	recorded := asCompared(record, made)
	if summaryOf(record, &recorded) != summaryOf(from, made) {
		return &Difference{Field: "answer", Recorded: string(AnswerOf(record.Hook, &recorded)), Made: string(AnswerOf(from.Hook, made))}
	}
	for _, x := range []struct{ field, recorded, made string }{
		{"reason", recorded.Reason, made.Reason},
		{"policy", calledBy(&recorded), calledBy(made)},
		{fieldMutation, changedBy(recorded.Mutation), changedBy(made.Mutation)},
	} {
		if x.recorded != x.made {
			return &Difference{Field: x.field, Recorded: x.recorded, Made: x.made}
		}
	}
	return nil
}

// AnswerOf returns the answer of a verdict of a hook. For contests it includes the winner.
func AnswerOf(hook string, v *api.Verdict) api.Answer {
	if hook == api.HookMerge {
		if o := decider(v); o != nil {
			return o.Answer
		}
	}
	return v.Answer
}

// summary is the result of a verdict: an answer or, for a contest, the place of the
// candidate that has won.
type summary struct {
	answer api.Answer
	won    bool
	place  int
}

func summaryOf(record *decisions.Record, v *api.Verdict) summary {
	answer := AnswerOf(record.Hook, v)
	for i := range record.Candidates {
		if c := &record.Candidates[i]; answer == eval.Winner(c.Document, c.Source) {
			return summary{won: true, place: i}
		}
	}
	return summary{answer: answer}
}

// calledBy returns the policy that the reason is from, empty if there is none.
func calledBy(v *api.Verdict) string {
	if v.Policy == "" || v.Reason == "" {
		return ""
	}
	return eval.Called(v.Policy, v.Tenant)
}

// changedBy returns the places in a pod that were changed, with the policies that changed
// them, as JSON.
func changedBy(m *pod.Mutation) string {
	if m == nil {
		return ""
	}
	return textOfJSON(m.By)
}

// fieldMutation is the Field of a Difference in the changes of a pod.
const fieldMutation = "mutation"

// versions returns the difference between verdicts that change the pod differently: the
// patches or, if the patches are equal, the hashes of the mutations.
func versions(recorded, made *api.Verdict) *Difference {
	d := &Difference{Field: fieldMutation, Recorded: patchesOf(recorded), Made: patchesOf(made)}
	if d.Recorded == d.Made {
		d.Recorded, d.Made = recorded.Mutation.Hash(), made.Mutation.Hash()
	}
	return d
}

// patchesOf returns the patches of the policies that changed the pod, as far as opinions
// have them.
func patchesOf(v *api.Verdict) string {
	if v.Mutation == nil {
		return ""
	}
	var all []string
	for i := range v.Mutation.By {
		by := &v.Mutation.By[i]
		for j := range v.Opinions {
			if o := &v.Opinions[j]; o.Policy == by.Policy && o.Tenant == by.Tenant && o.Patch != "" {
				all = append(all, o.Patch)
			}
		}
	}
	return strings.Join(all, "; ")
}

func decodeNumbers(text []byte, into *any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return decoder.Decode(into)
}

// firstDifference compares decoded JSON. It compares the keys of objects in alphabetical
// order.
func firstDifference(at string, a, b any) *Difference {
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			return firstOfKeys(at, x, y)
		}
	case []any:
		if y, ok := b.([]any); ok {
			return firstOfList(at, x, y)
		}
	}
	if before, now := textOfJSON(a), textOfJSON(b); before != now {
		return &Difference{Field: at, Recorded: before, Made: now}
	}
	return nil
}

func firstOfKeys(at string, x, y map[string]any) *Difference {
	keys := slices.Collect(maps.Keys(x))
	for key := range y {
		if _, both := x[key]; !both {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		if d := firstDifference(at+"."+key, x[key], y[key]); d != nil {
			return d
		}
	}
	return nil
}

func firstOfList(at string, x, y []any) *Difference {
	for i := range max(len(x), len(y)) {
		var a, b any
		if i < len(x) {
			a = x[i]
		}
		if i < len(y) {
			b = y[i]
		}
		if d := firstDifference(fmt.Sprintf("%s[%d]", at, i), a, b); d != nil {
			return d
		}
	}
	return nil
}

// textOfJSON returns a value as JSON, empty for nil.
func textOfJSON(value any) string {
	if value == nil {
		return ""
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}

// FirstDifference returns the first difference between two results, nil if there is none.
func FirstDifference(s, other *eval.Result) (*Difference, error) {
	before, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	now, err := json.Marshal(other)
	if err != nil || bytes.Equal(before, now) {
		return nil, err
	}
	var a, b any
	if err := decodeNumbers(before, &a); err != nil {
		return nil, err
	}
	if err := decodeNumbers(now, &b); err != nil {
		return nil, err
	}
	d := firstDifference("", a, b)
	if d != nil {
		d.Field = strings.TrimPrefix(d.Field, ".")
	}
	return d, nil
}
