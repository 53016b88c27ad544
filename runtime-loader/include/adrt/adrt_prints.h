#ifndef ADRT_ADRT_PRINTS_H
#define ADRT_ADRT_PRINTS_H
/* Shows as lines the prints of kernels that were compiled with `adc --prints`, in the order of the
 * interpreter. C11, for programs that link the loader; `adc run` prints by it.
 *
 *   adrt_prints prints;
 *   adrt_prints_open(bundle, "k", &prints);
 *   uint64_t bytes = prints.buffer ? adrt_prints_bytes(1 << 20) : 0;
 *   ... before each launch: a buffer of u32 of that many bytes for the parameter prints.buffer, its first
 *       ADRT_PRINTS_HEAD bytes 0; after it, on the host:
 *   adrt_prints_show(&prints, records, bytes, show, user, &seen);
 *   adrt_prints_close(&prints);
 *
 * Memory comes from ADRT_PRINTS_REALLOC and goes to ADRT_PRINTS_FREE, which are realloc and free where a
 * program does not define them. A bundle may hold anything: no read leaves the section and the buffer. */

#include <adrt/adrt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef ADRT_PRINTS_REALLOC
#define ADRT_PRINTS_REALLOC realloc
#define ADRT_PRINTS_FREE free
#endif

/* Bytes in front of the records, which count them. */
#define ADRT_PRINTS_HEAD 12

/* A `print` of a kernel. */
typedef struct adrt_print_statement {
  const char* text; /* a {} for each value, ended by 0 */
  const uint8_t* indices;
  const uint8_t* values; /* types of the words after the number of the statement: ADRT_TYPE_I32 */
  uint32_t index_count, value_count;
  uint32_t part; /* of the kernel; records of lower ones come first */
} adrt_print_statement;

typedef struct adrt_prints {
  const char* buffer; /* the parameter that gets the records; null: the kernel prints nothing */
  const char* kernel;
  adrt_print_statement* statements;
  uint32_t statement_count;
  char* json; /* holds the texts and types */
} adrt_prints;

typedef struct adrt_prints_seen {
  uint64_t shown; /* lines */
  uint64_t all;   /* and those for which there was no space */
} adrt_prints_seen;

/* A line without its end, and a 0 after its `size` bytes. */
typedef void (*adrt_print_fn)(void* user, const char* line, size_t size);

/* ---- the section PRNT: JSON, read in place. A wrong text reads as the end. */

typedef struct adrt_prints_json {
  char* at; /* a 0 is the end */
  int bad;
} adrt_prints_json;

static inline int adrt_prints_take(adrt_prints_json* json, char c) {
  if (json->bad || *json->at != c) return 0;
  ++json->at;
  return 1;
}

static inline void adrt_prints_want(adrt_prints_json* json, char c) {
  if (!adrt_prints_take(json, c)) json->bad = 1;
}

/* Four hexadecimal digits. */
static inline uint32_t adrt_prints_hex(adrt_prints_json* json) {
  uint32_t code = 0;
  for (int n = 0; n < 4 && !json->bad; ++n) {
    char c = *json->at;
    uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                     : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a') + 10
                     : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A') + 10
                                            : 16;
    json->bad = digit == 16;
    if (!json->bad) ++json->at;
    code = code << 4 | (digit & 15);
  }
  return code;
}

