// Records of any bytes: what is malformed fails the call, and is never read beyond its end.

#include "wardlet_test.h"

static wardlet_field text, list, map;

static bool setup(void) {
	text = wardlet_declare("object.metadata.name");
	list = wardlet_declare("object.spec.containers[*].image");
	map = wardlet_declare("object.metadata.labels");
	return true;
}

static void walk(wardlet_value v, int depth, size_t *bytes) {
	wardlet_iterator all;
	switch (v.kind) {
	case WARDLET_STRING:
	case WARDLET_JSON:
		for (size_t i = 0; i < v.len; i++) {
			*bytes += v.at[i];
		}
		break;
	case WARDLET_BOOL:
		*bytes += wardlet_bool(v);
		break;
	case WARDLET_INT:
		*bytes += (size_t)wardlet_int(v);
		break;
	case WARDLET_LIST:
		all = wardlet_list(v);
		for (wardlet_value element; depth > 0 && wardlet_next(&all, &element);) {
			walk(element, depth - 1, bytes);
		}
		break;
	case WARDLET_MAP:
		all = wardlet_map(v);
		for (wardlet_text key, value; wardlet_next_entry(&all, &key, &value);) {
			*bytes += wardlet_find_char(key, 0) + wardlet_find_char(value, 0);
		}
		break;
	}
}

static wardlet_verdict judge(void) {
	size_t bytes = 0;
	walk(wardlet_read(text), 9, &bytes);
	walk(wardlet_read(list), 9, &bytes);
	walk(wardlet_read(map), 9, &bytes);
	return wardlet_allow();
}

WARDLET_PLUGIN(setup);
WARDLET_ADMIT(judge);

#define HEAD 3, 0
#define TEXT 0, 0, 1, 1, 0, 0, 0, 'a'
#define LIST 1, 0, 5, 15, 0, 0, 0, 2, 0, 0, 0, 1, 1, 0, 0, 0, 'b', 0, 0, 0, 0, 0
#define MAP 2, 0, 6, 14, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 'k', 1, 0, 0, 0, 'v'

static const uint8_t good[] = {HEAD, TEXT, LIST, MAP};

static const wardlet_result *ask(const uint8_t *record, size_t len) { return wardlet_test_admit(.record = record, .record_len = len); }

#define ASK(...) ask((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static void a_whole_record_is_read(void) {
	WARDLET_CHECK(wardlet_same(ask(good, sizeof good)->answer, "allow"), "%s", ask(good, sizeof good)->message);
	// Handles may have gaps, and a type may be one that is not known yet.
	WARDLET_CHECK(wardlet_same(ASK(1, 0, 2, 0, 99, 1, 0, 0, 0, 7)->answer, "allow"), "an unknown type was not skipped");
	WARDLET_CHECK(wardlet_same(ASK(0, 0)->answer, "allow") && wardlet_same(ask(good, 0)->answer, "allow"), "a record without fields");
}

static void a_torn_record_fails_the_call(void) {
	for (size_t len = 1; len < sizeof good; len++) {
		const wardlet_result *got = ask(good, len);
		WARDLET_CHECK(wardlet_same(got->failure, "PluginError") && wardlet_same(got->message, "the agent sent a malformed record"), "%zu bytes: %s, %s", len,
			got->answer, got->message);
	}
}

static void a_malformed_record_fails_the_call(void) {
	const wardlet_result *tests[] = {
		ASK(2, 0, TEXT),                                              // fields that are not there
		ASK(1, 0, TEXT, 0),                                           // bytes after the last one
		ASK(1, 0, 64, 0, 0, 0, 0, 0, 0),                              // a handle beyond all
		ASK(1, 0, 0, 0, 1, 255, 255, 255, 255, 'a'),                  // a length beyond all
		ASK(1, 0, 0, 0, 2, 2, 0, 0, 0, 1, 1),                         // a bool of two bytes
		ASK(1, 0, 0, 0, 2, 0, 0, 0, 0),                               // a bool of none
		ASK(1, 0, 0, 0, 3, 7, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1),          // a short integer
		ASK(1, 0, 0, 0, 5, 3, 0, 0, 0, 0, 0, 0),                      // a list without its count
		ASK(1, 0, 0, 0, 0, 1, 0, 0, 0, 0),                            // a missing value with bytes
		ASK(1, 0, 0, 0, 5, 4, 0, 0, 0, 1, 0, 0, 0),                   // a list that lacks its element
		ASK(1, 0, 0, 0, 5, 4, 0, 0, 0, 255, 255, 255, 255),           // a list of billions
		ASK(1, 0, 0, 0, 5, 5, 0, 0, 0, 0, 0, 0, 0, 9),                // a list with bytes after its last element
		ASK(1, 0, 0, 0, 6, 8, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0),       // a map that lacks a value
		ASK(1, 0, 0, 0, 6, 9, 0, 0, 0, 1, 0, 0, 0, 255, 0, 0, 0, 'k'), // a key beyond its map
	};
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
		WARDLET_CHECK(wardlet_same(tests[i]->failure, "PluginError") && wardlet_has(tests[i]->message, "the agent sent a malformed"), "%zu: %s, %s", i,
			tests[i]->answer, tests[i]->message);
	}
}

static void the_longest_record_fills_the_input_area(void) {
	static uint8_t record[WARDLET_INPUT_BYTES + 1] = {1, 0, 0, 0, 1};
	uint32_t len = WARDLET_INPUT_BYTES - 9;
	memcpy(record + 5, &len, sizeof len); // little-endian, as all machines that run this
	WARDLET_CHECK(wardlet_same(ask(record, WARDLET_INPUT_BYTES)->answer, "allow"), "the longest: %s", ask(record, WARDLET_INPUT_BYTES)->message);
	WARDLET_CHECK(wardlet_same(ask(record, sizeof record)->failure, "InputTooLarge"), "one byte more");
}

// The record lies in memory of just its length, so that a read beyond it is found.
static void no_record_is_read_beyond_its_end(void) {
	uint64_t state = 7;
	int whole = 0, torn = 0;
	wardlet__world.stage = WARDLET__JUDGING;
	for (int round = 0; round < 200000; round++) {
		size_t len = wardlet_random(&state) % 8 == 0 ? wardlet_random(&state) % (sizeof good + 1) : sizeof good;
		uint8_t *record = malloc(len + (len == 0));
		memcpy(record, good, len);
		for (uint32_t n = wardlet_random(&state) % 3; n > 0 && len > 0; n--) {
			record[wardlet_random(&state) % len] = (uint8_t)(wardlet_random(&state) % 2 == 0 ? wardlet_random(&state) : wardlet_random(&state) % 8);
		}
		size_t bytes = 0;
		wardlet__world.faulty = true; // a fault is noted already: no message is built
		if (wardlet__index(record, record + len)) {
			whole++;
			for (int i = 0; i < WARDLET_MAX_FIELDS; i++) {
				wardlet__world.fields[i].path = "x";
				walk(wardlet__world.fields[i], 9, &bytes);
			}
		} else {
			torn++;
		}
		memset(wardlet__world.fields, 0, sizeof wardlet__world.fields);
		free(record);
	}
	WARDLET_CHECK(whole > 10000 && torn > 10000, "%d whole, %d torn: too few of one", whole, torn);
}

int main(void) {
	WARDLET_RUN(a_whole_record_is_read);
	WARDLET_RUN(a_torn_record_fails_the_call);
	WARDLET_RUN(a_malformed_record_fails_the_call);
	WARDLET_RUN(the_longest_record_fills_the_input_area);
	WARDLET_RUN(no_record_is_read_beyond_its_end);
	return wardlet_test_end();
}
