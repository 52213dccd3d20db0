"""What a policy would have done, worked out from an export of the log by docs/analysts/what-if.md alone: slowly, with all of
the past at hand for each sign-in, and with nothing of Urd."""

import collections
import datetime
import functools

SECOND = 1_000_000
RULES = ("require_second_factor", "allow_methods", "countries", "networks", "hours", "devices",
         "session_lifetime", "idle_lifetime", "max_sessions", "lock_after")
LIFETIMES = ("session_lifetime", "idle_lifetime")
OUTCOMES = ("would_refuse", "would_interrupt", "satisfied", "not_applicable", "unknown")
REFRESHES = ("would_have_ended", "satisfied", "not_applicable", "unknown")
# What is no guess, and by what nobody signs in.
NO_GUESSES = {
    "account_blocked", "actor_not_allowed", "client_disabled", "exchange_not_allowed",
    "invalid_client", "resource_refused", "scope_refused", "second_factor_required",
    "stronger_sign_in_needed", "unproven_token"}
NO_SIGN_INS = {
    "authorization_code", "client_credentials", "refresh_token",
    "urn:ietf:params:oauth:grant-type:jwt-bearer",
    "urn:ietf:params:oauth:grant-type:token-exchange"}
EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
ENDS = {"account.deleted", "account.deletion_scheduled", "account.disabled",
        "account.mailbox_changed", "account.stamp_rotated"}
ADDED = {"totp.confirmed", "passkey.enrolled", "app_method.key_enrolled"}
REMOVED = {"totp.removed", "passkey.removed", "app_method.key_removed"}
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def seconds(text):
    return int(text[:-1]) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[text[-1]]


def clock(text):
    hours, minutes = text.split(":")
    return int(hours) * 3600 + int(minutes) * 60


@functools.cache
def iso_day(number):
    return (datetime.date(1970, 1, 1) + datetime.timedelta(days=number)).isoformat()


def worst(outcomes, order):
    return next((one for one in order if one in outcomes), "not_applicable")


