"""Somebody in front of a real browser: types, clicks, looks, and tells what a page is like."""

import base64
import contextlib
import os
import pathlib
import time

import pinned
from browser import PATIENCE, Browser, Left, Refused

ARTEFACTS = pathlib.Path(
    os.environ.get("URD_ARTEFACTS")
    or pathlib.Path(__file__).resolve().parents[2] / ".build" / "artefacts" / "pages")
PHONE, DESKTOP = (390, 844), (1280, 800)

# What automatic checks can tell of WCAG 2.2, level AA, on the page as it is drawn.
LOOK = r"""() => {
    const found = [];
    const parts = (colour) => (colour.match(/[\d.]+/g) || []).map(Number);
    const linear = (byte) => byte <= 10.31475 ? byte / 3294.6 : ((byte / 255 + .055) / 1.055) ** 2.4;
    const luminance = ([r, g, b]) => .2126 * linear(r) + .7152 * linear(g) + .0722 * linear(b);
    const ground = (element) => {
        for (let at = element; at; at = at.parentElement) {
            const colour = parts(getComputedStyle(at).backgroundColor);
            if (colour.length === 3 || colour[3] === 1) return colour.slice(0, 3);
        }
        return [255, 255, 255];
    };
    const seen = (element) => element.checkVisibility({checkVisibilityCSS: true});
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const element = walker.currentNode.parentElement;
        if (!walker.currentNode.textContent.trim() || !seen(element)) continue;
        const style = getComputedStyle(element);
        const [one, two] = [luminance(parts(style.color)), luminance(ground(element))];
        const contrast = (Math.max(one, two) + .05) / (Math.min(one, two) + .05);
        const size = parseFloat(style.fontSize);
        const isLarge = size >= 24 || size >= 18.66 && Number(style.fontWeight) >= 700;
        if (contrast < (isLarge ? 3 : 4.5))
            found.push(`contrast ${contrast.toFixed(2)}: ${walker.currentNode.textContent.trim()}`);
    }
    for (const input of document.querySelectorAll("input:not([type=hidden]),select,textarea"))
        if (!input.labels.length && !input.getAttribute("aria-label"))
            found.push(`no label: ${input.outerHTML}`);
    for (const control of document.querySelectorAll("button,a[href],summary")) {
        const name = control.getAttribute("aria-label") || control.textContent;
        if (!name.trim()) found.push(`no name: ${control.outerHTML}`);
        const box = control.getBoundingClientRect();
        const isWithin = control.closest("p,.links");
        if (seen(control) && !control.classList.contains("skip") && !isWithin
            && (box.height < 24 || box.width < 24))
            found.push(`too small: ${control.outerHTML}`);
    }
    for (const image of document.images)
        if (!image.hasAttribute("alt")) found.push(`no alternative: ${image.outerHTML}`);
    const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
    if (new Set(ids).size !== ids.length) found.push(`ids twice: ${ids}`);
    const levels = [...document.querySelectorAll("h1,h2,h3,h4")].map((h) => Number(h.tagName[1]));
    if (levels.filter((level) => level === 1).length !== 1) found.push(`headings: ${levels}`);
    levels.forEach((level, at) => {
        if (at && level > levels[at - 1] + 1) found.push(`headings: ${levels}`);
    });
    if (!["en", "de"].includes(document.documentElement.lang)) found.push("no language");
    if (!document.title) found.push("no title");
    for (const mark of ["main", "header"])
        if (document.querySelectorAll(mark).length !== 1) found.push(`no one ${mark}`);
    if (document.documentElement.scrollWidth > document.documentElement.clientWidth)
        found.push(`wider than the window: ${document.documentElement.scrollWidth}`);
    return found;
}"""

# The accessibility rules that others maintain, in the version that requirements.txt names.
AXE = pinned.FOLDER / "axe_playwright_python" / "axe.min.js"
RUN_AXE = """async () => {
    const found = await axe.run(document, {runOnly: {type: "tag", values: [
        "wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice"]}});
    if (found.passes.length < 10) return ["axe saw nothing"];
    return found.violations.flatMap((rule) => rule.nodes.map((node) =>
        `${rule.id}: ${node.html}: ${node.failureSummary}`));
}"""

FOCUSABLE = """() => [...document.querySelectorAll("a[href],button,input:not([type=hidden]),summary")]
    .filter((element) => element.checkVisibility() && !element.disabled)
    .map((element) => element.outerHTML)"""
FOCUSED = """() => {
    const element = document.activeElement;
    const style = getComputedStyle(element);
    return [element.outerHTML, style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2];
}"""

SETTLE = """async () => {
    // A browser that shows nothing new may draw no frame at all.
    const frame = () => new Promise((done) => {
        requestAnimationFrame(done);
        setTimeout(done, 500);
    });
    await frame(); await frame();
    document.getAnimations()
        .filter((animation) => Number.isFinite(animation.effect.getComputedTiming().endTime))
        .forEach((animation) => animation.finish());
}"""


