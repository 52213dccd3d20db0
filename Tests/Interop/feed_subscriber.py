"""A subscriber that is made to be killed: appends each event to a file, then keeps its cursor.

    feed_subscriber.py URL KEY REALM FOLDER
"""

import os
import pathlib
import sys
import time

from feed_client import Feed, append_lines, keep


def main(url, key, realm, folder):
    place, events = os.path.join(folder, "cursor"), os.path.join(folder, "events")
    while True:
        cursor = pathlib.Path(place).read_text() if os.path.exists(place) else None
        try:
            with Feed(url, key, realm, "from=start&to=internal", cursor) as feed, \
                    append_lines(events) as file:
                if feed.status not in (200, 429, 503):
                    sys.exit(f"{feed.status} {feed.body}")
                for entry in feed.entries():
                    if entry["type"] == "urd.error":
                        if entry["data"]["status"] != 503:
                            sys.exit(f"{entry}")
                        break
                    if not entry["type"].startswith("urd."):
                        file.write(f"{entry['position']} {entry['id']} {entry['leaf']} "
                                   f"{entry['type']}\n")
                    keep(place, entry["cursor"])
        except OSError:
            pass
        time.sleep(0.05)


if __name__ == "__main__":
    main(*sys.argv[1:])
