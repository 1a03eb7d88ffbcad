package state

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
)

// seal renders value as JSON behind a line with its checksum.
func seal(value any) ([]byte, error) {
	body, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return nil, err
	}
	body = append(body, '\n')
	return append(checksum(body), body...), nil
}

// unseal reads into value what seal rendered.
func unseal(data []byte, value any) error {
	end := bytes.IndexByte(data, '\n') + 1
	head, body := data[:end], data[end:]
	if !bytes.Equal(head, checksum(body)) {
		return errors.New("the checksum in its first line is not that of the rest")
	}
	return json.Unmarshal(body, value)
}

func checksum(body []byte) []byte {
	return fmt.Appendf(nil, "sha256:%x\n", sha256.Sum256(body))
}
