"""A realm of millions of events: what Urd wrote in a small one, many times over, each time of other people, and the
read models that Urd's own functions make of it. Nodes do not know it: it has no head, and what is sealed is left out."""

import bisect
import concurrent.futures
import re
import subprocess
import time
import uuid

DAYS = 180
# A second of a scene is so many in the crowd.
STRETCH = 20
# Begins every id in a template, in the place of four digits that say which copy it is.
MARK = "@@@@"
ID = re.compile(r"[0-9a-f]{4}([0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})")
# What no two people share beside ids: their networks, and what an authenticator calls a passkey.
OTHERS = re.compile(r'("(?:source|credential)":")[^"]{4}')
# What the views of analysts are made of, the longest first: two at a time end together.
MODELS = ("audit_trail", "login_history", "sessions", "credentials", "passkeys", "findings", "accounts", "clients",
          "daily_counts")
PAGE = 10_000
# As rebuilds apply a page.
APPLYING = ("set plan_cache_mode = force_generic_plan", "set enable_seqscan = off", "set jit = off",
            "set max_parallel_workers_per_gather = 0", "set work_mem = '64MB'")
# What is written is gone with the test.
LOADING = ("fsync = off", "full_page_writes = off", "autovacuum = off", "checkpoint_timeout = '30s'")


