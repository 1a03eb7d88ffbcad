package kernel

import "testing"

// FuzzParse parses any text as each of the files. Shares are percentages, and names of interfaces and
// devices are not empty.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"", pressureText, "usage_usec 18446744073709551615\nx", "8:0 rbytes=1 wios=99999999999999999999\n", "8:0 Read 1\n8:1 Write 2\n", "max 100000\n",
		"cpu 1 2 3 4 5 6 7 8 9 10\nbtime -1\n", "7 (a) S 1 1 1 0 -1 4194304 10 0 20 0 30 40 0 0 20 0 1 0 18446744073709551615 4096 6 0 0",
		" eth0: 1 2 3 4 0 0 0 0 5 6 7 8 0 0 0 0\n:1 2\n", "some avg10=NaN avg60=1e999 total=-1\nfull\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if p := parsePressure(text); p != nil {
			for _, share := range []float64{p.Some.Avg10, p.Some.Avg60, p.Some.Avg300, p.Full.Avg10, p.Full.Avg60, p.Full.Avg300} {
				if !(share >= 0 && share <= 100) {
					t.Errorf("a share of %v", share)
				}
			}
		}
		for _, d := range append(parseIO(text), parseBlock(text, text)...) {
			if !isDevice(d.Number) {
				t.Errorf("device %q", d.Number)
			}
		}
		for _, i := range parseInterfaces(text) {
			if i.Name == loopback {
				t.Error("the loopback interface is counted")
			}
		}
		for name := range flat(text) {
			if name == "" {
				continue
			}
			if value(flat(text), name) == nil {
				t.Errorf("no value of %q", name)
			}
		}
		if n := limit(text); n != nil && *n >= unlimited {
			t.Errorf("a limit of %d", *n)
		}
		parseStat(text)
		if p, ok := parseProcess(text, 4096); ok && p.Started < 0 {
			t.Errorf("it started %v after the machine", p.Started)
		}
	})
}
