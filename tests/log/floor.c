/* SPDX-License-Identifier: BSD-3-Clause */
/* A line of each level. test_log.py compiles this with several floors, and looks for the strings in the object file. */
#include "evalue/log.h"

int told(int level);
int evaluate(int x);

int told(int level) {
  EVALUE_LOG(&evalue_log_reader, EVALUE_LOG_DEBUG, "a debug string %d", evaluate(level));
  EVALUE_LOG(&evalue_log_reader, EVALUE_LOG_INFO, "an info string %d", evaluate(level));
  EVALUE_LOG(&evalue_log_reader, EVALUE_LOG_WARNING, "a warning string %d", evaluate(level));
  EVALUE_LOG(&evalue_log_reader, EVALUE_LOG_ERROR, "an error string %d", evaluate(level));
  EVALUE_LOG_COPIED(&evalue_log_reader, 1, "a copied string");
  EVALUE_LOG_REJECTED(&evalue_log_reader, NULL, "a rejected string", 1);
  EVALUE_LOG_STATUS(&evalue_log_reader, EVALUE_LOG_ERROR, EVALUE_IO, 1, "a string with a status");
  return level;
}
