//go:build !wasip1

package sdktest

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/wardlet/wardlet/plugins/sdk/sdktest/internal/shape"
)

// checked returns a value in the form of the shape of. The value is JSON text (a string or
// []byte), or a value that encoding/json can marshal. name is the name of the value, for
// errors.
func checked(name, of string, value any) (any, error) {
	var text []byte
	switch value := value.(type) {
	case string:
		text = []byte(value)
	case []byte:
		text = value
	default:
		var err error
		if text, err = json.Marshal(value); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var decoded any
	if err := decoder.Decode(&decoded); err != nil {
		return nil, fmt.Errorf("%s is no JSON: %w", name, err)
	}
	if decoder.More() {
		return nil, fmt.Errorf("%s: there is more after the pod", name)
	}
	t, err := shape.Named(of)
	if err != nil {
		return nil, err
	}
	object, err := shape.Check(decoded, t, name)
	if err == nil && object == nil {
		return nil, fmt.Errorf("%s is null", name)
	}
	return object, err
}

// pod does what checked does for a pod, which may be missing.
func pod(name string, value any) (any, error) {
	if value == nil {
		return nil, nil // nil stands for a missing pod
	}
	return checked(name, "Pod", value)
}
