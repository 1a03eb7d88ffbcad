package faultlog

import (
	"regexp"
	"strings"
	"time"
)

var (
	// ids match text that differs for each attempt: UUIDs, hashes, and the names of temporary files.
	// They match anywhere, also in paths and between quotes.
	ids = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{12,}|[0-9]{6,}`)
	// figures match whole words: numbers with or without a unit, addresses, times, and short IDs.
	figures = regexp.MustCompile(`(?i)^([0-9]+([.,][0-9]+)?[a-z%]{0,3}|[0-9.,:/\[\]>+-]+|[0-9a-f.:/\[\]>-]{5,}|[0-9-]+T[0-9:.+-]+Z?)$`)
)

// constant returns the part of a text that is the same for each attempt. It keeps names, and quoted
// words except for the IDs in them.
func constant(text string) string {
	parts := strings.Split(ids.ReplaceAllString(text, "#"), `"`)
	for i, part := range parts {
		if quoted := i%2 == 1; !quoted || strings.Contains(part, " ") {
			parts[i] = withoutFigures(part)
		}
	}
	return strings.Join(parts, `"`)
}

func withoutFigures(text string) string {
	words := strings.Fields(text)
	kept := words[:0]
	for _, word := range words {
		if !isFigure(strings.Trim(word, "(),;:")) {
			kept = append(kept, word)
		}
	}
	return strings.Join(kept, " ")
}

func isFigure(word string) bool {
	if !strings.ContainsAny(word, "0123456789") {
		return false
	}
	if _, err := time.ParseDuration(word); err == nil {
		return true
	}
	return figures.MatchString(word)
}
