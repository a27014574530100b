#!/usr/bin/env node
/* sink.js - delayed web hooks: a consumer of a stream sink.
 *
 *     sink.js add URL ID BODY DELAY           redis://localhost:6379 or $REDIS_URL
 *     sink.js work [CONSUMER]                 until SIGTERM
 *
 * When an event of the key {hooks} is due, the server moves it to the stream
 * {hooks}:due. The rest is a usual consumer group: XREADGROUP, XACK, and XAUTOCLAIM
 * for entries of consumers that died or failed. It needs no leases, and works with
 * any client library that supports streams.
 *
 * The payload is JSON: {"url": ..., "body": ...}. It is posted with the event's id
 * as Idempotency-Key: at least once means that it can be posted twice, and the
 * receiver recognizes that by the key. Hooks that fail TRIES times go to
 * {hooks}:failed.
 *
 * For one server; in a cluster, create the client with createCluster().
 * Needs node 18 and the package redis (Debian: node-redis, and
 * NODE_PATH=/usr/share/nodejs).
 */
const { createClient, commandOptions } = require("redis");

const KEY = "{hooks}", STREAM = "{hooks}:due", FAILED = "{hooks}:failed";
const GROUP = "posters";
const TRIES = 4;
const IDLE = Number(process.env.IDLE || 30000); // ms until others may claim entries

async function connect() {
    const server = createClient({
        url: process.env.REDIS_URL || "redis://localhost:6379",
    });
    server.on("error", (error) => console.error(error.message)); // the client reconnects
    await server.connect();
    return server;
}

async function prepare(server) {
    // Both commands can be repeated. Events stay in the key until there is a sink,
    // and in the stream until they are read, so the order does not matter.
    await server.sendCommand(["LAWN.SINK", KEY, "STREAM", STREAM]);
    await server.xGroupCreate(STREAM, GROUP, "0", { MKSTREAM: true }).catch(
        (error) => {
            if (!error.message.startsWith("BUSYGROUP")) throw error;
        });
}

/* The message of fetch() is generic; the reason is in the cause. */
function reason(error) {
    return error.cause ? `${error.message}: ${error.cause.message}`
        : error.message;
}

async function post(event) {
    const hook = JSON.parse(event.payload);
    const answer = await fetch(hook.url, {
        method: "POST",
        body: hook.body,
        headers: { "Idempotency-Key": event.id, "X-Due": event.due },
        signal: AbortSignal.timeout(IDLE / 2), // well before others may claim the entry
    });
    if (!answer.ok) throw new Error("status " + answer.status);
}

/* Removes an entry from the group and the stream, so that neither grows. The
 * alternative, MAXLEN, would also remove unread entries. */
function done(server, entry, also) {
    const all = server.multi();
    if (also) also(all);
    return all.xAck(STREAM, GROUP, entry).xDel(STREAM, entry).exec();
}

async function handle(server, { id: entry, message: event }, tries) {
    try {
        await post(event);
        await done(server, entry);
        console.log(`${event.id}: posted at try ${tries}`);
    } catch (error) {
        console.log(`${event.id}: try ${tries}: ${reason(error)}`);
        if (tries >= TRIES)
            await done(server, entry, (all) => all.xAdd(FAILED, "*", {
                ...event, error: reason(error),
            }));
        // else it stays pending, and is claimed when it has been idle for IDLE ms
    }
}

/* Handles entries that this or another consumer did not finish. */
async function claim(server, me) {
    const { messages } = await server.xAutoClaim(
        STREAM, GROUP, me, IDLE, "0-0", { COUNT: 10 });
    for (const message of messages) {
        const [pending] = await server.xPendingRange(
            STREAM, GROUP, message.id, message.id, 1);
        if (pending) await handle(server, message, pending.deliveriesCounter);
    }
}

async function work(server, me) {
    let stopped = false, prepared = false;
    for (const signal of ["SIGTERM", "SIGINT"])
        process.on(signal, () => { stopped = true; });
    while (!stopped) {
        try {
            if (!prepared) await prepare(server);
            prepared = true;
            await claim(server, me);
            // Isolated: on a separate connection, because it blocks.
            const read = await server.xReadGroup(
                commandOptions({ isolated: true }), GROUP, me,
                { key: STREAM, id: ">" },
                { COUNT: 10, BLOCK: Math.min(IDLE, 1000) });
            for (const message of read ? read[0].messages : [])
                await handle(server, message, 1);
        } catch (error) {
            // The server is down, loading, or has too few replicas. If the
            // stream was deleted, so was its group.
            console.error(error.message);
            prepared = false;
            await new Promise((go) => setTimeout(go, 500));
        }
    }
}

async function main() {
    const [verb, ...words] = process.argv.slice(2);
    if (!(verb === "add" && words.length === 4 || verb === "work")) {
        console.error("sink.js add URL ID BODY DELAY | work [CONSUMER]");
        process.exit(2);
    }
    const server = await connect();
    if (verb === "add") {
        const [url, id, body, delay] = words;
        await prepare(server);
        console.log(await server.sendCommand([
            "LAWN.PUSH", KEY, id, JSON.stringify({ url, body }), "DELAY", delay,
        ]));
    } else {
        await work(server, words[0] || `poster-${process.pid}`);
    }
    await server.quit();
}

main().catch((error) => {
    console.error(error.message);
    process.exit(1);
});
