// The C SDK for policy plugins: all of it is in this header. README.md beside it says how a plugin looks, docs/abi.md what
// lies below.
//
// Comes in: fields, as a record that the agent writes before each call, and settings, whenever they are asked for. Goes
// out: texts and values that point into the plugin's own memory, and a verdict. After every call the agent puts that memory
// back to what it was after setup, so nothing is ever freed.
//
// It needs C11 and no C library. Compiled for anything but WebAssembly it calls the functions of wardlet_test.h in the
// agent's place. Names with two underscores are not for policies.

#ifndef WARDLET_H
#define WARDLET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// How many bytes of fields there is room for. A pod that needs more makes the call fail with InputTooLarge. Define it
// before the header is included, in each file alike.
#ifndef WARDLET_INPUT_BYTES
#define WARDLET_INPUT_BYTES 65536
#endif

// What a plugin may declare at most.
#define WARDLET_MAX_FIELDS 64

// ---------------------------------------------------------------- the agent's functions

#ifdef __wasm__
#define WARDLET__IMPORT(name) __attribute__((import_module("wardlet1"), import_name(#name)))
#define WARDLET__EXPORT(name) __attribute__((export_name(#name)))
#else
#define WARDLET__IMPORT(name)
#define WARDLET__EXPORT(name)
#endif

// Functions and data that all files of a plugin share. What a plugin does not use the linker leaves out.
#define WARDLET__SHARED __attribute__((weak, noinline))

// A module imports those of them that it calls, and no others.
WARDLET__IMPORT(path) int32_t wardlet__host_path(const char *path, uint32_t len);
WARDLET__IMPORT(field) int32_t wardlet__host_field(const char *path, uint32_t len);
WARDLET__IMPORT(get) int32_t wardlet__host_get(int32_t handle, void *buf, uint32_t cap);
WARDLET__IMPORT(json) int32_t wardlet__host_json(int32_t document, void *buf, uint32_t cap);
WARDLET__IMPORT(setting) int32_t wardlet__host_setting(const char *path, uint32_t len, void *buf, uint32_t cap);
WARDLET__IMPORT(reason) void wardlet__host_reason(const char *code, uint32_t code_len, const char *message, uint32_t message_len);
WARDLET__IMPORT(warn) void wardlet__host_warn(const char *text, uint32_t len);
WARDLET__IMPORT(annotate) void wardlet__host_annotate(const char *key, uint32_t key_len, const char *value, uint32_t value_len);
WARDLET__IMPORT(explain) void wardlet__host_explain(const char *text, uint32_t len);
WARDLET__IMPORT(retry_after_ms) void wardlet__host_retry_after_ms(int64_t ms);
WARDLET__IMPORT(patch) void wardlet__host_patch(const char *json, uint32_t len);
WARDLET__IMPORT(log) void wardlet__host_log(int32_t level, const char *text, uint32_t len);
WARDLET__IMPORT(log_enabled) int32_t wardlet__host_log_enabled(int32_t level);

// ---------------------------------------------------------------- memory

// What the compiler calls by itself. They are weak: a plugin may bring its own.
#ifdef __wasm__
#define WARDLET__LIBRARY __attribute__((weak, no_builtin))

WARDLET__LIBRARY void *memcpy(void *restrict to, const void *restrict from, size_t n) {
	unsigned char *t = to;
	const unsigned char *f = from;
	for (; n >= 8; n -= 8, t += 8, f += 8) {
		__builtin_memcpy(t, f, 8); // one load, one store
	}
	if ((n & 4) != 0) {
		__builtin_memcpy(t, f, 4);
		t += 4;
		f += 4;
	}
	for (n &= 3; n > 0; n--) {
		*t++ = *f++;
	}
	return to;
}

WARDLET__LIBRARY void *memmove(void *to, const void *from, size_t n) {
	unsigned char *t = to;
	const unsigned char *f = from;
	if ((uintptr_t)t - (uintptr_t)f >= n) {
		return memcpy(to, from, n); // forward, which is right for all but this overlap
	}
	while (n-- > 0) {
		t[n] = f[n];
	}
	return to;
}

WARDLET__LIBRARY void *memset(void *to, int c, size_t n) {
	for (unsigned char *t = to; n > 0; n--) {
		*t++ = (unsigned char)c;
	}
	return to;
}

WARDLET__LIBRARY int memcmp(const void *a, const void *b, size_t n) {
	const unsigned char *x = a, *y = b;
	for (uint64_t p, q; n >= 8; n -= 8, x += 8, y += 8) {
		__builtin_memcpy(&p, x, 8);
		__builtin_memcpy(&q, y, 8);
		if (p != q) {
			break; // the bytes below tell which is less
		}
	}
	for (; n > 0; n--, x++, y++) {
		if (*x != *y) {
			return *x < *y ? -1 : 1;
		}
	}
	return 0;
}

WARDLET__LIBRARY size_t strlen(const char *s) {
	size_t n = 0;
	while (s[n] != 0) {
		n++;
	}
	return n;
}
#else
#include <string.h>
#endif

// ---------------------------------------------------------------- texts

// A text is a piece of memory that nobody changes; no zero byte ends it. Copies of a wardlet_text share the bytes.
typedef struct {
	const char *at;
	size_t len;
} wardlet_text;

// WARDLET_TEXT("…") is a literal as a text.
#define WARDLET_TEXT(literal) ((wardlet_text){"" literal, sizeof(literal) - 1})

// wardlet_c is what a C string holds.
static inline wardlet_text wardlet_c(const char *s) { return (wardlet_text){s, __builtin_strlen(s)}; }

static inline bool wardlet_equal(wardlet_text a, wardlet_text b) {
	return a.len == b.len && (a.len == 0 || __builtin_memcmp(a.at, b.at, a.len) == 0);
}

// wardlet_is compares a text with a C string.
static inline bool wardlet_is(wardlet_text t, const char *s) { return wardlet_equal(t, wardlet_c(s)); }

// wardlet_slice is what lies from one byte to before another, within the text.
static inline wardlet_text wardlet_slice(wardlet_text t, size_t from, size_t to) {
	to = to < t.len ? to : t.len;
	from = from < to ? from : to;
	return (wardlet_text){t.len > 0 ? t.at + from : t.at, to - from};
}

static inline bool wardlet_starts(wardlet_text t, wardlet_text prefix) {
	return prefix.len <= t.len && wardlet_equal(wardlet_slice(t, 0, prefix.len), prefix);
}

