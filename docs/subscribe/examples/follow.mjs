// Follows a realm of Urd and prints its events: node follow.mjs. Needs Node 18 or later.
import { existsSync, openSync, fsyncSync, closeSync, readFileSync, renameSync, writeSync } from "node:fs";

const { URD_URL, URD_REALM, URD_ADMIN_KEY, CURSOR_FILE = "cursor" } = process.env;
const url = `${URD_URL}/api/admin/realms/${URD_REALM}/feed?from=start`;

function keep(cursor) {
  const file = openSync(CURSOR_FILE + ".new", "w");
  writeSync(file, cursor);
  fsyncSync(file);
  closeSync(file);
  renameSync(CURSOR_FILE + ".new", CURSOR_FILE);
}

async function read(handle) {
  const headers = { authorization: `Bearer ${URD_ADMIN_KEY}`, accept: "application/x-ndjson" };
  if (existsSync(CURSOR_FILE)) headers["last-event-id"] = readFileSync(CURSOR_FILE, "utf8");
  const answer = await fetch(url, { headers });
  if ([429, 502, 503, 504].includes(answer.status)) return;
  if (!answer.ok) throw Object.assign(new Error(await answer.text()), { final: true });
  let rest = "";
  for await (const piece of answer.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + piece).split("\n");
    rest = lines.pop();
    for (const line of lines.filter((line) => line)) {
      const event = JSON.parse(line);
      if (event.type === "urd.error") throw Object.assign(new Error(line), { final: true });
      if (!event.type.startsWith("urd.")) await handle(event);
      keep(event.cursor);
      pause = 1000;
    }
  }
}

let pause = 1000;
for (;;) {
  await read((event) => console.log(event.position, event.type)).catch((error) => {
    if (error.final) throw error;
  });
  await new Promise((done) => setTimeout(done, pause * (0.5 + Math.random() / 2)));
  pause = Math.min(pause * 2, 30000);
}