/* The character after a backslash, as UTF-8, which is not longer than it is in JSON. */
static inline char* adrt_prints_escape(adrt_prints_json* json, char* to) {
  static const char kNames[] = "\"\\/bfnrt", kMeant[] = "\"\\/\b\f\n\r\t";
  char c = *json->at;
  const char* name = c ? strchr(kNames, c) : NULL;
  if (name) {
    ++json->at;
    *to++ = kMeant[name - kNames];
    return to;
  }
  adrt_prints_want(json, 'u');
  uint32_t code = adrt_prints_hex(json);
  if (code >= 0xD800 && code < 0xDC00) { /* the first half of a pair */
    adrt_prints_want(json, '\\');
    adrt_prints_want(json, 'u');
    code = 0x10000 + ((code - 0xD800) << 10) + ((adrt_prints_hex(json) - 0xDC00) & 0x3FF);
  }
  if (code == 0) json->bad = 1;
  if (json->bad) return to;
  if (code < 0x80) {
    *to++ = (char)code;
    return to;
  }
  if (code < 0x800) {
    *to++ = (char)(0xC0 | code >> 6);
  } else {
    if (code < 0x10000) {
      *to++ = (char)(0xE0 | code >> 12);
    } else {
      *to++ = (char)(0xF0 | code >> 18);
      *to++ = (char)(0x80 | (code >> 12 & 0x3F));
    }
    *to++ = (char)(0x80 | (code >> 6 & 0x3F));
  }
  *to++ = (char)(0x80 | (code & 0x3F));
  return to;
}

/* A string, which is ended by 0 in place; "" where there is none. */
static inline const char* adrt_prints_string(adrt_prints_json* json) {
  adrt_prints_want(json, '"');
  char *text = json->at, *to = text;
  while (!json->bad && *json->at != '"') {
    if (*json->at == 0) {
      json->bad = 1;
    } else if (*json->at == '\\') {
      ++json->at;
      to = adrt_prints_escape(json, to);
    } else {
      *to++ = *json->at++;
    }
  }
  if (json->bad) return "";
  ++json->at;
  *to = 0;
  return text;
}

/* After an element: whether another one follows. Else the list or object has ended with `close`. */
static inline int adrt_prints_more(adrt_prints_json* json, char close) {
  if (adrt_prints_take(json, ',')) return 1;
  adrt_prints_want(json, close);
  return 0;
}

/* A list of names of types, one byte each in the place of the text. */
static inline const uint8_t* adrt_prints_types(adrt_prints_json* json, uint32_t* count) {
  uint8_t *types = (uint8_t*)json->at, *to = types;
  adrt_prints_want(json, '[');
  if (!adrt_prints_take(json, ']')) {
    do {
      const char* name = adrt_prints_string(json);
      uint32_t type = ADRT_TYPE_I1;
      while (type <= ADRT_TYPE_F64 && strcmp(name, adrt_type_name(type)) != 0) ++type;
      if (type > ADRT_TYPE_F64) json->bad = 1;
      if (!json->bad) *to++ = (uint8_t)type;
    } while (adrt_prints_more(json, ']'));
  }
  *count = (uint32_t)(to - types);
  return types;
}

static inline uint32_t adrt_prints_number(adrt_prints_json* json) {
  uint64_t number = 0;
  char* begin = json->at;
  while (*json->at >= '0' && *json->at <= '9' && number <= UINT32_MAX)
    number = number * 10 + (uint64_t)(*json->at++ - '0');
  if (json->at == begin || number > UINT32_MAX) json->bad = 1;
  return (uint32_t)number;
}

static inline const char* adrt_prints_key(adrt_prints_json* json) {
  const char* key = adrt_prints_string(json);
  adrt_prints_want(json, ':');
  return key;
}

/* A value, of a key that a later version of the format adds. */
static inline void adrt_prints_skip(adrt_prints_json* json) {
  for (uint32_t depth = 0; !json->bad; ++json->at) {
    char c = *json->at;
    int closes = c == ']' || c == '}';
    if (depth == 0 && (closes || c == ',')) return;
    depth = depth + (c == '[' || c == '{') - (uint32_t)closes;
    if (c == '"') {
      adrt_prints_string(json);
      --json->at;
    }
    if (c == 0) json->bad = 1;
  }
}

static inline adrt_print_statement adrt_prints_statement(adrt_prints_json* json) {
  adrt_print_statement one;
  memset(&one, 0, sizeof one);
  adrt_prints_want(json, '{');
  do {
    const char* key = adrt_prints_key(json);
    if (strcmp(key, "indices") == 0) {
      one.indices = adrt_prints_types(json, &one.index_count);
    } else if (strcmp(key, "part") == 0) {
      one.part = adrt_prints_number(json);
    } else if (strcmp(key, "text") == 0) {
      one.text = adrt_prints_string(json);
    } else if (strcmp(key, "values") == 0) {
      one.values = adrt_prints_types(json, &one.value_count);
    } else {
      adrt_prints_skip(json);
    }
  } while (adrt_prints_more(json, '}'));
  if (!one.indices || !one.text || !one.values) json->bad = 1;
  return one;
}

