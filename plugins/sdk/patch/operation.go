package patch

// Operation is one change of a document.
type Operation struct{ json []byte }

// Add adds a member to an object, in the place of one that is there, or inserts
// an element into a list: before the one of the path's number, or with "-" at
// the end.
func Add(path string, value Value) Operation { return operation("add", path, value) }

// Replace puts a value in the place of one that must be there.
func Replace(path string, value Value) Operation { return operation("replace", path, value) }

// Test makes the patch fail if another value than this is there.
func Test(path string, value Value) Operation { return operation("test", path, value) }

// Remove takes away what must be there.
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

// JSON is the text of a patch.
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
