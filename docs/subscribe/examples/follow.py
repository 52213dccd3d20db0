"""Follows a realm of Urd and prints its events: python3 follow.py. Needs nothing but Python."""
import http.client, json, os, random, sys, time, urllib.error, urllib.request

URL = f"{os.environ['URD_URL']}/api/admin/realms/{os.environ['URD_REALM']}/feed?from=start"
FILE = os.environ.get("CURSOR_FILE", "cursor")


def keep(cursor):
    with open(FILE + ".new", "w") as file:
        file.write(cursor)
        file.flush()
        os.fsync(file.fileno())
    os.replace(FILE + ".new", FILE)


def read(handle):
    headers = {"Authorization": "Bearer " + os.environ["URD_ADMIN_KEY"], "Accept": "application/x-ndjson"}
    if os.path.exists(FILE):
        headers["Last-Event-ID"] = open(FILE).read().strip()
    with urllib.request.urlopen(urllib.request.Request(URL, headers=headers), timeout=45) as feed:
        for line in feed:
            if not line.endswith(b"\n") or not line.strip():
                continue  # cut off in the middle, or a heartbeat
            event = json.loads(line)
            if event["type"] == "urd.error":
                sys.exit(f"the feed ended: {event['data']}")
            if not event["type"].startswith("urd."):
                handle(event)
            keep(event["cursor"])
            yield


def follow(handle):
    pause = 1
    while True:
        try:
            for _ in read(handle):
                pause = 1
        except urllib.error.HTTPError as error:
            if error.code not in (429, 502, 503, 504):
                sys.exit(error.read().decode())
        except (OSError, http.client.HTTPException):
            pass
        time.sleep(pause * random.uniform(0.5, 1))
        pause = min(pause * 2, 30)


follow(lambda event: print(event["position"], event["type"], flush=True))