static inline bool wardlet_ends(wardlet_text t, wardlet_text suffix) {
	return suffix.len <= t.len && wardlet_equal(wardlet_slice(t, t.len - suffix.len, t.len), suffix);
}

// What searches give that find nothing: no text is as long.
#define WARDLET_NONE ((size_t)-1)

// wardlet_find is where a text first holds another, or WARDLET_NONE.
WARDLET__SHARED size_t wardlet_find(wardlet_text t, wardlet_text part) {
	for (size_t i = 0; part.len <= t.len && i <= t.len - part.len; i++) {
		if (wardlet_equal(wardlet_slice(t, i, i + part.len), part)) {
			return i;
		}
	}
	return WARDLET_NONE;
}

// wardlet__hits marks with their highest bit which of the eight bytes at a place are c, the first byte lowest.
static inline uint64_t wardlet__hits(const char *at, char c) {
	const uint64_t low = 0x7F7F7F7F7F7F7F7F;
	uint64_t word;
	__builtin_memcpy(&word, at, sizeof word); // one load
	word ^= ~low / 0x80 * (unsigned char)c; // what is c is 0 now
	return ~(((word & low) + low) | word | low);
}

// Texts go to functions that are not inline in two parts: compilers for WebAssembly pass a struct through memory.

WARDLET__SHARED size_t wardlet__find_char(const char *at, size_t len, char c) {
	size_t i = 0;
	for (; len - i >= 8; i += 8) {
		uint64_t hits = wardlet__hits(at + i, c);
		if (hits != 0) {
			return i + (size_t)__builtin_ctzll(hits) / 8;
		}
	}
	for (; i < len; i++) {
		if (at[i] == c) {
			return i;
		}
	}
	return WARDLET_NONE;
}

// wardlet_find_char is where a text first holds a byte, or WARDLET_NONE.
static inline size_t wardlet_find_char(wardlet_text t, char c) { return wardlet__find_char(t.at, t.len, c); }

WARDLET__SHARED size_t wardlet__find_last(const char *at, size_t len, char c) {
	size_t i = len;
	for (; i >= 8; i -= 8) {
		uint64_t hits = wardlet__hits(at + i - 8, c);
		if (hits != 0) {
			return i - 1 - (size_t)__builtin_clzll(hits) / 8;
		}
	}
	for (; i > 0; i--) {
		if (at[i - 1] == c) {
			return i - 1;
		}
	}
	return WARDLET_NONE;
}

// wardlet_find_last is where a text last holds a byte, or WARDLET_NONE.
static inline size_t wardlet_find_last(wardlet_text t, char c) { return wardlet__find_last(t.at, t.len, c); }

// wardlet_cut parts a text at the first c. Without one it gives false, all of the text before, and nothing after.
static inline bool wardlet_cut(wardlet_text t, char c, wardlet_text *before, wardlet_text *after) {
	size_t i = wardlet_find_char(t, c);
	*before = wardlet_slice(t, 0, i);
	*after = i == WARDLET_NONE ? wardlet_slice(t, t.len, t.len) : wardlet_slice(t, i + 1, t.len);
	return i != WARDLET_NONE;
}

// wardlet_glob reports whether the whole text matches a pattern in which a * stands for any run of bytes, also for none;
// nothing else is special. It takes time in proportion to the product of both lengths at worst.
WARDLET__SHARED bool wardlet_glob(wardlet_text pattern, wardlet_text t) {
	wardlet_text part, rest;
	bool star = wardlet_cut(pattern, '*', &part, &rest);
	if (!star) {
		return wardlet_equal(t, part);
	}
	if (!wardlet_starts(t, part)) {
		return false;
	}
	t = wardlet_slice(t, part.len, t.len);
	// Each part is best taken at its first place: that leaves most for the others. Only the last one is bound to the end.
	while (wardlet_cut(rest, '*', &part, &rest)) {
		size_t i = wardlet_find(t, part);
		if (i == WARDLET_NONE) {
			return false;
		}
		t = wardlet_slice(t, i + part.len, t.len);
	}
	return wardlet_ends(t, part);
}

// ---------------------------------------------------------------- values

// The kinds of values, numbered as in the ABI. There may be others one day: do not take what is not one of these for
// another.
typedef enum {
	WARDLET_MISSING, // the pod does not have the field
	WARDLET_STRING,
	WARDLET_BOOL,
	WARDLET_INT,
	WARDLET_FLOAT, // in settings only
	WARDLET_LIST,
	WARDLET_MAP,  // of strings
	WARDLET_JSON, // anything else, such as a whole container
} wardlet_kind;

// A value is a field of a pod, a setting, or an element of one. The functions for kinds that it does not have make the call
// fail, except that a missing value reads as empty, zero or false.
typedef struct {
	uint8_t kind; // a wardlet_kind, or one that this header does not know
	uint8_t from; // 0 a field, 1 a setting
	uint32_t len;
	const uint8_t *at;
	const char *path;
} wardlet_value;

// A field is one that the plugin wants to see. Keep it in a variable of the file; it has a value only while the plugin
// judges.
typedef struct {
	const char *path;
	uint8_t number; // its handle and 1; 0 before it is declared
} wardlet_field;

// A lazy field is one that the agent sends only when it is fetched.
typedef struct {
	const char *path;
	uint8_t number;
} wardlet_lazy_field;

typedef enum { WARDLET__IDLE, WARDLET__CHECKING, WARDLET__SETUP, WARDLET__JUDGING } wardlet__stage;

// All that the SDK keeps lies in one piece, beside the input area: the fewer pages a call writes to, the less the agent has
// to put back.
struct wardlet__world {
	uint8_t stage;
	bool faulty;
	bool refused;
	wardlet_text fault; // the first misuse of the SDK since the call began
	uintptr_t heap;     // the first free byte; 0 before the first allocation
	// By handle. Those of the record have no path; a lazy one has its path once it was fetched.
	wardlet_value fields[WARDLET_MAX_FIELDS];
	struct {
		uint32_t capacity, length;
		uint8_t record[WARDLET_INPUT_BYTES];
	} input;
};

__attribute__((weak, aligned(4096))) struct wardlet__world wardlet__world;

// ---------------------------------------------------------------- allocation

