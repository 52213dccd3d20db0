"""Where the controls of a page are: measured boxes, at each width and size of text that people have."""

# Pixels of CSS. Controls that are nearer are pressed by mistake.
GAP, TARGET = 4, 24

# Running text is exempt: a link whose parent has words of its own beside it is part of a sentence, and
# is as high as its line. So are controls within one another, and what stands beside the window until
# it has the focus. A box to tick is pressed on its label as well.
BOXES = r"""(width, gap, target) => {
    const found = [];
    const page = document.documentElement;
    // A phone makes its window as wide as what is in it.
    if (page.scrollWidth > width) found.push(`scrolls sideways: ${page.scrollWidth} in ${width}`);
    const isInText = (element) => element.tagName === "A"
        && getComputedStyle(element).display === "inline"
        && [...element.parentElement.childNodes].some(
            (node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim());
    const boxOf = (element) => {
        const box = element.getBoundingClientRect();
        if (!["checkbox", "radio"].includes(element.type) || !element.labels.length) return box;
        const label = element.labels[0].getBoundingClientRect();
        const left = Math.min(box.left, label.left), top = Math.min(box.top, label.top);
        return new DOMRect(left, top, Math.max(box.right, label.right) - left,
            Math.max(box.bottom, label.bottom) - top);
    };
    const named = (element) => {
        const words = element.getAttribute("aria-label") || element.labels?.[0]?.textContent
            || element.textContent || element.name;
        return `${element.tagName.toLowerCase()} "${words.trim().replace(/\s+/g, " ").slice(0, 40)}"`;
    };
    const controls = [...document.querySelectorAll(
        "a[href],button,input:not([type=hidden]),select,textarea,summary")]
        .filter((one) => one.checkVisibility({checkVisibilityCSS: true})
            && !one.classList.contains("skip") && !isInText(one))
        .map((element) => ({element, box: boxOf(element)}))
        .filter(({box}) => box.width > 0 && box.height > 0);
    // A word that stands in two lines of a button without a hyphen is read as two.
    const words = (element) => {
        const split = [];
        const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) {
            for (const word of walker.currentNode.textContent.matchAll(/[\p{L}\p{N}]+/gu)) {
                const range = document.createRange();
                range.setStart(walker.currentNode, word.index);
                range.setEnd(walker.currentNode, word.index + word[0].length);
                const tops = new Set([...range.getClientRects()].map((line) => Math.round(line.top)));
                // The hyphen that a soft one is drawn as, on the line before, counts for what follows it.
                const isPart = walker.currentNode.textContent[word.index - 1] === "\u00ad";
                if (tops.size > (isPart ? 2 : 1)) split.push(word[0]);
            }
        }
        return split;
    };
    for (const {element} of controls.filter(({element}) => element.matches("button,.button,summary")))
        for (const word of words(element))
            found.push(`${named(element)} breaks in "${word}"`);
    controls.forEach(({element, box}, at) => {
        // Half a pixel is lost where a height in rem is drawn.
        if (box.height < target - .5)
            found.push(`${named(element)} is ${box.height.toFixed(0)} px high`);
        for (const other of controls.slice(at + 1)) {
            if (element.contains(other.element) || other.element.contains(element)) continue;
            const across = Math.max(other.box.left - box.right, box.left - other.box.right);
            const down = Math.max(other.box.top - box.bottom, box.top - other.box.bottom);
            const distance = Math.max(across, down);
            if (distance < gap - .5)
                found.push(`${named(element)} and ${named(other.element)}: ${distance.toFixed(0)} px`);
        }
    });
    return found;
}"""

PHONE, NARROW, DESKTOP = (390, 844), (360, 740), (1280, 800)
# What a reader has: the window, the colours, and how much larger than usual text is.
READERS = {
    "light": (DESKTOP, "light", 1), "dark": (DESKTOP, "dark", 1),
    "phone": (PHONE, "light", 1), "phone, text at 200 %": (PHONE, "light", 2),
    "narrow phone, text at 200 %": (NARROW, "light", 2)}


class Boxes:
    """Looks at each page that a reader comes to, and keeps what is wrong by the page's name."""

    def __init__(self, reader):
        self.reader = reader
        self.found = []
        self.names = []

    def look(self, name):
        self.names.append(name)
        for who, (size, scheme, text) in READERS.items():
            self.reader.size(size, mobile=size != DESKTOP)
            self.reader.scheme(scheme)
            self.reader.text_size(text)
            for fault in self.reader.browser.run(BOXES, size[0], GAP, TARGET):
                self.found.append(f"{name}, {who}: {fault}")
        self.reader.text_size(1)
        self.reader.size(DESKTOP)
        self.reader.scheme("light")
