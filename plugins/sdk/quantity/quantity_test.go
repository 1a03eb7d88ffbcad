package quantity

import (
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/plugins/sdk"
)

func TestAmountsAreReadAsTheAPIWritesThem(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Milli{
		"0": 0, "4": 4000, "1500m": 1500, "1.5": 1500, "0.5": 500, ".5": 500, "5.": 5000, "100u": 1, "1n": 1, "0n": 0, "1000001n": 2,
		"1k": 1_000_000, "2M": 2e9, "1G": 1e12, "3T": 3e15, "1P": 1e18, "9P": 9e18,
		"1Ki": 1_024_000, "8Gi": 8 << 30 * 1000, "1.5Gi": 1.5 * (1 << 30) * 1000, "1Pi": 1 << 50 * 1000, "8Pi": 8 << 50 * 1000,
		"1e3": 1_000_000, "2E3": 2_000_000, "1e+2": 100_000, "15e-1": 1500, "1e-9": 1, "0e99": 0, "1e-99999999999": 1,
		"007": 7000, "9223372036854775.807": Most, "9223372036854775.806": Most - 1, "9223372036854775806m": Most - 1,
		"12345678901234567890n": 12_345_678_901_235, "12345678901234567890000n": 12_345_678_901_234_568,
	} {
		if got, ok := Parse(text); !ok || got != want {
			t.Errorf("%s: %d, %v, want %d", text, got, ok, want)
		}
	}
}

func TestWhatIsTooMuchIsMost(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"9223372036854775807m", "9223372036854775808m", "10P", "1E", "9Pi", "8Ei", "99999999999999999999999", "1e16", "1e99999999999",
		"10000000000000000000000Ki",
	} {
		if got, ok := Parse(text); !ok || got != Most {
			t.Errorf("%s: %d, %v", text, got, ok)
		}
	}
	if got := Most.Plus(1); got != Most {
		t.Errorf("a sum beyond all: %d", got)
	}
	if got := Milli(1).Plus(2); got != 3 {
		t.Errorf("a sum: %d", got)
	}
	if Whole(1<<62) != Most || Whole(3) != 3000 {
		t.Error("whole numbers are others")
	}
}

func TestWhatIsNoAmountIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", ".", "m", "Gi", "-1", "+1", " 1", "1 ", "1,5", "1.2.3", "1K", "1mi", "1ki", "1ei", "1gi", "1GiB", "1Gb", "1e", "1e+", "1e-", "1x3",
		"1e1.5", "1e1m", "0x10", "1_000", "٣", "1.00000000000000000001Ki",
	} {
		if got, ok := Parse(text); ok {
			t.Errorf("%q: %d", text, got)
		}
	}
}

// written returns an amount written as CPU and as memory.
func written(amount Milli) [2]string {
	var plain, binary sdk.Text
	amount.Write(&plain)
	amount.WriteBinary(&binary)
	return [2]string{plain.String(), binary.String()}
}

func TestAmountsAreWrittenAsTheAPIWritesThem(t *testing.T) {
	t.Parallel()
	for amount, want := range map[Milli][2]string{
		0: {"0", "0"}, 1: {"1m", "1m"}, 1500: {"1500m", "1500m"}, 4000: {"4", "4"}, 1_024_000: {"1024", "1Ki"},
		8 << 30 * 1000: {"8589934592", "8Gi"}, 1536 << 20 * 1000: {"1610612736", "1536Mi"}, Most: {"9223372036854775807m", "9223372036854775807m"},
	} {
		if got := written(amount); got != want {
			t.Errorf("%d: %q, want %q", int64(amount), got, want)
		}
	}
}

var form = regexp.MustCompile(`^([0-9]+\.?[0-9]*|\.[0-9]+)(n|u|m||k|M|G|T|P|E|[KMGTPE]i|[eE][-+]?[0-9]+)$`)

// exactly does what Parse does, with numbers of any length.
func exactly(text string) (amount Milli, ok bool) {
	parts := form.FindStringSubmatch(text)
	if parts == nil {
		return 0, false
	}
	number, ok := new(big.Rat).SetString(strings.TrimSuffix(parts[1], "."))
	if !ok {
		return 0, false
	}
	power := func(base, n int64) *big.Rat {
		r := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(base), big.NewInt(max(n, -n)), nil))
		if n < 0 {
			r.Inv(r)
		}
		return r
	}
	switch suffix := parts[2]; {
	case suffix == "":
	case strings.HasSuffix(suffix, "i"):
		number.Mul(number, power(1024, int64(strings.Index("KMGTPE", suffix[:1])+1)))
	case len(suffix) > 1:
		n, err := strconv.Atoi(suffix[1:])
		if err != nil || n > 500 || n < -500 {
			return 0, false
		}
		number.Mul(number, power(10, int64(n)))
	case suffix == "n" || suffix == "u" || suffix == "m":
		number.Mul(number, power(1000, int64(strings.Index("num", suffix)-3)))
	default:
		number.Mul(number, power(1000, int64(strings.Index("kMGTPE", suffix)+1)))
	}
	number.Mul(number, big.NewRat(1000, 1))
	whole, rest := new(big.Int).QuoRem(number.Num(), number.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		whole.Add(whole, big.NewInt(1))
	}
	if !whole.IsInt64() {
		return Most, true
	}
	return Milli(whole.Int64()), true
}

// FuzzParse compares Parse with exact arithmetic, and checks that Parse returns the same
// amount for the text that was written for it.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"4", "1500m", "0.1", "8Gi", "12345678901234567890n", "1e3", "9223372036854775.8079", "1E-30", "99999999999999999999Ki", "1.23456789012345678901Mi",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 200 {
			return
		}
		got, ok := Parse(text)
		want, exact := exactly(text)
		switch {
		case !ok:
			// Parse also refuses numbers that are too long for a power of 1024. exactly
			// does not support exponents beyond 500.
			if exact && !strings.HasSuffix(text, "i") {
				t.Errorf("%q is refused, want %d", text, want)
			}
			return
		case exact && got != want:
			t.Errorf("%q: %d, want %d", text, got, want)
		case got < 0:
			t.Errorf("%q is negative", text)
		}
		for _, again := range written(got) {
			if back, ok := Parse(again); !ok || back != got {
				t.Errorf("%q: %d is written as %s and read as %d", text, got, again, back)
			}
		}
	})
}
