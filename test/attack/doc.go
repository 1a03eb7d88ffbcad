// Package attack is a collection of plugins that want to hurt the agent or each other, and what must become of each.
//
// In come the sources in modules and choices, WebAssembly in its text format, and those that generated.go and bombs.go
// write; wat2wasm of wabt assembles them. Out come modules that can be loaded into an engine and asked, and an error
// where one does not end as it must: Modules are asked by the hook admit, Choices by merge and filter, Bombs not at all.
// The tests run them all on the real engine; a bench can run them beside a policy that must not notice.
//
// They run on wazero's compiler and on its interpreter, which must give the same, texts and fuel included. With the race
// detector the interpreter grants those that use up all their fuel a twentieth of it, and ends initialisations that are
// too long by their context.
//
// Each source begins with comments: what the module does, and lines of the form "word: value" that say how it is
// loaded and how it must end, see header.go. Images of containers tell a module what to do: most are asked about the
// image "attack"; those that look for state that survives are asked about "write" and then about "look". Documents that
// claim one pod are of the same image; none of those of the image "fresh" runs.
//
// The package owns no goroutine. A Module may be used from any; its plugins are the caller's to close.
package attack
