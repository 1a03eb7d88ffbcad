// The behaviour "render": a value as text.

#ifndef CONFORMANCE_RENDER_H
#define CONFORMANCE_RENDER_H

#include "wardlet.h"

// declare declares the field that settings.show names. Call it in setup.
void declare(void);

// rendered is the value that the settings name, as text.
wardlet_text rendered(void);

#endif
