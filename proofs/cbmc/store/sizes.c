/* sizes.c - the arithmetic of slots, slabs and growing arrays, for all values.
 *
 * @flags --unwind 4
 * @covers find_size lawn__store_slots_room header_size
 *     slots_per_slab lawn__store_slots_group lawn__store_pointers_piece
 *     lawn__store_pointers_size lawn__store_pointers_at
 *     lawn__store_pointers_pieces lawn__store_pointers_bytes
 *     lawn__store_pointers_add lawn__store_pointers_drop
 *     lawn__store_pointers_drop_piece
 *
 * @proof sizes_of_slots
 * @proof sizes_of_slabs
 * @flags --unwindset sizes_of_slabs.0:82,slots_per_slab.0:160
 * @proof sizes_of_heads
 * @proof sizes_of_groups
 * @proof pointers_index
 * @proof pointers_add
 * @proof pointers_drop
 * @proof pointers_drop_piece */
#include "proof.h"

#include "../../../src/store/slots.c"

/* Memory, which may fail. */
static uintptr_t word;
static void *given;
static size_t taken, given_size;
static bool took;

void *
lawn__store_memory_take(struct lawn_store_memory *memory, size_t size)
{
    (void)memory;
    took = true;
    taken = size;
    return nondet_bool() ? malloc(size) : NULL;
}

void
lawn__store_memory_give(struct lawn_store_memory *memory, void *block,
                        size_t size)
{
    (void)memory;
    given = block;
    given_size = size;
}

size_t
lawn__store_memory_cost(const struct lawn_store_memory *memory, size_t size)
{
    (void)memory;
    return size;
}

void
sizes_of_slots(void)
{
    size_t bytes = nondet_size();
    size_t others = nondet_size();
    uint32_t slot, slot_of_others;
    unsigned index, index_of_others;

    /* Payloads are below 2^29, ids below 2^16. */
    ASSUME(bytes > 0 && bytes <= (size_t)1 << 30);
    ASSUME(others > 0 && others <= (size_t)1 << 30);
    index = find_size(bytes, &slot);
    index_of_others = find_size(others, &slot_of_others);
    PROVE(index < LAWN_STORE_SLOTS_SIZES, "there is such a size");
    PROVE(slot >= bytes && slot % 8 == 0, "the requested bytes fit");
    PROVE(slot - bytes < 8 || slot - bytes <= bytes / 8,
          "less than 8 bytes are wasted, or at most an eighth");
    PROVE((index == 0) == (bytes > LAWN_STORE_SLOTS_MAX),
          "a large block has its own slab");
    PROVE(index != index_of_others || index == 0 || slot == slot_of_others,
          "slots of one index have one size");
    PROVE(bytes > others || bytes > LAWN_STORE_SLOTS_MAX ||
              others > LAWN_STORE_SLOTS_MAX || index <= index_of_others,
          "sizes are in order");
    PROVE(lawn__store_slots_room(bytes) == slot, "and that is returned");
    PROVE(lawn__store_slots_room(slot) == slot, "a slot has its own size");
    PROOF_END();
}

/* For each of the 80 sizes, and one above: the maximum number of slots of a
 * slab. sizes_of_heads() proves that fewer slots take less. */
void
sizes_of_slabs(void)
{
    size_t bytes = 0;
    uint32_t slot;

    for (unsigned index = 1; index < LAWN_STORE_SLOTS_SIZES; index++) {
        PROVE(find_size(bytes + 1, &slot) == index, "sizes follow each other");
        bytes = slot;
        uint64_t most = slots_per_slab(slot);
        size_t head = header_size((uint32_t)most, slot);
        uint64_t inverse = (UINT64_C(1) << 32) / slot + 1;
        uint64_t more = inverse * slot - (UINT64_C(1) << 32);

        PROVE(most >= 1, "a slab has a slot");
        PROVE(head + (size_t)most * slot <=
                  LAWN_STORE_BLOCK - LAWN_STORE_SLOTS_COLORS,
              "a slab fits into its block, wherever it begins");
        PROVE((head + (size_t)most * slot) / 8 <= UINT16_MAX,
              "a place has 16 bits");
        /* number * slot * inverse == number * 2^32 + number * more. */
        PROVE(inverse <= UINT32_MAX && more <= slot && most * more >> 32 == 0,
              "an offset leads back to the number of its slot");
    }
    PROVE(bytes == LAWN_STORE_SLOTS_MAX, "there are no other sizes");
    PROVE(slots_per_slab(LAWN_STORE_SLOTS_MAX + 8) == 1,
          "a larger block has its own slab");
    PROOF_END();
}

