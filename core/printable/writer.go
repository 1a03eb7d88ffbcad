package printable

import "io"

// Writer writes text for people to W, with the escapes of Lines.
type Writer struct{ W io.Writer }

// Write implements io.Writer. Each call must have whole characters.
func (w Writer) Write(p []byte) (int, error) {
	if _, err := w.W.Write([]byte(Lines(string(p)))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// JSONWriter writes JSON to W, with escapes of JSON.
type JSONWriter struct{ W io.Writer }

// Write implements io.Writer. Each call must have whole characters.
func (w JSONWriter) Write(p []byte) (int, error) {
	if _, err := w.W.Write(JSON(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}
