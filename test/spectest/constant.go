package spectest

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// constant is a value in a script: an argument, or an expected result.
type constant struct {
	kind  string // i32, i64, f32, f64, v128, funcref, externref
	shape string // of v128: i8, i16, i32, i64, f32, f64
	lanes []lane // one unless it is a v128
	null  bool   // of references
	// absent: the script has only the type.
	absent bool
}

// lane is a number, or one lane of a vector.
type lane struct {
	bits uint64
	// nan is "canonical" or "arithmetic": any NaN of that class is accepted.
	nan string
}

// widths are the bits of the types of numbers and lanes.
var widths = map[string]int{"i8": 8, "i16": 16, "i32": 32, "i64": 64, "f32": 32, "f64": 64}

// UnmarshalJSON reads a constant as wast2json writes it.
func (c *constant) UnmarshalJSON(data []byte) error {
	var raw struct {
		Type     string          `json:"type"`
		LaneType string          `json:"lane_type"`
		Value    json.RawMessage `json:"value"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	*c = constant{kind: raw.Type, shape: raw.LaneType}
	if raw.Type != "v128" {
		c.shape = ""
	}
	if !slices.Contains([]string{"i32", "i64", "f32", "f64", "v128", "funcref", "externref"}, raw.Type) {
		return fmt.Errorf("type %q of a value is unknown", raw.Type)
	}
	if len(raw.Value) == 0 {
		c.absent = true
		return nil
	}
	texts := []string{""}
	target := any(&texts[0])
	if raw.Type == "v128" {
		target = &texts
	}
	if err := json.Unmarshal(raw.Value, target); err != nil {
		return fmt.Errorf("value %s of type %s: %w", raw.Value, raw.Type, err)
	}
	return c.read(texts)
}

// read parses the texts of the lanes.
func (c *constant) read(texts []string) error {
	element := c.kind
	switch c.kind {
	case "v128":
		element = c.shape
		if w := widths[element]; w == 0 || len(texts) != 128/w {
			return fmt.Errorf("a v128 of %d lanes of type %q", len(texts), element)
		}
	case "externref", "funcref":
		if texts[0] == "null" {
			c.null = true
			return nil
		} else if c.kind == "funcref" {
			return fmt.Errorf("a funcref with the value %q: only null can be told", texts[0])
		}
		element = "i64"
	}
	for _, text := range texts {
		l, err := readLane(text, element)
		if err != nil {
			return err
		} else if c.kind == "externref" && l.bits == math.MaxUint64 {
			return errors.New("an externref with the highest number: it cannot be given to wazero")
		}
		c.lanes = append(c.lanes, l)
	}
	return nil
}

func readLane(text, element string) (lane, error) {
	class, isNaN := strings.CutPrefix(text, "nan:")
	if isNaN && (element == "f32" || element == "f64") && (class == "canonical" || class == "arithmetic") {
		return lane{nan: class}, nil
	}
	bits, err := strconv.ParseUint(text, 10, widths[element])
	if err != nil {
		return lane{}, fmt.Errorf("value %q of type %s: %w", text, element, err)
	}
	return lane{bits: bits}, nil
}

// words returns the constant in wazero's encoding: one number, two for a v128. A null reference is
// 0, so other external references are their number plus one.
func (c *constant) words() []uint64 {
	switch {
	case c.null:
		return []uint64{0}
	case c.kind == "externref":
		return []uint64{c.lanes[0].bits + 1}
	case c.kind != "v128":
		return []uint64{c.lanes[0].bits}
	}
	words := make([]uint64, 2)
	width := widths[c.shape]
	for i, l := range c.lanes {
		words[i*width/64] |= l.bits << (i * width % 64)
	}
	return words
}
