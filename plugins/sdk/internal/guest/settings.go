package guest

import (
	"errors"

	"github.com/wardlet/wardlet/plugins/sdk/internal/host"
	"github.com/wardlet/wardlet/plugins/sdk/internal/record"
)

// Setting gets a setting from the agent. It returns false if there is none. The value is on
// the heap, not in the memory of the call.
func Setting(path string) (v record.Value, ok bool, err error) {
	buf := make([]byte, 512)
	length := int(host.Setting(path, buf))
	if length > len(buf) {
		buf = make([]byte, length)
		length = int(host.Setting(path, buf))
	}
	if length < 0 || length > len(buf) {
		return record.Value{}, false, nil
	}
	v, err = record.ParseValue(string(buf[:length]))
	return v, err == nil, err
}

// Settings returns the whole table of settings as JSON, empty if there is none.
func Settings() (string, error) {
	v, ok, err := Setting("")
	switch {
	case err != nil || !ok:
		return "", err
	case !v.Is(record.JSON):
		return "", errors.New("the settings should be a JSON value, but the agent gives " + v.Kind().String())
	}
	return v.Text(), nil
}
