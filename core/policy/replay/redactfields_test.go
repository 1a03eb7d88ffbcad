package replay

import (
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/decisionlog"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/state/decisions"
)

var writeStays = flag.Bool("update", false, "write testdata/redact-*stays.txt anew")

// plant writes the secret into every string below a value, including keys of maps.
func plant(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Interface().(type) {
	case resource.Quantity, metav1.Time, time.Time:
		return
	case metav1.FieldsV1:
		v.Set(reflect.ValueOf(metav1.NewFieldsV1(`{"f:` + policytest.Secret + `":{}}`)).Elem())
		return
	case intstr.IntOrString:
		v.Set(reflect.ValueOf(intstr.FromString(policytest.Secret)))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(policytest.Secret)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		plant(t, v.Elem())
	case reflect.Struct:
		for _, field := range v.Fields() {
			plant(t, field)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		plant(t, v.Index(0))
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		plant(t, key)
		plant(t, value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Bool, reflect.Int, reflect.Int32, reflect.Int64:
	default:
		t.Fatalf("there is a %s, which this test does not know", v.Type())
	}
}

// where returns the paths in a document at which the secret is found. In a path, * stands for
// an element or an entry, and "key" at the end for a key.
func where(document any, path string) (all []string) {
	switch x := document.(type) {
	case string:
		if strings.Contains(x, policytest.Secret) {
			return []string{path}
		}
	case []any:
		for _, one := range x {
			all = append(all, where(one, path+"[*]")...)
		}
	case map[string]any:
		for key, one := range x {
			if strings.Contains(key, policytest.Secret) {
				all = append(all, path+" key")
				key = "*"
			}
			all = append(all, where(one, strings.TrimPrefix(path+"."+key, "."))...)
		}
	}
	return all
}

// TestInAPodThatIsRedactedNothingStaysButWhatIsListed fails if a new version of the API adds
// a field that is not redacted. Each path in the list is one that docs/policies/operation.md
// says stays.
func TestInAPodThatIsRedactedNothingStaysButWhatIsListed(t *testing.T) {
	t.Parallel()
	p := &v1.Pod{}
	plant(t, reflect.ValueOf(p).Elem())
	on := func() []string {
		into := &decisionlog.Documents{Into: map[string][]byte{}}
		text := into.Into[into.Pod(p)]
		policytest.Must(t, into.Err)
		return standsIn(t, text)
	}
	if before := on(); !slices.Contains(before, "spec.containers[*].env[*].value") || !slices.Contains(before, "metadata.annotations key") {
		t.Fatalf("the test puts the secret only into %v", before)
	}
	NewRedactor().pod(p)
	stays(t, on(), "testdata/redact-stays.txt")
}

// TestRedactor_takesTheCommandOutOfAConnection checks that the command is redacted in the
// input and in the connection's text.
func TestRedactor_takesTheCommandOutOfAConnection(t *testing.T) {
	t.Parallel()
	c := &api.Connection{Kind: api.ConnectExec, Source: api.FromNodeAPI, Container: "main", Command: []string{policytest.Secret, "-p", policytest.Secret}, User: "alice", Groups: []string{"ops"}}
	documents := &decisionlog.Documents{Into: map[string][]byte{}}
	record := &decisions.Record{Decision: api.Decision{Hook: api.HookConnect, Connection: c.String()}, ConnectionInput: documents.JSON(c)}
	e, err := NewRedactor().entry(record, redacted{inputs: documents.Into})
	policytest.Must(t, err)
	got := &api.Connection{}
	policytest.Must(t, json.Unmarshal(e.Inputs[e.Record.ConnectionInput], got))
	if len(got.Command) != 3 || got.Command[0] != got.Command[2] || got.Command[0] == got.Command[1] || strings.Contains(strings.Join(got.Command, " "), policytest.Secret) {
		t.Errorf("command %q", got.Command)
	}
	if strings.Contains(e.Record.Connection, policytest.Secret) || !strings.HasPrefix(e.Record.Connection, "exec in container main by alice (node-api): "+redactedPrefix) {
		t.Errorf("shown as %q", e.Record.Connection)
	}
	got.Command = c.Command
	if diff := cmp.Diff(c, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRedactor_takesTheDigestsOutOfReferences checks that digests are redacted: a digest
// reveals values of a ConfigMap that are easily guessed.
func TestRedactor_takesTheDigestsOutOfReferences(t *testing.T) {
	t.Parallel()
	documents := &decisionlog.Documents{Into: map[string][]byte{}}
	record := &decisions.Record{Decision: api.Decision{Hook: api.HookAdmit}, References: documents.JSON([]api.Reference{
		{Kind: api.ConfigMapKind, Name: "app", Keys: []string{"a"}, Digest: policytest.Secret}, {Kind: api.ConfigMapKind, Name: "same", Digest: policytest.Secret}, {Kind: api.SecretKind, Name: "none"},
	})}
	e, err := NewRedactor().entry(record, redacted{inputs: documents.Into})
	policytest.Must(t, err)
	var got []api.Reference
	policytest.Must(t, json.Unmarshal(e.Inputs[e.Record.References], &got))
	if len(got) != 3 || got[0].Digest != got[1].Digest || !strings.HasPrefix(got[0].Digest, redactedPrefix) || got[0].Keys[0] != "a" || got[2].Digest != "" {
		t.Errorf("got %+v", got)
	}
}

// anything are artifacts that have the document null for every digest.
type anything struct{ Artifacts }

func (anything) Input(string) ([]byte, error) { return []byte("null"), nil }

// TestInARecordThatIsRedactedNothingStaysButWhatIsListed leaves the verdict out: it is made
// anew. testdata has a list of the record's paths at which values stay.
func TestInARecordThatIsRedactedNothingStaysButWhatIsListed(t *testing.T) {
	t.Parallel()
	r := &decisions.Record{}
	plant(t, reflect.ValueOf(r).Elem())
	r.Verdict = api.Verdict{}
	on := func(r *decisions.Record) []string {
		text, err := json.Marshal(r)
		policytest.Must(t, err)
		return standsIn(t, text)
	}
	if before := on(r); !slices.Contains(before, "document") || !slices.Contains(before, "candidates[*].document") {
		t.Fatalf("the test puts the secret only into %v", before)
	}
	r.Document, r.Candidates[0].Document = "https://config.example/?token="+policytest.Secret+"#0", "https://ana:"+policytest.Secret+"@config.example/#0"
	e, err := NewRedactor().entry(r, anything{})
	policytest.Must(t, err)
	stays(t, on(e.Record), "testdata/redact-record-stays.txt")
}

// standsIn returns the paths of a JSON document at which the secret is found.
func standsIn(t *testing.T, text []byte) []string {
	t.Helper()
	var document any
	policytest.Must(t, json.Unmarshal(text, &document))
	return slices.Sorted(slices.Values(where(document, "")))
}

// stays compares the paths at which the secret was found with the list in a file.
func stays(t *testing.T, paths []string, file string) {
	t.Helper()
	got := strings.Join(paths, "\n") + "\n"
	if *writeStays {
		policytest.Must(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	policytest.Must(t, err)
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("what stays is not what %s lists; take it out in redact.go or redacted.go, or write the list with -update (-want +got):\n%s", file, diff)
	}
}
