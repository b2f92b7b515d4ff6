#include "freshet_report.h"

static const unsigned char page[] = {
#embed "page/report.html"
};

static const unsigned char style[] = {
#embed "page/report.css"
};

// One script: each file uses what those before it declare.
static const unsigned char script[] = {
#embed "page/data.js"
    ,
#embed "page/chart.js"
    ,
#embed "page/messages.js"
    ,
#embed "page/tables.js"
    ,
#embed "page/controls.js"
};

freshet_report_file freshet_report_page(void) { return (freshet_report_file){page, sizeof page}; }

freshet_report_file freshet_report_style(void) { return (freshet_report_file){style, sizeof style}; }

freshet_report_file freshet_report_script(void) { return (freshet_report_file){script, sizeof script}; }
