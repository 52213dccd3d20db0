"""What accounts, sign-ins and refreshes add to the database, measured: the tables of docs/retention.md.

usage: /usr/bin/python3 -B capacity.py [accounts] [refreshes of each]

Bytes are those of the tables with their indexes and of the write-ahead log, each step's end less its beginning,
divided by how often it was done; the program settles before it is asked. What is there before is not counted.
"""

import concurrent.futures
import sys
import time

from phone import Phone
from urd_process import Urd

SIZES = """select c.relname, pg_total_relation_size(c.oid) from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'urd' and c.relkind in ('r', 'm') order by 1"""
ROWS = """select e.type, count(*), sum(pg_column_size(e.*)), sum(pg_column_size(data) + pg_column_size(meta)
    + coalesce(pg_column_size(sealed), 0)) from urd.event e where realm = '%s' and position > %d group by 1 order by 3 desc"""


def sizes(urd):
    urd.sealed(urd.values["URD_REALM"])
    # What follows the log is done a moment later.
    time.sleep(3)
    return dict((name, int(size)) for name, size in (line.split("|") for line in urd.sql(SIZES).splitlines()))


def step(urd, what, count, act):
    """Does it so often, and prints what one added where."""
    begin, before = int(urd.head().split(":")[2]), sizes(urd)
    wal = urd.sql("select pg_current_wal_insert_lsn()")
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        done = list(pool.map(act, range(count)))
    after, realm = sizes(urd), urd.values["URD_REALM"]
    log = int(urd.sql(f"select pg_current_wal_insert_lsn() - '{wal}'::pg_lsn"))
    grown = sorted(((after[name] - before.get(name, 0), name) for name in after), reverse=True)
    total = sum(size for size, _ in grown)
    assert total > 0, what
    print(f"\n## {what}, {count} times\n\n| where | bytes of one |\n|---|---|")
    for size, name in grown:
        if size * 100 >= total:
            print(f"| {name} | {size // count:,} |")
    print(f"| all tables and indexes | {total // count:,} |\n| write-ahead log | {log // count:,} |\n")
    print("| event | of one | bytes of the row | of them payload |\n|---|---|---|---|")
    for line in urd.sql(ROWS % (realm, begin)).splitlines():
        name, number, row, payload = line.split("|")
        print(f"| `{name}` | {int(number) / count:.2f} | {int(row) // int(number)} | {int(payload) // int(number)} |")
    return done


def main(accounts=2000, refreshes=10):
    urd = Urd()
    try:
        status, body, _ = urd.api.call("PATCH", f"{urd.realm}/settings", {
            "registration": "jit_on_otp", "rate_limits": {
                "native-otp": {"source": None, "target": None, "client": None, "sign-ups": None},
                "oauth-token": {"source": None, "target": None, "client": None}}})
        assert status == 200, body
        phone = Phone(urd)
        mail = "person-{}@example.org".format
        for number in range(20):
            phone.sign_in(f"warm-{number}@example.org")
        step(urd, "an account with its first sign-in by a mailed code", accounts, lambda n: phone.sign_in(mail(n)))
        tokens = step(urd, "a further sign-in by a mailed code", accounts, lambda n: phone.sign_in(mail(n)))

        def refresh(person):
            status, body, _ = phone.refresh(tokens[person]["refresh_token"])
            assert status == 200, body
            tokens[person] = body

        step(urd, f"{refreshes} refreshes one after the other", accounts,
             lambda person: [refresh(person) for _ in range(refreshes)])

        def sign_out(person):
            status, body, _ = phone.call("POST", "/connect/revoke", form={
                "client_id": phone.client, "token": tokens[person]["refresh_token"]})
            assert status == 200, body

        step(urd, "a sign-out", accounts, sign_out)
    finally:
        urd.close()


if __name__ == "__main__":
    begin = time.monotonic()
    main(*(int(word) for word in sys.argv[1:]))
    print(f"\nin {time.monotonic() - begin:.0f} s")
