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
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetIndent("", "  ")
	// People read it, browsers do not: && stays &&.
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	data := append(checksum(body.Bytes()), body.Bytes()...)
	if len(data) > maxFile {
		return nil, fmt.Errorf("it has %d bytes, and no more than %d are read back: make the document smaller", len(data), maxFile)
	}
	return data, nil
}

// unseal reads into value what seal rendered.
func unseal(data []byte, value any) error {
	end := bytes.IndexByte(data, '\n') + 1
	head, body := data[:end], data[end:]
	if !bytes.Equal(head, checksum(body)) {
		return errors.New("the checksum in its first line is not that of the rest")
	}
	if err := boundQuantities(body, value); err != nil {
		return err
	}
	return json.Unmarshal(body, value)
}

func checksum(body []byte) []byte {
	return fmt.Appendf(nil, "sha256:%x\n", sha256.Sum256(body))
}
