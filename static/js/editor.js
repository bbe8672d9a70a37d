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

  const number = () => {
    const marked = marks();
    const lines = text.value.split("\n").map((_, index) => {
      const line = document.createElement("span");
      line.textContent = index + 1;
      if (marked.has(index + 1)) line.className = `is-${marked.get(index + 1)}`;
      return line;
    });
    gutter.replaceChildren(...lines);
    follow();
  };
  const follow = () => { gutter.scrollTop = text.scrollTop; };

  const go = (line) => {
    const lines = text.value.split("\n");
    const start = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
    const height = parseFloat(getComputedStyle(text).lineHeight);
    text.focus();
    text.setSelectionRange(start, start + (lines[line - 1] ?? "").length);
    text.scrollTop = Math.max(0, (line - 4) * height);
  };

  text.addEventListener("input", number);
  text.addEventListener("scroll", follow);
  document.addEventListener("htmx:afterSettle", number);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("#checks a[data-line]");
    if (!link) return;
    event.preventDefault();
    go(Number(link.dataset.line));
  });
  number();
})();
