// Command policies measures what the sandbox of policies costs: a decision, its
// metering, a restart, an additional policy; a decision beside those of
// cel-go and OPA by the same rule; and decisions through a whole plane, also
// while its policies are swapped.
//
// Comes in: flags, and the sources below guests. Goes out: after each round of a
// part a line of JSON with all figures so far, each with the limit it must keep,
// and the share of the work that is done; test/bench judges and prints them. The
// program starts itself for each part, so that none has what another left in
// its process; a part is one goroutine, beside those of the plane that it asks.
//
// # What is fair
//
// All sides judge the same pod by the same rule, and the pod is allowed, so
// that no side ends early. A decision of ours is from the typed pod to the
// verdict, what the guest gets being encoded each time, in an instance that is
// as it was before any call: Admit, then Settle, which puts it back. Rivals get
// the pod in the form that they like best, made before the clock runs, but for
// the one figure that says otherwise; and they keep their state.
//
// Processor time is that of the whole process: what the garbage collector and
// the scheduler do on other threads for a decision belongs to it. The goroutine
// is not locked to its thread, as the agent's are not.
//
// At a fixed rate the thread sleeps until a decision is due, so that caches and
// the processor's clock are what they are on an idle node; and once more it
// looks at the clock all the time instead, as on a node with other work whose
// processor does not sleep ("awake"). Reading the clocks costs something there
// too; that is measured in the same way and taken off the processor time, and
// not off the time to the verdict.
//
// Metering is compared in the guest's own code: module and metered module run
// in turn on plain wazero, with one small host and the same memory, which is
// put back after each call while no clock runs. What the agent does for a
// metered guest, to fill its fuel before a call and after each slice, and to
// charge for the host's functions, that host does too, and it counts.
//
// Neighbours of a virtual machine slow it down for milliseconds at a time, by
// half as much again. So native Go judges by the rule a thousand times before and
// after each measurement, or a hundred times after each decision at a rate. If
// that takes more than 1.1 times what it took at best, the measurement is
// repeated, for half a second at most. A measurement that is still disturbed
// counts only if all are. How many of these probes were slow is printed. All of
// this is done for rivals as for us.
//
// # A whole plane
//
// A plane runs as the agent wires it, over a directory of its own, with nothing on
// disk but what it keeps of its sets: what a record takes on the disk comes after
// the verdict and is not in it. Its policies are copies of one example with
// settings each, and for one figure the guest by whose rule all sides judge. More
// pods are judged in turn than decisions are shown of, so that each is put on
// record as a new one. The plane computes the instance of a pod once for each pod;
// that is measured apart (instance).
//
// A verdict is from the question to the answer, which comes on another goroutine.
// The next question is asked when the plane has tidied up, which it has when it
// answers one about a mirror pod; "untidied" figures are those of questions that do
// not wait for that. What a policy costs that is not asked is a fiftieth of what
// fifty of them add to the decisions of a plane without any, both by turns.
//
// For a swap all fifty policies get another module and other settings, so that it is
// compiled and all are loaded. Decisions come at 200 a second, whether or not the ones
// before are over, until the old policies are closed too; then as many while nothing is
// swapped. The figure is by how much the longest of the first is longer than the
// longest of the second, and the median over all swaps: what neighbours disturb is
// in both.
//
// Memory is what is resident in a process of its own, with what snapshots keep
// beside it. The first policy is not counted: the runtime and the figures of
// its code come with it.
package main
