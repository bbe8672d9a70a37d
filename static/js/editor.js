// A plain textarea with the numbers of its lines beside it. Keys do what they do anywhere else:
// Tab leaves, and nothing moves the cursor but the one who types.
(() => {
  "use strict";
  const editor = document.querySelector(".editor");
  if (!editor) return;
  const text = editor.querySelector("textarea");
  const gutter = editor.querySelector(".editor__lines");

  const marks = () => {
    const worst = new Map();
    for (const link of document.querySelectorAll("#checks [data-line]")) {
      const line = Number(link.dataset.line);
      if (worst.get(line) !== "error") worst.set(line, link.dataset.severity);
    }
    return worst;
  };

  const height = () => parseFloat(getComputedStyle(text).lineHeight);

  // Only the lines in sight: a long document has thousands.
  const number = () => {
    const marked = marks();
    const first = Math.floor(text.scrollTop / height());
    // One more than fits, so that the numbers can be moved by a part of a line as the text is.
    const inSight = Math.ceil(text.clientHeight / height()) + 1;
    const count = Math.min(text.value.split("\n").length - first, inSight);
    const lines = Array.from({ length: count }, (_, index) => {
      const line = document.createElement("span");
      line.textContent = first + index + 1;
      if (marked.has(first + index + 1)) line.className = `is-${marked.get(first + index + 1)}`;
      return line;
    });
    gutter.replaceChildren(...lines);
    gutter.scrollTop = text.scrollTop - first * height();
  };

  const go = (line) => {
    const lines = text.value.split("\n");
    const start = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
    text.focus();
    text.setSelectionRange(start, start + (lines[line - 1] ?? "").length);
    text.scrollTop = Math.max(0, (line - 4) * height());
  };

  text.addEventListener("input", number);
  text.addEventListener("scroll", number);
  new ResizeObserver(number).observe(text);
  document.addEventListener("htmx:afterSettle", number);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("#checks a[data-line]");
    if (!link) return;
    event.preventDefault();
    go(Number(link.dataset.line));
  });
  number();
})();
