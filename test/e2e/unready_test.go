//go:build e2e

package e2e

import (
	"strings"
	"testing"
)

func TestGetPods_namesWhatIsNotReadyAndDescribePodMore(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "unready")
	a.start(t)
	probe := "    readinessProbe: {periodSeconds: 1, httpGet: {port: 8080, path: /fs}}\n    env: [{name: PASSWORD, value: hidden}]\n"
	a.manifest(t, "web.yaml", strings.Replace(webPod("web"), "    resources: {}\n", probe, 1))
	sidecar := "  initContainers:\n  - {name: side, image: registry.example/web:1, restartPolicy: Always, args: [no-such-command]}\n"
	a.manifest(t, "crashes.yaml", strings.Replace(webPod("crashes"), "  dnsPolicy:", sidecar+"  dnsPolicy:", 1))

	a.says(t, "get pods", "0/1", "default/web-unready: container web: readiness probe failed: HTTP probe failed with statuscode: 404")
	a.says(t, "get pods", "Init:CrashLoopBackOff", "default/crashes-unready: container side: CrashLoopBackOff (back-off ", "s, exit code 2)")
	a.says(t, "describe pod default/web", " web-unready\n", " http-get http://:8080/fs delay=0s timeout=1s period=1s #success=1 #failure=3\n",
		"PASSWORD:  <redacted>\n", "Not ready:  container web: readiness probe failed: HTTP", "spec.containers{web}: Readiness probe failed: HTTP")
	a.says(t, "describe pod/default/web-unready --show-env", "PASSWORD:  hidden\n")
	a.remove(t, "web.yaml", "crashes.yaml")
	a.nothingLeft(t, n)
	a.stop(t)
}
