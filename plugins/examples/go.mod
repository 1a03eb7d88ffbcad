// The examples are one module, so that they need neither a go.mod and a
// replacement each nor a released SDK. A plugin of your own is a module of its
// own: copy a folder, run `go mod init`, and require the SDK.
module github.com/wardlet/wardlet/plugins/examples

go 1.26

require github.com/wardlet/wardlet/plugins/sdk v0.0.0

replace github.com/wardlet/wardlet/plugins/sdk => ../sdk
