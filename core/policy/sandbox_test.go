package policy

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/policy/wasm/compile"
	"github.com/wardlet/wardlet/test/wasmtest"
)

// sandboxed returns the configuration of an engine whose plugins are WebAssembly.
func sandboxed(t *testing.T, d policytest.Tree) Config {
	t.Helper()
	engine, err := wasm.NewEngine(filepath.Join(t.TempDir(), "compiled"), slog.New(slog.DiscardHandler), wasm.WithCompiling(patientLimits, compile.Normal))
	policytest.Must(t, err)
	t.Cleanup(func() { policytest.Must(t, engine.Close()) })
	c := testConfig(d, nil)
	c.Loader = eval.Sandbox(engine)
	return c
}

func TestAModuleIsRefusedThat(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		module []byte
		want   string
	}{
		"is no WebAssembly": {
			[]byte("#!/bin/sh\n"),
			`AbiMismatch: at byte 0x0: not a WebAssembly module: it does not begin with \0asm and a version`,
		},
		"lacks a hook its policy names": {
			wasmtest.NoHooks(),
			`AbiMismatch: export section, at byte 0x19: the policy names the hook "admit", but the module exports no function wardlet_admit`,
		},
		"asks for a function no host offers": {
			wasmtest.UnknownImport(),
			`HostDenied: import section, import 0, at byte 0x15: the module asks for "open_socket" of "env", which is not offered; docs/abi.md lists what is`,
		},
		"traps at its start": {
			wasmtest.TrapAtInit(),
			`Trap: wardlet_init: unreachable`,
		},
		"refuses its settings": {
			wasmtest.RefusingSettings("allow is missing"),
			`PluginError: wardlet_init refuses: allow is missing`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := policytest.NewTree(t)
			d.Policy("p", string(test.module))
			_, err := checkSandboxed(t, d)
			got := policytest.InDir(err, d.Dir)
			if got != "DIR/p.toml:3: module: p.wasm cannot be loaded: "+test.want {
				t.Errorf("error:\n%s\nwant:\n%s", got, test.want)
			}
		})
	}
}

