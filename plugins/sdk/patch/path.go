package patch

// Path returns a JSON Pointer (RFC 6901) made of names: member names of objects, and
// numbers of elements. A name may have any characters.
//
//	Path("metadata", "labels", "app.kubernetes.io/name")
//
// is /metadata/labels/app.kubernetes.io~1name.
func Path(names ...string) string {
	var b []byte
	for _, name := range names {
		b = append(b, '/')
		for i := range len(name) {
			switch c := name[i]; c {
			case '~':
				b = append(b, "~0"...)
			case '/':
				b = append(b, "~1"...)
			default:
				b = append(b, c)
			}
		}
	}
	return string(b)
}
