package abi

import (
	"math"
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/wardlet/wardlet/core/policy/wasm/abi/abitest"
)

func checkQuantity(t *testing.T, q resource.Quantity) {
	t.Helper()
	before, same := q.DeepCopy(), q.DeepCopy()
	number, suffix := same.CanonicalizeBytes(nil)
	want := string(number) + string(suffix)
	var r Record
	r.amount(&q)
	if got := abitest.ParseValue(t, r.Out); got != want {
		t.Errorf("%v, want %s", got, want)
	}
	if !reflect.DeepEqual(q, before) {
		t.Errorf("%s: the quantity was changed", want)
	}
}

func TestQuantitiesAreCanonical(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"0", "1", "1500m", "0.5", "1Gi", "1024Mi", "1000Mi", "1.5Gi", "100k", "1e3", "12E", "123456789012345678901234567890", "1n", "-5", "0.0000000001",
		"1100Ki", "1023Ki", "0.5Ki", "7Ei", "8Ei", "9Ei", "-1Gi", "0Gi", "1024", "1Ki",
	} {
		checkQuantity(t, resource.MustParse(text))
	}
	for _, n := range []int64{0, 1, 1023, 1024, 1025, -1023, -1024, -1025, 1 << 20, 1<<20 + 1, 1 << 62, math.MaxInt64, math.MinInt64} {
		for _, format := range []resource.Format{resource.BinarySI, resource.DecimalSI, resource.DecimalExponent} {
			checkQuantity(t, *resource.NewQuantity(n, format))
		}
	}
}

func FuzzQuantity(f *testing.F) {
	f.Add("1.5Gi")
	f.Add("1e3")
	f.Add("-12345678901234567890m")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 30 {
			return
		}
		if q, err := resource.ParseQuantity(text); err == nil {
			checkQuantity(t, q)
		}
	})
}
