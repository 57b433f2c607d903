// What the portable binary has in place of functions that it does without.
#define _GNU_SOURCE
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unicode/utypes.h>

// libstdc++ takes random numbers from glibc 2.36 if it is there at build time.
uint32_t arc4random(void) {
  uint32_t number = 0;
  if (getrandom(&number, sizeof(number), 0) != sizeof(number)) abort();
  return number;
}

// libgcc asks glibc 2.35 for the unwind table of an address. This answers as slowly as older versions of glibc did; it happens once per
// frame of an exception.
struct unwind_query {
  uintptr_t pc;
  struct dl_find_object* found;
};
static int find_unwind_table(struct dl_phdr_info* info, size_t size, void* data) {
  struct unwind_query* query = data;
  const ElfW(Phdr)* table = NULL;
  int covers = 0;
  (void)size;
  for (ElfW(Half) i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* part = &info->dlpi_phdr[i];
    if (part->p_type == PT_GNU_EH_FRAME) table = part;
    if (part->p_type != PT_LOAD || query->pc - (info->dlpi_addr + part->p_vaddr) >= part->p_memsz)
      continue;
    covers = 1;
    query->found->dlfo_map_start = (void*)(info->dlpi_addr + part->p_vaddr);
    query->found->dlfo_map_end = (void*)(info->dlpi_addr + part->p_vaddr + part->p_memsz);
  }
  if (!covers || table == NULL) return covers ? -1 : 0;
  query->found->dlfo_eh_frame = (void*)(info->dlpi_addr + table->p_vaddr);
  return 1;
}
int _dl_find_object(void* pc, struct dl_find_object* found) {
  struct unwind_query query = {(uintptr_t)pc, found};
  found->dlfo_flags = 0;
  found->dlfo_link_map = NULL;
  return dl_iterate_phdr(find_unwind_table, &query) == 1 ? 0 : -1;
}

// ICU's data for locales: 30 MB that callgate never opens. The properties of characters are in ICU's code.
const unsigned char U_ICUDATA_ENTRY_POINT[64] = {0};

// Kerberos and LDAP, which libpq can use: Debian has no static libraries of them. libpq sees that there are no credentials and goes on
// with the other ways to log in; a service file that asks for LDAP is refused. The declarations are those of gssapi.h and
// ldap.h, reduced to what a caller needs.
typedef uint32_t OM_uint32;
enum { kUnavailable = 16 << 16 };  // GSS_S_UNAVAILABLE

const void* GSS_C_NT_HOSTBASED_SERVICE = NULL;

#define GSS_FUNCTION(name)           \
  OM_uint32 name(OM_uint32* minor) { \
    if (minor != NULL) *minor = 0;   \
    return kUnavailable;             \
  }
GSS_FUNCTION(gss_acquire_cred)
GSS_FUNCTION(gss_delete_sec_context)
GSS_FUNCTION(gss_import_name)
GSS_FUNCTION(gss_init_sec_context)
GSS_FUNCTION(gss_release_buffer)
GSS_FUNCTION(gss_release_cred)
GSS_FUNCTION(gss_release_name)
GSS_FUNCTION(gss_unwrap)
GSS_FUNCTION(gss_wrap)
GSS_FUNCTION(gss_wrap_size_limit)

struct gss_buffer {
  size_t length;
  void* value;
};
OM_uint32 gss_display_status(OM_uint32* minor, OM_uint32 status, int type, void* mechanism,
                             OM_uint32* context, struct gss_buffer* text) {
  static char said[] = "this build of callgate has no Kerberos";
  (void)status, (void)type, (void)mechanism;
  *minor = 0;
  *context = 0;
  text->length = sizeof(said) - 1;
  text->value = said;
  return 0;
}

void* ldap_init(const char* host, int port) {
  (void)host, (void)port;
  return NULL;
}
char* ldap_err2string(int error) {
  static char said[] = "this build of callgate has no LDAP";
  (void)error;
  return said;
}
// libpq gives up when ldap_init() fails: none of these is reached.
int ldap_set_option(void) { return -1; }
int ldap_simple_bind(void) { return -1; }
int ldap_result(void) { return -1; }
int ldap_search_st(void) { return -1; }
int ldap_count_entries(void) { return -1; }
int ldap_unbind(void) { return -1; }
int ldap_msgfree(void) { return -1; }
void* ldap_first_entry(void) { return NULL; }
void* ldap_get_values_len(void) { return NULL; }
void ldap_value_free_len(void) {}