static inline adrt_status adrt_prints_statements(adrt_prints_json* json, adrt_prints* prints) {
  uint32_t capacity = 0; /* the array of the last kernel is used again */
  adrt_prints_want(json, '[');
  if (adrt_prints_take(json, ']')) return ADRT_OK;
  do {
    if (prints->statement_count == capacity) {
      capacity = capacity ? capacity * 2 : 16;
      void* memory = ADRT_PRINTS_REALLOC(prints->statements, capacity * sizeof *prints->statements);
      if (!memory) return ADRT_ERROR_OUT_OF_HOST_MEMORY;
      prints->statements = (adrt_print_statement*)memory;
    }
    prints->statements[prints->statement_count] = adrt_prints_statement(json);
    prints->statement_count += !json->bad;
  } while (adrt_prints_more(json, ']'));
  return ADRT_OK;
}

static inline void adrt_prints_close(adrt_prints* prints) {
  ADRT_PRINTS_FREE(prints->statements);
  ADRT_PRINTS_FREE(prints->json);
  memset(prints, 0, sizeof *prints);
}

/* The content of the section PRNT; one without bytes where the bundle has none. */
static inline adrt_status adrt_prints_section(const adrt_bundle* bundle, adrt_prints* prints, size_t* size) {
  adrt_section_report section;
  memset(&section, 0, sizeof section);
  section.struct_size = sizeof section;
  for (uint32_t index = 0; adrt_bundle_section(bundle, index, &section, NULL) == ADRT_OK; ++index) {
    if (strcmp(section.kind, "PRNT") != 0) continue;
    prints->json = (char*)ADRT_PRINTS_REALLOC(NULL, (size_t)section.raw_bytes + 1);
    if (!prints->json) return ADRT_ERROR_OUT_OF_HOST_MEMORY;
    adrt_status status =
        adrt_bundle_section_data(bundle, index, prints->json, (size_t)section.raw_bytes, size, NULL);
    prints->json[status == ADRT_OK ? *size : 0] = 0;
    return status;
  }
  return ADRT_OK;
}

/* The text in front of the first kernel. */
static inline void adrt_prints_begin(adrt_prints_json* json) {
  adrt_prints_want(json, '{');
  if (strcmp(adrt_prints_key(json), "kernels") != 0) json->bad = 1;
  adrt_prints_want(json, '[');
}

/* The next kernel; adrt_prints_more(json, ']') says whether there is another one. */
static inline adrt_status adrt_prints_kernel(adrt_prints_json* json, adrt_prints* prints) {
  adrt_status status = ADRT_OK;
  prints->buffer = prints->kernel = NULL;
  prints->statement_count = 0;
  adrt_prints_want(json, '{');
  do {
    const char* key = adrt_prints_key(json);
    if (strcmp(key, "buffer") == 0) {
      prints->buffer = adrt_prints_string(json);
    } else if (strcmp(key, "kernel") == 0) {
      prints->kernel = adrt_prints_string(json);
    } else if (strcmp(key, "prints") == 0) {
      status = adrt_prints_statements(json, prints);
    } else {
      adrt_prints_skip(json);
    }
  } while (status == ADRT_OK && adrt_prints_more(json, '}'));
  if (!prints->buffer || !prints->kernel) json->bad = 1;
  return status == ADRT_OK && json->bad ? ADRT_ERROR_MALFORMED : status;
}

/* The prints of a kernel. If it prints nothing, `buffer` is null. ADRT_ERROR_MALFORMED: the bundle says it in
 * another way than this header reads. After an error there is nothing to close. */
