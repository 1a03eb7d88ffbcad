package patch

// Operation is one change of a document.
type Operation struct{ json []byte }

// Add adds a member to an object, or replaces an existing member. In a list, it inserts an
// element before the element whose number is in the path, or at the end if the path ends
// with "-".
func Add(path string, value Value) Operation { return operation("add", path, value) }

// Replace replaces a value, which must exist.
func Replace(path string, value Value) Operation { return operation("replace", path, value) }

// Test makes the patch fail if the value at the path differs from this value.
func Test(path string, value Value) Operation { return operation("test", path, value) }

// Remove removes a value, which must exist.
func Remove(path string) Operation {
	return Operation{append(begin("remove", path), '}')}
}

func begin(op, path string) []byte {
	b := append(make([]byte, 0, 32+len(path)), `{"op":"`...)
	b = append(b, op...)
	return appendString(append(b, `","path":`...), path)
}

func operation(op, path string, value Value) Operation {
	return Operation{append(appendValue(append(begin(op, path), `,"value":`...), value), '}')}
}

// JSON returns the text of a patch.
func JSON(operations ...Operation) string {
	n := 2
	for _, o := range operations {
		n += len(o.json) + 1
	}
	b := append(make([]byte, 0, n), '[')
	for i, o := range operations {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, o.json...)
	}
	return string(append(b, ']'))
}
