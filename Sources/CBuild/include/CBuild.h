#pragma once

// The commit of which the binary was built, and its date; empty where the build was not told.
const char *build_commit(void);