class Oracle:
    """The part of a log from one position to another, as a list that each question goes through."""

    def __init__(self, log, first, last, policy, wanted=None, sources=()):
        self.part = log[first - 1:last]
        self.sign_ins = {p for p, e in self.part if self.is_sign_in(e)}
        self.whole = first == 1
        self.policy, self.wanted, self.sources = policy, wanted, set(sources)
        self.since = self.part[0][1]["at"] if self.part else None
        # What each question looks at, by what it is about, in the order of the log.
        self.of_account, self.registered = collections.defaultdict(list), set()
        self.browsers, self.named = {}, collections.Counter()
        self.too_many = set()

    # What is known by now.

    def is_whole(self, account):
        return self.whole or account in self.registered

    def factors(self, account):
        held = []
        for _, event in self.of_account[account]:
            name = event["data"].get("key") if event["type"].startswith("app_") else None
            name = name or event["stream"]
            if event["type"] in ADDED and name not in held:
                held.append(name)
            if event["type"] in REMOVED:
                held = [one for one in held if one != name]
        return held

    def roles(self, account):
        roles = set() if self.is_whole(account) else None
        for _, event in self.of_account[account]:
            if event["type"] == "account.roles_changed":
                roles = {role for names in event["data"]["roles"].values() for role in names}
        return roles

    def open_sessions(self, account, now):
        opened, places = {}, {}
        for position, event in self.of_account[account]:
            if position in self.sign_ins and not event["data"].get("browser"):
                if position not in self.too_many:
                    opened[event["stream"]] = event["data"]["expires_at"] * SECOND
                    places[event["stream"]] = event["data"]
            elif event["type"] == "account.access_removed":
                [(name, place)] = [
                    one for one in event["data"].items() if one[0] not in ("removals", "offline")]
                for stream in list(opened):
                    if places[stream].get(name) == place:
                        del opened[stream]
            elif event["type"] in ("session.ended", "browser.ended"):
                opened.pop(event["stream"], None)
            elif event["type"] in ENDS:
                opened = {}
        return sum(end > now for end in opened.values())

    def is_sign_in(self, event):
        return (event["type"] in ("session.opened", "browser.opened")
                and event["data"].get("account") and event["data"].get("method") != EXCHANGE)

    def is_guess(self, event):
        data = event["data"]
        return (event["type"] in ("session.refused", "browser.refused") and data.get("account")
                and data["reason"] not in NO_GUESSES and data["method"] not in NO_SIGN_INS)

    # What the rules say of a sign-in.

    def require_second_factor(self, rule, event, account):
        data = event["data"]
        factors = set(data.get("amr", []))
        strong = "hwk" in factors or len(factors) > 1
        if not rule.get("all") and data.get("client_id") not in rule.get("clients", []):
            if "roles" not in rule:
                return "not_applicable"
            roles = self.roles(account)
            if roles is None:
                return "satisfied" if strong else "unknown"
            if not roles & set(rule["roles"]):
                return "not_applicable"
        if strong:
            return "satisfied"
        if self.factors(account):
            return "would_interrupt"
        return "would_refuse" if self.is_whole(account) else "unknown"

    def allow_methods(self, rule, event, account):
        data = event["data"]
        method = data.get("method")
        if data.get("browser"):
            method = self.browsers.get(data["browser"])
        if method is None:
            return "unknown"
        return "satisfied" if method in rule else "would_refuse"

    def countries(self, rule, event, account):
        country = event["data"].get("country")
        if country is None:
            return "unknown"
        if "allow" in rule:
            return "satisfied" if country in rule["allow"] else "would_refuse"
        return "would_refuse" if country in rule["deny"] else "satisfied"

    def networks(self, rule, event, account):
        data = event["data"]
        values = rule.get("allow") or rule.get("deny")
        systems = {int(one[2:]) for one in values if one.startswith("AS")}
        listed = data.get("asn") in systems or data.get("source") in self.sources
        if not listed:
            if systems and data.get("asn") is None:
                return "unknown"
            if self.sources and data.get("source") is None:
                return "unknown"
        return "satisfied" if listed == ("allow" in rule) else "would_refuse"

    def hours(self, rule, event, account):
        offset = rule.get("offset", "+00:00")
        ahead = clock(offset[1:]) * (1 if offset[0] == "+" else -1)
        local = (datetime.datetime(1970, 1, 1) + datetime.timedelta(
            microseconds=event["at"], seconds=ahead))
        time = local.hour * 3600 + local.minute * 60 + local.second
        start, end = clock(rule["from"]), clock(rule["to"])
        days = rule.get("days", DAYS)
        today, yesterday = DAYS[local.weekday()], DAYS[local.weekday() - 1]
        if start < end:
            within = today in days and start <= time < end
        else:
            within = today in days and time >= start or yesterday in days and time < end
        return "satisfied" if within else "would_refuse"

    def devices(self, rule, event, account):
        device = event["data"].get("device")
        if device is None:
            return "unknown"
        seen = [one["at"] for position, one in self.of_account[account]
                if position in self.sign_ins and one["data"].get("device") == device]
        if seen and min(seen) + seconds(rule["known_for"]) * SECOND <= event["at"]:
            return "satisfied"
        return "would_refuse" if self.is_whole(account) else "unknown"

    def max_sessions(self, rule, event, account):
        if event["data"].get("browser"):
            return "not_applicable"
        if self.open_sessions(account, event["at"]) >= rule:
            return "would_refuse"
        return "satisfied" if self.is_whole(account) else "unknown"

    def lock_after(self, rule, event, account):
        begin = event["at"] - rule["minutes"] * 60 * SECOND
        tries = [one["at"] for _, one in self.of_account[account]
                 if self.is_guess(one) and begin < one["at"] <= event["at"]]
        if len(tries) >= rule["n"]:
            return "would_refuse"
        known = self.is_whole(account) or begin >= self.since + 60 * SECOND
        return "satisfied" if known else "unknown"

    def judge(self, event, account):
        found = {}
        for name, rule in self.policy.items():
            found[name] = ("not_applicable" if name in LIFETIMES
                           else getattr(self, name)(rule, event, account))
        return found

    # The result, as Urd has it.

    def result(self):
        counts = collections.Counter()
        rules = {name: collections.Counter() for name in self.policy}
        days = collections.defaultdict(collections.Counter)
        accounts = collections.defaultdict(lambda: {"rules": set(), "counts": collections.Counter()})
        refreshes, ended, sessions = collections.Counter(), set(), {}
        owners = {}
        for position, event in self.part:
            kind, data, at = event["type"], event["data"], event["at"]
            day = iso_day(at // SECOND // 86400)
            if kind == "account.registered":
                self.registered.add(event["stream"])
            if kind.startswith("account."):
                self.of_account[event["stream"]].append((position, event))
            elif kind in ADDED | REMOVED or self.is_guess(event):
                self.of_account[data["account"]].append((position, event))
            elif kind in ("session.ended", "browser.ended"):
                if event["stream"] in owners:
                    self.of_account[owners[event["stream"]]].append((position, event))
                sessions.pop(event["stream"], None)
                self.browsers.pop(event["stream"], None)
            elif position in self.sign_ins:
                account = data["account"]
                said = self.judge(event, account)
                if said.get("max_sessions") == "would_refuse":
                    self.too_many.add(position)
                wanted = self.wanted is None or self.wanted(position, event)
                if wanted:
                    outcome = worst(set(said.values()), (
                        "would_refuse", "unknown", "would_interrupt", "satisfied"))
                    counts[outcome] += 1
                    self.named["clients", data.get("client_id")] += 1
                    for role in self.roles(account) or ():
                        self.named["roles", role] += 1
                    days[day][outcome] += 1
                    entry = accounts[account]
                    entry["counts"][outcome] += 1
                    for name, one in said.items():
                        if name not in LIFETIMES:
                            rules[name][one] += 1
                        if one == "would_refuse":
                            entry["rules"].add(name)
                    if outcome == "would_refuse":
                        entry.setdefault("first", position)
                        entry["last"] = position
                self.of_account[account].append((position, event))
                owners[event["stream"]] = account
                if kind == "browser.opened":
                    self.browsers[event["stream"]] = data["method"]
                else:
                    sessions[event["stream"]] = {
                        "opened": at, "used": at, "wanted": wanted, "end": None}
            elif kind == "session.refreshed" and set(LIFETIMES) & set(self.policy):
                self.refresh(event, at, day, sessions, refreshes, rules, days, ended)
        return self.told(counts, rules, days, accounts, refreshes, ended)

    def refresh(self, event, at, day, sessions, refreshes, rules, days, ended):
        stream = event["stream"]
        if stream not in sessions:
            if self.whole:
                return
            sessions[stream] = {
                "opened": None, "used": None, "wanted": self.wanted is None, "end": None}
        session = sessions[stream]
        said = {}
        if session["end"] is None:
            if "session_lifetime" in self.policy:
                length = seconds(self.policy["session_lifetime"]) * SECOND
                opened = session["opened"]
                said["session_lifetime"] = (
                    "unknown" if opened is None
                    else "would_have_ended" if opened + length < at else "satisfied")
                if said["session_lifetime"] == "would_have_ended":
                    session["end"] = opened + length
            if "idle_lifetime" in self.policy:
                length, used = seconds(self.policy["idle_lifetime"]) * SECOND, session["used"]
                if used is not None and used + length < at:
                    said["idle_lifetime"] = "would_have_ended"
                    session["end"] = min(session["end"] or used + length, used + length)
                else:
                    said["idle_lifetime"] = (
                        "unknown" if session["opened"] is None else "satisfied")
            outcome = worst(set(said.values()), ("would_have_ended", "unknown", "satisfied"))
            session["used"] = max(session["used"] or at, at)
        else:
            outcome = "would_have_ended"
        if not session["wanted"]:
            return
        refreshes[outcome] += 1
        days[day]["refresh"] += 0
        if outcome == "would_have_ended":
            ended.add(stream)
            days[day]["ended"] += 1
        for name, one in said.items():
            rules[name][one] += 1

    @staticmethod
    def row(counts, names):
        return {**{name: counts[name] for name in names},
                "total": sum(counts[name] for name in names)}

    def told(self, counts, rules, days, accounts, refreshes, ended):
        has_lifetimes = bool(set(LIFETIMES) & set(self.policy))
        result = {
            "sign_ins": self.row(counts, OUTCOMES),
            "rules": {name: self.row(one, REFRESHES if name in LIFETIMES else OUTCOMES)
                      for name, one in rules.items()},
            "days": [{**self.row(one, OUTCOMES), "day": day,
                      **({"sessions_would_have_ended": one["ended"]} if has_lifetimes else {})}
                     for day, one in sorted(days.items())],
        }
        rule = self.policy.get("require_second_factor", {})
        named = {part: [{"name": name, "sign_ins": self.named[part, name]} for name in rule[part]]
                 for part in ("clients", "roles") if part in rule}
        if named:
            result["second_factor_of"] = named
        if has_lifetimes:
            result["refreshes"] = {
                **self.row(refreshes, REFRESHES), "sessions_ended": len(ended)}
        rows, perhaps = [], 0
        for account, entry in accounts.items():
            one = entry["counts"]
            refused, total = one["would_refuse"], sum(one.values())
            locked = refused == total
            perhaps += not locked and refused + one["unknown"] == total
            if refused:
                rows.append({
                    **self.row(one, OUTCOMES), "account": account, "locked_out": locked,
                    "rules": [name for name in RULES if name in entry["rules"]],
                    "first_position": entry["first"], "last_position": entry["last"]})
        rows.sort(key=lambda row: (not row["locked_out"], -row["would_refuse"], row["account"]))
        result["refused_accounts"] = rows
        result["accounts"] = {
            "total": len(accounts), "refused": len(rows),
            "locked_out": sum(row["locked_out"] for row in rows), "perhaps_locked_out": perhaps,
            "left_out": 0}
        return result
