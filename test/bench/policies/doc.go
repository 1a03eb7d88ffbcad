// Command policies measures the cost of the sandbox of policies: a decision, its metering, a
// restart, an additional policy; a decision compared with those of cel-go and OPA by the same rule;
// and decisions through a whole plane, also while its policies are replaced.
//
// Comes in: flags, and the sources below guests. Goes out: after each round of a part a line of
// JSON with all figures so far, each with its limit, and the share of the work that is done;
// test/bench checks and prints them. The program starts itself for each part, so that no part is
// influenced by what another left in its process. A part is one goroutine, beside those of the
// plane that it asks.
//
// # What is fair
//
// All sides evaluate the same pod by the same rule, and the pod is allowed, so that no side returns
// early. A decision of ours lasts from the typed pod to the verdict. The guest's input is encoded
// each time, and the instance is in its initial state before any call: Admit is followed by Reset,
// which resets it. Rivals get the pod in the form that suits them best, made before the measurement
// begins, except for the one figure that is named otherwise; and they keep their state.
//
// Processor time is that of the whole process: the work of the garbage collector and the scheduler
// on other threads for a decision is included. The goroutine is not locked to its thread, and
// neither are the agent's.
//
// At a fixed rate the thread sleeps until a decision is due, so that caches and the processor's
// clock are in the state of an idle node. The measurement is repeated with a thread that polls the
// clock instead of sleeping, as on a node with other work whose processor does not sleep ("awake").
// Reading the clocks costs something there, too; that is measured in the same way and subtracted
// from the processor time, but not from the time to the verdict.
//
// Metering is compared in the guest's own code: module and metered module run in turn on plain
// wazero, with one small host and the same memory, which is reset after each call outside the
// measurement. That host does everything that the agent does for a metered guest, and this is
// measured: it fills the fuel before a call and after each slice, and charges for the host's
// functions.
//
// Neighbours of a virtual machine slow it down for milliseconds at a time, by half as much again.
// So native Go evaluates the rule a thousand times before and after each measurement, or a hundred
// times after each decision at a rate. If that takes more than 1.1 times its best time, the
// measurement is repeated, for half a second at most. A measurement that is still disturbed counts
// only if all are. The number of disturbed probes is printed. The same is done for rivals and for
// us.
//
// # A whole plane
//
// A plane runs as the agent configures it, over a directory of its own. Only its record of sets is
// on disk, because decisions are written to the disk after the verdict, outside the measurement.
// Its policies are copies of one example with different settings, and for one figure the guest with
// the rule of all sides. The plane evaluates more pods in turn than it shows decisions of, so that
// each decision is put on record as a new one. The plane computes the instance of a pod once for
// each pod; that is measured separately (instance).
//
// A verdict lasts from the question to the answer, which comes on another goroutine. The next
// question is asked when the plane has tidied up. It has tidied up when it answers a question about
// a mirror pod; "untidied" figures are those of questions that do not wait for that. The cost of a
// policy that is not asked is a fiftieth of the time that fifty of them add to the decisions of a
// plane without policies; both planes decide in turn.
//
// In a swap all fifty policies get another module and other settings, so that the module is
// compiled and all policies are loaded. Decisions are requested 200 times a second, without waiting
// for earlier ones, until the old policies are closed, too; then as many while nothing is swapped.
// The figure is the difference between the longest decision during the swap and the longest one
// without, as the median over all swaps: disturbances by neighbours are in both.
//
// Memory is the resident memory of a process of its own, including snapshots. The first policy is
// not counted, because it includes the runtime and the costs of its code.
package main
