package abi

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// spent is how often a module did something that costs fuel: one number, or several numbers that
// are rounded separately.
type spent []int64

// UnmarshalJSON reads a number or a list.
func (s *spent) UnmarshalJSON(content []byte) error {
	if content[0] == '[' {
		return json.Unmarshal(content, (*[]int64)(s))
	}
	*s = make(spent, 1)
	return json.Unmarshal(content, &(*s)[0])
}

// MarshalJSON writes a single number without a list.
func (s spent) MarshalJSON() ([]byte, error) {
	if len(s) == 1 {
		return json.Marshal(s[0])
	}
	return json.Marshal([]int64(s))
}

// rate is the price of something: units for each, or one unit for a number of them.
type rate struct{ units, oneFor int64 }

func (r rate) of(s spent) (fuel int64) {
	for _, n := range s {
		fuel += n * r.units / r.oneFor
	}
	return fuel
}

// specification is docs/abi.md.
func specification(tb testing.TB) string {
	tb.Helper()
	content, err := os.ReadFile("../../docs/abi.md")
	if err != nil {
		tb.Fatal(err)
	}
	return string(content)
}

// section returns the part of the specification below a heading.
func section(tb testing.TB, heading string) string {
	tb.Helper()
	_, after, ok := strings.Cut(specification(tb), "\n"+heading+"\n")
	if !ok {
		tb.Fatalf("docs/abi.md has no heading %q", heading)
	}
	level, _, _ := strings.Cut(heading, " ")
	part, _, _ := regexpCut(after, `(?m)^#{2,`+strconv.Itoa(len(level))+`} `)
	return part
}

func regexpCut(text, expression string) (before, after string, found bool) {
	at := regexp.MustCompile(expression).FindStringIndex(text)
	if at == nil {
		return text, "", false
	}
	return text[:at[0]], text[at[1]:], true
}

// rateSentences are the sentences of the specification that state a price, by the words for them in
// the cases.
var rateSentences = map[string]string{
	"loops":                  `A block that begins after .loop. takes (\d+) unit beside its instructions`,
	"host calls":             `A call of one of the host's functions takes (\d+) \(`,
	"bytes handed over":      `- a unit for every (\d+) bytes that are handed over`,
	"values":                 `- (\d+) for every value that .get. and .setting. give`,
	"entries of maps":        `and (\d+) for every entry of a map of strings`,
	"bytes of texts":         `- (\d+) for every byte of a text of`,
	"bytes of JSON":          `- (\d+) for every byte that the host encodes as JSON`,
	"lines":                  `(\d+) for every line that .fd_write. ends`,
	"pieces":                 `(\d+) for every piece that .fd_write. is given`,
	"subscriptions":          `(\d+) for every subscription of .poll_oneoff.`,
	"bytes filled or copied": `.memory\.init. take a unit for every (\d+) bytes`,
	"pages added":            `.memory\.grow. takes (\d+) for every page`,
}

// rates returns the prices in the specification's tables and sentences.
func rates(tb testing.TB) map[string]rate {
	tb.Helper()
	all := map[string]rate{}
	part := section(tb, "### What code takes")
	for _, row := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (\\d+) \\|").FindAllStringSubmatch(part, -1) {
		all[row[1]] = rate{units: number(tb, row[2]), oneFor: 1}
	}
	plain := regexp.MustCompile(`(\d) (\d{3})`).ReplaceAllString(strings.Join(strings.Fields(part), " "), "$1$2")
	for word, sentence := range rateSentences {
		found := regexp.MustCompile(sentence).FindStringSubmatch(plain)
		if found == nil {
			tb.Fatalf("docs/abi.md says nowhere what %s take: no %q", word, sentence)
		}
		if n := number(tb, found[1]); strings.Contains(sentence, "a unit for every") {
			all[word] = rate{units: 1, oneFor: n}
		} else {
			all[word] = rate{units: n, oneFor: 1}
		}
	}
	return all
}

func number(tb testing.TB, digits string) int64 {
	tb.Helper()
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

// TestFuelAddsUp checks that the fuel of each case is the price, by docs/abi.md, of what the case
// says that its module does. Both are written by hand. Every rate has a case.
func TestFuelAddsUp(t *testing.T) {
	t.Parallel()
	s, all := readSet(t), rates(t)
	covered := map[string]bool{}
	for _, c := range s.Cases {
		for i, call := range c.Calls {
			if call.Spent == nil {
				continue
			}
			sum := int64(0)
			for word, n := range call.Spent {
				r, ok := all[word]
				if !ok {
					t.Errorf("%s, call %d: docs/abi.md does not say what %s take", c.Name, i, word)
				}
				sum += r.of(n)
				covered[word] = true
			}
			if sum != call.Want.Fuel {
				t.Errorf("%s, call %d: it takes %d units, by docs/abi.md %d", c.Name, i, call.Want.Fuel, sum)
			}
		}
	}
	for word := range all {
		if !covered[word] {
			t.Errorf("no case says what %s take", word)
		}
	}
}

// TestTheFuelOfInitAddsUp checks that wardlet_init has the fuel that docs/abi.md names, and that
// paths cost what it names: one more turn of a loop of 10 units is too much.
func TestTheFuelOfInitAddsUp(t *testing.T) {
	t.Parallel()
	s := readSet(t)
	plain := regexp.MustCompile(`(\d) (\d{3})\b`)
	all := strings.Join(strings.Fields(specification(t)), " ")
	for range 2 {
		all = plain.ReplaceAllString(all, "$1$2")
	}
	find := func(expression string) int64 {
		found := regexp.MustCompile(expression).FindStringSubmatch(all)
		if found == nil {
			t.Fatalf("docs/abi.md does not say %q", expression)
		}
		return number(t, found[1])
	}
	full, path := find(`each of the functions of the initialisation has (\d+)\.`), find(`- (\d+) for a path that is declared`)
	const (
		settings = 2 * (5 + 4 + 100 + 5/4 + 13/4 + 10) // constants and drop, call, host, path, value
		loads    = 2*(1+2+1) + 1                       // the numbers, and the result
		turn     = 10
	)
	each := 1 + 2 + 4 + 1 + 100 + 12/4 + path + 1 + 4
	turns := map[bool]int64{}
	for _, c := range s.sharing("init-fuel") {
		of, err := s.policy(c)
		if err != nil {
			t.Fatal(err)
		}
		n := func(name string) int64 {
			digits, _ := of.Settings[name].(json.Number)
			return number(t, digits.String())
		}
		sum := settings + loads + n("paths")*each + n("turns")*turn
		if (sum > full) != (c.Refused != nil) {
			t.Errorf("%s: by docs/abi.md it takes %d of %d units; refused: %v", c.Name, sum, full, c.Refused != nil)
		}
		turns[c.Refused != nil] = n("turns")
	}
	if turns[true]-turns[false] != 1 {
		t.Errorf("refused with %d turns and not with %d: want a difference of one", turns[true], turns[false])
	}
}

func TestNumbersOfTheFuelAreRoundedOneByOne(t *testing.T) {
	t.Parallel()
	var s spent
	if err := json.Unmarshal([]byte("[3, 5, 8]"), &s); err != nil || (rate{1, 4}).of(s) != 0+1+2 {
		t.Errorf("%v, %v", s, err)
	}
	written, err := json.Marshal(spent{7})
	if err != nil || !bytes.Equal(written, []byte("7")) {
		t.Errorf("%s, %v", written, err)
	}
}
