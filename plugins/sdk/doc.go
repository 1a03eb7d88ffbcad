// Package sdk is for Wardlet policy plugins that are written in Go. With it a plugin
// declares the fields of the question that it reads, reads the settings of its policy
// document, and logs. The packages of the hooks (admit, merge, filter and connect) have the
// answers. Package sdktest runs a plugin in go test.
//
//	var images = sdk.Object("spec.@containers[*].image")
//
//	func init() { admit.Register(setup) }
//
//	func setup() (admit.Policy, error) {
//		banned, ok := sdk.StringSetting("banned")
//		if !ok {
//			return nil, errors.New("the setting banned is missing")
//		}
//		return func() admit.Verdict {
//			for image := range images.Strings() {
//				if image == banned {
//					return admit.Deny("ImageBanned", "image "+image+" is banned")
//				}
//			}
//			return admit.Allow()
//		}, nil
//	}
//
//	func main() {}
//
// A plugin is built with
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -ldflags="-s -w"
//
// Comes in: fields, as a record that the agent writes before each call, or one by one if
// they are lazy; whole documents as JSON, and settings, when the plugin reads them. Goes
// out: Go values. They do not change during a call. After every call the agent resets the
// plugin's memory to its state after setup, so a policy cannot keep anything for the next
// call.
//
// A plugin runs on one goroutine, the goroutine of the agent's call. It has no network, no
// files and no environment; its clock stands still during a call.
//
// Mistakes are not ignored: if a field or a setting is read as the wrong type, setup or the
// call fails, whatever the plugin answers, and the policy's on_error decides.
//
// To keep plugins small, this package and the packages of the hooks do not import fmt,
// reflect, encoding/json or time; a plugin that imports them is larger by up to 1.5 MB. To
// keep calls short, they allocate nothing on the heap while a pod is judged, as long as the
// plugin composes texts with Text.
package sdk
