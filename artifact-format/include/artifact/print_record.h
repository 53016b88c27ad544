#pragma once
/* The buffer in which a kernel records what it prints: the contract between compiled code and the reader.
 * C11.
 *
 * Its words are u32, and its first ADRT_PRINT_RECORDS words are 0 before a launch. A record is the number of
 * a statement, from 1, then the indices of its iteration, then its values, as the section PRNT lists them for
 * this statement. Integers of at most 32 bits and f32 take a word; i1 is 0 or 1, i8 and i16 are extended by
 * their sign, f16 is cast to f32; 64 bits take two words, the low one first. Records lie one after the other,
 * in any order, but those of one iteration in the order in which it prints. They end where as many words are
 * read as are taken or as there are, or with a record that is not whole or whose number is 0. */

enum {
  ADRT_PRINT_TAKEN =
      0, /* word: words that records have taken, without those of the head; may be more than there are */
  ADRT_PRINT_LOST = 1,   /* two words, low first: records that did not fit */
  ADRT_PRINT_RECORDS = 3 /* where records begin */
};
