package spectest

import (
	"fmt"
	"strings"

	"github.com/tetratelabs/wazero/api"
)

// Types for which package api has no names.
const (
	typeV128    api.ValueType = 0x7b
	typeFuncref api.ValueType = 0x70
)

func typeName(t api.ValueType) string {
	switch t {
	case typeV128:
		return "v128"
	case typeFuncref:
		return "funcref"
	}
	return api.ValueTypeName(t)
}

// showAll returns the canonical text of a function's results: their types and bits. If a class of
// NaN is expected and the result is in that class, the text names the class instead. want may be
// shorter than types.
func showAll(types []api.ValueType, words []uint64, want []constant) string {
	texts := make([]string, 0, len(types))
	for i, t := range types {
		n := 1
		if t == typeV128 {
			n = 2
		}
		if len(words) < n {
			return strings.Join(append(texts, "and fewer results than its type says"), " ")
		}
		var w *constant
		if i < len(want) && want[i].kind == typeName(t) {
			w = &want[i]
		}
		texts = append(texts, show(typeName(t), words[:n], w))
		words = words[n:]
	}
	if len(words) > 0 {
		texts = append(texts, "and more results than its type says")
	}
	if len(texts) == 0 {
		return "returned"
	}
	return strings.Join(texts, " ")
}

// show returns the canonical text of one value. want may be nil; otherwise it has the same type.
func show(kind string, words []uint64, want *constant) string {
	switch kind {
	case "funcref":
		if words[0] != 0 {
			return "funcref:set"
		}
		return "funcref:null"
	case "externref":
		if words[0] == 0 {
			return "externref:null"
		}
		return fmt.Sprintf("externref:%d", words[0]-1)
	case "v128":
		return showVector(words, want)
	}
	if want == nil || want.absent {
		return kind + ":" + showLane(kind, words[0], lane{})
	}
	return kind + ":" + showLane(kind, words[0], want.lanes[0])
}

func showVector(words []uint64, want *constant) string {
	element, lanes := "i64", make([]lane, 2)
	if want != nil && !want.absent {
		element, lanes = want.shape, want.lanes
	}
	width := widths[element]
	texts := make([]string, len(lanes))
	for i, l := range lanes {
		texts[i] = showLane(element, words[i*width/64]>>(i*width%64), l)
	}
	return fmt.Sprintf("v128:%s(%s)", element, strings.Join(texts, " "))
}

// showLane ignores the bits above a number of 32 bits, because wazero's compiler leaves old values
// there.
func showLane(element string, bits uint64, want lane) string {
	bits = truncate(element, bits)
	if want.nan != "" && isNaN(element, want.nan, bits) {
		return "nan:" + want.nan
	}
	return fmt.Sprintf("0x%0*x", widths[element]/4, bits)
}

// truncate returns the bits that belong to a number of that type.
func truncate(element string, bits uint64) uint64 {
	return bits & (^uint64(0) >> (64 - widths[element]))
}

// text returns the text that show returns for the value that the script expects.
func (c *constant) text() string {
	switch {
	case c.null:
		return c.kind + ":null"
	case c.kind == "externref":
		return fmt.Sprintf("externref:%d", c.lanes[0].bits)
	}
	element := c.kind
	if c.kind == "v128" {
		element = c.shape
	}
	texts := make([]string, len(c.lanes))
	for i, l := range c.lanes {
		if texts[i] = "nan:" + l.nan; l.nan == "" {
			texts[i] = showLane(element, l.bits, lane{})
		}
	}
	if c.kind == "v128" {
		return fmt.Sprintf("v128:%s(%s)", element, strings.Join(texts, " "))
	}
	return c.kind + ":" + texts[0]
}
