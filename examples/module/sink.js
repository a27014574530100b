#!/usr/bin/env node
/* sink.js - web hooks that are called later: a consumer of a stream sink.
 *
 *     sink.js add URL ID BODY DELAY           redis://localhost:6379 or $REDIS_URL
 *     sink.js work [CONSUMER]                 until SIGTERM
 *
 * When an event of the key {hooks} is due, the server itself moves it into the
 * stream {hooks}:due. From there on all is known: a consumer group, XREADGROUP,
 * XACK, and XAUTOCLAIM for what a consumer had that died or failed. Nothing here
 * knows of leases, and any client that has streams will do.
 *
 * The payload is JSON: {"url": ..., "body": ...}. It is posted with the event's id
 * as Idempotency-Key: at least once means that it can be posted twice, and who
 * gets it is told how to see that. What fails TRIES times goes to {hooks}:failed.
 *
 * It is for one server; in a cluster, make the client by createCluster().
 * Needs node 18 and the package redis (Debian: node-redis, and
 * NODE_PATH=/usr/share/nodejs).
 */
const { createClient, commandOptions } = require("redis");

const KEY = "{hooks}", STREAM = "{hooks}:due", FAILED = "{hooks}:failed";
const GROUP = "posters";
const TRIES = 4;
const IDLE = Number(process.env.IDLE || 30000); // ms until others may have it

async function connect() {
    const server = createClient({
        url: process.env.REDIS_URL || "redis://localhost:6379",
    });
    server.on("error", (error) => console.error(error.message)); // it reconnects
    await server.connect();
    return server;
}

async function prepare(server) {
    // Both say what is there already. The events stay in the key until there is
    // a sink, and in the stream until they were read: no order matters.
    await server.sendCommand(["LAWN.SINK", KEY, "STREAM", STREAM]);
    await server.xGroupCreate(STREAM, GROUP, "0", { MKSTREAM: true }).catch(
        (error) => {
            if (!error.message.startsWith("BUSYGROUP")) throw error;
        });
}

/* fetch() says only that it failed; why is in the cause. */
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
        signal: AbortSignal.timeout(IDLE / 2), // well before others may have it
    });
    if (!answer.ok) throw new Error("status " + answer.status);
}

/* Out of the group and out of the stream, so that neither grows: then no MAXLEN is
 * needed, which would also cut off what nobody has read yet. */
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
        // else it stays pending, and is claimed when it has been idle for long
    }
}

/* What others, or we, did not finish. */
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
            // Isolated: a connection of its own, since it waits.
            const read = await server.xReadGroup(
                commandOptions({ isolated: true }), GROUP, me,
                { key: STREAM, id: ">" },
                { COUNT: 10, BLOCK: Math.min(IDLE, 1000) });
            for (const message of read ? read[0].messages : [])
                await handle(server, message, 1);
        } catch (error) {
            // The server is away, loading, or has not enough replicas. If the
            // stream is gone, so is its group.
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
