//go:build e2e

package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"
)

// digestOfText is the digest of configMap(text).
func digestOfText(text string) string {
	sum := sha256.Sum256([]byte(`{"data":{"text":"` + text + `"}}`))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// TestReferences_aPolicyPinsWhatAPodNames: a pod runs once the ConfigMap that it names has the
// digest that a policy pins. If the ConfigMap changes while no agent runs, the next agent shows
// that in the pod's status.
func TestReferences_aPolicyPinsWhatAPodNames(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "pins")
	a.withPolicies(t)
	dir := a.withObjects(t)
	a.put(t, a.Path("policies"), "pinned-objects", "admit", example(t, "pinned-objects"),
		fmt.Sprintf("capabilities = [\"references.read\"]\non_change = \"report\"\n[settings.pins]\n\"default/ConfigMap/app\" = %q\n", digestOfText("right")))
	a.start(t)
	a.inForce(t, "pinned-objects")
	a.manifest(t, "web.yaml", objectPod("web"))
	a.says(t, "explain pod default/web-pins", "NotThere", "default/ConfigMap/app is pinned and not there")
	a.move(t, dir+"/app.yaml", configMap("wrong")+"---\n"+secret)
	a.says(t, "explain pod default/web-pins", "OtherContent", "default/ConfigMap/app is not what is pinned: it is "+digestOfText("wrong"))
	a.move(t, dir+"/app.yaml", configMap("right")+"---\n"+secret)
	a.running(t, "web")
	a.says(t, "get objects -o wide", digestOfText("right"), "hmac-sha256:")
	a.says(t, "get decisions -o json", `"digest": "`+digestOfText("wrong")+`"`)
	a.kill()
	a.move(t, dir+"/app.yaml", configMap("other")+"---\n"+secret)
	a.start(t)
	a.says(t, "explain pod default/web-pins", "PolicyViolation", "it is "+digestOfText("other"))
	a.says(t, "policy replay", " decisions made again: ", " the same\n")
	a.remove(t, "web.yaml")
	a.nothingLeft(t, n)
}
