// Command pod-security is a policy plugin: pods must comply with a level of Kubernetes' Pod
// Security Standards, by the same rules as Pod Security Admission. README.md explains the
// settings.
//
// Comes in: the settings, once, and of each pod the fields that the standards
// are about. Goes out: allow or deny, with every check that the pod violates.
// It runs on the one goroutine of the agent's call.
package main

import (
	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/admit"
	"github.com/wardlet/wardlet/plugins/sdk/settings"
)

var (
	namespace    = sdk.Object("metadata.namespace")
	runtimeClass = sdk.Object("spec.runtimeClassName")
)

func init() { admit.Register(setup) }

func setup() (admit.Policy, error) {
	if err := settings.Only("level", "version", "namespaces", "exempt_runtime_classes"); err != nil {
		return nil, err
	}
	level, _ := sdk.StringSetting("level")
	version, set := sdk.StringSetting("version")
	if !set {
		version = latest
	}
	namespaces, _ := sdk.MapSetting("namespaces")
	exempt, _ := sdk.StringsSetting("exempt_runtime_classes")
	p, err := newPolicy(level, version, namespaces, exempt)
	if err != nil {
		return nil, err
	}
	return p.judge, nil
}

func main() {}
