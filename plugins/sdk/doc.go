// Package sdk is what a Wardlet policy plugin written in Go is made of: the
// fields it wants to see, of the pod and of what else the question is about,
// the settings of its policy document, and a log. What a plugin answers
// is said with the packages of the hooks, admit, merge and filter, and package
// sdktest runs a plugin in go test.
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
// It is built with
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -ldflags="-s -w"
//
// Comes in: fields, as a record that the agent writes before each call, or one
// by one where they are lazy, whole documents as JSON, and settings, whenever
// they are asked for. Goes out: Go values. They do not change during a call.
// After every call the agent puts the plugin's memory back to what it was after
// setup, so nothing a policy keeps or changes is there at the next call.
//
// A plugin runs on one goroutine, that of the agent's call. It has no network,
// no files and no environment; its clock stands still during a call.
//
// Mistakes do not pass silently: reading a field or a setting as what it is
// not makes setup or the call fail, whatever the plugin answers, and the
// policy's on_error decides.
//
// To keep plugins small this package and those of the hooks import neither fmt
// nor reflect, encoding/json or time; a plugin that does is larger by up to 1.5
// MB. To keep calls short they take no memory from the heap while a pod is
// judged, as long as texts are composed with Text.
package sdk
