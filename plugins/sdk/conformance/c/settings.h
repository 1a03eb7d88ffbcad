// What the guest is told to do.

#ifndef CONFORMANCE_SETTINGS_H
#define CONFORMANCE_SETTINGS_H

#include "wardlet.h"

// text is a setting that is a string, empty if it is not there.
wardlet_text text(const char *name);

// number is a setting that is an integer, 0 if it is not there.
int64_t number(const char *name);

// behaves says whether settings.behaviour is a word.
bool behaves(const char *word);

// terminated is a text with a zero byte after it.
const char *terminated(wardlet_text t);

#endif
