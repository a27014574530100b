/* layout.c - a lawn's memory, and an allocator that fails: src/core/lawn.c.
 *
 * @flags -DNDEBUG --unwind 13
 * @sources src/core/index.c src/core/blades.c src/core/tuning.c
 *     src/core/class_heap.c
 *
 * @proof layout_fits
 * @covers compute_layout lawn_size
 * For all options, with 0, 7 or the most classes: the parts of a lawn follow
 * each other in the block whose size lawn_size() returns. Each part is aligned
 * for its type and large enough for all classes, blades and slots, wherever the
 * block begins.
 *
 * @proof layout_fails
 * @covers lawn_new lawn_free
 * @unreached lawn_new: $alloc = $malloc; $release = $mfree; -- an allocator that
 *     succeeds is left to tests/oom and all other tests
 * @unreached lawn_new: $lawn = $place($memory, $size, $options); -- the same
 * @unreached lawn_new: $lawn->release = $release; $lawn->context = $context;
 *     $lawn->memory = $memory; return $lawn; -- the same
 * @unreached lawn_free: if ($lawn->release != NULL && $lawn->mowing == NULL) {
 *     $lawn->release($lawn->memory, $lawn->context); } -- the same
 * For all options, with an allocator that fails: lawn_new() returns NULL, calls
 * the allocator once with the right size, and releases nothing. lawn_free(NULL)
 * does nothing.
 */
#include "proof.h"

#include <lawn.c>

static unsigned proof_asked;
static size_t proof_size;
static unsigned proof_given;

/* Not all numbers, because the products would take hours. */
static size_t
proof_classes(void)
{
    return nondet_bool() ? 0 : nondet_bool() ? 7 : SIZE_MAX;
}

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
    options.classes = proof_classes();
    at = compute_layout(none ? NULL : &options);
    size = lawn_size(none ? NULL : &options);
    slots = lawn__index_count_slots(at.bits);
    PROVE(at.classes >= sizeof(struct lawn) && at.classes % LAWN_LINE == 0,
          "classes: behind the lawn, at a cache line");
    PROVE(at.max_classes <= LAWN_CLASS_MAX &&
              (none || at.max_classes == options.classes ||
               options.classes > LAWN_CLASS_MAX),
          "as many classes as in the options");
    PROVE(at.blades >=
                  at.classes + at.max_classes * sizeof(struct lawn_class) &&
              at.blades % LAWN_LINE == 0,
          "blades: behind the classes, at a cache line");
    PROVE(at.unqueued >= at.blades + at.count * sizeof(struct lawn_blade) &&
              at.unqueued % 8 == 0,
          "unqueued lists: behind the blades");
    PROVE(at.occupied >= at.unqueued + slots *
                                           lawn__index_count_lists(at.bits) *
                                           sizeof(struct lawn_link) &&
              at.occupied % 8 == 0,
          "bits: behind the unqueued lists");
    PROVE(at.heap >= at.occupied + lawn__index_count_words(at.bits) * 8 &&
              at.heap % 8 == 0,
          "heap: behind the bits");
    PROVE(at.first >= at.heap + at.max_classes * sizeof(struct lawn_class *) &&
              at.first % 2 == 0,
          "first entries: behind the heap");
    PROVE(at.entry >= at.first + slots * 2 && at.entry % 2 == 0,
          "entries: behind the first entries");
    PROVE(at.end >= at.entry + at.count * sizeof(struct lawn_index_entry),
          "the end");
    PROVE(((LAWN_LINE - where) % LAWN_LINE) + at.end <= size,
          "[P7] within the block, wherever it begins");
    PROVE(size <= (2u << 20) + at.max_classes * 200,
          "[P8] two megabytes and the classes at most");
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
    options.classes = proof_classes();
    options.resolution = nondet_u64();
    options.now = nondet_u64();
    options.alloc = proof_alloc;
    options.release = proof_release;
    options.context = NULL;
    PROVE(lawn_new(&options) == NULL, "[P7] no lawn");
    PROVE(proof_asked == 1 && proof_size == lawn_size(&options),
          "[P7] one request, of the right size");
    lawn_free(NULL);
    PROVE(proof_given == 0, "[P7] nothing is given back");
    PROOF_END();
}
