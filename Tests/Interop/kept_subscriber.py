"""A subscriber whose cursor the server keeps, and that is made to be killed: appends each event to a
file, and then confirms it.

    kept_subscriber.py URL KEY REALM SUBSCRIPTION FILE
"""

import sys
import time

from feed_client import Feed, append_lines
from urd_process import Client


def main(url, key, realm, subscription, path):
    api = Client(url, key)
    while True:
        try:
            with Feed(url, key, realm, f"subscription={subscription}&take_over=true") as feed, \
                    append_lines(path) as file:
                if feed.status not in (200, 409, 429, 503):
                    sys.exit(f"{feed.status} {feed.body}")
                for entry in feed.entries() if feed.status == 200 else ():
                    if not entry["type"].startswith("urd."):
                        file.write(f"{entry['position']} {entry['id']}\n")
                    if "cursor" not in entry:
                        break
                    status, answer, _ = api.call(
                        "POST", f"/api/admin/realms/{realm}/subscriptions/{subscription}/ack",
                        {"cursor": entry["cursor"]})
                    if status not in (204, 503):
                        sys.exit(f"{entry['cursor']}: {status} {answer}")
        except OSError:
            pass
        time.sleep(0.02)


if __name__ == "__main__":
    main(*sys.argv[1:])
