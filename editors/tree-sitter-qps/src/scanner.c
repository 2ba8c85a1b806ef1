// What tree-sitter's own tokens cannot read: words that are words of the language only where
// something follows (patterns.h has what), ends of statements, and names of several words.
#include "patterns.h"
#include "tree_sitter/parser.h"
#include <string.h>
#include <wctype.h>

enum { END_OF_STATEMENT, CONTINUATION, TOLD_BEGIN, TOLD_REST, PLUS_MINUS, FIRST_WORD };
enum { CHAR, SET, SPLIT, JUMP, LOOK, BOUNDARY, END, MATCH };

#define WORDS (sizeof LOOKING / sizeof *LOOKING)
#define MOST 1000       // characters that are looked ahead at
#define STEPS 20000     // of a program: a text of hostile length is given up
#define DEPTH 1000

// The text from where the scanner started, read as far as programs have looked.
typedef struct {
  TSLexer *lexer;
  int32_t text[MOST];
  unsigned length;
  unsigned steps;
  bool at_end;
} Ahead;

typedef struct {
  uint16_t told;    // how much of a name of several words is still to come
  uint32_t settled; // how many ends of lines end nothing: one before them did, or none does
} State;

static bool is_word(int32_t c) { return c == '_' || iswalnum((wint_t)c); }

static int32_t at(Ahead *ahead, unsigned place) {
  while (ahead->length <= place && ahead->length < MOST && !ahead->at_end) {
    if (ahead->lexer->eof(ahead->lexer)) {
      ahead->at_end = true;
      break;
    }
    ahead->text[ahead->length++] = ahead->lexer->lookahead;
    ahead->lexer->advance(ahead->lexer, false);
  }
  return place < ahead->length ? ahead->text[place] : 0;
}

static bool in_class(int32_t kind, int32_t c) {
  switch (kind) {
    case -1: return is_word(c);
    case -2: return iswdigit((wint_t)c);
    case -3: return iswspace((wint_t)c);
    default: return !in_class(kind + 10, c);
  }
}

static bool in_set(const int32_t *set, int32_t c) {
  bool found = false;
  for (int i = 0; i < set[1] && !found; i++) {
    int32_t low = set[2 + 2 * i], high = set[3 + 2 * i];
    found = low < 0 ? in_class(low, c) : low <= c && c <= high;
  }
  return found != (bool)set[0];
}

// Return where a program's match ends, -1 where it does not match.
static int run(Ahead *ahead, const int32_t *program, int pc, unsigned place, unsigned depth) {
  for (;;) {
    if (++ahead->steps > STEPS || depth > DEPTH) return -1;
    const int32_t *here = program + pc;
    switch (here[0]) {
      case CHAR: {
        if (at(ahead, place) != here[1] || place >= ahead->length) return -1;
        place++;
        pc += 2;
        break;
      }
      case SET: {
        int32_t c = at(ahead, place);
        if (place >= ahead->length || !in_set(here + 1, c)) return -1;
        place++;
        pc += 3 + 2 * here[2];
        break;
      }
      case SPLIT: {
        int end = run(ahead, program, here[1], place, depth + 1);
        if (end >= 0) return end;
        pc = here[2];
        break;
      }
      case JUMP:
        pc = here[1];
        break;
      case LOOK: {
        bool found = run(ahead, program, pc + 3, place, depth + 1) >= 0;
        if (found == (bool)here[1]) return -1;
        pc = here[2];
        break;
      }
      case BOUNDARY: {
        bool after = is_word(at(ahead, place));
        if (after == (place > 0 && is_word(ahead->text[place - 1]))) return -1;
        pc++;
        break;
      }
      case END:
        at(ahead, place);
        if (place < ahead->length || !ahead->at_end) return -1;
        pc++;
        break;
      default:
        return (int)place;
    }
  }
}

void *tree_sitter_qps_external_scanner_create(void) { return calloc(1, sizeof(State)); }

void tree_sitter_qps_external_scanner_destroy(void *payload) { free(payload); }

unsigned tree_sitter_qps_external_scanner_serialize(void *payload, char *buffer) {
  memcpy(buffer, payload, sizeof(State));
  return sizeof(State);
}

void tree_sitter_qps_external_scanner_deserialize(void *payload, const char *buffer, unsigned length) {
  memset(payload, 0, sizeof(State));
  if (length == sizeof(State)) memcpy(payload, buffer, length);
}

