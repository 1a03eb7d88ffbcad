package podsecurity

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/manifest"
)

// taken is the number of fixtures that the agent's decoder accepts, and violating is how many of
// these violate their level. The decoder refuses the others before a policy is asked, because of
// the fields in refusedFields.
const (
	taken     = 2104
	violating = 1503
)

// field matches the fields that a refusal names.
var field = regexp.MustCompile(`(?:spec|metadata)\.[A-Za-z0-9.\[\]]+`)

var index = regexp.MustCompile(`\[\d+\]`)

// decoder decodes each text once, because versions share most of their fixtures.
type decoder map[string]api.Document

func (d decoder) decode(text []byte) api.Document {
	known, ok := d[string(text)]
	if !ok {
		known = manifest.Decode(text, manifest.DecodeFrom{Source: "manifests", Kind: api.KindFile, File: "/m/web.yaml", NodeName: "node-1"})[0]
		d[string(text)] = known
	}
	return known
}

func TestTheAgentRefusesTheFixturesForTheseFields(t *testing.T) {
	fields, from := map[string]int{}, decoder{}
	for _, f := range all(t) {
		d := from.decode(f.text)
		if d.Pod != nil {
			continue
		}
		names := field.FindAllString(d.Err.Error(), -1)
		for i := range names {
			names[i] = index.ReplaceAllString(strings.TrimRight(names[i], "."), "[]")
		}
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			fields[name]++
		}
	}
	if diff := cmp.Diff(refusedFields, fields); diff != "" {
		t.Errorf("fields that fixtures are refused for (-want +got):\n%s", diff)
	}
}

// TestThePluginDecidesWhatTheAgentDecodesAsUpstreamDoes passes the plugin the pod that the agent's
// decoder makes of a manifest, as the agent does. It passes upstream the pod as an API server does.
func TestThePluginDecidesWhatTheAgentDecodesAsUpstreamDoes(t *testing.T) {
	got, from := map[bool]int{}, decoder{}
	for _, f := range all(t) {
		d := from.decode(f.text)
		if d.Pod == nil {
			continue
		}
		want, err := theirs(served(&f), f.level, f.version)
		if err != nil {
			t.Fatal(err)
		}
		violated, err := agree(t, d.Pod, f.level, f.version)
		if err != nil || violated != want {
			t.Errorf("%s: violated are %q and %q, %v", f.file, violated, want, err)
		}
		got[violated == ""]++
	}
	t.Logf("the agent decodes %d fixtures that keep to their level and %d that do not", got[true], got[false])
	if got[true]+got[false] != taken || got[false] != violating {
		t.Errorf("%d fixtures are decoded, %d of them violate; want %d and %d", got[true]+got[false], got[false], taken, violating)
	}
}

var refusedFields = map[string]int{
	"metadata.annotations[container.apparmor.security.beta.kubernetes.io": 216,
	"metadata.annotations[container.seccomp.security.alpha.kubernetes.io": 114,
	"metadata.annotations[seccomp.security.alpha.kubernetes.io":           76, "metadata.name": 685,
	"spec.containers[].securityContext.procMount": 74, "spec.containers[].securityContext.windowsOptions": 144,
	"spec.initContainers[].securityContext.procMount": 74, "spec.initContainers[].securityContext.windowsOptions": 144,
	"spec.hostUsers": 216, "spec.securityContext.windowsOptions": 144,
	"spec.volumes[].awsElasticBlockStore": 36, "spec.volumes[].azureDisk": 36, "spec.volumes[].azureFile": 36, "spec.volumes[].cephfs": 36,
	"spec.volumes[].cinder": 36, "spec.volumes[].fc": 36,
	"spec.volumes[].flexVolume": 36, "spec.volumes[].flocker": 36, "spec.volumes[].gcePersistentDisk": 36, "spec.volumes[].gitRepo": 36,
	"spec.volumes[].glusterfs": 36, "spec.volumes[].iscsi": 36, "spec.volumes[].nfs": 36, "spec.volumes[].persistentVolumeClaim": 36,
	"spec.volumes[].portworxVolume": 36, "spec.volumes[].quobyte": 36, "spec.volumes[].rbd": 36,
	"spec.volumes[].scaleIO": 36, "spec.volumes[].storageos": 36, "spec.volumes[].vsphereVolume": 36,
}
