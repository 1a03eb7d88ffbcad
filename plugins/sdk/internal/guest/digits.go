package guest

// MaxDigits is the length of the longest integer.
const MaxDigits = 20

// Digits writes an integer in decimal to the end of buf, and returns the written part. It
// replaces strconv.AppendInt, because package strconv would make plugins larger.
func Digits(buf *[MaxDigits]byte, n int64) []byte {
	rest := uint64(n)
	if n < 0 {
		rest = -rest
	}
	at := len(buf)
	for {
		at--
		buf[at] = byte('0' + rest%10)
		if rest /= 10; rest == 0 {
			break
		}
	}
	if n < 0 {
		at--
		buf[at] = '-'
	}
	return buf[at:]
}

// Itoa replaces strconv.Itoa, because package strconv would make plugins larger.
func Itoa(n int) string {
	var buf [MaxDigits]byte
	return string(Digits(&buf, int64(n)))
}
