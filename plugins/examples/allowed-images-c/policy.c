#include "policy.h"

#include "pattern.h"

#define T(literal) WARDLET_TEXT(literal)

// Bounds of what is said of one pod: a pod may have thousands of containers, and names of any length.
enum { MAX_FAULTS = 5, MAX_LINES = 20, MAX_PATTERNS = 10, MAX_SHOWN = 300 };

static struct {
	pattern *allow;
	size_t patterns;
	bool require_digest;
	// allowed names the patterns in messages.
	wardlet_text allowed;
} policy;

static wardlet_text number(size_t n) {
	wardlet_builder b = wardlet_build(20);
	wardlet_add_int(&b, (int64_t)n);
	return wardlet_built(&b);
}

// joined puts the first patterns together and says how many are left out.
static wardlet_text joined(void) {
	wardlet_text all = T("");
	for (size_t i = 0; i < policy.patterns && i < MAX_PATTERNS; i++) {
		all = WARDLET_CONCAT(all, i > 0 ? T(", ") : T(""), policy.allow[i].text);
	}
	if (policy.patterns > MAX_PATTERNS) {
		all = WARDLET_CONCAT(all, T(", and "), number(policy.patterns - MAX_PATTERNS), T(" more"));
	}
	return all;
}

bool policy_init(wardlet_value allow, bool require_digest) {
	size_t count = wardlet_count(allow);
	if (count == 0) {
		return wardlet_refuse(T("settings.allow must list at least one pattern, such as \"registry.example/*\"; without one no pod could run"));
	}
	policy.allow = wardlet_alloc(count * sizeof *policy.allow);
	policy.require_digest = require_digest;
	wardlet_iterator all = wardlet_list(allow);
	for (wardlet_text text; wardlet_next_string(&all, &text); policy.patterns++) {
		const char *fault = parse_pattern(text, &policy.allow[policy.patterns]);
		if (fault != NULL) {
			return wardlet_refuse(WARDLET_CONCAT(T("settings.allow["), number(policy.patterns), T("]: \""), text, T("\": "), wardlet_c(fault)));
		}
	}
	policy.allowed = joined();
	return true;
}

// A finding is what came out of looking at one image. Where the image may not run, fault says why.
typedef struct {
	wardlet_text what, name, reference, by, fault;
} finding;

typedef struct {
	size_t images, faults;
	finding fault[MAX_FAULTS], line[MAX_LINES];
} findings;

// add_shown adds a text of the pod in quotes, shortened. What is not printable the agent escapes.
static void add_shown(wardlet_builder *b, wardlet_text t) {
	wardlet_add(b, T("\""));
	wardlet_add(b, wardlet_slice(t, 0, MAX_SHOWN));
	wardlet_add(b, t.len > MAX_SHOWN ? T("…\"") : T("\""));
}

static void add_finding(wardlet_builder *b, const finding *f) {
	wardlet_add(b, f->what);
	add_shown(b, f->name);
	wardlet_add(b, T(": image "));
	add_shown(b, f->reference);
	if (f->fault.len > 0) {
		wardlet_add(b, T(" "));
		wardlet_add(b, f->fault);
		return;
	}
	wardlet_add(b, T(" is allowed by \""));
	wardlet_add(b, f->by);
	wardlet_add(b, T("\""));
}

// room is more than all of a text that add_finding adds.
static size_t room(const finding *f) { return f->what.len + 2 * (MAX_SHOWN + 10) + 50 + f->by.len + f->fault.len; }

// listed puts findings together and says how many are left out; end follows them all.
static wardlet_text listed(const finding *first, size_t kept, size_t all, wardlet_text separator, wardlet_text end) {
	size_t cap = 50 + end.len;
	for (size_t i = 0; i < kept; i++) {
		cap += separator.len + room(&first[i]);
	}
	wardlet_builder b = wardlet_build(cap);
	for (size_t i = 0; i < kept; i++) {
		wardlet_add(&b, i > 0 ? separator : T(""));
		add_finding(&b, &first[i]);
	}
	if (all > kept) {
		wardlet_add(&b, separator);
		wardlet_add(&b, T("and "));
		wardlet_add_int(&b, (int64_t)(all - kept));
		wardlet_add(&b, T(" more"));
	}
	wardlet_add(&b, end);
	return wardlet_built(&b);
}

// check finds the pattern that lets an image pass, or what is wrong with it.
static void check(finding *f) {
	image i;
	if (f->reference.len == 0) {
		f->fault = T("is missing");
		return;
	}
	const char *malformed = parse_image(f->reference, &i);
	if (malformed != NULL) {
		f->fault = WARDLET_CONCAT(T("is refused: "), wardlet_c(malformed));
		return;
	}
	for (size_t n = 0; n < policy.patterns; n++) {
		if (!pattern_matches(&policy.allow[n], &i)) {
			continue;
		}
		f->by = policy.allow[n].text;
		if (policy.require_digest && i.digest.len == 0) {
			f->fault = T("has no digest, and settings.require_digest is set");
		}
		return;
	}
	wardlet_text full = image_text(&i);
	f->fault = T("is not allowed");
	if (!wardlet_equal(full, f->reference)) {
		wardlet_builder b = wardlet_build(MAX_SHOWN + 50);
		wardlet_add(&b, T("("));
		add_shown(&b, full);
		wardlet_add(&b, T(") is not allowed"));
		f->fault = wardlet_built(&b);
	}
}

static void look(findings *all, wardlet_text what, wardlet_value name, wardlet_value reference) {
	finding f = {what, wardlet_string(name), wardlet_string(reference), T(""), T("")};
	check(&f);
	if (all->images < MAX_LINES) {
		all->line[all->images] = f;
	}
	all->images++;
	if (f.fault.len > 0 && all->faults++ < MAX_FAULTS) {
		all->fault[all->faults - 1] = f;
	}
}

wardlet_verdict policy_judge(wardlet_zip containers, wardlet_zip volumes) {
	static findings all;
	all.images = all.faults = 0;
	wardlet_value name, reference;
	while (wardlet_next_pair(&containers, &name, &reference)) {
		look(&all, T("container "), name, reference);
	}
	while (wardlet_next_pair(&volumes, &name, &reference)) {
		if (wardlet_exists(reference)) {
			look(&all, T("volume "), name, reference);
		}
	}
	wardlet_explain(listed(all.line, all.images < MAX_LINES ? all.images : MAX_LINES, all.images, T("\n"), T("")));
	if (all.faults == 0) {
		return wardlet_allow();
	}
	wardlet_text end = WARDLET_CONCAT(T(" (allowed: "), policy.allowed, T(")"));
	return wardlet_deny("ImageNotAllowed", listed(all.fault, all.faults < MAX_FAULTS ? all.faults : MAX_FAULTS, all.faults, T("; "), end));
}
