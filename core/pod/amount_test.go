package pod

import (
	"math"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestAmounts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     v1.ResourceName
		quantity string
		want     int64
	}{
		{"cpu", "0", 0},
		{"cpu", "-1", 0},
		{"cpu", "1n", 1},
		{"cpu", "1500m", 1500},
		{"cpu", "9223372036854775", 9_223_372_036_854_775_000},
		{"cpu", "9223372036854775806m", math.MaxInt64 - 1},
		{"cpu", "9223372036854775807m", math.MaxInt64},
		{"cpu", "9223372036854776", math.MaxInt64},
		{"memory", "1500m", 2},
		{"memory", "7Ei", 7 << 60},
		{"memory", "8Ei", math.MaxInt64},
		{"memory", "-9Ei", 0},
	} {
		q := resource.MustParse(test.quantity)
		if got := Amount(test.name, &q); got != test.want {
			t.Errorf("%s %s: %d, want %d", test.quantity, test.name, got, test.want)
		}
	}
}
