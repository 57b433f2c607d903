// libpq, loaded when the first database in PostgreSQL is opened: it brings eighteen other libraries, which a start without it
// need not wait for nor have in memory. A program that has it inside (callgate_portable) uses that.
#pragma once

#include <libpq-fe.h>

#include "store/fault.h"

#define CALLGATE_LIBPQ(USE) \
  USE(PQclear)              \
  USE(PQcmdTuples)          \
  USE(PQconnectPoll)        \
  USE(PQconnectStartParams) \
  USE(PQconsumeInput)       \
  USE(PQenterPipelineMode)  \
  USE(PQerrorMessage)       \
  USE(PQexitPipelineMode)   \
  USE(PQfinish)             \
  USE(PQflush)              \
  USE(PQfreemem)            \
  USE(PQftype)              \
  USE(PQgetResult)          \
  USE(PQgetisnull)          \
  USE(PQgetlength)          \
  USE(PQgetvalue)           \
  USE(PQisBusy)             \
  USE(PQlibVersion)         \
  USE(PQnfields)            \
  USE(PQnotifies)           \
  USE(PQntuples)            \
  USE(PQpipelineSync)       \
  USE(PQresultErrorField)   \
  USE(PQresultErrorMessage) \
  USE(PQresultStatus)       \
  USE(PQsendPrepare)        \
  USE(PQsendQuery)          \
  USE(PQsendQueryParams)    \
  USE(PQsendQueryPrepared)  \
  USE(PQsetNoticeProcessor) \
  USE(PQsetnonblocking)     \
  USE(PQsocket)             \
  USE(PQstatus)

// Weak: nullptr where the library is not inside.
#define CALLGATE_DECLARE_WEAK(name) extern "C" [[gnu::weak]] decltype(name) name;
CALLGATE_LIBPQ(CALLGATE_DECLARE_WEAK)
#undef CALLGATE_DECLARE_WEAK

namespace callgate::store {

// In this namespace they stand for libpq's own. REQUIRES: load_libpq() was well.
#define CALLGATE_DECLARE_POINTER(name) extern decltype(&::name) name;
CALLGATE_LIBPQ(CALLGATE_DECLARE_POINTER)
#undef CALLGATE_DECLARE_POINTER

// Any thread, any number of times.
Attempt<void> load_libpq();

}  // namespace callgate::store
