// Package quantity reads amounts of CPU and memory as the API writes them, such
// as 500m, 1.5 and 8Gi, adds them up and writes them again.
//
//	asked, ok := quantity.Parse(cpu.String())
//	if !ok {
//		return admit.Fail("…")
//	}
//	if used.Plus(asked) > allowed {
//		…
//
// Comes in: texts. Goes out: integers. The package starts no goroutine, has no state, and
// allocates nothing on the heap while a pod is judged.
package quantity
