// Package attack is a collection of plugins that try to harm the agent or each other, with the
// required result of each.
//
// Comes in: the sources in modules and choices, WebAssembly in its text format, and those that
// generated.go and bombs.go write; wat2wasm of wabt assembles them. Goes out: modules that can be
// loaded into an engine and asked, and an error if one does not end as it must. The hook admit asks
// Modules, merge and filter ask Choices, and Bombs are not asked. The tests run all of them on the
// real engine; a bench can run them beside a policy that must not be disturbed.
//
// They run on wazero's compiler and on its interpreter, which must return the same, texts and fuel
// included. With the race detector, modules that use up all their fuel get a twentieth of it on the
// interpreter, and initialisations that are too long end with their context.
//
// Each source begins with comments: what the module does, and lines of the form "word: value" that
// say how it is loaded and how it must end, see header.go. The image of a container tells a module
// what to do. Most modules are asked about the image "attack"; modules that look for state of
// earlier calls are asked about "write" and then about "look". Documents that claim the same pod
// have the same image; of documents of the image "fresh", none is running.
//
// The package owns no goroutine. A Module may be used by any goroutine; the caller closes its
// plugins.
package attack
