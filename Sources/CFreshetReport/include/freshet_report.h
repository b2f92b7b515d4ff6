#ifndef FRESHET_REPORT_H
#define FRESHET_REPORT_H

#include <stddef.h>

/// A file that is part of the program: bytes in UTF-8 without a NUL at their end, valid as long as the process runs.
typedef struct {
    const unsigned char *bytes;
    size_t count;
} freshet_report_file;

/// The page's frame, with the places of the other parts in double braces.
freshet_report_file freshet_report_page(void);

/// The page's style sheet.
freshet_report_file freshet_report_style(void);

/// The page's scripts, in the order in which they run.
freshet_report_file freshet_report_script(void);

#endif