void
sizes_of_heads(void)
{
    uint32_t slot = nondet_u32();
    uint32_t many = nondet_u32();
    uint32_t most = nondet_u32();
    size_t head;

    ASSUME(slot >= 8 && slot % 8 == 0 && slot <= 1u << 30);
    ASSUME(many >= 1 && many <= most && most <= LAWN_STORE_BLOCK / 8);
    head = header_size(many, slot);
    PROVE(head >=
              offsetof(struct lawn_store_slab, taken) + (many + 63) / 64 * 8,
          "the bits do not overlap the slots");
    PROVE(head % 8 == 0 && (slot % 64 != 0 || head % 64 == 0),
          "slots are aligned");
    PROVE(head <= header_size(most, slot), "fewer slots take less");
    PROOF_END();
}

void
sizes_of_groups(void)
{
    uint64_t ttl = nondet_u64();
    uint64_t longer = nondet_u64();
    unsigned group = lawn__store_slots_group(ttl);

    ASSUME(longer >= ttl);
    PROVE(group < 16 && LAWN_STORE_GROUP_RECORDS + group < LAWN_STORE_GROUPS,
          "there is such a group");
    PROVE(lawn__store_slots_group(longer) >= group, "groups are in order");
    PROVE(lawn__store_slots_group(longer) != group || longer / 16 <= ttl,
          "within a group TTLs are within a factor of 16");
    PROOF_END();
}

/* The last index that the pieces have room for. */
#define LAST ((UINT64_C(1) << (LAWN_STORE_POINTERS_PIECES + 4)) - 17)

void
pointers_index(void)
{
    uint64_t index = nondet_u64();
    uint64_t other = nondet_u64();
    unsigned piece;
    uint64_t within, first;

    ASSUME(index <= LAST && other <= LAST);
    piece = lawn__store_pointers_piece(index);
    first = lawn__store_pointers_size(piece) - lawn__store_pointers_size(0);
    within = (index + lawn__store_pointers_size(0)) ^
             lawn__store_pointers_size(piece);
    PROVE(piece < LAWN_STORE_POINTERS_PIECES, "there is such a piece");
    PROVE(within < lawn__store_pointers_size(piece), "and it is as large");
    PROVE(index == first + within, "each element has its own place");
    PROVE(other < index || lawn__store_pointers_piece(other) >= piece,
          "pieces are in order");
    PROOF_END();
}

/* An array of any length; the given piece is allocated if `there` is true. */
static struct lawn_store_pointers
any_pointers(uint64_t count, unsigned piece, bool there)
{
    struct lawn_store_pointers pointers = {0};

    pointers.count = count;
    if (there) {
        pointers.piece[piece] = malloc(lawn__store_pointers_bytes(piece));
        ASSUME(pointers.piece[piece] != NULL);
    }
    return pointers;
}

/* Lengths up to 2^12: the limit of CBMC for an array of arbitrary size. */
#define LONG 4096

void
pointers_add(void)
{
    uint64_t count = nondet_u64();
    ASSUME(count <= LONG);
    unsigned piece = lawn__store_pointers_piece(count);
    bool there = count > 0 && lawn__store_pointers_piece(count - 1) == piece;
    struct lawn_store_pointers pointers = any_pointers(count, piece, there);
    uintptr_t value = nondet_size();
    bool done = lawn__store_pointers_add(&pointers, NULL, value);

    PROVE(took == !there, "memory is allocated for a new piece only");
    PROVE(!took || taken == lawn__store_pointers_size(piece) * sizeof(word),
          "and as much as it needs");
    if (done) {
        PROVE(pointers.count == count + 1 &&
                  *lawn__store_pointers_at(&pointers, count) == value,
              "the element is there");
    } else {
        PROVE(pointers.count == count && took,
              "a failure changes nothing [S2]");
    }
    PROOF_END();
}

void
pointers_drop(void)
{
    uint64_t count = nondet_u64();
    ASSUME(count >= 1 && count <= LONG);
    unsigned piece = lawn__store_pointers_piece(count - 1);
    struct lawn_store_pointers pointers = any_pointers(count, piece, true);
    bool first = count == 1 || lawn__store_pointers_piece(count - 2) != piece;

    lawn__store_pointers_drop(&pointers, NULL);
    PROVE(pointers.count == count - 1, "one is gone");
    PROVE(first ? given == pointers.piece[piece] &&
                      given_size == lawn__store_pointers_bytes(piece)
                : given == NULL,
          "a piece is freed with its first element, and not before");
    PROOF_END();
}

void
pointers_drop_piece(void)
{
    uint64_t count = nondet_u64();
    ASSUME(count >= 1 && count <= LAST);
    unsigned piece = lawn__store_pointers_piece(count - 1);
    struct lawn_store_pointers pointers = any_pointers(count, piece, false);

    pointers.piece[piece] = &word;
    lawn__store_pointers_drop_piece(&pointers, NULL);
    PROVE(given == &word && given_size == lawn__store_pointers_bytes(piece),
          "the last piece is freed");
    PROVE(lawn__store_pointers_pieces(&pointers) == piece,
          "and all others remain");
    PROVE(pointers.count ==
              lawn__store_pointers_size(piece) - lawn__store_pointers_size(0),
          "with all their elements");
    PROOF_END();
}
