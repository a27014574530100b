/* hash.h - SipHash-1-3: hashes ids for the table, and computes the checksums of
 * snapshots.
 *
 * The table needs a keyed hash: an attacker must not be able to choose ids that
 * collide. SipHash was designed for that; its short form has been used in hash
 * tables for a decade without a known attack. xxh3 is faster, but its seed is
 * not a key: some pairs of inputs collide for one seed in 1,400
 * (github.com/Cyan4973/xxHash, issue 1127).
 *
 * Results are the same on every machine: words are little-endian.
 */
#ifndef LAWN_STORE_HASH_H
#define LAWN_STORE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct lawn_store_sip {
    uint64_t v0, v1, v2, v3;
};

static inline uint64_t
lawn__store_hash_rotate(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

static inline uint64_t
lawn__store_hash_word(const unsigned char *bytes)
{
    uint64_t word = 0;

    memcpy(&word, bytes, sizeof(word));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

static inline void
lawn__store_hash_round(struct lawn_store_sip *s)
{
    s->v0 += s->v1;
    s->v2 += s->v3;
    s->v1 = lawn__store_hash_rotate(s->v1, 13) ^ s->v0;
    s->v3 = lawn__store_hash_rotate(s->v3, 16) ^ s->v2;
    s->v0 = lawn__store_hash_rotate(s->v0, 32) + s->v3;
    s->v2 += s->v1;
    s->v1 = lawn__store_hash_rotate(s->v1, 17) ^ s->v2;
    s->v3 = lawn__store_hash_rotate(s->v3, 21) ^ s->v0;
    s->v2 = lawn__store_hash_rotate(s->v2, 32);
}

static inline struct lawn_store_sip
lawn__store_hash_begin(const uint64_t key[2])
{
    struct lawn_store_sip s;

    s.v0 = key[0] ^ UINT64_C(0x736f6d6570736575);
    s.v1 = key[1] ^ UINT64_C(0x646f72616e646f6d);
    s.v2 = key[0] ^ UINT64_C(0x6c7967656e657261);
    s.v3 = key[1] ^ UINT64_C(0x7465646279746573);
    return s;
}

static inline void
lawn__store_hash_mix(struct lawn_store_sip *s, uint64_t word)
{
    s->v3 ^= word;
    lawn__store_hash_round(s);
    s->v0 ^= word;
}

/* `last` contains the bytes after the last whole word, and the size in its top
 * byte. */
static inline uint64_t
lawn__store_hash_end(struct lawn_store_sip *s, uint64_t last)
{
    lawn__store_hash_mix(s, last);
    s->v2 ^= 0xff;
    lawn__store_hash_round(s);
    lawn__store_hash_round(s);
    lawn__store_hash_round(s);
    return s->v0 ^ s->v1 ^ s->v2 ^ s->v3;
}

static inline uint64_t
lawn__store_hash(const uint64_t key[2], const void *bytes, size_t size)
{
    const unsigned char *at = (const unsigned char *)bytes;
    struct lawn_store_sip s = lawn__store_hash_begin(key);
    uint64_t last = (uint64_t)size << 56;
    size_t left = 0;

    for (left = size; left >= 8; left -= 8) {
        lawn__store_hash_mix(&s, lawn__store_hash_word(at));
        at += 8;
    }
    while (left > 0) {
        left--;
        last |= (uint64_t)at[left] << 8 * left;
    }
    return lawn__store_hash_end(&s, last);
}

#endif
