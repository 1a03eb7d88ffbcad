package cpu

import "testing"

func TestWeight(t *testing.T) {
	t.Parallel()
	for shares, weight := range map[int64]int64{2: 1, 102: 4, 1024: 39, 2048: 79, 262144: 10000} {
		if got := Weight(shares); got != weight {
			t.Errorf("%d shares: weight %d, want %d", shares, got, weight)
		}
		if got := SharesOfWeight(weight); Weight(got) != weight && Weight(got+1) != weight {
			t.Errorf("weight %d gives %d shares, which have weight %d", weight, got, Weight(got))
		}
	}
}

func TestShares(t *testing.T) {
	t.Parallel()
	for milli, want := range map[int64]int64{0: 2, 1: 2, 250: 256, 1000: 1024, 1 << 62: 262144} {
		if got := Shares(milli); got != want {
			t.Errorf("Shares(%d) is %d, want %d", milli, got, want)
		}
	}
}

func TestQuota(t *testing.T) {
	t.Parallel()
	for milli, want := range map[int64]int64{0: 0, 1: 1000, 10: 1000, 250: 25_000, 1000: 100_000, 1 << 62: 100_000_000_000} {
		if got := Quota(milli); got != want {
			t.Errorf("Quota(%d) is %d, want %d", milli, got, want)
		}
	}
}