class Crowd:
    """Realms with the life of a small one in them, many copies of each of its scenes beside each other."""

    def __init__(self, urd, small):
        self.urd, self.seconds, self.heads, self.copies = urd, {}, {}, 0
        self.took("template", self.make_template, small)

    def fill(self, **realms):
        """Writes at least so many events into each, and then the read models of all."""
        self.sql(*(f"alter system set {setting}" for setting in LOADING), "select pg_reload_conf()")
        for realm, events in realms.items():
            self.took("events", self.write, realm, events)
        self.took("read models", self.project)
        self.took("analyze", self.sql, "analyze")
        self.sql("alter system reset all", "select pg_reload_conf()", "checkpoint")

    def took(self, what, act, *words):
        start = time.monotonic()
        act(*words)
        self.seconds[what] = self.seconds.get(what, 0) + time.monotonic() - start

    def sql(self, *statements, text=None):
        """As the superuser, whom no trigger stops, each statement by itself, for as long as it takes."""
        words = ["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", self.urd.superuser()]
        for statement in ("set session_replication_role = replica", "set synchronous_commit = off", *statements):
            words += ["-c", statement]
        done = subprocess.run(words, input=text, capture_output=True, text=True, timeout=1800)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip("\n")

    def beside(self, act, each):
        """Two at a time."""
        with concurrent.futures.ThreadPoolExecutor(2) as workers:
            list(workers.map(act, each))

    def make_template(self, small):
        """The events of each scene. What the realm has once keeps its id, whoever names it; all else is marked."""
        lines = self.sql(
            "copy (select extract(epoch from at), stream, type, version, revision, subject, meta, data from urd.event "
            f"where realm = '{self.urd.values['URD_REALM']}' order by position) to stdout").split("\n")
        began = [at for at, _ in small.scenes]
        scenes = [[] for _ in began]
        for line in lines:
            at, stream, rest = line.split("\t", 2)
            number = bisect.bisect(began, float(at)) - 1
            scenes[number].append((float(at) - began[number] if number else 0, stream, rest))
        kept = {stream for (_, is_once), events in zip(small.scenes, scenes) if is_once for _, stream, _ in events}

        def mark(text):
            return OTHERS.sub(rf"\1{MARK}", ID.sub(lambda id: id[0] if id[0] in kept else MARK + id[1], text))

        self.scenes = [(is_once, len(events)) for (_, is_once), events in zip(small.scenes, scenes)]
        rows = [
            f"{number}\t{place}\t{after * STRETCH}\t{stream if is_once else MARK + stream[4:]}\t{mark(rest)}\n"
            for number, ((_, is_once), events) in enumerate(zip(small.scenes, scenes))
            for place, (after, stream, rest) in enumerate(events, 1)]
        self.sql("create schema crowded", "create table crowded.template (scene integer, place integer, after float, "
                 "stream text, type text, version integer, revision smallint, subject text, meta text, data text, "
                 "primary key (scene, place))")
        self.sql("copy crowded.template from stdin", text="".join(rows))
        self.sql("analyze crowded.template")

    def write(self, realm, events):
        """The copies of a scene share its days: one begins after the other, and what happened in each lies together."""
        once = sum(count for is_once, count in self.scenes if is_once)
        shared = sum(count for is_once, count in self.scenes if not is_once)
        copies = -(-(events - once) // shared)
        days = DAYS / sum(not is_once for is_once, _ in self.scenes)
        statements, position, day = [], 0, 0
        for scene, (is_once, count) in enumerate(self.scenes):
            times = 1 if is_once else copies
            statements.append(f"""
                insert into urd.event (position, at, stream, command, subject, version, revision, realm, type, leaf,
                    mac, meta, data)
                select {position} + c.n * {count} + t.place, now() - interval '{DAYS} days 15 minutes'
                        + interval '1 day' * ({day} + c.n * {days / copies}) + interval '1 second' * t.after,
                    replace(t.stream, '{MARK}', c.id)::uuid, gen_random_uuid(),
                    replace(t.subject, '{MARK}', c.id)::uuid, t.version, t.revision, '{realm}', t.type, '', '',
                    replace(t.meta, '{MARK}', c.id)::json, replace(t.data, '{MARK}', c.id)::json
                from (select n, lpad(to_hex({self.copies} + n), 4, '0') as id from generate_series(0, {times - 1}) n) c
                cross join lateral (select * from crowded.template t where t.scene = {scene} and c.n >= 0
                    order by t.place) t""")
            position += times * count
            day += 0 if is_once else days
        self.beside(self.sql, statements)
        self.copies += copies
        self.heads[realm] = position

    def project(self):
        """By the functions that rebuilds call, page by page. Indexes that no page needs come last, as there."""
        live = dict(line.split("|") for line in self.sql(
            "select projection, build from urd.projection_build where status = 'live'").split("\n"))

        def fill(model):
            table = f"urd.{model}_{live[model]}"
            indexes = [line.split("|", 1) for line in self.sql(
                "select i.indexrelid::regclass, pg_get_indexdef(i.indexrelid) from pg_index i "
                f"where i.indrelid = '{table}'::regclass and not i.indisunique "
                "and pg_get_indexdef(i.indexrelid) not like '%(realm, account, at, \"position\")%'").splitlines()]
            self.sql(*(f"drop index {name}" for name, _ in indexes), *APPLYING, *(
                f"select {table}_apply('{realm}', {first}, {min(first + PAGE - 1, head)}, null)"
                for realm, head in self.heads.items() for first in range(1, head + 1, PAGE)))
            self.sql("set maintenance_work_mem = '256MB'", *(definition for _, definition in indexes))

        self.beside(fill, MODELS)

    def as_of(self, realm):
        """The realm as of its head, by the functions that a node calls, and the name of its schema. No node sees that
        the realm has a head: it has none any more when the transaction ends."""
        build, maker, head = str(uuid.uuid4()), str(uuid.uuid4()), self.heads[realm]
        self.took("as of a moment", self.sql, f"""do $$
            declare
                v_model text;
            begin
                insert into urd.realm_log (realm, position) values ('{realm}', {head});
                insert into urd.projection_position (realm, projection, build, position)
                    select '{realm}', b.projection, b.build, {head} from urd.projection_build b
                    where b.status = 'live' and b.projection = any (urd.as_of_projections());
                insert into urd.as_of_build (
                        realm, id, asker, moment, epoch, position, asked_at, state, leased_by)
                    values ('{realm}', '{build}', 'test', '{head}', 1, {head}, now(), 'running', '{maker}');
                assert urd.open_as_of('{realm}', '{build}', '{maker}');
                foreach v_model in array urd.as_of_projections() loop
                    while not (select o_done from urd.step_as_of('{realm}', '{build}', '{maker}', v_model)) loop
                    end loop;
                end loop;
                assert urd.show_as_of('{realm}', '{build}', '{maker}');
                delete from urd.projection_position where realm = '{realm}';
                delete from urd.realm_log where realm = '{realm}';
            end $$""")
        return "analyst_at_" + build.replace("-", "")

    def size(self):
        """Gigabytes on the disk: tables with their indexes, and the WAL."""
        return [float(each) / 1e9 for each in self.sql(
            "select pg_database_size(current_database())", "select sum(size) from pg_ls_waldir()").split("\n")]