static inline adrt_status adrt_prints_open(const adrt_bundle* bundle, const char* kernel,
                                           adrt_prints* prints) {
  memset(prints, 0, sizeof *prints);
  int found = 0;
  size_t size = 0;
  adrt_status status = adrt_prints_section(bundle, prints, &size);
  if (size != 0 && status == ADRT_OK) {
    adrt_prints_json json = {prints->json, 0};
    adrt_prints_begin(&json);
    do {
      status = adrt_prints_kernel(&json, prints);
      found = status == ADRT_OK && strcmp(prints->kernel, kernel) == 0;
    } while (!found && status == ADRT_OK && adrt_prints_more(&json, ']'));
    if (status == ADRT_OK && json.bad) status = ADRT_ERROR_MALFORMED;
  }
  if (status != ADRT_OK || !found) adrt_prints_close(prints);
  return status;
}

/* ---- records */

/* Bytes of a buffer that has space for that many bytes of records. */
static inline uint64_t adrt_prints_bytes(uint64_t records) {
  return ADRT_PRINTS_HEAD + (records + 3) / 4 * 4;
}

static inline uint32_t adrt_prints_word(const void* records, uint64_t at) {
  uint32_t word;
  memcpy(&word, (const char*)records + at * sizeof word, sizeof word);
  return word;
}

static inline uint32_t adrt_prints_words_of(uint8_t type) {
  return adrt_type_size(type) == 8 ? 2 : 1;
}

/* The words that follow the number of the statement in its records. */
static inline uint64_t adrt_prints_words(const uint8_t* types, uint32_t count) {
  uint64_t words = 0;
  for (uint32_t n = 0; n < count; ++n) words += adrt_prints_words_of(types[n]);
  return words;
}

/* The bits of a value; integers of fewer than 64 bits with their sign. */
static inline uint64_t adrt_prints_value(uint8_t type, const void* records, uint64_t at) {
  uint64_t bits = adrt_prints_word(records, at);
  switch (type) {
    case ADRT_TYPE_I8:
      return (uint64_t)(int64_t)(int8_t)bits;
    case ADRT_TYPE_I16:
      return (uint64_t)(int64_t)(int16_t)bits;
    case ADRT_TYPE_I32:
      return (uint64_t)(int64_t)(int32_t)bits;
    case ADRT_TYPE_U8:
      return (uint8_t)bits;
    case ADRT_TYPE_U16:
      return (uint16_t)bits;
    default:
      return adrt_prints_words_of(type) == 2 ? bits | (uint64_t)adrt_prints_word(records, at + 1) << 32
                                             : bits;
  }
}

/* Where records are sorted: by part, then by indices, then by place in the buffer. */
static inline int adrt_prints_before(const adrt_prints* prints, const void* records, uint64_t left,
                                     uint64_t right) {
  const adrt_print_statement* a = &prints->statements[adrt_prints_word(records, left) - 1];
  const adrt_print_statement* b = &prints->statements[adrt_prints_word(records, right) - 1];
  if (a->part != b->part) return a->part < b->part;
  uint64_t x = left + 1, y = right + 1;
  for (uint32_t n = 0; n < a->index_count && n < b->index_count; ++n) {
    uint64_t bits = adrt_prints_value(a->indices[n], records, x),
             other = adrt_prints_value(b->indices[n], records, y);
    if (bits != other) return (int64_t)bits < (int64_t)other;
    x += adrt_prints_words_of(a->indices[n]);
    y += adrt_prints_words_of(b->indices[n]);
  }
  return a->index_count != b->index_count ? a->index_count < b->index_count : left < right;
}

/* The heap below `root`, of whose children each is the head of one: the last record comes up. */
static inline void adrt_prints_sink(const adrt_prints* prints, const void* records, uint64_t* list,
                                    uint64_t root, uint64_t count) {
  for (uint64_t child = 2 * root + 1; child < count; child = 2 * root + 1) {
    if (child + 1 < count && adrt_prints_before(prints, records, list[child], list[child + 1])) ++child;
    if (!adrt_prints_before(prints, records, list[root], list[child])) return;
    uint64_t swapped = list[root];
    list[root] = list[child];
    list[root = child] = swapped;
  }
}

