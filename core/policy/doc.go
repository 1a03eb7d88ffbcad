// Package policy is the decision plane: it reads a directory of policies for the
// operator and one for each tenant, each as a set of its own, keeps the newest
// good set of each in force, and asks their plugins: whether an instance of a pod
// may run (admit), who wins where several documents claim one pod (merge),
// whether an update may go on now (filter), and who may connect to a pod (connect).
//
// Comes in: the files of the directories; questions through Plane.Judge,
// Rules.Resolve, Plane.Filter and Plane.Connect; what is known of the node; orders (Reload,
// Retry, Rollback). Goes out: an answer per question, through the function that
// came with it; a signal for each hook when other policies of it came into force;
// and for display the state of the sets and the newest decisions (Sets,
// Decisions).
//
// # Goroutines
//
// Plane.Run owns all of them. Each owner has a reloader, which watches the
// directory, reads, loads and tests sets, carries out orders, and is the only one
// that puts a set of that owner in force. The evaluators take questions and ask the
// plugins. Questions wait in a line for each tenant of the pods they are about;
// the line that had the least fuel comes next, and a decision under way pauses for
// it between two slices of a guest. Whoever asks only puts a question
// into a line: nothing of a plugin runs on a goroutine of another package. One more
// writes what policies said last to the disk, at most once a second. For each
// owner of pods a recorder and its writer put decisions on record (Config.Records).
//
// # Answers wait for their records
//
// A decision is answered when its record is on the disk: so nothing is ever in
// effect that is not on record, and what a crash cuts off has had no effect and is
// decided again. The evaluator does not wait for that, only the answer does; the
// records that come while the disk is busy are written together. Where the disk
// fails, or takes longer than 2 s, answers are given all the same, and the decision
// is only shown, with the reason. An owner of pods with 256 decisions that wait for
// the disk waits for itself. What is written comes out of the budget of the tenant
// (recordcost.go); what finds that empty has no verdict, and no record.
//
// A Repeater makes decisions again from their records, by the code that made them.
// What a policy met that is no function of the question (circumstance.go) is on
// record for that, and is given back.
//
// Loading a tenant's policies comes out of another budget of the tenant
// (loadbudget.go), and waits for it between two steps. An order that cannot wait
// ends a load that does (urgent.go).
//
// # A set is a transaction
//
// One attempt reads every file once, verifies the signature, compares the digests
// of the modules, loads every plugin and runs the policies' own tests. Only if all
// of it went well does the set come into force, by the swap of one pointer; any
// fault refuses the whole set with every reason, and what was in force stays. What
// did not change is not loaded again: plugins are shared by the sets of an owner
// that use them and closed after the last decision of the last one. Content that
// was refused is tried again only when it changes, by another version of the
// agent, or by Retry.
//
// A set with new plugins is on probation. The evaluators count in which decisions
// these fail; where that is too often, the reloader brings the set before into
// force and refuses the content, as above. No tenant's pods alone can bring that
// about for the operator's set.
//
// A directory that is missing or holds no policy is a bad set too: it may be a
// file system that is not mounted. Good sets are kept (Config.Kept): where none is
// in force, the last one is brought back. Until a first set was good, every pod
// that it could judge is held (PoliciesNotReady).
//
// # Who changes pods
//
// Policies with mutable_paths are asked first, the tenant's and then the
// operator's, each about the pod as the ones before have left it. All others are
// asked about what has come of it, which is part of the verdict. See package
// mutate for what a patch may do; what it costs to apply is charged as fuel. What a
// merge policy makes of the winner it names is part of the answer (base.go); when
// that is judged, it is the question.
//
// # What a decision saw
//
// A decision of a policy that sees the node counts only if what its policies were
// shown is the same still; else it is made again, and after three times others that
// would change it wait for it. What was admitted counts until the pod is among those
// of the node, has ended, or is not wanted in that version any more.
//
// # Pods that run
//
// The reviewer, one goroutine, has policies with on_change judge the pods that run
// and that other sets have admitted: one question of each tenant at a time, on the
// same queue as all others. It shows what they violate and has pods evicted, held
// back by brakes whose counts are on the disk before a pod ends (brake.go).
//
// # What is read
//
// Names that end in ".toml" and do not begin with "." or "#", directly in the
// directory, and what these documents name: modules and the pods of tests, in
// the directory or below it; and the manifest of a signed set with its signature.
// No symbolic link below the directory is followed, and nothing but regular files
// is opened. The directory itself may be reached through a link. Files are read
// once they have stood still for 100 ms.
package policy
