package faultlog

import (
	"regexp"
	"strings"
	"time"
)

var (
	// ids match what is made for one try: UUIDs, hashes, and the names of temporary
	// files. They match anywhere, also in paths and between quotes.
	ids = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{12,}|[0-9]{6,}`)
	// figures are words that are a number with or without a unit, an address, a time,
	// or a short ID.
	figures = regexp.MustCompile(`(?i)^([0-9]+([.,][0-9]+)?[a-z%]{0,3}|[0-9.,:/\[\]>+-]+|[0-9a-f.:/\[\]>-]{5,}|[0-9-]+T[0-9:.+-]+Z?)$`)
)

// constant is what stays of a text from one try to the next. Names stay, and a word in
// quotes, but for IDs.
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
