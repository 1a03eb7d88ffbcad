package policy

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/state"
)

func TestATenantsPluginsHaveOnlySoMuchMemoryTogether(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		memory int64
		pages  []string
		want   string
	}{
		"as much as they may":         {192 * pageBytes, []string{"64", "128"}, ""},
		"a page too many":             {192 * pageBytes, []string{"65", "128"}, "p1.toml:8: limits.memory_pages: with these 128 pages the policies of tenant \"a\" may take 12648448 bytes of memory, more than the 12582912 of its policy_memory"},
		"a limit that is the default": {pageBytes, []string{""}, "p0.toml: limits.memory_pages: with these 64 pages"},
		"one that is off":             {64 * pageBytes, []string{"64", "1000\n\nmode = \"off\""}, ""},
		"any amount":                  {0, []string{"1000", "1000"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
				t := d.T
				for i, pages := range test.pages {
					pages, mode, _ := strings.Cut(pages, "\n\n")
					if pages != "" {
						pages = "[limits]\nmemory_pages = " + pages
					}
					d.Of("a").Policy([]string{"p0", "p1"}[i], "deny", mode, pages)
				}
				d.Policy("node", "allow", "[limits]\nmemory_pages = 1024")
				p, _ := listed(t, d, s, tenanted(d, "a"), func(c *Config) { c.Tenants[0].PolicyMemory = test.memory })
				run(t, p)
				time.Sleep(time.Minute)
				got := strings.ReplaceAll(setOf(t, p, "a").Refused, d.Of("a").Dir+"/", "")
				if (got == "") != (test.want == "") || !strings.HasPrefix(got, test.want) {
					t.Errorf("refused for %q, want %q", got, test.want)
				}
				if v := ask(t, p, policytest.Question("web", in("other"))); v.Answer != api.Allow {
					t.Errorf("the operator's own pod: %+v", v)
				}
			})
		})
	}
}

func TestWhatTookTooMuchMemoryIsTriedAgainWithMore(t *testing.T) {
	t.Parallel()
	keptBubble(t, func(d policytest.Tree, s *policytest.Scripts, keep func(*Config), _ state.PolicySets) {
		t := d.T
		d.Of("a").Policy("p", "deny")
		d.Policy("node", "allow")
		for _, memory := range []int64{pageBytes, 64 * pageBytes} {
			life(t, d, s, func(p *Plane, _ *policytest.Logs) {
				time.Sleep(time.Minute)
				if set := setOf(t, p, "a"); set.Ready != (memory > pageBytes) {
					t.Errorf("with %d bytes: %+v", memory, set)
				}
			}, keep, tenanted(d, "a"), func(c *Config) { c.Tenants[0].PolicyMemory = memory })
		}
	})
}

func TestATenantsDocumentsAreDecodedOnlyAsFarAsTheyHaveRoom(t *testing.T) {
	t.Parallel()
	const text = 10_000
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		for _, name := range []string{"p0", "p1", "p2"} {
			document := policytest.DocumentOf(name, "deny", "mode = \"off\"\n#")
			d.Of("a").Policy(name, "deny", "mode = \"off\"\n#"+strings.Repeat("x", text-len(document)))
		}
		for _, of := range []string{"a", ""} {
			c := testConfig(d, s)
			if c.memory = 2 * text * decodedFactor; of == "" {
				c.memory = 0
			}
			c.Dir = d.Of("a").Dir
			got := read(&c)
			err, want := got.err(), `p2.toml: with it the documents have 30000 bytes together, more than the 20000 for which policy_memory in agent.toml has room`
			if (err != nil) != (of != "") || of != "" && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "p1.toml")) {
				t.Errorf("of %q: %v", of, err)
			}
			if decoded := len(got.documents); decoded != 3 && of == "" || decoded != 2 && of != "" {
				t.Errorf("of %q: %d are decoded", of, decoded)
			}
		}
	})
}

// Not parallel: what others allocate would count.
func TestADocumentTakesNoMoreMemoryThanItIsCountedFor(t *testing.T) {
	d := policytest.NewTree(t)
	d.Write("m.wasm", "allow")
	for i := range 64 {
		more := "[match]\nconditions = [" + strings.Repeat(`"!(1<2)",`, 32) + "]"
		if i%2 == 0 {
			more = "[settings]\nk = [" + strings.Repeat("{a=1},", 50) + "]"
		}
		d.Write(fmt.Sprintf("p%d.toml", i), strings.Replace(policytest.DocumentOf(fmt.Sprintf("p%d", i), "allow", "mode = \"off\"", more), fmt.Sprintf("p%d.wasm", i), "m.wasm", 1))
	}
	c := testConfig(d, policytest.NewScripts())
	if err := read(&c).err(); err != nil { // what is made once is made now
		t.Fatal(err)
	}
	used := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := used()
	got := read(&c)
	if took := used() - before; took > decodedFactor*got.text {
		t.Errorf("%d bytes of documents take %d bytes, %d for each", got.text, took, took/got.text)
	}
	runtime.KeepAlive(got)
}