static inline void adrt_prints_sort(const adrt_prints* prints, const void* records, uint64_t* list,
                                    uint64_t count) {
  for (uint64_t root = count / 2; root-- > 0;) adrt_prints_sink(prints, records, list, root, count);
  for (uint64_t last = count; last-- > 1;) {
    uint64_t swapped = list[0];
    list[0] = list[last];
    list[last] = swapped;
    adrt_prints_sink(prints, records, list, 0, last);
  }
}

/* ---- numbers, as the text of kernels has them */

/* Whether digits in the form "1.25e+01" read back to the value. */
static inline int adrt_prints_reads(const char* text, double value, int is_float) {
  return is_float ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value;
}

/* Adds one to the last digit of such a text; a carry that would make it longer is left out, as 1.0 has fewer
 * digits. */
static inline void adrt_prints_next(char* text) {
  char* at = strchr(text, 'e');
  while (at-- > text) {
    if (*at < '0' || *at > '9') continue;
    if (*at != '9') {
      ++*at;
      return;
    }
    *at = '0';
  }
}

/* The shortest digits that read back, in that form. The digits nearest to the value are they, but that above
 * a power of two there is more space than below, so that those next to them may be. */
static inline void adrt_prints_digits(double value, int is_float, char text[40]) {
  for (int digits = 0; digits < 17; ++digits) {
    snprintf(text, 40, "%.*e", digits, value);
    if (adrt_prints_reads(text, value, is_float)) return;
    adrt_prints_next(text);
    if (adrt_prints_reads(text, value, is_float)) return;
  }
  snprintf(text, 40, "%.17e", value);
}

static inline size_t adrt_prints_float(double value, int is_float, char out[40]) {
  char shortest[40], digits[24];
  if (value != value) return (size_t)snprintf(out, 40, "nan");
  if (value - value != 0) return (size_t)snprintf(out, 40, value < 0 ? "-inf" : "inf");
  const char* sign = value < 0 || (value == 0 && 1 / value < 0) ? "-" : "";
  if (*sign) value = -value;
  adrt_prints_digits(value, is_float, shortest);
  int count = 0, exponent = 0;
  const char* at = shortest;
  for (; *at != 'e'; ++at) {
    if (*at >= '0' && *at <= '9') digits[count++] = *at;
  }
  exponent = atoi(at + 1);
  while (count > 1 && digits[count - 1] == '0') --count;
  digits[count] = 0;
  int scientific =
      count + (count > 1) + 4; /* e+20; where an exponent is longer it is this form in any case */
  int fixed = exponent < 0 ? count + 1 - exponent : exponent + 1 >= count ? exponent + 1 : count + 1;
  if (fixed > scientific) {
    return (size_t)snprintf(out, 40, "%s%c%s%se%d", sign, digits[0], count > 1 ? "." : "", digits + 1,
                            exponent);
  }
  if (exponent < 0)
    return (size_t)snprintf(out, 40, "%s0.%.*s%s", sign, -exponent - 1, "00000000000000000000", digits);
  if (exponent + 1 >= count) return (size_t)snprintf(out, 40, "%s%.0f.0", sign, value);
  return (size_t)snprintf(out, 40, "%s%.*s.%s", sign, exponent + 1, digits, digits + exponent + 1);
}

/* A value of the type, from its bits, as adc prints it: the shortest text that reads back. Its length. */
static inline size_t adrt_prints_text(uint8_t type, uint64_t bits, char out[40]) {
  if (type == ADRT_TYPE_I1) return (size_t)snprintf(out, 40, bits != 0 ? "true" : "false");
  if (type == ADRT_TYPE_F64) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return adrt_prints_float(value, 0, out);
  }
  if (type == ADRT_TYPE_F32 || type == ADRT_TYPE_F16) { /* an f16 is recorded as an f32 */
    uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return adrt_prints_float(value, 1, out);
  }
  if (type >= ADRT_TYPE_U8) return (size_t)snprintf(out, 40, "%llu", (unsigned long long)bits);
  return (size_t)snprintf(out, 40, "%lld", (long long)(int64_t)bits);
}

