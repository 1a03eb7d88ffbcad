// Package policy is the decision plane: it reads a directory of policies as one
// set, keeps the newest good set in force, and judges instances of pods by it.
//
// Comes in: the files of the directory, and questions through Plane.Judge. Goes
// out: a verdict per question, through the function that came with it; a signal
// when another set came into force (Changed); and for display the state of the
// set and the newest decisions (Sets, Decisions).
//
// # Goroutines
//
// Plane.Run owns all of them. The reloader watches the directory, reads, loads
// and tests sets, and is the only one that puts one in force. The evaluators
// take questions in the order they came and ask the plugins. Whoever calls
// Judge only puts a question into a queue: nothing of a plugin runs on a
// goroutine of another package.
//
// # A set is a transaction
//
// One attempt reads every file once, compares the digests of the modules, loads
// every plugin and runs the policies' own tests. Only if all of it went well
// does the set come into force, by the swap of one pointer; any fault refuses
// the whole set with every reason, and what was in force stays. What did not
// change is not loaded again: plugins are shared by the sets that use them and
// closed after the last decision of the last one. Content that was refused is
// tried again only when it changes.
//
// A directory that is missing or holds no policy is a bad set too: it may be a
// file system that is not mounted. Until a first set was good, every pod is
// held (PoliciesNotReady).
//
// # What is read
//
// Names that end in ".toml" and do not begin with "." or "#", directly in the
// directory, and what these documents name: modules and the pods of tests, in
// the directory or below it. No symbolic link below the directory is followed,
// and nothing but regular files is opened. The directory itself may be reached
// through a link. Files are read once they have stood still for 100 ms.
package policy
