// Package sdktest runs a plugin's policy in go test, without the agent and without
// WebAssembly: it passes the policy the same input as the agent, by the same rules, and
// collects the answer.
//
//	func TestBannedImagesAreDenied(t *testing.T) {
//		policy := sdktest.Load(t, map[string]any{"banned": "evil"})
//		got := policy.Admit(t, sdktest.Request{
//			Pod: `{"spec": {"containers": [{"name": "main", "image": "evil"}]}}`,
//		})
//		if got.Answer != sdktest.Deny {
//			t.Errorf("got %+v", got)
//		}
//	}
//
// Comes in: the plugin whose package the test belongs to, settings, and pods as JSON. Goes
// out: Results. Setup runs before every call, because the agent resets the memory after
// every call. A test may call from several goroutines: only one call runs at a time.
//
// Unlike the agent, the package does not set defaults in pods (if a manifest has no
// restartPolicy, the field is absent), does not validate pods, does not escape characters
// that are not printable in messages, and does not stop a policy that does not end.
package sdktest
