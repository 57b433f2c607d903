// Goes before every mutated file. CALLGATE_MUTANT is the number of the active mutant. CALLGATE_MUTANTS_REACHED names a file
// that gets the numbers of the mutants whose places are reached.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

inline bool callgate_mutant(int number) {
  static const char* const chosen = std::getenv("CALLGATE_MUTANT");
  static const int active = chosen == nullptr ? 0 : std::atoi(chosen);
  static const char* const path = std::getenv("CALLGATE_MUTANTS_REACHED");
  static const int log =
      path == nullptr ? -1 : ::open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  static std::atomic<bool> seen[10000];
  if (log >= 0 && !seen[number].exchange(true)) ::dprintf(log, "%d\n", number);
  return active == number;
}
