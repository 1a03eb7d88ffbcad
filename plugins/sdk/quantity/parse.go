package quantity

// The suffixes of powers of 1024, without their i, and of powers of 1000.
const (
	binary  = "KMGTPE"
	decimal = "kMGTPE"
)

// digits is how many digits of a number are kept: so many always fit into 64
// bits.
const digits = 19

// Parse reads an amount: decimal digits, perhaps with a point among them, then
// a suffix: n, u, m, k, M, G, T, P, E for powers of 1000; Ki, Mi, Gi, Ti, Pi, Ei
// for powers of 1024; or an exponent such as e3. It rounds up to the next
// thousandth, as the API does. For more than Most it returns Most. It is false
// for anything else, also for negative amounts, and for more than 19 digits
// before a power of 1024.
func Parse(text string) (amount Milli, ok bool) {
	var (
		number   uint64
		kept     int
		exponent = 3 // of ten
		some     bool
		point    bool
		more     bool // what is left out is not zero
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

// suffixed is a number times a power of ten and of what its suffix says.
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

// place is where list has c, counted from 1; 0 if it does not.
func place(list string, c byte) int {
	for i := range len(list) {
		if list[i] == c {
			return i + 1
		}
	}
	return 0
}

// exponential reads an exponent, such as e3 or E-2.
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
		// Beyond a hundred no number is anything but 0 or Most.
		n = min(n*10+int(c-'0'), 1_000_000)
	}
	if negative {
		n = -n
	}
	return n, rest != "" && text[0]|0x20 == 'e'
}

// scaled is number times powers of two and ten, with a little more if more is
// set, rounded up.
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
