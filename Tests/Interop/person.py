"""Somebody with a browser that runs no scripts: keeps cookies, fills forms in, follows where they lead."""

import html
import html.parser
import http.client
import json
import re
import urllib.parse
import urllib.request
import uuid

from phone import code, inbox
from urd_process import PATIENCE


def fetch(url):
    with urllib.request.urlopen(url, timeout=30) as answer:
        return json.load(answer)


class Form(html.parser.HTMLParser):
    """The forms of a page, with what would be sent."""

    def __init__(self, page):
        super().__init__()
        self.forms = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "form":
            self.forms.append((attributes.get("action"), {}))
        elif tag == "input" and self.forms and attributes.get("name"):
            self.forms[-1][1][attributes["name"]] = attributes.get("value", "")


class Person:
    def __init__(self, urd, site):
        self.urd = urd
        self.email = f"{uuid.uuid4().hex[:12]}@example.org"
        self.site = site
        # Cookies by host: browsers do not tell ports apart.
        self.cookies = {}

    def call(self, method, url, form=None, **headers):
        url = urllib.parse.urljoin(self.site, url)
        place = urllib.parse.urlsplit(url)
        jar = self.cookies.setdefault(place.hostname, {})
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        headers.setdefault("Accept", "text/html,*/*;q=0.8")
        if url.startswith(self.site):
            headers.setdefault("Sec-Fetch-Site", "same-origin")
        if jar:
            headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in jar.items())
        body = None
        if form is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
            headers.setdefault("Origin", self.site)
            body = urllib.parse.urlencode(form)
        connection = http.client.HTTPConnection(place.hostname, place.port, timeout=PATIENCE)
        try:
            target = (place.path or "/") + ("?" + place.query if place.query else "")
            connection.request(method, target, body=body, headers=headers)
            answer = connection.getresponse()
            page = answer.read().decode()
        finally:
            connection.close()
        for line in answer.headers.get_all("Set-Cookie") or []:
            name, value = line.split(";")[0].split("=", 1)
            jar[name] = value
            if "Max-Age=0" in line or not value:
                jar.pop(name, None)
        return answer.status, answer.headers.get("Location"), page

    def go(self, url, allows=True):
        """Follows a link through all pages, until it leads away. Returns to where, and past what."""
        past = []
        method, form = "GET", None
        for _ in range(20):
            status, place, page = self.call(method, url, form)
            method, form = "GET", None
            if place:
                url = urllib.parse.urljoin(self.site, place)
                if not url.startswith(self.site):
                    return url, past
                continue
            onward = re.search(r'<a href="([^"]+)" class="button second">', page or "")
            if status == 400 and onward:
                # An app that nobody has checked: its person goes on all the same.
                return html.unescape(onward[1]), past
            assert status == 200, (status, url, page)
            path = urllib.parse.urlsplit(url).path
            past.append(path)
            if path == "/logged-out" or path == "/device" and "done=" in url:
                return url, past
            method = "POST"
            url, form = self.fill(path, Form(page).forms, allows)
        raise AssertionError(f"nowhere: {past}")

    def visit(self, url, allows=True):
        """Goes to a site of somebody else's and wherever that leads. Returns what it shows there."""
        for _ in range(20):
            if url.startswith(self.site):
                url, _ = self.go(url, allows)
            if url.startswith(self.site):
                return 200, url, ""
            status, place, page = self.call("GET", url)
            if not place:
                return status, url, page
            url = urllib.parse.urljoin(url, place)
        raise AssertionError(f"round and round: {url}")

    def fill(self, path, forms, allows):
        for action, members in forms:
            place = urllib.parse.urlsplit(action).path
            if path == "/login" and "email" in members and place == "/login":
                self.before = len(inbox(self.urd, self.email))
                return action, {**members, "email": self.email}
            if place == "/login/code":
                return action, {**members, "code": code(self.urd, self.email, self.before)}
            if place == "/consent":
                return action, {**members, "decision": "allow" if allows else "deny"}
            if place == "/device" and members.get("user_code"):
                return action, {**members, "decision": "allow" if allows else "deny"}
            if place == "/logout":
                return action, members
        raise AssertionError(f"no form that fits at {path}: {forms}")
