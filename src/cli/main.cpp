#include "cli/app.h"

int main(int argc, char** argv) { return callgate::cli::run(argc, argv); }
