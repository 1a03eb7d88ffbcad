package mutate

import "testing"

func TestValuesAreEqualByWhatTheyMean(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{`null`, `null`, true},
		{`null`, `false`, false},
		{`null`, `{}`, false},
		{`""`, `null`, false},
		{`"a"`, `"\u0061"`, true},
		{`"1"`, `1`, false},
		{`1`, `1.0`, true},
		{`10`, `1e1`, true},
		{`10`, `1E+1`, true},
		{`0.1`, `1e-1`, true},
		{`0`, `-0.00e7`, true},
		{`1`, `-1`, false},
		{`12`, `1.2`, false},
		{`9007199254740993`, `9007199254740992.0`, false},
		{`9007199254740993`, `9007199254740993.0`, true},
		{`1e999999999`, `1e999999998`, false},
		{`1e99999999999999999999`, `2e99999999999999999999`, false},
		{`1e99999999999999999999`, `1`, false},
		{`[1,2]`, `[1,2.0]`, true},
		{`[1,2]`, `[2,1]`, false},
		{`[1]`, `[1,null]`, false},
		{`[null]`, `[null]`, true},
		{`[null]`, `[{}]`, false},
		{`[]`, `{}`, false},
		{`{"a":1,"b":[]}`, `{"b":[],"a":1}`, true},
		{`{"a":null}`, `{}`, false},
		{`{"a":null}`, `{"b":null}`, false},
	} {
		a, err := readValues([]byte(test.a))
		must(t, err)
		b, err := readValues([]byte(test.b))
		must(t, err)
		if equal(a, b) != test.want || equal(b, a) != test.want {
			t.Errorf("%s and %s: want equal %v", test.a, test.b, test.want)
		}
	}
}
