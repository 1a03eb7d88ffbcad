// Package attack is a collection of plugins that want to hurt the agent or each other, and what must become of each.
//
// In come the sources in modules, WebAssembly in its text format, and those that generated.go and bombs.go write; wat2wasm
// of wabt assembles them. Out come modules (Modules, Bombs) that can be loaded into an engine and asked, and an error
// where one does not end as it must. The tests run them all on the real engine; a bench can run them beside a policy
// that must not notice.
//
// Each source begins with comments: what the module does, and lines of the form "word: value" that say how it is
// loaded and how it must end, see header.go. Images of containers tell a module what to do: most are asked about the
// image "attack"; those that look for state that survives are told to "write" and then to "look".
//
// The package owns no goroutine. A Module may be used from any; its plugins are the caller's to close.
package attack
