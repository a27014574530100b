/* layout.c - a lawn's memory, and an allocator that fails: src/core/lawn.c.
 *
 * @flags -DNDEBUG --unwind 13
 * @sources src/core/tips.c src/core/blades.c src/core/habits.c
 *
 * @proof layout_fits
 * @covers lawn_layout lawn_size
 * For all options: the parts of a lawn stand one behind the other in the block
 * that lawn_size() tells, each at an address that fits its type, and each large
 * enough for all blades and slots; wherever the block begins.
 *
 * @proof layout_fails
 * @covers lawn_new lawn_free
 * @unreached lawn_new: alloc = lawn_malloc; release = lawn_mfree; lawn = lawn_place(memory, size, options); lawn->release = release; lawn->context = context; lawn->memory = memory; return lawn; -- of
 *     an allocator that gives memory tests/oom and all other tests know
 * @unreached lawn_free: lawn->release(lawn->memory, lawn->context); if (lawn->release != NULL && lawn->mowing == NULL) { } -- likewise
 * For all options, and an allocator that fails: NULL, asked once for the right
 * size, and nothing is given back. To free no lawn does nothing.
 */
#include "proof.h"

#include <lawn.c>

static unsigned proof_asked;
static size_t proof_size;
static unsigned proof_given;

void
layout_fits(void)
{
    struct lawn_options options;
    struct lawn_layout at;
    size_t size;
    size_t slots;
    bool none = nondet_bool();
    uint64_t where = nondet_u64() % LAWN_LINE;

    options.blades = nondet_size();
    options.slot_bits = nondet_u32();
    at = lawn_layout(none ? NULL : &options);
    size = lawn_size(none ? NULL : &options);
    slots = lawn_tips_slots(at.bits);
    PROVE(at.blades >= sizeof(struct lawn) && at.blades % LAWN_LINE == 0,
          "blades: behind the lawn, at a cache line");
    PROVE(at.lone >= at.blades + at.count * sizeof(struct lawn_blade) &&
              at.lone % 8 == 0,
          "lone lists: behind the blades");
    PROVE(at.occupied >= at.lone + slots * lawn_tips_lists(at.bits) *
                                       sizeof(struct lawn_link) &&
              at.occupied % 8 == 0,
          "bits: behind the lone lists");
    PROVE(at.first >= at.occupied + lawn_tips_words(at.bits) * 8 &&
              at.first % 2 == 0,
          "first tips: behind the bits");
    PROVE(at.tip >= at.first + slots * 2 && at.tip % 2 == 0,
          "tips: behind the first tips");
    PROVE(at.end >= at.tip + at.count * sizeof(struct lawn_tip), "the end");
    PROVE(((LAWN_LINE - where) % LAWN_LINE) + at.end <= size,
          "[P7] within the block, wherever it begins");
    PROVE(size <= 2u << 20, "[P8] two megabytes at most");
    PROOF_END();
}

static void *
proof_alloc(size_t size, void *context)
{
    (void)context;
    proof_asked++;
    proof_size = size;
    return NULL;
}

static void
proof_release(void *memory, void *context)
{
    (void)memory;
    (void)context;
    proof_given++;
}

void
layout_fails(void)
{
    struct lawn_options options;

    options.blades = nondet_size();
    options.slot_bits = nondet_u32();
    options.resolution = nondet_u64();
    options.now = nondet_u64();
    options.alloc = proof_alloc;
    options.release = proof_release;
    options.context = NULL;
    PROVE(lawn_new(&options) == NULL, "[P7] no lawn");
    PROVE(proof_asked == 1 && proof_size == lawn_size(&options),
          "[P7] asked once, for the size");
    lawn_free(NULL);
    PROVE(proof_given == 0, "[P7] nothing is given back");
    PROOF_END();
}
