//go:build !wasip1

package sdktest

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/wardlet/wardlet/plugins/sdk/internal/guest"
	"github.com/wardlet/wardlet/plugins/sdk/internal/host"
	"github.com/wardlet/wardlet/plugins/sdk/sdktest/internal/projection"
)

// one holds while a plugin runs: a process has one.
var one sync.Mutex

// Policy is the plugin with the settings of a policy document.
type Policy struct{ settings map[string]any }

// Load loads the plugin as the agent does. The test fails if the plugin
// refuses its settings, or the agent one of its fields. Settings are strings,
// bools, ints, floats, times, and slices and string-keyed maps of them.
func Load(tb testing.TB, settings map[string]any) *Policy {
	tb.Helper()
	p, err := load(settings)
	if err != nil {
		tb.Fatalf("the plugin cannot be loaded: %v", err)
	}
	return p
}

// LoadError loads the plugin with settings it must refuse, and gives the
// reason. The test fails if it does not refuse them.
func LoadError(tb testing.TB, settings map[string]any) string {
	tb.Helper()
	_, err := load(settings)
	if err == nil {
		tb.Fatal("the plugin was loaded: its settings should have been refused")
	}
	return err.Error()
}

func load(settings map[string]any) (*Policy, error) {
	plain, err := plainTable("settings", settings)
	if err != nil {
		return nil, err
	}
	p := &Policy{plain}
	one.Lock()
	defer one.Unlock()
	agent := &agent{settings: plain}
	host.Use(agent)
	defer host.Use(nil)
	return p, agent.load()
}

// Admit asks the policy about a pod. The test fails where the request is none
// the agent could send, and where the plugin breaks a rule that the agent does
// not enforce.
func (p *Policy) Admit(tb testing.TB, r Request) Result {
	tb.Helper()
	question, err := r.question()
	if err != nil {
		tb.Fatalf("the request cannot be sent: %v", err)
	}
	result, err := p.admit(question)
	if err != nil {
		tb.Fatal(err)
	}
	if code := result.Code; strings.Trim(code, camelCase) != "" || code != "" && strings.ToUpper(code[:1]) != code[:1] {
		tb.Errorf("the reason's code is %q: want one word in CamelCase", code)
	}
	return result
}

const camelCase = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

func (p *Policy) admit(q *projection.Question) (Result, error) {
	one.Lock()
	defer one.Unlock()
	agent := &agent{settings: p.settings}
	host.Use(agent)
	defer host.Use(nil)
	if err := agent.load(); err != nil {
		return Result{}, err
	}
	record, err := agent.projection.Record(q)
	if err != nil {
		return Result{}, err
	}
	if guest.Admit == nil {
		return Result{}, errors.New("the plugin does not import package admit: it has no policy")
	}
	if !guest.Fill(record) {
		return failure(inputTooLarge, "the fields of this pod take more than the plugin has room for"), nil
	}
	return agent.admit(), nil
}
