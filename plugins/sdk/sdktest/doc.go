// Package sdktest runs a plugin's policy in go test, without the agent and
// without WebAssembly: it hands the policy what the agent would, by the same
// rules, and collects what the policy says.
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
// Comes in: the plugin the test is part of, settings, and pods as JSON. Goes
// out: Results. Setup runs before every call, as the agent puts the memory
// back after every call. A test may call from several goroutines: calls wait
// for each other.
//
// What it does not do: default or validate pods (what a manifest leaves out
// is absent, for example restartPolicy), escape what is not printable in
// messages, and stop a policy that does not end.
package sdktest