static bool done(TSLexer *lexer, int symbol) {
  lexer->result_symbol = (TSSymbol)symbol;
  return true;
}

// The end of a line or `;`: of a statement, unless the grammar goes on or the next line does. What
// is found holds for the ends of empty lines and comments up to there, too: none is looked at twice.
static bool end_of_line(State *state, TSLexer *lexer, const bool *valid) {
  bool semicolon = lexer->lookahead == ';';
  lexer->advance(lexer, false);
  lexer->mark_end(lexer);
  if (state->settled) {
    state->settled--;
    return done(lexer, CONTINUATION);
  }
  uint32_t ends = 0;
  for (;; lexer->advance(lexer, false)) {
    if (lexer->lookahead == '#')
      while (!lexer->eof(lexer) && lexer->lookahead != '\n') lexer->advance(lexer, false);
    if (lexer->eof(lexer) || !(lexer->lookahead == ';' || iswspace((wint_t)lexer->lookahead))) break;
    semicolon |= lexer->lookahead == ';';
    ends += lexer->lookahead == ';' || lexer->lookahead == '\n';
  }
  state->settled = ends;
  bool goes_on = lexer->eof(lexer) || lexer->lookahead == '}';
  if (!goes_on && !semicolon) {
    Ahead ahead = {.lexer = lexer};
    goes_on = run(&ahead, CONTINUED, 0, 0, 0) >= 0;
  }
  return done(lexer, valid[END_OF_STATEMENT] && !goes_on ? END_OF_STATEMENT : CONTINUATION);
}

static bool word(State *state, TSLexer *lexer, const bool *valid) {
  Ahead ahead = {.lexer = lexer};
  unsigned length = 0;
  while (is_word(at(&ahead, length))) {
    length++;
    if (length >= MOST) return false;
    // What is read is one character past the word only once that is looked at.
    if (!is_word(lexer->lookahead)) break;
  }
  lexer->mark_end(lexer);
  for (unsigned i = 0; i < WORDS; i++) {
    const char *known = LOOKING[i].word;
    if (!valid[FIRST_WORD + i] || strlen(known) != length) continue;
    bool same = true;
    for (unsigned k = 0; k < length && same; k++) same = ahead.text[k] == known[k];
    ahead.steps = 0;
    if (same && run(&ahead, LOOKING[i].ahead, 0, length, 0) >= 0) return done(lexer, FIRST_WORD + i);
  }
  if (!valid[TOLD_BEGIN]) return false;
  ahead.steps = 0;
  int end = run(&ahead, TOLD, 0, 0, 0);
  if (end <= (int)length) return false;
  state->told = (uint16_t)(end - (int)length);
  return done(lexer, TOLD_BEGIN);
}

bool tree_sitter_qps_external_scanner_scan(void *payload, TSLexer *lexer, const bool *valid) {
  State *state = payload;
  if (valid[END_OF_STATEMENT] && valid[TOLD_REST] && valid[TOLD_BEGIN]) {
    state->told = 0; // the parser is looking for a way on: all is valid
  } else if (valid[TOLD_REST] && state->told) {
    for (; state->told && !lexer->eof(lexer); state->told--) lexer->advance(lexer, false);
    state->told = 0;
    lexer->mark_end(lexer);
    return done(lexer, TOLD_REST);
  }
  while (lexer->lookahead == ' ' || lexer->lookahead == '\t' || lexer->lookahead == '\f' || lexer->lookahead == '\r')
    lexer->advance(lexer, true);
  if (lexer->eof(lexer)) return false;
  if (lexer->lookahead == '\n' || lexer->lookahead == ';') return end_of_line(state, lexer, valid);
  if (lexer->lookahead == '+' || lexer->lookahead == 0xb1) {
    bool is_sign = lexer->lookahead == 0xb1;
    lexer->advance(lexer, false);
    if (!is_sign) {
      if (lexer->lookahead != '-') return false;
      lexer->advance(lexer, false);
    }
    lexer->mark_end(lexer);
    return valid[PLUS_MINUS] && (is_sign || iswspace((wint_t)lexer->lookahead)) && done(lexer, PLUS_MINUS);
  }
  if (is_word(lexer->lookahead) && !iswdigit((wint_t)lexer->lookahead)) return word(state, lexer, valid);
  return false;
}