class Reader:
    """One person with one browser, at a site."""

    def __init__(self, site):
        self.site = site
        self.browser = Browser("about:blank", origin="null")
        self.browser.call("Page.enable")
        self.browser.call("Network.enable")
        self.size(DESKTOP)

    def close(self):
        self.browser.close()

    def size(self, size, mobile=False):
        self.browser.call(
            "Emulation.setDeviceMetricsOverride", width=size[0], height=size[1],
            deviceScaleFactor=2 if mobile else 1, mobile=mobile)

    def scheme(self, name):
        self.browser.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": name}])

    def text_size(self, factor):
        """As somebody sets it in the browser who needs larger letters: 16 pixels are usual."""
        self.browser.call("Page.setFontSizes", fontSizes={
            "standard": int(16 * factor), "fixed": int(13 * factor)})

    def language(self, name):
        self.browser.call("Network.setExtraHTTPHeaders", headers={"Accept-Language": name})

    def go(self, path):
        self.leave(lambda: self.browser.call(
            "Page.navigate", url=path if "://" in path else self.site + path))

    def leave(self, act):
        """Does what leads to another page, and waits until that is there. A page may be gone before it has told
        what was done."""
        self.browser.run("() => { window.here = true }")
        with contextlib.suppress(Left):
            act()
        self.until("() => !window.here && document.readyState === 'complete'")

    def until(self, condition):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            # What throws is not so yet: of a page that is only half there, say.
            with contextlib.suppress(Left, Refused):
                if self.browser.run(condition):
                    return
            time.sleep(0.05)
        raise AssertionError(f"still at {self.place()}: {self.text()}")

    def fill(self, name, text):
        self.browser.run(
            """(name, text) => {
                const input = document.querySelector(`input[name="${name}"]:not([type=hidden])`);
                input.focus(); input.value = text;
            }""", name, text)

    def press(self, text):
        """Clicks what says this, and waits for the page that it leads to."""
        self.leave(lambda: self.click(text))

    def click(self, text):
        """Clicks what says this. A page that goes at once says no more: then it was clicked."""
        found = True
        with contextlib.suppress(Left):
            found = self.browser.run(
                """(text) => {
                    const all = [...document.querySelectorAll("button,a,summary")];
                    const one = all.find((element) => element.checkVisibility()
                        && element.textContent.trim() === text);
                    if (one) one.click();
                    return Boolean(one);
                }""", text)
        assert found, f"nothing says {text!r}: {self.text()}"

    def send(self, selector):
        """Presses the button of this selector though the browser itself finds fault with its form."""
        self.leave(lambda: self.browser.run("""(selector) => {
            const button = document.querySelector(selector);
            if (button.form) button.form.noValidate = true;
            button.click();
        }""", selector))

    def text(self):
        return self.browser.run("() => document.body.innerText")

    def place(self):
        return self.browser.run("() => location.pathname + location.search")

    def key(self, name, code):
        for kind in ("keyDown", "keyUp"):
            self.browser.call(
                "Input.dispatchKeyEvent", type=kind, key=name, code=name,
                windowsVirtualKeyCode=code, **({"text": "\r"} if name == "Enter" and
                                               kind == "keyDown" else {}))

    def type(self, text):
        """Into what has the focus. A page's own focus comes with its first frame, which is drawn after it is
        loaded."""
        self.until("() => document.activeElement.matches('input,textarea')")
        self.browser.call("Input.insertText", text=text)

    def faults(self):
        """What is wrong with the page for whoever sees badly, or has no mouse."""
        return self.browser.run(LOOK) + self.axe() + self.keyboard()

    def axe(self):
        assert AXE.exists(), "axe is not there: deploy/install-packages.sh test"
        if not self.browser.run("() => Boolean(window.axe)"):
            # What the DevTools evaluate is not held to the page's policy: no page runs it for itself.
            self.browser.call("Runtime.evaluate", expression=AXE.read_text(encoding="utf-8"))
        return self.browser.run(RUN_AXE)

    def keyboard(self):
        expected = self.browser.run(FOCUSABLE)
        self.browser.run(
            "() => { document.activeElement.blur(); getSelection().removeAllRanges();"
            " document.body.tabIndex = -1; document.body.focus();"
            " document.body.removeAttribute('tabindex') }")
        met, found = [], []
        for _ in expected:
            self.key("Tab", 9)
            element, is_visible = self.browser.run(FOCUSED)
            met.append(element)
            if not is_visible:
                found.append(f"nobody sees the focus: {element}")
        if met != expected:
            found.append(f"focus goes {met} and not {expected}")
        return found

    def settle(self):
        """Colours move for a moment, and on a busy machine for longer: waits until all stand."""
        self.browser.run(SETTLE)

    def look(self, test, name):
        """Nothing is wrong with the page, in either colour and at either width; and how it looks."""
        for size in (DESKTOP, PHONE):
            for scheme in ("light", "dark"):
                self.size(size, mobile=size == PHONE)
                self.scheme(scheme)
                self.settle()
                test.assertEqual(self.faults(), [], f"{name} {size} {scheme}")
        self.shoot(name)

    def shoot(self, name):
        """The page at the widths of a phone and a desk, in light and in dark."""
        ARTEFACTS.mkdir(parents=True, exist_ok=True)
        self.browser.run("() => document.activeElement.blur()")
        for width, size in (("phone", PHONE), ("desktop", DESKTOP)):
            self.size(size, mobile=width == "phone")
            for scheme in ("light", "dark"):
                self.scheme(scheme)
                self.settle()
                data = self.browser.call(
                    "Page.captureScreenshot", format="png",
                    captureBeyondViewport=True)["data"]
                (ARTEFACTS / f"{name}-{width}-{scheme}.png").write_bytes(base64.b64decode(data))
        self.size(DESKTOP)
        self.scheme("light")
