// Draws each .plot on the page from the JSON beside it. Plotly (5 MB) is fetched only when a plot
// comes into view; until then, and without JavaScript, the plot's table is the whole answer.
(() => {
  "use strict";
  const source = document.currentScript.dataset.plotly;
  let loading = null;

  const loadPlotly = () => {
    loading ??= new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = source;
      script.onload = () => resolve(window.Plotly);
      script.onerror = () => reject(new Error("Plotly did not load"));
      document.head.append(script);
    });
    return loading;
  };

  const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // The page's own colours, so that a picture follows light and dark.
  const themed = (layout = {}, isNarrow = false) => {
    const axis = { gridcolor: token("--line"), linecolor: token("--line-strong"), zerolinecolor: token("--line") };
    const merged = {
      ...layout,
      autosize: true,
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      margin: { l: isNarrow ? 40 : 64, r: 12, t: 16, b: 48, ...layout.margin },
      font: { family: token("--text"), size: isNarrow ? 11 : 13, color: token("--ink") },
      hoverlabel: { bgcolor: token("--surface"), bordercolor: token("--line-strong"), font: { color: token("--ink") } },
    };
    delete merged.template;
    for (const key of Object.keys(merged).filter((name) => /^[xy]axis\d*$/.test(name))) {
      merged[key] = { ...axis, automargin: true, ...merged[key] };
      if (isNarrow && key.startsWith("x")) merged[key].nticks = 4;
    }
    return merged;
  };

  // A figure may name a token of the page ("--pass") wherever it names a colour.
  const resolved = (value) => {
    if (typeof value === "string") return value.startsWith("--") ? token(value) : value;
    if (Array.isArray(value)) return value.map(resolved);
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolved(inner)]));
    }
    return value;
  };

  const draw = async (plot) => {
    const figure = resolved(JSON.parse(document.getElementById(plot.dataset.plot).textContent));
    const canvas = plot.querySelector(".plot__canvas");
    try {
      const Plotly = await loadPlotly();
      canvas.hidden = false;
      await Plotly.react(canvas, figure.data, themed(figure.layout, canvas.clientWidth < 480), { displayModeBar: false, responsive: true });
      if (!plot.dataset.drawn) plot.querySelector(".plot__table").open = false;
      plot.dataset.drawn = "yes";
    } catch (error) {
      canvas.hidden = true; // the table stays open and says the same
      console.warn(error);
    }
  };

  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries.filter((item) => item.isIntersecting)) {
      seen.unobserve(entry.target);
      draw(entry.target);
    }
  }, { rootMargin: "200px" });

  const watch = (root) => root.querySelectorAll(".plot:not([data-drawn])").forEach((plot) => seen.observe(plot));
  const redraw = () => document.querySelectorAll(".plot[data-drawn]").forEach(draw);

  document.addEventListener("DOMContentLoaded", () => watch(document));
  document.addEventListener("htmx:load", (event) => watch(event.target.parentElement ?? document));
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  window.matchMedia("(max-width: 40rem)").addEventListener("change", redraw);
})();