// wardlet_alloc gives memory of zeros, aligned to 8 bytes. It is never given back: what setup allocates stays, what a call
// allocates goes with the call. There is always some, or the call ends here with MemoryLimit or Trap. Beyond what the
// plugin began with (some 40 KiB, unless the linker was told otherwise) a call costs far more: make such tables in setup.
#ifdef __wasm__
extern unsigned char __heap_base;

static inline uintptr_t wardlet__heap(void) {
	uintptr_t at = wardlet__world.heap != 0 ? wardlet__world.heap : (uintptr_t)&__heap_base;
	return (at + 7) & ~(uintptr_t)7;
}

WARDLET__SHARED void *wardlet_alloc(size_t n) {
	const uintptr_t page = 65536;
	uintptr_t at = wardlet__heap(), have = (uintptr_t)__builtin_wasm_memory_size(0) * page;
	if (n > have - at) {
		uintptr_t more = n - (have - at);
		if (at > have || more > UINT32_MAX - page || __builtin_wasm_memory_grow(0, (more + page - 1) / page) == (size_t)-1) {
			__builtin_trap();
		}
	}
	wardlet__world.heap = at + n;
	return (void *)at;
}

// wardlet__room is the memory that the next allocation will get, and how much of it needs no growth.
static inline void *wardlet__room(uint32_t *cap) {
	uintptr_t at = wardlet__heap(), have = (uintptr_t)__builtin_wasm_memory_size(0) * 65536;
	*cap = at < have ? (uint32_t)(have - at) : 0;
	return (void *)at;
}
#else
void *wardlet__native_alloc(size_t n);
static inline void *wardlet_alloc(size_t n) { return wardlet__native_alloc(n); }
static inline void *wardlet__room(uint32_t *cap) {
	*cap = 0;
	return NULL;
}
#endif

// wardlet_copy is a text with bytes of its own.
static inline wardlet_text wardlet_copy(wardlet_text t) {
	char *at = wardlet_alloc(t.len);
	if (t.len > 0) {
		memcpy(at, t.at, t.len);
	}
	return (wardlet_text){at, t.len};
}

// ---------------------------------------------------------------- building texts

// A builder puts a text together, up to a length. What goes beyond is cut off, between two characters, and so is all that
// follows; cut then says so.
typedef struct {
	char *at;
	size_t len, cap;
	bool cut;
} wardlet_builder;

// wardlet_build begins a text of cap bytes at most.
static inline wardlet_builder wardlet_build(size_t cap) { return (wardlet_builder){wardlet_alloc(cap), 0, cap, false}; }

WARDLET__SHARED void wardlet_add(wardlet_builder *b, wardlet_text t) {
	size_t n = t.len, room = b->cap - b->len;
	if (b->cut || n == 0) {
		return;
	}
	if (n > room) {
		b->cut = true;
		for (n = room; n > 0 && ((unsigned char)t.at[n] & 0xC0) == 0x80; n--) {
		}
	}
	if (n > 0) {
		memcpy(b->at + b->len, t.at, n);
	}
	b->len += n;
}

// wardlet_add_c adds a C string.
static inline void wardlet_add_c(wardlet_builder *b, const char *s) { wardlet_add(b, wardlet_c(s)); }

WARDLET__SHARED void wardlet_add_int(wardlet_builder *b, int64_t n) {
	char digits[20];
	size_t at = sizeof digits;
	uint64_t rest = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
	do {
		digits[--at] = (char)('0' + rest % 10);
	} while ((rest /= 10) > 0);
	if (n < 0) {
		digits[--at] = '-';
	}
	wardlet_add(b, (wardlet_text){digits + at, sizeof digits - at});
}

// wardlet_add_json adds a text as a string of JSON, with its quotes, for patches.
WARDLET__SHARED void wardlet_add_json(wardlet_builder *b, wardlet_text t) {
	wardlet_add(b, WARDLET_TEXT("\""));
	size_t done = 0;
	for (size_t i = 0; i < t.len; i++) {
		unsigned char c = (unsigned char)t.at[i];
		if (c >= 0x20 && c != '"' && c != '\\') {
			continue;
		}
		char escaped[6] = {'\\', 'u', '0', '0', (char)('0' + (c >> 4)), "0123456789abcdef"[c & 15]};
		wardlet_add(b, wardlet_slice(t, done, i));
		wardlet_add(b, (wardlet_text){escaped, sizeof escaped});
		done = i + 1;
	}
	wardlet_add(b, wardlet_slice(t, done, t.len));
	wardlet_add(b, WARDLET_TEXT("\""));
}

// wardlet_built is what was put together so far. It shares the builder's memory.
static inline wardlet_text wardlet_built(const wardlet_builder *b) { return (wardlet_text){b->at, b->len}; }

WARDLET__SHARED wardlet_text wardlet_concat(const wardlet_text *parts, size_t n) {
	size_t len = 0;
	for (size_t i = 0; i < n; i++) {
		len += parts[i].len;
	}
	wardlet_builder b = wardlet_build(len);
	for (size_t i = 0; i < n; i++) {
		wardlet_add(&b, parts[i]);
	}
	return wardlet_built(&b);
}

// WARDLET_CONCAT puts texts together.
#define WARDLET_CONCAT(...) \
	wardlet_concat((wardlet_text[]){__VA_ARGS__}, sizeof((wardlet_text[]){__VA_ARGS__}) / sizeof(wardlet_text))

// ---------------------------------------------------------------- faults

// wardlet_fault notes a mistake: the call fails with it, whatever the plugin answers. The first one counts.
static inline void wardlet_fault(wardlet_text message) {
	if (!wardlet__world.faulty) {
		wardlet__world.faulty = true;
		wardlet__world.fault = message;
	}
}

// WARDLET__FAULT puts the message together only where it counts.
#define WARDLET__FAULT(...) \
	do { \
		if (!wardlet__world.faulty) { \
			wardlet_fault(WARDLET_CONCAT(__VA_ARGS__)); \
		} \
	} while (0)

static inline wardlet_text wardlet__kind_name(uint8_t kind) {
	switch (kind) {
	case WARDLET_MISSING:
		return WARDLET_TEXT("missing");
	case WARDLET_STRING:
		return WARDLET_TEXT("a string");
	case WARDLET_BOOL:
		return WARDLET_TEXT("a bool");
	case WARDLET_INT:
		return WARDLET_TEXT("an integer");
	case WARDLET_FLOAT:
		return WARDLET_TEXT("a float");
	case WARDLET_LIST:
		return WARDLET_TEXT("a list");
	case WARDLET_MAP:
		return WARDLET_TEXT("a map of strings");
	case WARDLET_JSON:
		return WARDLET_TEXT("a JSON value");
	default:
		return WARDLET_TEXT("a value of an unknown kind");
	}
}

