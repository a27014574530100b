#!/usr/bin/env node
/* partition.js - computes the partition of an id, like LAWN.PARTITION.
 *
 *     partition.js N ID [ID ...]
 *
 * prints the partition of each id, 0 to N - 1. The hash is the CRC16 that clusters
 * use for slots (XMODEM), over the whole id.
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
