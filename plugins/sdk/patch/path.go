package patch

// Path is the JSON Pointer (RFC 6901) that names go along: member names of
// objects, and numbers of elements. A name may hold any characters.
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