WARDLET__SHARED void wardlet__misread(uint8_t from, const char *path, uint8_t kind, uint8_t as) {
	WARDLET__FAULT(from == 1 ? WARDLET_TEXT("setting ") : WARDLET_TEXT("field "), wardlet_c(path), WARDLET_TEXT(" is read as "),
		wardlet__kind_name(as), WARDLET_TEXT(", but it is "), wardlet__kind_name(kind));
}

WARDLET__SHARED void wardlet__torn(uint8_t from, const char *path) {
	WARDLET__FAULT(from == 1 ? WARDLET_TEXT("setting ") : WARDLET_TEXT("field "), wardlet_c(path),
		WARDLET_TEXT(": the agent sent a malformed value"));
}

// ---------------------------------------------------------------- reading values

static inline uint32_t wardlet__u32(const uint8_t *at) {
	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

// wardlet__cut takes the value that the bytes up to end begin with. False: there is none whole.
static inline bool wardlet__cut(const uint8_t **at, const uint8_t *end, wardlet_value *v) {
	if (end - *at < 5) {
		return false;
	}
	v->kind = (*at)[0];
	v->len = wardlet__u32(*at + 1);
	v->at = *at + 5;
	if (v->len > (size_t)(end - v->at)) {
		return false;
	}
	*at = v->at + v->len;
	switch (v->kind) {
	case WARDLET_MISSING:
		return v->len == 0;
	case WARDLET_BOOL:
		return v->len == 1;
	case WARDLET_INT:
	case WARDLET_FLOAT:
		return v->len == 8;
	case WARDLET_LIST:
	case WARDLET_MAP:
		return v->len >= 4;
	default:
		return true;
	}
}

// wardlet__as reports whether a value is of a kind.
static inline bool wardlet__as(wardlet_value v, uint8_t kind) {
	if (v.kind == kind) {
		return true;
	}
	if (v.kind != WARDLET_MISSING) {
		wardlet__misread(v.from, v.path, v.kind, kind);
	}
	return false;
}

// wardlet_exists reports whether the pod has the field. A bool that is no pointer in the API always exists, an empty string
// or list never does.
static inline bool wardlet_exists(wardlet_value v) { return v.kind != WARDLET_MISSING; }

// wardlet_string is the content of a string. Quantities ("100m"), times (RFC 3339) and names of ports are strings too.
static inline wardlet_text wardlet_string(wardlet_value v) {
	return wardlet__as(v, WARDLET_STRING) ? (wardlet_text){(const char *)v.at, v.len} : WARDLET_TEXT("");
}

static inline bool wardlet_bool(wardlet_value v) { return wardlet__as(v, WARDLET_BOOL) && v.at[0] != 0; }

static inline int64_t wardlet_int(wardlet_value v) {
	if (!wardlet__as(v, WARDLET_INT)) {
		return 0;
	}
	return (int64_t)((uint64_t)wardlet__u32(v.at) | (uint64_t)wardlet__u32(v.at + 4) << 32);
}

// wardlet_float is the content of a float, which only settings have.
static inline double wardlet_float(wardlet_value v) {
	double f = 0;
	if (wardlet__as(v, WARDLET_FLOAT)) {
		uint64_t bits = (uint64_t)wardlet__u32(v.at) | (uint64_t)wardlet__u32(v.at + 4) << 32;
		memcpy(&f, &bits, sizeof f);
	}
	return f;
}

// wardlet_json is the text of a value of kind WARDLET_JSON.
static inline wardlet_text wardlet_json(wardlet_value v) {
	return wardlet__as(v, WARDLET_JSON) ? (wardlet_text){(const char *)v.at, v.len} : WARDLET_TEXT("");
}

// wardlet_count is the number of elements of a list or of entries of a map.
static inline size_t wardlet_count(wardlet_value v) {
	return v.kind == WARDLET_MAP || wardlet__as(v, WARDLET_LIST) ? wardlet__u32(v.at) : 0;
}

// An iterator goes through a list or a map once:
//
//	wardlet_iterator all = wardlet_list(wardlet_read(ports));
//	for (wardlet_value port; wardlet_next(&all, &port);) …
typedef struct {
	const uint8_t *at, *end;
	uint32_t left;
	uint8_t from;
	const char *path;
} wardlet_iterator;

static inline wardlet_iterator wardlet__iterate(wardlet_value v, uint8_t kind) {
	if (!wardlet__as(v, kind)) {
		return (wardlet_iterator){NULL, NULL, 0, v.from, v.path};
	}
	return (wardlet_iterator){v.at + 4, v.at + v.len, wardlet__u32(v.at), v.from, v.path};
}

// wardlet_list begins with the elements of a list. Where the path has a [*], an element whose field is absent is a missing
// value, so that lists of one [*] align.
static inline wardlet_iterator wardlet_list(wardlet_value v) { return wardlet__iterate(v, WARDLET_LIST); }

// wardlet_map begins with the entries of a map of strings. They are sorted by key.
static inline wardlet_iterator wardlet_map(wardlet_value v) { return wardlet__iterate(v, WARDLET_MAP); }

// wardlet__more reports whether there is another one to take.
static inline bool wardlet__more(wardlet_iterator *i) {
	if (i->left > 0) {
		i->left--;
		return true;
	}
	if (i->at != i->end) {
		wardlet__torn(i->from, i->path);
		i->at = i->end;
	}
	return false;
}

// wardlet_next takes the next element of a list; false: there is none left.
static inline bool wardlet_next(wardlet_iterator *i, wardlet_value *element) {
	*element = (wardlet_value){.from = i->from, .path = i->path};
	if (!wardlet__more(i)) {
		return false;
	}
	if (!wardlet__cut(&i->at, i->end, element)) {
		wardlet__torn(i->from, i->path);
		*element = (wardlet_value){.from = i->from, .path = i->path};
		i->at = i->end;
		i->left = 0;
		return false;
	}
	return true;
}

// wardlet_next_string takes the next element of a list of strings, missing ones left out.
static inline bool wardlet_next_string(wardlet_iterator *i, wardlet_text *text) {
	for (wardlet_value element; wardlet_next(i, &element);) {
		if (wardlet__as(element, WARDLET_STRING)) {
			*text = wardlet_string(element);
			return true;
		}
	}
	*text = WARDLET_TEXT("");
	return false;
}

static inline bool wardlet__cut_text(wardlet_iterator *i, wardlet_text *text) {
	*text = WARDLET_TEXT("");
	if (i->end - i->at < 4) {
		return false;
	}
	uint32_t len = wardlet__u32(i->at);
	if (len > (size_t)(i->end - i->at) - 4) {
		return false;
	}
	*text = (wardlet_text){(const char *)i->at + 4, len};
	i->at += 4 + len;
	return true;
}

// wardlet_next_entry takes the next entry of a map; false: there is none left.
static inline bool wardlet_next_entry(wardlet_iterator *i, wardlet_text *key, wardlet_text *value) {
	*key = *value = WARDLET_TEXT("");
	if (!wardlet__more(i)) {
		return false;
	}
	if (!wardlet__cut_text(i, key) || !wardlet__cut_text(i, value)) {
		wardlet__torn(i->from, i->path);
		i->at = i->end;
		i->left = 0;
		return false;
	}
	return true;
}

// wardlet_lookup finds the entry of a map of strings under a key; false: it has none.
static inline bool wardlet_lookup(wardlet_value map, wardlet_text key, wardlet_text *value) {
	wardlet_iterator all = wardlet_map(map);
	for (wardlet_text k; wardlet_next_entry(&all, &k, value);) {
		if (wardlet_equal(k, key)) {
			return true;
		}
	}
	return false;
}

// A zip goes through two lists side by side. Their paths must share their [*], as spec.@containers[*].name and
// spec.@containers[*].image do; lists of different lengths make the call fail.
typedef struct {
	wardlet_iterator a, b;
} wardlet_zip;

static inline wardlet_zip wardlet_zip_of(wardlet_value a, wardlet_value b) {
	wardlet_zip z = {wardlet_list(a), wardlet_list(b)};
	if (z.a.left != z.b.left) {
		WARDLET__FAULT(WARDLET_TEXT("fields "), wardlet_c(a.path), WARDLET_TEXT(" and "), wardlet_c(b.path),
			WARDLET_TEXT(" are lists of different lengths"));
		z.a = (wardlet_iterator){.from = a.from, .path = a.path};
		z.b = (wardlet_iterator){.from = b.from, .path = b.path};
	}
	return z;
}

static inline bool wardlet_next_pair(wardlet_zip *z, wardlet_value *a, wardlet_value *b) {
	bool more = wardlet_next(&z->a, a);
	return wardlet_next(&z->b, b) && more;
}

// ---------------------------------------------------------------- fields

WARDLET__SHARED uint8_t wardlet__declared(const char *path, int32_t handle) {
	if (handle >= 0 && handle < WARDLET_MAX_FIELDS) {
		return (uint8_t)(handle + 1);
	}
	if (wardlet__world.stage != WARDLET__SETUP) {
		WARDLET__FAULT(WARDLET_TEXT("field "), wardlet_c(path),
			WARDLET_TEXT(" is declared at the wrong time: declare fields in setup"));
	} else if (handle == -3) {
		WARDLET__FAULT(WARDLET_TEXT("field "), wardlet_c(path), WARDLET_TEXT(" is one too many: a plugin may have 64"));
	} else {
		WARDLET__FAULT(WARDLET_TEXT("the agent refuses the field "), wardlet_c(path));
	}
	return 0;
}

// wardlet_declare declares a field by its whole path, in setup: the agent then sends it with every pod.
//
//	object.spec.hostNetwork                                 the pod that is judged
//	object.metadata.labels['app.kubernetes.io/name']
//	object.spec.@containers[*].image                        of all containers: init, regular and ephemeral ones
//	object.spec.containers[*].ports[*].hostPort             a list of lists
//	oldObject.metadata.labels                               what was admitted before
//	request.operation                                       the question
//	request.references[*].digest                            what the pod names, for policies that may read it
//	node.labels                                             the node, for policies that may read it
//	candidates[*].source                                    in the hook merge
//
// A path that names no field is refused when the agent loads the plugin. The text must stay where it is: use a literal.
static inline wardlet_field wardlet_declare(const char *path) {
	return (wardlet_field){path, wardlet__declared(path, wardlet__host_path(path, (uint32_t)__builtin_strlen(path)))};
}

// wardlet_declare_lazy declares a field that the agent sends only when it is fetched: for one that is seldom looked at, or
// large.
static inline wardlet_lazy_field wardlet_declare_lazy(const char *path) {
	return (wardlet_lazy_field){path, wardlet__declared(path, wardlet__host_field(path, (uint32_t)__builtin_strlen(path)))};
}

// wardlet__unreadable says why a field has no value now.
WARDLET__SHARED void wardlet__unreadable(const char *path) {
	if (path == NULL) {
		wardlet_fault(WARDLET_TEXT("a field is read that was never declared: declare fields in setup"));
	} else if (wardlet__world.stage != WARDLET__JUDGING) {
		WARDLET__FAULT(WARDLET_TEXT("field "), wardlet_c(path),
			WARDLET_TEXT(" is read where no pod is judged: read fields in the policy, not in setup"));
	}
}

// wardlet__readable reports whether a field has a value now.
static inline bool wardlet__readable(const char *path, uint8_t number) {
	bool readable = wardlet__world.stage == WARDLET__JUDGING && number > 0;
	if (!readable) {
		wardlet__unreadable(path);
	}
	return readable;
}

// wardlet_read is the value of a field.
static inline wardlet_value wardlet_read(wardlet_field f) {
	if (!wardlet__readable(f.path, f.number)) {
		return (wardlet_value){.path = f.path != NULL ? f.path : ""};
	}
	wardlet_value v = wardlet__world.fields[f.number - 1];
	v.path = f.path;
	return v;
}

// wardlet_fetch is the value of a lazy field. The agent is asked once in a call.
static inline wardlet_value wardlet_fetch(wardlet_lazy_field f) {
	wardlet_value missing = {.path = f.path != NULL ? f.path : ""};
	if (!wardlet__readable(f.path, f.number)) {
		return missing;
	}
	wardlet_value *v = &wardlet__world.fields[f.number - 1];
	if (v->path != NULL) {
		return *v;
	}
	uint32_t room;
	const uint8_t *buf = wardlet__room(&room);
	int32_t len = wardlet__host_get(f.number - 1, (void *)buf, room);
	if (len > 0) {
		buf = wardlet_alloc((uint32_t)len); // what was written, if it found room
		if ((uint32_t)len > room && wardlet__host_get(f.number - 1, (void *)buf, (uint32_t)len) != len) {
			len = -1;
		}
	}
	const uint8_t *at = buf;
	*v = missing;
	if (len < 0 || !wardlet__cut(&at, buf + len, v) || at != buf + len) {
		*v = missing;
		wardlet__torn(0, missing.path);
	}
	return *v;
}

// ---------------------------------------------------------------- whole documents

// What wardlet_document gives.
#define WARDLET_REQUEST 0
#define WARDLET_OBJECT 1
#define WARDLET_OLD_OBJECT 2
#define WARDLET_NODE 3
#define WARDLET_CANDIDATE(i) (16 + (int32_t)(i))

// wardlet_document is a whole document as JSON; false: there is none. The agent makes it when it is asked for, which takes
// many times as long as sending fields.
static inline bool wardlet_document(int32_t document, wardlet_text *json) {
	uint32_t room;
	char *buf = wardlet__room(&room);
	int32_t len = wardlet__host_json(document, buf, room);
	*json = WARDLET_TEXT("");
	if (len == -2) {
		wardlet_fault(WARDLET_TEXT("a document is read where no pod is judged: read it in the policy, not in setup"));
	}
	if (len <= 0) {
		return false;
	}
	buf = wardlet_alloc((uint32_t)len);
	if ((uint32_t)len > room && wardlet__host_json(document, buf, (uint32_t)len) != len) {
		wardlet_fault(WARDLET_TEXT("a document changed its length while it was read"));
		return false;
	}
	*json = (wardlet_text){buf, (uint32_t)len};
	return true;
}

// ---------------------------------------------------------------- settings

// A setting is named by its path in [settings] of the policy document, tables and keys joined by dots: "allow",
// "registries.main". Each function gives false, and a value of nothing, for one that is not there. One that is there but of
// another type makes setup, or the call, fail: a policy must not go on as if it had been left out.

WARDLET__SHARED bool wardlet__setting(const char *path, uint8_t kind, wardlet_value *v) {
	wardlet_value missing = {.from = 1, .path = path};
	uint32_t room, path_len = (uint32_t)__builtin_strlen(path);
	const uint8_t *buf = wardlet__room(&room);
	int32_t len = wardlet__host_setting(path, path_len, (void *)buf, room);
	*v = missing;
	if (len < 0) {
		return false;
	}
	buf = wardlet_alloc((uint32_t)len);
	if ((uint32_t)len > room && wardlet__host_setting(path, path_len, (void *)buf, (uint32_t)len) != len) {
		len = 0;
	}
	const uint8_t *at = buf;
	if (!wardlet__cut(&at, buf + len, v) || at != buf + len) {
		*v = missing;
		wardlet__torn(1, path);
		return false;
	}
	if (v->kind != kind) {
		WARDLET__FAULT(WARDLET_TEXT("setting "), wardlet_c(path), WARDLET_TEXT(" must be "), wardlet__kind_name(kind),
			WARDLET_TEXT(", but it is "), wardlet__kind_name(v->kind));
		*v = missing;
		return false;
	}
	return true;
}

static inline bool wardlet_string_setting(const char *path, wardlet_text *s) {
	wardlet_value v;
	bool there = wardlet__setting(path, WARDLET_STRING, &v);
	*s = wardlet_string(v);
	return there;
}

static inline bool wardlet_bool_setting(const char *path, bool *b) {
	wardlet_value v;
	bool there = wardlet__setting(path, WARDLET_BOOL, &v);
	*b = wardlet_bool(v);
	return there;
}

static inline bool wardlet_int_setting(const char *path, int64_t *n) {
	wardlet_value v;
	bool there = wardlet__setting(path, WARDLET_INT, &v);
	*n = wardlet_int(v);
	return there;
}

// wardlet_strings_setting is a list of strings, to go through with wardlet_list and wardlet_next_string.
static inline bool wardlet_strings_setting(const char *path, wardlet_value *list) {
	if (!wardlet__setting(path, WARDLET_LIST, list)) {
		return false;
	}
	wardlet_iterator all = wardlet_list(*list);
	for (wardlet_value element; wardlet_next(&all, &element);) {
		if (element.kind != WARDLET_STRING) {
			WARDLET__FAULT(WARDLET_TEXT("setting "), wardlet_c(path), WARDLET_TEXT(" must be a list of strings, but it holds "),
				wardlet__kind_name(element.kind));
			*list = (wardlet_value){.from = 1, .path = path};
			return false;
		}
	}
	return true;
}

// wardlet_map_setting is a table of strings, to go through with wardlet_map, or for wardlet_lookup.
static inline bool wardlet_map_setting(const char *path, wardlet_value *map) { return wardlet__setting(path, WARDLET_MAP, map); }

// wardlet_json_setting is any other table as JSON. The path "" is that of all settings.
static inline bool wardlet_json_setting(const char *path, wardlet_text *json) {
	wardlet_value v;
	bool there = wardlet__setting(path, WARDLET_JSON, &v);
	*json = wardlet_json(v);
	return there;
}

// ---------------------------------------------------------------- what a plugin says

// All bytes of what is said in one call count against the policy's output_bytes, 64 KiB by default; beyond, the call fails.

// wardlet_warn adds a warning for whoever made the pod. There may be 64 in a call, of at most 4 KiB.
static inline void wardlet_warn(wardlet_text message) { wardlet__host_warn(message.at, (uint32_t)message.len); }

// wardlet_annotate adds a note for programs to the decision's record. There may be 64; a key has 1 to 253 bytes.
static inline void wardlet_annotate(wardlet_text key, wardlet_text value) {
	wardlet__host_annotate(key.at, (uint32_t)key.len, value.at, (uint32_t)value.len);
}

// wardlet_explain says how the verdict came about, for people who ask. The last call counts.
static inline void wardlet_explain(wardlet_text text) { wardlet__host_explain(text.at, (uint32_t)text.len); }

// wardlet_patch says how the pod shall be changed, as a JSON patch (RFC 6902). The last call counts. With merge it is
// applied to the candidate that wins.
static inline void wardlet_patch(wardlet_text json) { wardlet__host_patch(json.at, (uint32_t)json.len); }

typedef enum { WARDLET_DEBUG, WARDLET_INFO, WARDLET_WARNING, WARDLET_ERROR } wardlet_level;

// wardlet_log writes a line to the agent's log, with the policy's name. A line is cut to 4 KiB, and a plugin that logs too
// much loses lines.
static inline void wardlet_log(wardlet_level level, wardlet_text line) {
	wardlet__host_log((int32_t)level, line.at, (uint32_t)line.len);
}

// wardlet_log_enabled reports whether lines of a level are written anywhere. Ask before composing one that costs something.
static inline bool wardlet_log_enabled(wardlet_level level) { return wardlet__host_log_enabled((int32_t)level) != 0; }

static inline void wardlet__reason(const char *code, wardlet_text message) {
	wardlet__host_reason(code, (uint32_t)__builtin_strlen(code), message.at, (uint32_t)message.len);
}

// ---------------------------------------------------------------- setup

// wardlet_refuse says why setup fails, and is false: return it. The message should name the setting and what it must be.
static inline bool wardlet_refuse(wardlet_text message) {
	wardlet__reason("", message);
	wardlet__world.refused = true;
	return false;
}

static inline int32_t wardlet__setup(bool (*setup)(void), uint8_t stage) {
	wardlet__world.stage = stage;
	wardlet__world.faulty = wardlet__world.refused = false;
	bool good = setup();
	wardlet__world.stage = WARDLET__IDLE;
	if (wardlet__world.faulty) {
		wardlet__reason("", wardlet__world.fault); // what setup made of the mistake is only a consequence
		return 1;
	}
	if (!good && !wardlet__world.refused) {
		wardlet__reason("", WARDLET_TEXT("setup failed without saying why: return wardlet_refuse(message)"));
	}
	return good ? 0 : 1;
}

// WARDLET_PLUGIN makes a plugin of a file. Its setup, a bool setup(void), declares fields and reads settings, once; what it
// keeps in variables is there in every call.
#define WARDLET_PLUGIN(setup) \
	WARDLET__EXPORT(wardlet_abi_1_0) void wardlet_abi_1_0(void); \
	void wardlet_abi_1_0(void) {} \
	WARDLET__EXPORT(wardlet_init) int32_t wardlet_init(void); \
	int32_t wardlet_init(void) { return wardlet__setup(setup, WARDLET__SETUP); } \
	WARDLET__EXPORT(wardlet_input) void *wardlet_input(void); \
	void *wardlet_input(void) { \
		wardlet__world.input.capacity = WARDLET_INPUT_BYTES; \
		return &wardlet__world.input; \
	} \
	_Static_assert(WARDLET_INPUT_BYTES >= 2, "a record has two bytes at least")

// WARDLET_VALIDATE_SETTINGS adds a function like setup that only looks at the settings. The agent calls it before setup, and
// tools call it alone.
#define WARDLET_VALIDATE_SETTINGS(check) \
	WARDLET__EXPORT(wardlet_validate_settings) int32_t wardlet_validate_settings(void); \
	int32_t wardlet_validate_settings(void) { return wardlet__setup(check, WARDLET__CHECKING); } \
	_Static_assert(1, "")

// ---------------------------------------------------------------- the hooks

// wardlet__index notes where the record's fields lie. False: it is malformed.
static inline bool wardlet__index(const uint8_t *at, const uint8_t *end) {
	if (end - at < 2) {
		return false;
	}
	uint32_t fields = (uint32_t)at[0] | (uint32_t)at[1] << 8;
	for (at += 2; fields > 0; fields--) {
		if (end - at < 2) {
			return false;
		}
		uint32_t handle = (uint32_t)at[0] | (uint32_t)at[1] << 8;
		at += 2;
		if (handle >= WARDLET_MAX_FIELDS || !wardlet__cut(&at, end, &wardlet__world.fields[handle])) {
			return false;
		}
	}
	return at == end;
}

// wardlet__begin begins a call.
WARDLET__SHARED void wardlet__begin(void) {
	uint32_t length = wardlet__world.input.length;
	wardlet__world.faulty = false;
	wardlet__world.stage = WARDLET__JUDGING;
	if (length > WARDLET_INPUT_BYTES ||
		(length > 0 && !wardlet__index(wardlet__world.input.record, wardlet__world.input.record + length))) {
		wardlet_fault(WARDLET_TEXT("the agent sent a malformed record"));
	}
}

// What a policy decided. One of zeros is none.
typedef struct {
	bool given, reasoned;
	int32_t answer;
	const char *code;
	wardlet_text message;
} wardlet__verdict;

// What a hook answers when it cannot: less than all that mean something.
#define WARDLET__CANNOT (-1000)

static inline int32_t wardlet__cannot(wardlet_text message) {
	wardlet__reason("", message);
	return WARDLET__CANNOT;
}

// wardlet__end ends a call. A fault, or a verdict that was never given, takes the place of what the policy decided.
WARDLET__SHARED int32_t wardlet__end(wardlet__verdict v) {
	wardlet__world.stage = WARDLET__IDLE;
	if (wardlet__world.faulty) {
		return wardlet__cannot(wardlet__world.fault);
	}
	if (!v.given) {
		return wardlet__cannot(WARDLET_TEXT("the policy returned no verdict: return what one of the verdicts' functions gives"));
	}
	if (v.reasoned) {
		wardlet__reason(v.code, v.message);
	}
	return v.answer;
}

#define WARDLET__HOOK(name, decide) \
	WARDLET__EXPORT(name) int32_t name(void); \
	int32_t name(void) { \
		wardlet__begin(); \
		return wardlet__end(wardlet__world.faulty ? (wardlet__verdict){0} : (decide)().is); \
	} \
	_Static_assert(1, "")

// A code is one CamelCase word for programs, at most 64 bytes; a message a sentence for people, at most 4 KiB, without the
// policy's name.

// wardlet_retry_after says in how many milliseconds a pod on hold is to be judged again, instead of after 10 s, then 20 s
// and so on. The agent keeps it between 1 s and 10 min. It means nothing to other verdicts.
static inline void wardlet_retry_after(int64_t ms) { wardlet__host_retry_after_ms(ms > 0 ? ms : 0); }

// ---- admit: may the pod run?

// Of several policies the strongest verdict counts: deny before hold before allow.
typedef struct {
	wardlet__verdict is;
} wardlet_verdict;

// WARDLET_ADMIT gives the plugin the hook admit: a wardlet_verdict judge(void).
#define WARDLET_ADMIT(judge) WARDLET__HOOK(wardlet_admit, judge)

// wardlet_allow lets the pod run, as far as this policy is concerned.
static inline wardlet_verdict wardlet_allow(void) { return (wardlet_verdict){{.given = true, .answer = 0}}; }

// wardlet_abstain has no opinion: the pod is none of this policy's business.
static inline wardlet_verdict wardlet_abstain(void) { return (wardlet_verdict){{.given = true, .answer = 3}}; }

// wardlet_deny forbids the pod.
static inline wardlet_verdict wardlet_deny(const char *code, wardlet_text message) {
	return (wardlet_verdict){{true, true, 1, code, message}};
}

// wardlet_hold lets the pod wait; it is judged again later.
static inline wardlet_verdict wardlet_hold(const char *code, wardlet_text message) {
	return (wardlet_verdict){{true, true, 2, code, message}};
}

// wardlet_fail says that the policy cannot judge the pod. Its on_error decides.
static inline wardlet_verdict wardlet_fail(wardlet_text message) {
	return (wardlet_verdict){{true, true, WARDLET__CANNOT, "", message}};
}

// ---- merge: which of several documents for one pod wins?

typedef struct {
	wardlet__verdict is;
} wardlet_merge_verdict;

// WARDLET_MERGE gives the plugin the hook merge: a wardlet_merge_verdict choose(void).
#define WARDLET_MERGE(choose) WARDLET__HOOK(wardlet_merge, choose)

// wardlet_merge_win chooses a candidate, from 0 in the order of candidates[*].
static inline wardlet_merge_verdict wardlet_merge_win(uint16_t candidate) {
	return (wardlet_merge_verdict){{.given = true, .answer = candidate}};
}

// wardlet_merge_keep_current leaves the candidate that runs. Where none does, the call fails.
static inline wardlet_merge_verdict wardlet_merge_keep_current(void) {
	return (wardlet_merge_verdict){{.given = true, .answer = -1}};
}

// wardlet_merge_reject_all lets none of them run.
static inline wardlet_merge_verdict wardlet_merge_reject_all(const char *code, wardlet_text message) {
	return (wardlet_merge_verdict){{true, true, -2, code, message}};
}

// wardlet_merge_abstain has no opinion.
static inline wardlet_merge_verdict wardlet_merge_abstain(void) { return (wardlet_merge_verdict){{.given = true, .answer = -3}}; }

// wardlet_merge_fail says that the policy cannot choose.
static inline wardlet_merge_verdict wardlet_merge_fail(wardlet_text message) {
	return (wardlet_merge_verdict){{true, true, WARDLET__CANNOT, "", message}};
}

// ---- filter: does a change reach the pod now?

typedef struct {
	wardlet__verdict is;
} wardlet_filter_verdict;

// WARDLET_FILTER gives the plugin the hook filter: a wardlet_filter_verdict sift(void).
#define WARDLET_FILTER(sift) WARDLET__HOOK(wardlet_filter, sift)

// wardlet_filter_pass lets the change through.
static inline wardlet_filter_verdict wardlet_filter_pass(void) { return (wardlet_filter_verdict){{.given = true, .answer = 0}}; }

// wardlet_filter_drop holds the change back until the next one, or as long as the agent lets it.
static inline wardlet_filter_verdict wardlet_filter_drop(void) { return (wardlet_filter_verdict){{.given = true, .answer = 1}}; }

// wardlet_filter_defer holds the change back for a time, in milliseconds; 0 is a minute.
static inline wardlet_filter_verdict wardlet_filter_defer(int64_t ms) {
	wardlet_retry_after(ms);
	return (wardlet_filter_verdict){{.given = true, .answer = 2}};
}

// wardlet_filter_because says why a change is dropped or deferred. It means nothing to other verdicts.
static inline wardlet_filter_verdict wardlet_filter_because(wardlet_filter_verdict v, const char *code, wardlet_text message) {
	if (v.is.answer == 1 || v.is.answer == 2) {
		v.is.reasoned = true;
		v.is.code = code;
		v.is.message = message;
	}
	return v;
}

// wardlet_filter_abstain has no opinion.
static inline wardlet_filter_verdict wardlet_filter_abstain(void) { return (wardlet_filter_verdict){{.given = true, .answer = 3}}; }

// wardlet_filter_fail says that the policy cannot judge the change.
static inline wardlet_filter_verdict wardlet_filter_fail(wardlet_text message) {
	return (wardlet_filter_verdict){{true, true, WARDLET__CANNOT, "", message}};
}

// ---- connect: may a user exec, attach or forward a port?

// A denial of one policy counts, whatever others allow.
typedef struct {
	wardlet__verdict is;
} wardlet_connect_verdict;

// WARDLET_CONNECT gives the plugin the hook connect, of version 1.1 of the ABI: a wardlet_connect_verdict decide(void). What is
// requested by whom are the fields request.connection.kind, .container, .command, .user and so on.
#define WARDLET_CONNECT(decide) \
	WARDLET__EXPORT(wardlet_abi_1_1) void wardlet_abi_1_1(void); \
	void wardlet_abi_1_1(void) {} \
	WARDLET__HOOK(wardlet_connect, decide)

// wardlet_connect_allow lets the connection be made, as far as this policy is concerned.
static inline wardlet_connect_verdict wardlet_connect_allow(void) {
	return (wardlet_connect_verdict){{.given = true, .answer = 0}};
}

// wardlet_connect_deny forbids the connection.
static inline wardlet_connect_verdict wardlet_connect_deny(const char *code, wardlet_text message) {
	return (wardlet_connect_verdict){{true, true, 1, code, message}};
}

// wardlet_connect_abstain has no opinion.
static inline wardlet_connect_verdict wardlet_connect_abstain(void) {
	return (wardlet_connect_verdict){{.given = true, .answer = 3}};
}

// wardlet_connect_fail says that the policy cannot judge the connection. It is denied then, but to root on the agent's local
// socket.
static inline wardlet_connect_verdict wardlet_connect_fail(wardlet_text message) {
	return (wardlet_connect_verdict){{true, true, WARDLET__CANNOT, "", message}};
}

#endif
