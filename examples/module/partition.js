#!/usr/bin/env node
/* partition.js - which of N keys an id belongs to, as LAWN.PARTITION says it.
 *
 *     partition.js N ID [ID ...]
 *
 * prints for each id its number, 0 to N - 1. The checksum is CRC16 as clusters use
 * it for slots (XMODEM), over the whole id.
 */
function partition(id, count) {
    let crc = 0;
    for (const byte of Buffer.from(id)) {
        crc ^= byte << 8;
        for (let bit = 0; bit < 8; bit++)
            crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
    }
    return (crc & 0xffff) % count;
}

module.exports = { partition };

if (require.main === module) {
    const [count, ...ids] = process.argv.slice(2);
    for (const id of ids) console.log(partition(id, Number(count)));
}
