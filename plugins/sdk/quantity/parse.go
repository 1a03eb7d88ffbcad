package quantity

// The suffixes of powers of 1024, without their i, and of powers of 1000.
const (
	binary  = "KMGTPE"
	decimal = "kMGTPE"
)

// digits is how many digits of a number are kept. That many digits always fit into 64 bits.
const digits = 19

// Parse parses an amount: decimal digits, with or without a point, and at the end a suffix,
// an exponent or neither. The suffixes are n, u, m, k, M, G, T, P, E for powers of 1000,
// and Ki, Mi, Gi, Ti, Pi, Ei for powers of 1024. An exponent is for example e3. Parse
// rounds up to the next thousandth, as the API does. For more than Most it returns Most. It
// returns false for all other texts, for negative amounts, and for more than 19 digits
// before a power of 1024.
func Parse(text string) (amount Milli, ok bool) {
	var (
		number   uint64
		kept     int
		exponent = 3 // of ten
		some     bool
		point    bool
		more     bool // the digits left out are not all zero
		at       int
	)
	for ; at < len(text); at++ {
		c := text[at]
		switch {
		case c == '.' && !point:
			point = true
			continue
		case '0' <= c && c <= '9':
		default:
			return suffixed(number, exponent, more, some, text[at:])
		}
		some = true
		if kept == digits {
			more = more || c != '0'
			if !point {
				exponent++
			}
			continue
		}
		if number = number*10 + uint64(c-'0'); number > 0 {
			kept++
		}
		if point {
			exponent--
		}
	}
	return suffixed(number, exponent, more, some, "")
}

// suffixed returns a number times a power of ten and the factor of its suffix.
func suffixed(number uint64, exponent int, more, some bool, suffix string) (Milli, bool) {
	switch {
	case !some:
		return 0, false
	case suffix == "":
	case len(suffix) == 2 && suffix[1] == 'i':
		power := place(binary, suffix[0])
		return scaled(number, 10*power, exponent, more), power > 0 && !more
	case len(suffix) > 1:
		n, ok := exponential(suffix)
		return scaled(number, 0, exponent+n, more), ok
	case suffix == "m":
		exponent -= 3
	case suffix == "u":
		exponent -= 6
	case suffix == "n":
		exponent -= 9
	default:
		power := place(decimal, suffix[0])
		return scaled(number, 0, exponent+3*power, more), power > 0
	}
	return scaled(number, 0, exponent, more), true
}

// place returns the position of c in list, from 1. It is 0 if list does not have c.
func place(list string, c byte) int {
	for i := range len(list) {
		if list[i] == c {
			return i + 1
		}
	}
	return 0
}

// exponential parses an exponent, such as e3 or E-2.
func exponential(text string) (n int, ok bool) {
	rest := text[1:]
	negative := rest[0] == '-'
	if negative || rest[0] == '+' {
		rest = rest[1:]
	}
	for i := range len(rest) {
		c := rest[i]
		if c < '0' || c > '9' {
			return 0, false
		}
		// With an exponent beyond a hundred, every number is 0 or Most.
		n = min(n*10+int(c-'0'), 1_000_000)
	}
	if negative {
		n = -n
	}
	return n, rest != "" && text[0]|0x20 == 'e'
}

// scaled returns number times powers of two and ten, rounded up. If more is true, the exact
// number is slightly larger.
func scaled(number uint64, two, ten int, more bool) Milli {
	if number == 0 {
		return 0
	}
	high, low := number>>(64-two), number<<two // two is below 64; a shift by 64 is 0
	for ; ten > 0; ten-- {
		if high != 0 || low > uint64(Most)/10 {
			return Most
		}
		low *= 10
	}
	for ; ten < 0 && high|low != 0; ten++ {
		// 32 bits at a time.
		middle := high%10<<32 | low>>32
		lowest := middle%10<<32 | low&(1<<32-1)
		high, low = high/10, middle/10<<32|lowest/10
		more = more || lowest%10 != 0
	}
	if high != 0 || low >= uint64(Most) {
		return Most
	}
	if more {
		low++
	}
	return Milli(low)
}
