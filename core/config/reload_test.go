package config

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// place is one key of a configuration. The field key is its name in a Change; the field rule is its
// name in the tables of reload.go.
type place struct {
	key, rule string
	value     reflect.Value
}

// everyKey returns a configuration in which every array of tables has one element, "n". It also
// returns all keys of that configuration and its arrays of tables.
func everyKey() (c *Config, leaves []place, arrays []string) {
	c = Default()
	var walk func(key, rule string, v reflect.Value)
	walk = func(key, rule string, v reflect.Value) {
		for i := range v.NumField() {
			field := v.Field(i)
			name := keyOf(v.Type().Field(i))
			at, in := joinKey(key, name), joinKey(rule, name)
			switch {
			case name == "":
			case isTable(field.Type()):
				walk(at, in, field)
			case isTables(field.Type()):
				arrays = append(arrays, in)
				field.Set(reflect.MakeSlice(field.Type(), 1, 1))
				element := field.Index(0)
				for j := range element.NumField() {
					if key := keyOf(element.Type().Field(j)); key == "name" || key == "class" {
						element.Field(j).SetString("n")
					}
				}
				walk(at+"[n]", in+"[]", element)
			default:
				leaves = append(leaves, place{at, in, field})
			}
		}
	}
	walk("", "", reflect.ValueOf(c).Elem())
	return c, leaves, arrays
}

// change changes the value of a key. It reports whether it can.
func (p *place) change() bool {
	switch v := p.value; v.Kind() {
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Uint, reflect.Uint32, reflect.Uint64:
		v.SetUint(v.Uint() + 1)
	case reflect.Float64:
		v.SetFloat(v.Float() + 1)
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.String {
			return false
		}
		v.Set(reflect.Append(v, reflect.ValueOf("x").Convert(v.Type().Elem())))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type())) // the maps of Default are shared
		v.SetMapIndex(reflect.ValueOf("x"), reflect.Zero(v.Type().Elem()))
	default:
		return false
	}
	return true
}

func TestEveryKeyCanChangeInARunningAgentOrSaysWhyNot(t *testing.T) {
	t.Parallel()
	_, leaves, arrays := everyKey()
	if len(leaves) < 35 || len(arrays) < 2 {
		t.Fatalf("only %d keys and %d arrays found", len(leaves), len(arrays))
	}
	known := map[string]bool{}
	for _, leaf := range leaves {
		known[leaf.rule] = true
		why, restart := restartKeys[leaf.rule]
		if restart == liveKeys[leaf.rule] {
			t.Errorf("%s belongs into one of liveKeys and restartKeys, in reload.go", leaf.rule)
		}
		if restart && why == "" {
			t.Errorf("restartKeys does not say why %s needs a restart", leaf.rule)
		}
	}
	for _, array := range arrays {
		known[array], known[array+"[]"] = true, true
		if restartKeys[array+"[]"] == "" {
			t.Errorf("%s[] is missing in restartKeys, in reload.go: its elements may come and go", array)
		}
	}
	for key := range restartKeys {
		if !known[key] {
			t.Errorf("restartKeys has %s, which is no key", key)
		}
	}
	for key := range liveKeys {
		if !known[key] || strings.HasPrefix(key, "source[]") {
			t.Errorf("liveKeys has %s, which is no key, or one whose array is not copied by InForce", key)
		}
	}
	if got := LiveKeys(); !slices.IsSorted(got) || len(got) != len(liveKeys) || len(got) == 0 {
		t.Errorf("LiveKeys = %q", got)
	}
}

func TestEveryKeyThatChangesIsFound(t *testing.T) {
	t.Parallel()
	_, leaves, _ := everyKey()
	for i, leaf := range leaves {
		t.Run(leaf.rule, func(t *testing.T) {
			t.Parallel()
			old, _, _ := everyKey()
			next, leaves, _ := everyKey()
			if !leaves[i].change() {
				t.Fatalf("this test cannot change a %s", leaves[i].value.Type())
			}
			got := Compare(old, next)
			want := []Change{{Key: leaf.key, Restart: !liveKeys[leaf.rule]}}
			if array, isName := strings.CutSuffix(strings.Replace(leaf.rule, "[].class", "[].name", 1), "[].name"); isName {
				want = []Change{{Key: array + "[n]", Restart: true}, {Key: array + "[nx]", Restart: true}}
			}
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Change{}, "Why", "From", "To")); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
			for _, c := range got {
				if (c.Why == "") == c.Restart || c.From == c.To {
					t.Errorf("change %+v", c)
				}
			}

			// The value in force is the new one only if the key can change at run time.
			force := old.InForce(next)
			if diff := cmp.Diff(map[bool]*Config{true: next, false: old}[liveKeys[leaf.rule]], force); diff != "" {
				t.Errorf("in force (-want +got):\n%s", diff)
			}
			unchanged, _, _ := everyKey()
			if diff := cmp.Diff(unchanged, old); diff != "" {
				t.Errorf("the running configuration was changed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestKeysAreTakenFromTables(t *testing.T) {
	t.Parallel()
	next := Default()
	next.LogLevel, next.Sync.Frequency, next.Policy.Dir, next.Sync.OnDeniedReplacement = "debug", time.Hour, "/policies", DeniedStop
	want, got := Default(), Default()
	want.LogLevel, want.Sync.Frequency = "debug", time.Hour
	take(map[string]bool{"log_level": true, "sync.frequency": true}, "", reflect.ValueOf(got).Elem(), reflect.ValueOf(next).Elem())
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
}

func TestWhatIsInForceOfTenantsIsTakenByName(t *testing.T) {
	t.Parallel()
	tenants := func(all ...Tenant) *Config {
		c := Default()
		c.Tenants = all
		return c
	}
	old := tenants(Tenant{Name: "a", FuelPerSecond: 1, PolicyDir: "/a"}, Tenant{Name: "b", FuelPerSecond: 2}, Tenant{Name: "gone", FuelPerSecond: 3})
	next := tenants(Tenant{Name: "new", FuelPerSecond: 4}, Tenant{Name: "b", FuelPerSecond: 5}, Tenant{Name: "a", FuelPerSecond: 6, PolicyDir: "/other"})
	want := tenants(Tenant{Name: "a", FuelPerSecond: 6, PolicyDir: "/a"}, Tenant{Name: "b", FuelPerSecond: 5}, Tenant{Name: "gone", FuelPerSecond: 3})
	if diff := cmp.Diff(want, old.InForce(next)); diff != "" {
		t.Errorf("in force (-want +got):\n%s", diff)
	}
	if old.Tenants[0].FuelPerSecond != 1 {
		t.Error("the running configuration was changed")
	}
}

func TestARuleIsAKeyWithoutTheNameOfItsElement(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"log_level": "log_level", "sync.frequency": "sync.frequency", "tenant[a].max_suppress": "tenant[].max_suppress",
		"tenant[a]": "tenant[]", "source": "source", "odd[": "odd[",
	} {
		if got := Rule(key); got != want {
			t.Errorf("%s: rule %s, want %s", key, got, want)
		}
	}
}
