// say.js PORT - the same conversation as the other clients, with node-redis.
const { createClient } = require("redis");

function show(answer) {
    if (answer === null) return "nil";
    if (Array.isArray(answer)) return "[" + answer.map(show).join(" ") + "]";
    return String(answer);
}

async function main() {
    const server = createClient({ socket: { port: Number(process.argv[2]) } });
    await server.connect();
    const lines = require("fs").readFileSync(0, "utf8").trim().split("\n");
    for (const line of lines) {
        try {
            console.log(show(await server.sendCommand(line.split(" "))));
        } catch (error) {
            console.log("error: " + error.message.replace(/^ERR /, ""));
        }
    }
    await server.quit();
}

main();
