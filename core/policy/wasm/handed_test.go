package wasm

import (
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/core/policy/wasm/abi/abitest"
	w "github.com/wardlet/wardlet/test/wasmtest"
)

// wordyPod returns a pod whose document is long.
func wordyPod() *v1.Pod {
	p := abitest.Pod("a")
	for n := range 200 {
		p.Labels[fmt.Sprintf("example/label-%d", n)] = "value"
		p.Spec.Containers[0].Env = append(p.Spec.Containers[0].Env, v1.EnvVar{Name: fmt.Sprint("NAME_", n), Value: strings.Repeat("v", 100)})
	}
	return p
}

func TestWritingTheDeclaredFieldsCostsWhatGetTakesBesideTheFuel(t *testing.T) {
	t.Parallel()
	var asked abi.Query
	asked.SetPod(abi.HookAdmit, question(wordyPod()), abi.CapabilitySet{})
	for path, least := range map[string]int64{
		"object.spec.containers[*].env":       200 * 100 * abi.JSONFuel,
		"object.metadata.labels":              200 * 100,
		"object.spec.containers[*].image":     10,
		"object.spec.containers[*].env[*]":    200 * 100 * abi.JSONFuel,
		"object.spec.containers[0].resources": 10,
	} {
		var (
			want abi.Record
			all  abi.Projection
		)
		if err := all.Declare(path, false, abi.CapabilitySet{}); err != nil {
			t.Fatal(err)
		}
		all.Write(&want, &asked, abi.MaxRecord)
		for ending, code := range map[string]w.Code{"answers": nil, "traps": w.Unreachable, "takes all its fuel": w.Loop(w.Br(0))} {
			m := fetching(t, []string{path})
			m.Replace(5, []byte{1, 0, 4}) // four pages
			m.Data(w.Input, "\x00\x00\x02\x00")
			m.Admit(code, w.I32Const(0))
			p, _ := load(t, m.Bytes(), func(o *Options) { o.Fuel, o.MemoryPages = 1000, 16 })
			p.rebuilding.least.Store(1)
			q := question(wordyPod())
			result, err := p.Admit(t.Context(), q)
			got := result.Extra
			if ending == "traps" {
				got -= p.rebuilding.fuel()
			}
			if takes := want.Fuel() + want.Extra; got != takes || got < least {
				t.Errorf("%s, a call that %s (%v): it costs %d, get %d, which is %d at least", path, ending, err, got, takes, least)
			}
		}
	}
}

func TestFieldsThatAreTooLongToBeHandedOverArePaidFor(t *testing.T) {
	t.Parallel()
	m := fetching(t, []string{"object.spec"})
	m.Admit(w.I32Const(0))
	p, _ := load(t, m.Bytes())
	result, err := p.Admit(t.Context(), question(wordyPod()))
	if failure, ok := err.(*abi.Failure); !ok || failure.Code != abi.InputTooLarge { //nolint:errorlint // its own
		t.Fatalf("error %v", err)
	}
	if least := int64(200 * 100 * abi.JSONFuel); result.Extra < least {
		t.Errorf("it costs %d beside its fuel, want %d at least", result.Extra, least)
	}
}

func TestTheUsualFieldsCostNextToNothing(t *testing.T) {
	t.Parallel()
	p, _ := load(t, w.Denying("object.spec.@containers[*].image", "evil"))
	result, err := p.Admit(t.Context(), question(abitest.UsualPod()))
	if err != nil {
		t.Fatal(err)
	}
	if result.Extra > 500 {
		t.Errorf("they cost %d", result.Extra)
	}
}
