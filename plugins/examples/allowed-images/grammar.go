package main

import "strings"

// The grammar of references to images, as github.com/distribution/reference
// has it. It is written out, because a plugin with regular expressions is
// larger by nearly a third.

const (
	digits = "0123456789"
	lower  = "abcdefghijklmnopqrstuvwxyz"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// only reports whether s is made of the given characters.
func only(s, characters string) bool { return strings.Trim(s, characters) == "" }

func isTag(s string) bool {
	return s != "" && len(s) <= maxTag && s[0] != '.' && s[0] != '-' && only(s, digits+lower+upper+"_.-")
}

func isDigest(s string) bool {
	algorithm, hex, _ := strings.Cut(s, ":")
	length := 0
	switch algorithm {
	case "sha256":
		length = 64
	case "sha384":
		length = 96
	case "sha512":
		length = 128
	}
	return length > 0 && len(hex) == length && only(hex, digits+"abcdef")
}

// isRegistry wants a host name or an address, and perhaps a port.
func isRegistry(s string) bool {
	host, port := s, "0"
	if colon := strings.LastIndexByte(s, ':'); colon >= 0 && !strings.Contains(s[colon:], "]") {
		host, port = s[:colon], s[colon+1:]
	}
	if port == "" || !only(port, digits) {
		return false
	}
	if address, ok := strings.CutPrefix(host, "["); ok {
		address, ok = strings.CutSuffix(address, "]")
		return ok && address != "" && only(address, digits+"abcdefABCDEF:")
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || label[0] == '-' || label[len(label)-1] == '-' || !only(label, digits+lower+upper+"-") {
			return false
		}
	}
	return true
}

// isPath wants parts between slashes.
func isPath(s string) bool {
	for part := range strings.SplitSeq(s, "/") {
		if !isPart(part) {
			return false
		}
	}
	return true
}

// isPart wants runs of lower case letters and digits, between them one dot,
// one or two underscores, or any number of dashes.
func isPart(s string) bool {
	const word = digits + lower
	for {
		rest := strings.TrimLeft(s, word)
		if rest == s {
			return false
		}
		if rest == "" {
			return true
		}
		s = strings.TrimLeft(rest, "._-")
		between := rest[:len(rest)-len(s)]
		if between != "." && between != "_" && between != "__" && !only(between, "-") {
			return false
		}
	}
}
