package logs

import (
	"bytes"
	"io"
	"os"
)

// seekTail seeks to the beginning of the last n lines.
func seekTail(file *os.File, n int64) error {
	end, err := file.Seek(0, io.SeekEnd)
	if err != nil || n == 0 {
		return err
	}
	// The newline at the end of the file starts no further line.
	block := make([]byte, blockSize)
	at, left := end, n
	for at > 0 {
		from := max(0, at-blockSize)
		part := block[:at-from]
		if _, err := file.ReadAt(part, from); err != nil {
			return err
		}
		if at == end && part[len(part)-1] == '\n' {
			part = part[:len(part)-1]
		}
		for {
			i := bytes.LastIndexByte(part, '\n')
			if i < 0 {
				break
			}
			if left--; left == 0 {
				_, err := file.Seek(from+int64(i)+1, io.SeekStart)
				return err
			}
			part = part[:i]
		}
		at = from
	}
	_, err = file.Seek(0, io.SeekStart)
	return err
}