func TestSettingsThatAPluginRefusesAreNamedWithTheirLine(t *testing.T) {
	t.Parallel()
	for refusal, want := range map[string]string{
		"settings.allow must list at least one pattern": "DIR/p.toml:7: settings.allow: ",
		"setting stage must be a string":                "DIR/p.toml:8: settings.stage: ",
		"settings.other is missing":                     "DIR/p.toml:6: settings: ",
	} {
		t.Run(refusal, func(t *testing.T) {
			t.Parallel()
			d := policytest.NewTree(t)
			d.Policy("p", string(wasmtest.RefusingSettings(refusal)), "[settings]\nallow = []\nstage = 3")
			_, err := checkSandboxed(t, d)
			if got, want := policytest.InDir(err, d.Dir), want+"p.wasm cannot be loaded: PluginError: wardlet_init refuses: "+refusal; got != want {
				t.Errorf("error:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

func TestPluginsOfWebAssemblyJudge(t *testing.T) {
	t.Parallel()
	d := policytest.NewTree(t)
	const image = "registry.example/evil:1"
	const vector = "[[test]]\npod = \"a.yaml\"\nexpect = \"allow\""
	listing := string(wasmtest.Denying("object.spec.containers[*].image", image))
	d.Write("a.yaml", policytest.ManifestText)
	d.Policy("images", listing, vector)
	p := New(sandboxed(t, d))
	run(t, p)
	evil := policytest.Question("web", func(q *api.Question) {
		q.Pod = policytest.SomePod("web", func(p *v1.Pod) { p.Spec.Containers[0].Image = image })
	})
	check := func(step string, q api.Question, want api.Verdict) {
		t.Helper()
		got := ask(t, p, q)
		want.At, want.Sets, want.Opinions = got.At, []string{p.Sets()[0].Digest}, got.Opinions
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step, diff)
		}
	}
	check("a good pod", policytest.Question("web"), api.Verdict{Answer: api.Allow, Policy: "images"})
	denied := api.Verdict{Answer: api.Deny, Policy: "images", Reason: "Listed", Message: `policy "images": ` + image}
	check("a bad pod", evil, denied)

	d.Policy("trapping", string(wasmtest.Trapping()), "on_error = \"allow\"")
	d.Policy("later", string(wasmtest.HoldingFor(100)))
	<-p.Changed()
	check("a bad pod of three policies", evil, denied)
	check("a good pod that is held", policytest.Question("web"), api.Verdict{
		Answer: api.Hold, Policy: "later", Reason: "PolicyHeld", Message: `policy "later" gives no message`, RetryAfter: time.Second,
	})
	v := ask(t, p, policytest.Question("web"))
	if len(v.Opinions) != 3 || v.Opinions[2].Failure != "Trap" || v.Opinions[2].Answer != api.Allow {
		t.Errorf("opinions %+v", v.Opinions)
	}

	d.Policy("images", string(wasmtest.Answering(1, "Never", "nothing runs here")), "# the test fails now\n"+vector)
	eventually(d, p, "2 [images later trapping] DIR/images.toml:9: test.expect: a.yaml: want allow, got deny (Never: nothing runs here)")
	check("the set in force stays", evil, denied)
	if s := p.Sets()[0].Policies[2]; s.Failed != 4 || s.Allowed != 4 || s.LastFailure == "" {
		t.Errorf("state %+v", s)
	}
}

// telling returns a plugin that denies every pod. Its message is the request as JSON.
func telling() []byte {
	const room = 4 << 10
	m := wasmtest.Plugin(wasmtest.JSON, wasmtest.Reason)
	m.Admit(
		wasmtest.I32Const(0), wasmtest.I32Const(0),
		wasmtest.I32Const(wasmtest.Input),
		wasmtest.I32Const(0), wasmtest.I32Const(wasmtest.Input), wasmtest.I32Const(room), wasmtest.Call(m.Imported("json")),
		wasmtest.Call(m.Imported("reason")), wasmtest.I32Const(1),
	)
	return m.Bytes()
}

func TestAPluginOfWebAssemblySeesWhatIsAsked(t *testing.T) {
	t.Parallel()
	d := policytest.NewTree(t)
	d.Policy("p", string(telling()))
	c := sandboxed(t, d)
	var synchronized atomic.Bool
	c.ClockSynchronized = synchronized.Load
	p := New(c)
	run(t, p)
	static := api.Origin{Source: "static", Document: "web.yaml#0"}
	newer := policytest.SomePod("web", func(p *v1.Pod) {
		p.Labels["tier"] = "db"
		p.Spec.Containers[0].Image = "other"
		p.Spec.HostNetwork = true
	})
	for _, test := range []struct {
		name         string
		question     api.Question
		synchronized bool
		want         string
	}{
		{
			"a new pod of a file",
			api.Question{Op: api.Add, Pod: policytest.SomePod("web"), Origin: static},
			true,
			`"operation":"ADD","source":"static","kind":"file","document":"web.yaml#0",NODE"clockSynchronized":true`,
		},
		{
			"an update of an API server's pod, on a node that has lost its clock",
			api.Question{Op: api.UpdateOp, Pod: newer, Old: policytest.SomePod("web"), Origin: api.Origin{Source: "cluster"}},
			false,
			`"operation":"UPDATE","source":"cluster","kind":"api","changed":["labels","images","spec"],NODE"clockSynchronized":false`,
		},
		{
			"a pod that replaces another, which changes nothing",
			api.Question{Op: api.Add, Pod: newer, Old: policytest.SomePod("web"), Replaces: "uid-old", Origin: static},
			true,
			`"operation":"ADD","source":"static","kind":"file","document":"web.yaml#0","replaces":"uid-old",NODE"clockSynchronized":true`,
		},
		{
			"an update without the old version",
			api.Question{Op: api.UpdateOp, Pod: newer, Origin: api.Origin{Source: "unknown"}},
			true,
			`"operation":"UPDATE","source":"unknown",NODE"clockSynchronized":true`,
		},
	} {
		synchronized.Store(test.synchronized)
		v := ask(t, p, test.question)
		node := fmt.Sprintf(`"node":"node-1","time":%d,`, v.At.UnixMilli())
		want := `policy "p": {"hook":"admit",` + strings.Replace(test.want, "NODE", node, 1) + "}"
		if v.Message != want {
			t.Errorf("%s: the plugin sees\n%s\nwant\n%s", test.name, v.Message, want)
		}
	}
}

func TestWhatAPluginOfWebAssemblyWarnsOfIsInItsOpinion(t *testing.T) {
	t.Parallel()
	d := policytest.NewTree(t)
	d.Policy("p", string(wasmtest.Warning("soon")))
	p := New(sandboxed(t, d))
	run(t, p)
	v := ask(t, p, policytest.Question("web"))
	if diff := cmp.Diff([]string{"p: soon"}, v.Warnings()); diff != "" || v.Answer != api.Allow || v.Reason != "" {
		t.Errorf("verdict %+v, warnings (-want +got):\n%s", v, diff)
	}
}
