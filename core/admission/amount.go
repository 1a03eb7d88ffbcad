package admission

import "github.com/wardlet/wardlet/core/pod"

// plus adds two amounts that are not negative. The sum is at most pod.MostOf.
func plus(a, b int64) int64 {
	if a > pod.MostOf-b {
		return pod.MostOf
	}
	return a + b
}