/* ---- lines */

/* The most bytes of a line of the statement. */
static inline size_t adrt_prints_line_bytes(const adrt_print_statement* statement) {
  return strlen(statement->text) + (size_t)statement->value_count * 40 + 1;
}

/* The record at a word, as a line. Its length. */
static inline size_t adrt_prints_line(const adrt_print_statement* statement, const void* records, uint64_t at,
                                      char* line) {
  at += 1 + adrt_prints_words(statement->indices, statement->index_count);
  const char* rest = statement->text;
  char* to = line;
  for (uint32_t n = 0; n < statement->value_count; ++n) {
    const char* hole = strstr(rest, "{}");
    if (!hole) break;
    memcpy(to, rest, (size_t)(hole - rest));
    to += hole - rest;
    rest = hole + 2;
    char number[40];
    size_t size =
        adrt_prints_text(statement->values[n], adrt_prints_value(statement->values[n], records, at), number);
    memcpy(to, number, size);
    to += size;
    at += adrt_prints_words_of(statement->values[n]);
  }
  size_t size = strlen(rest);
  memcpy(to, rest, size + 1);
  return (size_t)(to - line) + size;
}

/* The places of the records in a buffer of `words` words, and the most bytes of a line; null `list`: they are
 * counted. */
static inline uint64_t adrt_prints_find(const adrt_prints* prints, const void* records, uint64_t words,
                                        uint64_t* list, size_t* line_bytes) {
  uint64_t count = 0, end = (uint64_t)adrt_prints_word(records, 0) + ADRT_PRINTS_HEAD / 4;
  if (end > words) end = words;
  for (uint64_t at = ADRT_PRINTS_HEAD / 4; at < end; ++count) {
    uint32_t number = adrt_prints_word(records, at);
    if (number == 0 || number > prints->statement_count) break;
    const adrt_print_statement* statement = &prints->statements[number - 1];
    uint64_t size = 1 + adrt_prints_words(statement->indices, statement->index_count) +
                    adrt_prints_words(statement->values, statement->value_count);
    if (size > end - at) break;
    if (list) list[count] = at;
    if (adrt_prints_line_bytes(statement) > *line_bytes) *line_bytes = adrt_prints_line_bytes(statement);
    at += size;
  }
  return count;
}

/* Calls `show` for each line that a launch has recorded in `bytes` bytes. */
static inline adrt_status adrt_prints_show(const adrt_prints* prints, const void* records, uint64_t bytes,
                                           adrt_print_fn show, void* user, adrt_prints_seen* seen) {
  seen->shown = seen->all = 0;
  if (bytes / 4 <= ADRT_PRINTS_HEAD / 4) return ADRT_OK;
  size_t line_bytes = 1;
  uint64_t count = adrt_prints_find(prints, records, bytes / 4, NULL, &line_bytes);
  uint64_t* list = (uint64_t*)ADRT_PRINTS_REALLOC(NULL, (size_t)(count + 1) * sizeof *list);
  char* line = (char*)ADRT_PRINTS_REALLOC(NULL, line_bytes);
  if (list && line) {
    seen->shown = adrt_prints_find(prints, records, bytes / 4, list, &line_bytes);
    seen->all = seen->shown + adrt_prints_word(records, 1) + ((uint64_t)adrt_prints_word(records, 2) << 32);
    adrt_prints_sort(prints, records, list, count);
    for (uint64_t n = 0; n < count; ++n) {
      const adrt_print_statement* statement = &prints->statements[adrt_prints_word(records, list[n]) - 1];
      show(user, line, adrt_prints_line(statement, records, list[n], line));
    }
  }
  adrt_status status = list && line ? ADRT_OK : ADRT_ERROR_OUT_OF_HOST_MEMORY;
  ADRT_PRINTS_FREE(list);
  ADRT_PRINTS_FREE(line);
  return status;
}

#endif
