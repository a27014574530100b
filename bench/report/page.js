/* page.js - draws the report from the JSON that is embedded in the page.
 *
 * Everything is computed once, from the cells; a plot is redrawn when its
 * selectors, the legend or the width change. A missing figure is null and is
 * not drawn. Every number is shown through one of the formatters below, which
 * accept null.
 */
"use strict";
(function() {
const $ = (id) => document.getElementById(id);
const raw = $("data").textContent;
const data = parse();
if (data === null)
    return;
const list = (x) => (Array.isArray(x) ? x : []);
const good = (x) => typeof x === "number" && Number.isFinite(x) && x > 0;
const known = (x) => x !== null && x !== undefined && x !== "";
const unique = (xs) => [...new Set(xs)];
const up = (a, b) => a - b;

/* The run; null, and a message in the page, if the text is damaged. */
function parse() {
    let wrong = "it is not an object";
    try {
        const value = JSON.parse(raw);
        if (value && typeof value === "object" && !Array.isArray(value))
            return value;
    } catch (error) {
        wrong = error.message;
    }
    theme();
    $("headline").textContent = "The data in this page are damaged.";
    $("notice").textContent =
        `They cannot be drawn: ${wrong}. Write the page again with ` +
        "\u201clawn bench --from FILE --report PAGE\u201d from complete JSON.";
    $("notice").hidden = false;
    for (const part of document.querySelectorAll("nav, .legend, main"))
        part.remove();
    document.documentElement.dataset.ready = "true";
    return null;
}

/* Numbers as people read them. */
const DASH = "\u2013";
const TIMES = "\u2009\u00d7";
const count = (x) =>
    (typeof x === "number" && Number.isFinite(x) ? x.toLocaleString("en-US") :
                                                   DASH);
const digits = (x) =>
    (x >= 100    ? x.toFixed(0) :
         x >= 10 ? x.toFixed(1) :
                   x.toFixed(2));
function ns(x) {
    if (!good(x))
        return DASH;
    for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["\u00b5s", 1e3]])
        if (x >= size * 0.9995)
            return digits(x / size) + "\u2009" + unit;
    return digits(x) + "\u2009ns";
}
const round = (x) => String(Number(x.toPrecision(3)));
function axisNs(x) {
    return x >= 1e9 ? round(x / 1e9) + " s" :
        x >= 1e6    ? round(x / 1e6) + " ms" :
        x >= 1e3    ? round(x / 1e3) + " \u00b5s" :
                      round(x) + " ns";
}
const short = (x) =>
    (x >= 1e9     ? round(x / 1e9) + "G" :
         x >= 1e6 ? round(x / 1e6) + "M" :
         x >= 1e3 ? round(x / 1e3) + "k" :
                    round(x));
const ratio = (x) =>
    (good(x) ? (x >= 1000 ? Math.round(x).toLocaleString("en-US") : digits(x)) :
               DASH);
const bytes = (x) =>
    (good(x) ? (x >= 100 ? x.toFixed(0) : x.toFixed(1).replace(/\.0$/, "")) :
               DASH);
function size(x) {
    if (!good(x))
        return null;
    for (const [unit, of] of [
             ["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]])
        if (x >= of)
            return round(x / of) + " " + unit;
    return x + " bytes";
}
const plural = (n, one, many) =>
    count(n) + " " + (n === 1 ? one : many || one + "s");
const tName = (t, n) => (known(t) ? (t === n ? "N" : count(t)) : "its own");
const geomean = (xs) =>
    (xs.length ? Math.exp(xs.reduce((s, x) => s + Math.log(x), 0) / xs.length) :
                 null);
function middle(xs) {
    const s = [...xs].sort(up);
    return s.length ? (s[(s.length - 1) >> 1] + s[s.length >> 1]) / 2 : null;
}

/* Elements: h("p", {class: "lead"}, "text", node, ...). */
const SVG = "http://www.w3.org/2000/svg";
function fill(e, attributes, children) {
    for (const k in attributes)
        if (attributes[k] !== null && attributes[k] !== undefined &&
            attributes[k] !== false)
            e.setAttribute(k, attributes[k]);
    for (const c of children.flat())
        if (known(c))
            e.append(c);
    return e;
}
const h = (name, attributes, ...children) =>
    fill(document.createElement(name), attributes, children);
const s = (name, attributes, ...children) =>
    fill(document.createElementNS(SVG, name), attributes, children);

/* The contenders; each gets a color, a marker and a dash. lawn has its own
 * color; libraries have open markers and dashed lines, the floor is dotted. */
const contenders = list(data.contenders).map((c) => ({...c}));
const byName = new Map(contenders.map((c) => [c.name, c]));
for (const cell of list(data.cells))
    for (const row of list(cell.rows))
        if (!byName.has(row.contender)) {
            const c = {
                name: row.contender,
                title: row.contender,
                kind: "paper"
            };
            contenders.push(c);
            byName.set(c.name, c);
        }
const lawn = contenders.find((c) => c.kind === "ours" && c.name === "lawn") ||
    contenders.find((c) => c.kind === "ours") || null;
let styled = 0;
for (const c of contenders) {
    c.on = true;
    c.title = c.title || c.name;
    if (c === lawn)
        Object.assign(
            c,
            {color: "var(--k0)", shape: 0, open: false, dash: null, rank: 0});
    else if (c.kind === "floor")
        Object.assign(c, {
            color: "var(--floor)",
            shape: 1,
            open: true,
            dash: "1 5",
            rank: 3
        });
    else {
        Object.assign(c, {
            color: "var(--k" + ((styled % 8) + 1) + ")",
            shape: (styled % 5) + 1,
            open: c.kind === "peer",
            dash: c.kind === "peer" ? "6 4" :
                styled >= 8         ? "12 3" :
                                      null,
            rank: c.kind === "peer" ? 2 : 1
        });
        styled++;
    }
}
contenders.sort((a, b) => a.rank - b.rank);
const competes = (c) => c.kind !== "floor";
const KINDS = [
    ["ours", "Ours"], ["paper", "Schemes"], ["peer", "Libraries"],
    ["floor", "Floor"]
];

const workloads = list(data.workloads).map((w) => ({...w}));
for (const cell of list(data.cells))
    if (!workloads.some((w) => w.name === cell.workload))
        workloads.push({name: cell.workload, title: cell.workload});
const wTitle = (name) => {
    const w = workloads.find((x) => x.name === name);
    return w && known(w.title) && w.title !== name ? name + " " + w.title :
                                                     name;
};

/* The cells: rows by contender, the best of all that compete, the best of the
 * others, and the floor. */
const cells = list(data.cells).map((cell) => {
    const rows = new Map();
    for (const r of list(cell.rows)) {
        const runs = list(r.ns).filter(good).sort(up);
        const median = good(r.median) ? r.median : middle(runs);
        rows.set(r.contender, {
            c: byName.get(r.contender),
            raw: r,
            median,
            runs: runs.length,
            lo: runs.length ? runs[0] : median,
            hi: runs.length ? runs[runs.length - 1] : median,
            bytes: good(r.bytes) ? r.bytes : null,
            tail: r.tail || null,
            why: median === null ? r.why || "no figure" : null
        });
    }
    const timed = [...rows.values()].filter((r) => r.median !== null);
    const best = (rs) =>
        rs.reduce((a, b) => (!a || b.median < a.median ? b : a), null);
    return {
        w: cell.workload,
        n: cell.n,
        t: known(cell.t) ? cell.t : null,
        rows,
        ours: (lawn && rows.get(lawn.name)) || null,
        best: best(timed.filter((r) => competes(r.c))),
        other: best(timed.filter((r) => competes(r.c) && r.c.kind !== "ours")),
        floor: best(timed.filter((r) => !competes(r.c)))
    };
});
const timed = (cell) => cell.ours && cell.ours.median !== null;
const duels = cells.filter((c) => timed(c) && c.other);
const where = (c) =>
    wTitle(c.w) + ", N = " + count(c.n) + ", t = " + tName(c.t, c.n);

/* One tooltip for everything that has one. */
const tip = $("tip");
function tell(text, x, y) {
    const [first, ...rest] = text.split("\n");
    tip.replaceChildren(
        h("b", {}, first), rest.length ? "\n" + rest.join("\n") : "");
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const left =
        x + 16 + box.width > innerWidth - 8 ? x - 16 - box.width : x + 16;
    const top =
        y + 16 + box.height > innerHeight - 8 ? y - 16 - box.height : y + 16;
    tip.style.left =
        Math.max(8, Math.min(left, innerWidth - 8 - box.width)) + "px";
    tip.style.top = Math.max(8, top) + "px";
}
const hush = () => {
    tip.hidden = true;
};
function tellOf(e) {
    const box = e.getBoundingClientRect();
    tell(e.dataset.tip, box.left + box.width / 2, box.top + box.height / 2);
}
addEventListener("keydown", (e) => {
    if (e.key === "Escape")
        hush();
});
addEventListener("scroll", hush, {passive: true});

/* Makes a group of items one stop of the tab key. Within the group, the left and
 * right keys move along a series if there is one; the arrow keys otherwise move
 * to the nearest item. */
const ARROWS = {
    ArrowLeft: [-1, 0],
    ArrowRight: [1, 0],
    ArrowUp: [0, -1],
    ArrowDown: [0, 1]
};
function rove(box, selector) {
    const items = [...box.querySelectorAll(selector)];
    items.forEach((e, i) => e.setAttribute("tabindex", i ? "-1" : "0"));
    if (box.roves)
        return;
    box.roves = true;
    box.addEventListener("focusin", (e) => {
        const it = e.target.closest(selector);
        if (it && it.matches(":focus-visible"))
            tellOf(it);
    });
    box.addEventListener("focusout", hush);
    box.addEventListener("keydown", (event) => {
        const from = event.target.closest(selector);
        const way = ARROWS[event.key];
        if (!from || !way)
            return;
        event.preventDefault();
        const center = (e) => {
            const r = e.getBoundingClientRect();
            return [r.left + r.width / 2, r.top + r.height / 2];
        };
        const [x, y] = center(from);
        let to = null, least = Infinity;
        for (const e of box.querySelectorAll(selector)) {
            const [ex, ey] = center(e);
            const along = (ex - x) * way[0] + (ey - y) * way[1];
            if (e === from || along < 0.5)
                continue;
            if (way[0] && from.dataset.c && from.dataset.c !== e.dataset.c)
                continue;
            const aside =
                Math.abs((ex - x) * way[1]) + Math.abs((ey - y) * way[0]);
            const far = along + (way[0] && from.dataset.c ? 0 : 4 * aside);
            if (far < least) {
                least = far;
                to = e;
            }
        }
        if (to) {
            from.setAttribute("tabindex", "-1");
            to.setAttribute("tabindex", "0");
            to.focus();
        }
    });
}

/* Marks. */
const SHAPES = [
    (r) => `M${- r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${- 2 * r} 0z`,
    (r) => `M${- r * .88} ${- r * .88}h${r * 1.76}v${r * 1.76}h${- r * 1.76}z`,
    (r) => `M0 ${- r * 1.15}L${r * 1.1} ${r * .85}H${- r * 1.1}z`,
    (r) => `M0 ${- r * 1.25}L${r * 1.25} 0L0 ${r * 1.25}L${- r * 1.25} 0z`,
    (r) => `M0 ${r * 1.15}L${r * 1.1} ${- r * .85}H${- r * 1.1}z`,
    (r) => `M${- r} ${- r * .5}L${- r * .5} ${- r}L0 ${- r * .45}L${r * .5} ${
        - r}L${r} ${- r * .5}L${r * .45} 0L${r} ${r * .5}L${r * .5} ${r}L0 ${
        r * .45}L${- r * .5} ${r}L${- r} ${r * .5}L${- r * .45} 0z`,
];
const radius = (c) => (c === lawn ? 5.5 : 4.2);
const glyph = (c, r, shape) => s("path", {
    d: SHAPES[shape === undefined ? c.shape : shape](r || radius(c)),
    fill: c.open ? "var(--paper)" : c.color,
    stroke: c.color
});
function markAt(c, x, y, text, shape, r) {
    return s(
        "g", {
            class: "mark",
            "data-c": c.name,
            "data-tip": text,
            role: "img",
            "aria-label": text.replace(/\n/g, ", "),
            transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`
        },
        glyph(c, r, shape));
}
function swatch(c) {
    return s(
        "svg", {
            class: "swatch",
            viewBox: "-13 -7 26 14",
            width: 26,
            height: 14,
            "aria-hidden": "true"
        },
        s("path", {
            d: "M-13 0H13",
            stroke: c.color,
            "stroke-width": c === lawn ? 3.2 : 1.6,
            "stroke-dasharray": c.dash,
            "stroke-linecap": c.kind === "floor" ? "round" : null
        }),
        glyph(c, c === lawn ? 5 : 4));
}

/* A log scale from [lo, hi] to [a, b], and its ticks. */
function logScale(values, a, b, atLeast) {
    let lo = Math.min(...values), hi = Math.max(...values);
    if (hi / lo < atLeast) {
        const m = Math.sqrt(atLeast / (hi / lo));
        lo /= m;
        hi *= m;
    }
    const l = Math.log(lo), k = (b - a) / (Math.log(hi) - l);
    const f = (v) => a + (Math.log(v) - l) * k;
    f.lo = lo;
    f.hi = hi;
    f.ticks = () => {
        const out = [];
        const steps = hi / lo > 2000 ? [1] :
            hi / lo > 25             ? [1, 3] :
            hi / lo > 6              ? [1, 2, 5] :
                                       [1, 1.5, 2, 3, 4, 5, 7];
        for (let e = Math.floor(Math.log10(lo)); e <= Math.ceil(Math.log10(hi));
             e++)
            for (const m of steps) {
                const v = Number((m * 10 ** e).toPrecision(2));
                if (v >= lo * .999 && v <= hi * 1.001)
                    out.push(v);
            }
        return out;
    };
    return f;
}

/* Moves labels apart, as little as possible: those that touch form blocks. */
function spread(ys, gap, top, bottom) {
    const order = ys.map((y, i) => i).sort((i, j) => ys[i] - ys[j]);
    gap = Math.min(gap, (bottom - top) / Math.max(1, ys.length - 1));
    const blocks = [];
    for (const i of order) {
        blocks.push({sum: ys[i], items: [i], at: ys[i]});
        for (;;) {
            const b = blocks[blocks.length - 1], a = blocks[blocks.length - 2];
            b.at = Math.max(
                top,
                Math.min(
                    b.sum / b.items.length - gap * (b.items.length - 1) / 2,
                    bottom - gap * (b.items.length - 1)));
            if (!a || a.at + gap * a.items.length <= b.at)
                break;
            a.items.push(...b.items);
            a.sum += b.sum;
            blocks.pop();
        }
    }
    const out = [];
    for (const b of blocks)
        b.items.forEach((i, k) => {
            out[i] = b.at + k * gap;
        });
    return out;
}

/* Shared by all plots: the drawing, its tooltips, and highlighting a series. */
const none = (text) => h("p", {class: "none"}, text);
function show(figure, width, height, label, children, caption) {
    const svg =
        s("svg", {
            viewBox: `0 0 ${width} ${height}`,
            width,
            height,
            role: "group",
            "aria-label": label
        },
          ...children);
    figure.replaceChildren(svg, caption ? h("figcaption", {}, caption) : "");
    rove(svg, ".mark");
    const marks = [...svg.querySelectorAll(".mark")].map((e) => {
        const m = e.transform.baseVal[0].matrix;
        return {e, x: m.e, y: m.f};
    });
    let near = null;
    const leave = () => {
        if (near) {
            near.classList.remove("near");
            near = null;
        }
        light(svg, null);
        hush();
    };
    const point = (event) => {
        const box = svg.getBoundingClientRect();
        const x = (event.clientX - box.left) * width / box.width,
              y = (event.clientY - box.top) * height / box.height;
        let found = null, least = 32 * 32;
        for (const m of marks) {
            const d = (m.x - x) ** 2 + (m.y - y) ** 2;
            if (d < least) {
                least = d;
                found = m.e;
            }
        }
        if (!found)
            return leave();
        if (near !== found) {
            if (near)
                near.classList.remove("near");
            near = found;
            near.classList.add("near");
            light(svg, near.dataset.c);
        }
        tell(near.dataset.tip, event.clientX, event.clientY);
    };
    svg.addEventListener("pointermove", point);
    svg.addEventListener("pointerdown", point);
    svg.addEventListener("pointerleave", leave);
}
function light(svg, name) {
    svg.classList.toggle("focus", name !== null);
    for (const e of svg.querySelectorAll(".series"))
        e.classList.toggle("lit", e.dataset.c === name);
}
let printing = false;
const widthOf = (figure) =>
    (printing ? 700 : Math.max(280, Math.round(figure.clientWidth) || 1032));
const heightOf = (width) => (printing ? 300 : width < 560 ? 380 : 460);
const told = (r, cell) => `${r.c.title}: ${ns(r.median)}\n` +
    (r.runs > 1 ? `${ns(r.lo)} to ${ns(r.hi)} in ${r.runs} runs\n` : "") +
    where(cell) +
    (cell.best && competes(r.c) ?
         `\n${ratio(r.median / cell.best.median)}${TIMES} the best` +
             (cell.best.c === r.c ? "" : ` (${cell.best.c.name})`) :
                                    "") +
    (r.bytes ? `\n${bytes(r.bytes)} bytes per timer` : "");

/* Lines over x, which is "n" or "t"; rows given up are at the upper edge. */
function lines(figure, chosen, x, title) {
    const shown = contenders.filter((c) => c.on);
    const series =
        shown
            .map((c) => ({
                     c,
                     points: chosen.filter((cell) => cell.rows.has(c.name))
                                 .map((cell) => ({
                                          cell,
                                          x: cell[x],
                                          r: cell.rows.get(c.name)
                                      }))
                                 .sort((a, b) => a.x - b.x)
                 }))
            .filter((one) => one.points.length);
    const drawn =
        series.flatMap((one) => one.points).filter((p) => p.r.median !== null);
    const lost =
        series.flatMap((one) => one.points.filter((p) => p.r.median === null));
    if (!drawn.length)
        return figure.replaceChildren(none(
            chosen.length ?
                "No figures here for the contenders that are shown." :
                "Nothing was measured here."));
    if (unique(chosen.map((c) => c[x])).length === 1)
        return ranking(
            figure, chosen[0], drawn.map((p) => p.r), lost.map((p) => p.r),
            title);
    const W = widthOf(figure), narrow = W < 560, H = heightOf(W);
    const m = {l: 52, r: narrow ? 82 : 104, t: lost.length ? 46 : 26, b: 46};
    const fx =
        logScale(drawn.concat(lost).map((p) => p.x), m.l + 22, W - m.r - 14, 4);
    const fy = logScale(
        drawn.flatMap((p) => [p.r.lo, p.r.hi]), H - m.b - 8, m.t + 8, 4);
    const out = axes(
        W, H, m, fx, fy, chosen.map((c) => c[x]),
        x === "n" ? "N, timers" : "t, different TTLs",
        (v) =>
            (x === "t" && chosen.every((c) => c.n === v || c[x] !== v) ?
                 "N" :
                 short(v)));
    const ends = [];
    for (const {c, points} of [...series].reverse()) {
        const p = points.filter((q) => q.r.median !== null)
                      .map((q) => ({...q, px: fx(q.x), py: fy(q.r.median)}));
        if (!p.length)
            continue;
        const g = s(
            "g",
            {class: "series" + (c === lawn ? " ours" : ""), "data-c": c.name});
        const at = (key) =>
            p.map((q) => `${q.px.toFixed(1)} ${fy(q.r[key]).toFixed(1)}`);
        if (c === lawn && p.length > 1)
            g.append(s("path", {
                class: "band",
                fill: c.color,
                d: "M" + at("hi").join("L") + "L" +
                    at("lo").reverse().join("L") + "z"
            }));
        if (p.length > 1)
            g.append(s("path", {
                class: "line",
                stroke: c.color,
                "stroke-dasharray": c.dash,
                "stroke-linejoin": "round",
                "stroke-linecap": "round",
                d: "M" + at("median").join("L")
            }));
        for (const q of p)
            if (q.r.hi > q.r.lo)
                g.append(s("path", {
                    class: "whisker",
                    stroke: c.color,
                    d: `M${q.px.toFixed(1)} ${fy(q.r.lo).toFixed(1)}V${
                        fy(q.r.hi).toFixed(1)}`
                }));
        for (const q of p)
            g.append(markAt(c, q.px, q.py, told(q.r, q.cell)));
        out.push(g);
        const last = p[p.length - 1];
        ends.push({c, x: last.px, y: last.py});
        /* A floor of one point is a level to compare with. */
        if (c.kind === "floor" && p.length === 1)
            g.prepend(s("path", {
                class: "line",
                stroke: c.color,
                "stroke-dasharray": c.dash,
                "stroke-linecap": "round",
                d: `M${m.l} ${last.py.toFixed(1)}H${W - m.r - 4}`
            }));
    }
    const ys = spread(ends.map((e) => e.y), 14.5, m.t, H - m.b);
    ends.forEach((e, i) => {
        const x0 = W - m.r;
        out.push(s("path", {
            class: "leader",
            d: `M${(e.x + 8).toFixed(1)} ${e.y.toFixed(1)}L${x0 - 4} ${
                e.y.toFixed(1)}L${x0 + 6} ${ys[i].toFixed(1)}`
        }));
        out.push(
            s("g", {class: "series", "data-c": e.c.name},
              s("text", {
                  class: "label" + (e.c === lawn ? " ours" : ""),
                  x: x0 + 9,
                  y: (ys[i] + 4).toFixed(1),
                  style: "fill:" + e.c.color
              },
                e.c.name)));
    });
    given(out, lost, fx, m);
    show(figure, W, H, title, out);
}
function axes(W, H, m, fx, fy, xs, xTitle, xLabel) {
    const out = [];
    for (const v of fy.ticks()) {
        out.push(s("path", {
            class: "grid" + (Math.log10(v) % 1 === 0 ? " major" : ""),
            d: `M${m.l} ${fy(v).toFixed(1)}H${W - m.r}`
        }));
        out.push(
            s("text",
              {x: m.l - 8, y: (fy(v) + 4).toFixed(1), "text-anchor": "end"},
              axisNs(v)));
    }
    let last = Infinity;
    for (const v of unique(xs).sort(up).reverse()) {
        const at = fx(v);
        out.push(s(
            "path", {class: "grid", d: `M${at.toFixed(1)} ${m.t}V${H - m.b}`}));
        if (last - at < 30)
            continue;
        out.push(
            s("text",
              {x: at.toFixed(1), y: H - m.b + 18, "text-anchor": "middle"},
              xLabel(v)));
        last = at;
    }
    out.push(
        s("text", {
            class: "axis-title",
            x: (m.l + W - m.r) / 2,
            y: H - 6,
            "text-anchor": "middle"
        },
          xTitle));
    out.push(
        s("text", {class: "axis-title", x: 0, y: 12}, "time per operation"));
    return out;
}
function given(out, lost, fx, m) {
    if (!lost.length)
        return;
    const at = new Map();
    for (const p of lost) {
        const row = at.get(p.x) || [];
        row.push(p);
        at.set(p.x, row);
    }
    out.push(s("text", {class: "hint", x: 0, y: m.t - 6}, "no figure"));
    for (const [x, ps] of at)
        ps.forEach((p, i) => {
            const mark = markAt(
                p.r.c, fx(x) + (i - (ps.length - 1) / 2) * 11, m.t - 10,
                `${p.r.c.title}: no figure\n${p.r.why}\n${where(p.cell)}`, 0,
                4);
            mark.classList.add("given");
            mark.replaceChildren(s("path", {
                d: "M-3.500 -3.500L3.500 3.500M-3.500 3.500L3.500 -3.500",
                stroke: p.r.c.color
            }));
            out.push(s("g", {class: "series", "data-c": p.r.c.name}, mark));
        });
}

/* One cell: a line for each contender, the fastest first. */
function ranking(figure, cell, rows, lost, title) {
    rows.sort((a, b) => a.median - b.median);
    const W = widthOf(figure), narrow = W < 560, step = printing ? 21 : 27;
    const m = {l: narrow ? 76 : 104, r: narrow ? 62 : 76, t: 24, b: 30};
    const H = m.t + (rows.length + lost.length) * step + m.b;
    const fx =
        logScale(rows.flatMap((r) => [r.lo, r.hi]), m.l + 10, W - m.r - 8, 4);
    const out = acrossAxis(fx, m, H, narrow);
    rows.concat(lost).forEach((r, i) => {
        const y = m.t + (i + .5) * step;
        const g = rowOf(r.c, m.l - 8, y);
        if (r.median === null)
            g.append(s("text", {class: "hint", x: m.l + 10, y: y + 4}, r.why));
        else
            g.append(
                s("path", {
                    class: "stem",
                    stroke: r.c.color,
                    d: `M${fx(r.lo).toFixed(1)} ${y}H${fx(r.hi).toFixed(1)}`
                }),
                markAt(r.c, fx(r.median), y, told(r, cell)),
                s("text", {x: fx(r.hi) + 12, y: y + 4}, ns(r.median)));
        out.push(g);
    });
    show(
        figure, W, H, title, out,
        `Only one cell was measured here: ${where(cell)}.`);
}
function acrossAxis(fx, m, H, narrow) {
    return fx.ticks()
        .filter((v) => !narrow || fx.hi / fx.lo < 30 || Math.log10(v) % 1 === 0)
        .flatMap(
            (v) =>
                [s("path", {
                     class: "grid" + (Math.log10(v) % 1 === 0 ? " major" : ""),
                     d: `M${fx(v).toFixed(1)} ${m.t - 4}V${H - m.b}`
                 }),
                 s("text", {
                     x: fx(v).toFixed(1),
                     y: H - m.b + 18,
                     "text-anchor": "middle"
                 },
                   axisNs(v))]);
}
const rowOf = (c, x, y) =>
    s("g", {class: "series" + (c === lawn ? " ours" : ""), "data-c": c.name},
      s("text", {
          class: "label" + (c === lawn ? " ours" : ""),
          x,
          y: y + 4,
          "text-anchor": "end",
          style: "fill:" + c.color
      },
        c.name));

/* Time against bytes: a point for each contender, with its name next to it. */
function scatter(figure, chosen, title) {
    const cell = chosen[0];
    const rows = cell ?
        [...cell.rows.values()].filter(
            (r) => r.c.on && r.median !== null && r.bytes !== null) :
        [];
    if (!rows.length)
        return figure.replaceChildren(none(
            cells.some(hasBytes) ?
                "No figures here for the contenders that are shown." :
                "This run did not measure memory."));
    rows.sort((a, b) => b.c.rank - a.c.rank);
    const W = widthOf(figure), narrow = W < 560, H = heightOf(W);
    const m = {l: 52, r: narrow ? 20 : 70, t: 26, b: 46};
    const fx = logScale(rows.map((r) => r.bytes), m.l + 24, W - m.r - 40, 4);
    const fy =
        logScale(rows.flatMap((r) => [r.lo, r.hi]), H - m.b - 14, m.t + 14, 4);
    const out =
        axes(W, H, m, fx, fy, fx.ticks(), "bytes per timer", (v) => short(v));
    const boxes = rows.map(
        (r) => ({x: fx(r.bytes) - 7, y: fy(r.median) - 7, w: 14, h: 14}));
    for (const r of rows) {
        const x = fx(r.bytes), y = fy(r.median);
        out.push(
            s("g", {
                class: "series" + (r.c === lawn ? " ours" : ""),
                "data-c": r.c.name
            },
              r.hi > r.lo ? s("path", {
                  class: "whisker",
                  stroke: r.c.color,
                  d: `M${x.toFixed(1)} ${fy(r.lo).toFixed(1)}V${
                      fy(r.hi).toFixed(1)}`
              }) :
                            null,
              markAt(r.c, x, y, told(r, cell))));
    }
    for (const r of [...rows].reverse())
        out.push(beside(r.c, fx(r.bytes), fy(r.median), boxes, W));
    out.push(s(
        "text", {class: "hint", x: m.l + 6, y: H - m.b - 6}, "\u2199 better"));
    show(figure, W, H, title, out);
}
/* The name of a point, at the first place around it that is free. */
function beside(c, x, y, boxes, W) {
    const w = c.name.length * 7 + 4;
    const places = [
        [9, 4, "start"], [-9, 4, "end"], [0, -11, "middle"], [0, 20, "middle"],
        [10, -10, "start"], [10, 18, "start"], [-10, -10, "end"],
        [-10, 18, "end"], [16, -22, "start"], [16, 30, "start"],
        [-16, -22, "end"], [-16, 30, "end"]
    ];
    let pick = places[0];
    for (const p of places) {
        const left = x + p[0] -
            (p[2] === "end"        ? w :
                 p[2] === "middle" ? w / 2 :
                                     0);
        const box = {x: left, y: y + p[1] - 11, w, h: 14};
        if (left < 54 || left + w > W)
            continue;
        if (boxes.some(
                (b) => b.x < box.x + box.w && box.x < b.x + b.w &&
                    b.y < box.y + box.h && box.y < b.y + b.h))
            continue;
        pick = p;
        boxes.push(box);
        break;
    }
    return s(
        "g", {class: "series", "data-c": c.name},
        s("text", {
            class: "label" + (c === lawn ? " ours" : ""),
            x: (x + pick[0]).toFixed(1),
            y: (y + pick[1]).toFixed(1),
            "text-anchor": pick[2],
            style: "fill:" + c.color
        },
          c.name));
}

/* Tails: a line of four marks for each contender, the calmest first. */
const TAIL = [
    ["p50", "p50", 0], ["p99", "p99", 3], ["p9999", "p99.99", 2],
    ["max", "max", 1]
];
function tails(figure, chosen, title) {
    const cell = chosen[0];
    const rows = cell ?
        [...cell.rows.values()].filter(
            (r) => r.c.on && r.tail && TAIL.some(([k]) => good(r.tail[k]))) :
        [];
    if (!rows.length)
        return figure.replaceChildren(none(
            cells.some((c) => [...c.rows.values()].some((r) => r.tail)) ?
                "No tails here for the contenders that are shown." :
                "This run has no tails."));
    const worth = (r) =>
        (good(r.tail.p9999)   ? r.tail.p9999 :
             good(r.tail.max) ? r.tail.max :
                                Infinity);
    rows.sort((a, b) => worth(a) - worth(b));
    const W = widthOf(figure), narrow = W < 560, step = printing ? 21 : 27;
    const m = {l: narrow ? 76 : 104, r: narrow ? 58 : 76, t: 42, b: 30};
    const H = m.t + rows.length * step + m.b;
    const fx = logScale(
        rows.flatMap((r) => TAIL.map(([k]) => r.tail[k]).filter(good)),
        m.l + 10, W - m.r - 8, 10);
    const out = acrossAxis(fx, m, H, narrow);
    rows.forEach((r, i) => {
        const y = m.t + (i + .5) * step,
              have = TAIL.filter(([k]) => good(r.tail[k]));
        const g = rowOf(r.c, m.l - 8, y);
        g.append(s("path", {
            class: "stem",
            stroke: r.c.color,
            d: `M${fx(r.tail[have[0][0]]).toFixed(1)} ${y}H${
                fx(r.tail[have[have.length - 1][0]]).toFixed(1)}`
        }));
        const text = r.c.title + "\n" +
            have.map(([k, name]) => `${name} ${ns(r.tail[k])}`).join("\n") +
            "\n" + where(cell);
        for (const [k, , shape] of have)
            g.append(markAt(r.c, fx(r.tail[k]), y, text, shape, 4.5));
        const end = r.tail[have[have.length - 1][0]];
        g.append(s("text", {x: fx(end) + 11, y: y + 4}, ns(end)));
        out.push(g);
    });
    const heads = TAIL.filter(([k]) => good(rows[0].tail[k]));
    let left = -Infinity;
    heads.forEach(([k, name]) => {
        const x = Math.max(fx(rows[0].tail[k]), left + 30);
        left = x + name.length * 3;
        out.push(
            s("path", {
                class: "leader",
                d: `M${fx(rows[0].tail[k]).toFixed(1)} ${m.t + step / 2 - 9}L${
                    x.toFixed(1)} ${m.t - 14}`
            }),
            s("text", {x: x.toFixed(1), y: m.t - 18, "text-anchor": "middle"},
              name));
    });
    show(
        figure, W, H, title, out,
        "Circle: median. Diamond: 99th percentile. Triangle: 99.99th. Square: the slowest. The calmest at the 99.99th percentile comes first.");
}

/* Selectors. t may be a number, "N" (as many TTLs as timers) or "own". */
const ofT = (t) => (cell) =>
    (t === "own"   ? cell.t === null :
         t === "N" ? cell.t === cell.n :
                     String(cell.t) === t);
function tChoices(cs) {
    const numbers =
        unique(cs.filter((c) => c.t !== null && c.t !== c.n).map((c) => c.t))
            .sort(up);
    const out = numbers.map((t) => [String(t), count(t)]);
    if (cs.some((c) => c.t !== null && c.t === c.n))
        out.push(["N", "N (no TTL twice)"]);
    if (cs.some((c) => c.t === null))
        out.push(["own", "the workload\u2019s own"]);
    return out;
}
const nChoices = (cs) =>
    unique(cs.map((c) => c.n)).sort(up).map((n) => [String(n), count(n)]);
function prefer(choices, wanted) {
    const keys = choices.map(([k]) => k);
    return wanted.find((k) => keys.includes(k)) || keys[keys.length - 1];
}
const plots = [];
function plot(id, usable, needs, wanted, draw, title) {
    const section = $(id), box = section.querySelector(".controls"),
          figure = section.querySelector("figure");
    const mine = cells.filter(usable);
    const state = {w: null, n: null, t: null}, selects = {};
    const names = {w: "Workload", n: "N", t: "t"};
    const subset = (key) => mine.filter(
        (c) => key === "w" ||
            (c.w === state.w &&
             (key === "n" || !needs.includes("n") || String(c.n) === state.n)));
    const choices = {
        w: () => workloads.filter((w) => mine.some((c) => c.w === w.name))
                     .map((w) => [w.name, wTitle(w.name)]),
        n: () => nChoices(subset("n")),
        t: () => tChoices(subset("t"))
    };
    const settle = () => {
        for (const key of needs) {
            const c = choices[key](), keep = c.some(([k]) => k === state[key]);
            if (!keep)
                state[key] = prefer(c, wanted[key]);
            selects[key].replaceChildren(
                ...c.map(([k, name]) => h("option", {value: k}, name)));
            selects[key].value = state[key];
            selects[key].disabled = c.length < 2;
        }
    };
    for (const key of needs) {
        selects[key] = h("select", {"data-key": key});
        selects[key].addEventListener("change", () => {
            state[key] = selects[key].value;
            settle();
            redraw();
        });
        box.append(h("label", {}, names[key], selects[key]));
    }
    const redraw = () => {
        if (!mine.length) {
            box.hidden = true;
            return draw(figure, [], title);
        }
        draw(
            figure,
            mine.filter(
                (c) => c.w === state.w &&
                    (!needs.includes("n") || String(c.n) === state.n) &&
                    (!needs.includes("t") || ofT(state.t)(c))),
            `${title}, ${wTitle(state.w)}`);
    };
    if (mine.length)
        settle();
    plots.push(redraw);
}
const hasTail = (c) => [...c.rows.values()].some((r) => r.tail);
const hasBytes = (c) => [...c.rows.values()].some(
    (r) => r.bytes !== null && r.median !== null);
const common = {
    w: ["W3", "W4", "W1"],
    n: ["1000000", "100000"],
    t: ["20", "100", "4", "1"]
};
plot(
    "over-n", () => true, ["w", "t"], common, (f, c, l) => lines(f, c, "n", l),
    "Time per operation over N");
plot(
    "over-t", (c) => c.t !== null, ["w", "n"], {...common, w: ["W4", "W3"]},
    (f, c, l) => lines(f, c, "t", l), "Time per operation over t");
plot(
    "against-bytes", hasBytes, ["w", "n", "t"], {...common, w: ["W4", "W3"]},
    scatter, "Time against bytes per timer");
plot(
    "tails", hasTail, ["w", "n", "t"], {...common, w: ["W4", "W3"]}, tails,
    "Tail distribution");
const drawAll = () => {
    hush();
    for (const redraw of plots)
        redraw();
};

/* The legend. */
function legend() {
    const keys = new Map();
    const set = (on) => {
        for (const c of contenders) {
            c.on = on(c);
            keys.get(c).setAttribute("aria-pressed", String(c.on));
        }
        drawAll();
    };
    const lightAll = (name) => {
        for (const svg of document.querySelectorAll("figure svg"))
            light(svg, name);
    };
    for (const [kind, name] of KINDS) {
        const of = contenders.filter((c) => c.kind === kind);
        if (!of.length)
            continue;
        $("legend").append(
            h("div", {class: "group"},
              kind === "ours" || kind === "floor" ? null : h("span", {}, name),
              of.map((c) => {
                  const b =
                      h("button", {
                          type: "button",
                          class: "key " + (c === lawn ? "ours" : ""),
                          "aria-pressed": "true",
                          "data-c": c.name,
                          title: c.title
                      },
                        swatch(c), c.name);
                  keys.set(c, b);
                  b.addEventListener(
                      "click", () => set((x) => (x === c ? !x.on : x.on)));
                  b.addEventListener(
                      "pointerenter", () => lightAll(c.on ? c.name : null));
                  b.addEventListener("pointerleave", () => lightAll(null));
                  return b;
              })));
    }
    for (const c of contenders)
        if (!keys.has(c))
            keys.set(c, h("button"));
    if (contenders.length > 3)
        $("legend").append(h("div", {class: "sets"}, [
            ["All", () => true], ["Libraries", (c) => c.kind !== "paper"],
            ["Schemes", (c) => c.kind !== "peer"]
        ].map(([name, on]) => {
            const b =
                h("button", {
                    type: "button",
                    title: name === "All" ?
                        "Draw all contenders" :
                        `Draw lawn, the ${name.toLowerCase()} and the floor`
                },
                  name);
            b.addEventListener("click", () => set(on));
            return b;
        })));
}

/* A table from columns {title, of(row) -> value, show(value, row) -> text or
 * node, left, cls(value, row)} and rows; a click on a head sorts by it. */
function table(box, columns, rows, rowClass, groups) {
    const head = h("tr"), body = h("tbody");
    const lineOf = new Map(rows.map(
        (row) =>
            [row,
             h("tr", {class: rowClass ? rowClass(row) : null},
               columns.map((col) => {
                   const v = col.of(row);
                   const td =
                       h("td", {
                           class: [
                               col.left ? "l" : "",
                               col.cls ? col.cls(v, row) : "",
                               known(v) ? "" : "none"
                           ].join(" ").trim() ||
                               null
                       },
                         col.show     ? col.show(v, row) :
                             known(v) ? String(v) :
                                        DASH);
                   if (col.style)
                       td.style.cssText = col.style(v, row) || "";
                   return td;
               }))]));
    const place = () => body.replaceChildren(...rows.map((r) => lineOf.get(r)));
    columns.forEach((col) => {
        const th =
            h("th",
              {scope: "col", class: col.left ? "l" : null, title: col.hint});
        const b = h("button", {type: "button"}, col.title);
        b.addEventListener("click", () => {
            const down = th.getAttribute("aria-sort") === "ascending";
            for (const other of head.children)
                other.removeAttribute("aria-sort");
            th.setAttribute("aria-sort", down ? "descending" : "ascending");
            const sign = down ? -1 : 1;
            rows.sort((a, c) => {
                const x = col.of(a), y = col.of(c);
                if (!known(x) || !known(y))
                    return Number(!known(x)) - Number(!known(y));
                return sign *
                    (typeof x === "string" ? x.localeCompare(y) : x - y);
            });
            place();
        });
        th.append(b);
        head.append(th);
    });
    place();
    box.replaceChildren(
        h("table", {},
          h("thead", {},
            groups ? h("tr", {class: "groups"},
                       groups.map(
                           ([title, span, left]) =>
                               h("th", {
                                   colspan: span,
                                   scope: "colgroup",
                                   class: left ? "l" : null
                               },
                                 title ? h("span", {}, title) : null))) :
                     null,
            head),
          body));
    box.tabIndex = 0;
    return head;
}
const kindClass = (c) =>
    (c === lawn             ? "ours" :
         c.kind === "floor" ? "floor" :
                              null);
const nameColumn = {
    title: "contender",
    left: true,
    of: (x) => x.c.name,
    show: (v, x) => h("span", {title: x.c.title}, swatch(x.c), v)
};

/* Ratios to the best of each cell. */
function ratios() {
    const names = workloads.filter((w) => cells.some((c) => c.w === w.name))
                      .map((w) => w.name);
    const rows =
        contenders
            .map((c) => {
                const of = (w) =>
                    cells
                        .filter(
                            (cell) => (!w || cell.w === w) && cell.best &&
                                cell.rows.has(c.name) &&
                                cell.rows.get(c.name).median !== null)
                        .map(
                            (cell) => cell.rows.get(c.name).median /
                                cell.best.median);
                const all = of(null);
                return {
                    c,
                    all: geomean(all),
                    worst: all.length ? Math.max(...all) : null,
                    by: new Map(names.map((w) => [w, geomean(of(w))])),
                    cells: all.length,
                    wins: cells.filter((cell) => cell.best && cell.best.c === c)
                              .length,
                    lost: cells
                              .filter(
                                  (cell) => cell.rows.has(c.name) &&
                                      cell.rows.get(c.name).why)
                              .length
                };
            })
            .filter((r) => r.cells || r.lost);
    rows.sort((a, b) => (a.all === null) - (b.all === null) || a.all - b.all);
    const heat = (v) =>
        (good(v) && v > 1 ?
             `--heat:${Math.min(34, 11 * Math.log2(v)).toFixed(0)}%` :
             "");
    const ratioColumn = (title, of, hint) => ({
        title,
        of,
        hint,
        show: (v) => ratio(v),
        cls: (v) => (good(v) && v > 1.05 ? "heat" : ""),
        style: heat
    });
    const head = table(
        $("ratio-table"),
        [
            nameColumn,
            ratioColumn("all", (r) => r.all, "geometric mean over all cells"),
            ...names.map((w) => ratioColumn(w, (r) => r.by.get(w), wTitle(w))),
            ratioColumn("worst", (r) => r.worst, "the worst cell"),
            {title: "wins", of: (r) => (competes(r.c) ? r.wins : null)},
            {title: "cells", of: (r) => r.cells},
            {title: "given up", of: (r) => r.lost}
        ],
        rows, (r) => kindClass(r.c), [
            ["", 1],
            [
                "geometric means, over all cells and by workload",
                1 + names.length
            ],
            ["", 4]
        ]);
    if (head.children[1])
        head.children[1].setAttribute("aria-sort", "ascending");
}

/* What lawn loses, or has no figure for while others have. */
function losses() {
    const beaten =
        duels.filter((c) => c.ours.median > c.other.median)
            .map((cell) => ({cell, by: cell.ours.median / cell.other.median}));
    const absent =
        cells.filter((c) => c.ours && c.ours.median === null && c.other)
            .map((cell) => ({cell, by: null}));
    beaten.sort((a, b) => b.by - a.by);
    const rows = absent.concat(beaten),
          apart = beaten.filter((x) => x.cell.ours.lo > x.cell.other.hi).length;
    const lead = $("losses-lead");
    if (!duels.length && !rows.length) {
        lead.textContent =
            "There is no cell in which lawn and another contender were both measured.";
        return;
    }
    if (!rows.length) {
        lead.textContent = `None: in each of the ${
            plural(
                duels.length,
                "cell")} in which lawn was compared, its median is at most that of the best other contender.`;
        return;
    }
    lead.textContent = `${plural(rows.length, "cell")} of ${
                           count(duels.length + absent.length)}${
                           rows.length > 1 ? ", the worst first" : ""}. ` +
        (!beaten.length ?
             "" :
             beaten.every((x) => x.cell.ours.runs < 2) ?
             "Each was run once, which cannot distinguish a loss from chance." :
             `In ${
                 count(
                     apart)} of these every run of lawn was slower than every run of the winner; else the ranges of the runs overlap.`);
    table(
        $("loss-table"),
        [
            {title: "workload", left: true, of: (x) => wTitle(x.cell.w)},
            {title: "N", of: (x) => x.cell.n, show: (v) => count(v)},
            {
                title: "t",
                of: (x) => x.cell.t,
                show: (v, x) => tName(v, x.cell.n)
            },
            {
                title: "slower by",
                of: (x) => x.by,
                show: (v) => (v === null ? DASH : ratio(v) + TIMES),
                cls: (v) => (v > 1.05 ? "heat" : ""),
                style: (v) =>
                    (v ? `--heat:${
                             Math.min(34, 40 * Math.log2(v)).toFixed(0)}%` :
                         "")
            },
            {
                title: "lawn",
                of: (x) => x.cell.ours.median,
                show: (v, x) => (v === null ? x.cell.ours.why : ns(v))
            },
            {
                title: "the best",
                of: (x) => x.cell.other.median,
                show: (v) => ns(v)
            },
            {
                title: "which is",
                left: true,
                of: (x) => x.cell.other.c.name,
                show: (v, x) =>
                    h("span", {title: x.cell.other.c.title},
                      swatch(x.cell.other.c), v)
            },
            {
                title: "runs",
                left: true,
                of: (x) =>
                    (x.by === null                        ? null :
                         x.cell.ours.runs < 2             ? "one each" :
                         x.cell.ours.lo > x.cell.other.hi ? "apart" :
                                                            "overlap")
            },
        ],
        rows);
}

/* Instructions, memory, lines. */
function costs() {
    const counts =
        new Map(list(data.instructions).map((i) => [i.contender, i]));
    const weights = (c) => cells.map((cell) => cell.rows.get(c.name))
                               .filter((r) => r && r.bytes !== null)
                               .map((r) => r.bytes);
    const of = (key) => (x) => (
        x.i && typeof x.i[key] === "number" && x.i[key] >= 0 ? x.i[key] : null);
    const rows = contenders.map((c) => {
        const w = weights(c);
        return {
            c,
            i: counts.get(c.name),
            middle: middle(w),
            most: w.length ? Math.max(...w) : null
        };
    });
    const least = (f, r) => {
        const all = rows.filter((x) => competes(x.c)).map(f).filter(known);
        return known(f(r)) && competes(r.c) && f(r) === Math.min(...all);
    };
    const col = (title, f, hint, showIt) => ({
        title,
        of: f,
        hint,
        show: showIt || ((v) => (known(v) ? count(v) : DASH)),
        cls: (v, r) => (least(f, r) ? "best" : "")
    });
    const marks =
        (x) => [x.exact && "exact", x.ordered && "ordered", x.fifo && "FIFO"]
                   .filter(Boolean)
                   .join(", ");
    table(
        $("cost-table"),
        [
            nameColumn,
            ...["start", "stop", "restart", "fire", "idle"].map(
                (k) =>
                    col(k, of(k), "instructions per " + k,
                        (v) => (known(v) ? round(v) : DASH))),
            col("node", (x) => (good(x.c.node) ? x.c.node : null),
                "bytes in the user's object"),
            col("per timer", (x) => x.middle,
                "the node and all else, the median over all cells",
                (v) => bytes(v)),
            col("most", (x) => x.most, "the cell with the most bytes per timer",
                (v) => bytes(v)),
            col("lines", (x) => (good(x.c.lines) ? x.c.lines : null),
                "lines of code"),
            {
                title: "fires",
                left: true,
                of: (x) => marks(x.c) || null,
                hint:
                    "exact: at the first mow at or after the deadline; ordered: by deadline within a mow; FIFO: equals in the order of their starts"
            }
        ],
        rows, (x) => kindClass(x.c), [
            ["", 1], ["instructions per operation", 5], ["bytes", 3],
            ["code", 1], ["", 1]
        ]);
    if (!counts.size)
        $("costs").querySelector(".lead").append(
            " This run did not count instructions.");
}

/* t x N, a table for each workload. */
function winners() {
    for (const w of workloads) {
        const mine = cells.filter((c) => c.w === w.name);
        if (!mine.length)
            continue;
        const ns_ = unique(mine.map((c) => c.n)).sort(up);
        const ts = tChoices(mine);
        const body = ts.map(
            ([t, name]) => h(
                "tr", {},
                h("th", {scope: "row"},
                  t === "N" || t === "own" ? t : short(Number(t))),
                ns_.map((n) => {
                    const cell = mine.find(
                        (c) => c.n === n && ofT(t)(c) &&
                            (t === "N" || t === "own" || c.t !== c.n));
                    if (!cell)
                        return h("td", {class: "empty"});
                    if (!timed(cell) || !cell.other)
                        return h(
                            "td", {
                                class: "void",
                                "data-tip": where(cell) + "\n" +
                                    (cell.ours && cell.ours.why ?
                                         "lawn: " + cell.ours.why :
                                         "nothing to compare")
                            },
                            DASH);
                    const r = cell.ours.median / cell.other.median,
                          win = r <= 1 ? cell.ours : cell.other;
                    const mix = Math.min(62, 14 + 20 * Math.abs(Math.log2(r)));
                    return h(
                        "td", {
                            "data-tip": `${where(cell)}\nlawn ${
                                            ns(cell.ours.median)}\n${
                                            cell.other.c.name} ${
                                            ns(cell.other.median)}` +
                                (cell.floor ?
                                     `\nfloor ${ns(cell.floor.median)}` :
                                     ""),
                            "data-winner": win.c.name,
                            style: `--c:${win.c.color};--mix:${mix.toFixed(0)}%`
                        },
                        ratio(r),
                        win === cell.ours ? null : h("small", {}, win.c.name));
                })));
        const grid =
            h("div", {},
              h("h3", {}, w.name + " ",
                h("span", {}, w.title && w.title !== w.name ? w.title : "")),
              h("table", {},
                h("thead", {},
                  h("tr", {}, h("th", {}, "t \\ N"),
                    ns_.map((n) => h("th", {scope: "col"}, short(n))))),
                h("tbody", {}, body)));
        $("grids").append(grid);
        const t = grid.querySelector("table");
        rove(t, "td[data-tip]");
        t.addEventListener("pointermove", (e) => {
            const td = e.target.closest("td[data-tip]");
            if (td)
                tell(td.dataset.tip, e.clientX, e.clientY);
            else
                hush();
        });
        t.addEventListener("pointerleave", hush);
    }
    const won = unique(duels.map(
        (c) => (c.ours.median <= c.other.median ? c.ours : c.other).c));
    won.sort((a, b) => a.rank - b.rank);
    if (won.length)
        $("grids").after(h(
            "p", {class: "scale"},
            won.map(
                (c) => h(
                    "span", {}, h("i", {style: `--c:${c.color};--mix:45%`}),
                    `${c.name} ${
                        count(duels
                                  .filter(
                                      (d) => (d.ours.median <= d.other.median ?
                                                  d.ours :
                                                  d.other)
                                                 .c === c)
                                  .length)}`)),
            h("span", {class: "dim"}, "A stronger color is a larger ratio.")));
    else
        $("grids").replaceChildren(none(
            "There is no cell in which lawn and another contender were both measured."));
}

/* Texts. */
function sentence(text, before) {
    if (!known(text))
        return null;
    const whole = before        ? before + text :
        !/^(t|n)\b/i.test(text) ? text[0].toUpperCase() + text.slice(1) :
                                  text;
    return h("p", {}, whole + (/[.!?]$/.test(whole) ? "" : "."));
}
function explain() {
    $("workloads")
        .append(...workloads.map(
            (w) =>
                h("div", {}, h("dt", {}, wTitle(w.name)),
                  h("dd", {}, sentence(w.imitates),
                    sentence(w.operation, "Counted: "), sentence(w.parameters),
                    cells.some((c) => c.w === w.name) ?
                        null :
                        h("p", {}, "Not run this time.")))));
    const titles = {
        ours: "Ours",
        paper:
            "Schemes that the paper compares, and relatives, written for this benchmark",
        peer: "Libraries that people use",
        floor: "The floor: no timer store at all"
    };
    for (const [kind] of KINDS) {
        const of = contenders.filter((c) => c.kind === kind);
        if (!of.length)
            continue;
        $("contenders")
            .append(
                h("p", {class: "kind"}, titles[kind]),
                h("dl", {},
                  of.map(
                      (c) => h(
                          "div", {},
                          h("dt", {}, swatch(c), c.name,
                            c.title !== c.name ?
                                h("span", {class: "dim"}, " " + c.title) :
                                null),
                          h("dd", {}, c.about || "", h("p", {class: "tags"}, [
                                known(c.version) ? "version " + c.version :
                                                   null,
                                good(c.node) ?
                                    plural(c.node, "byte") + " in the object" :
                                    null,
                                c.exact === false ? "inexact" : null,
                                c.ordered === false ? "unordered" : null
                            ].filter(Boolean).join(" \u00b7 ")))))));
    }
    const missing = list(data.missing);
    if (missing.length)
        $("contenders")
            .append(
                h("p", {class: "kind"}, "Missing from this run"),
                h("dl", {id: "missing"},
                  missing.map(
                      (x) =>
                          h("div", {}, h("dt", {}, x.name),
                            h("dd", {}, x.why || "no reason was given")))));
}
/* Rows without figures, those of a contender with the same reason in the same
 * places together. */
function givenUp() {
    const groups = new Map(), merged = new Map();
    let rows = 0;
    for (const cell of cells)
        for (const r of cell.rows.values()) {
            if (!r.why)
                continue;
            rows++;
            const key = [r.c.name, cell.w, r.why].join("\n");
            if (!groups.has(key))
                groups.set(
                    key,
                    {c: r.c, w: cell.w, why: r.why, at: new Map(), count: 0});
            const g = groups.get(key);
            g.count++;
            g.at.set(
                cell.n, (g.at.get(cell.n) || []).concat(cell.t === null ? [] : [
                    cell.t === cell.n ? "N" : short(cell.t)
                ]));
        }
    for (const g of groups.values()) {
        const places = [...g.at]
                           .map(
                               ([n, ts]) => `N = ${short(n)}` +
                                   (ts.length ? ` (t = ${ts.join(", ")})` : ""))
                           .join("; ");
        const key = [g.c.name, g.why, places].join("\n"), old = merged.get(key);
        if (old) {
            old.ws.push(g.w);
            old.count += g.count;
        } else
            merged.set(
                key, {c: g.c, ws: [g.w], why: g.why, places, count: g.count});
    }
    $("given-up-lead").textContent = rows ?
        `${plural(rows, "row")} of ${
            count(cells.reduce(
                (n, c) => n + c.rows.size,
                0))}. In the plots they are crosses at the upper edge.` :
        "None: every row has its figures.";
    if (!rows)
        return;
    const all = [...merged.values()].sort(
        (a, b) => contenders.indexOf(a.c) - contenders.indexOf(b.c));
    table(
        $("given-up-table"),
        [
            nameColumn, {title: "why", left: true, of: (g) => g.why},
            {title: "workloads", left: true, of: (g) => g.ws.join(", ")}, {
                title: "where",
                left: true,
                cls: () => "text",
                of: (g) => g.places
            },
            {title: "rows", of: (g) => g.count}
        ],
        all);
}
function machine() {
    const m = data.machine || {};
    const caches = [["L1d", m.l1d], ["L2", m.l2], ["L3", m.l3]]
                       .filter(([, v]) => good(v))
                       .map(([k, v]) => `${k} ${size(v)}`)
                       .join(", ");
    const pairs = [
        ["CPU", m.cpu], ["Cores", good(m.cores) ? count(m.cores) : null],
        ["Caches", caches], ["Memory", size(m.memory)],
        ["Huge pages", m.hugepages], ["Kernel", m.kernel], ["System", m.system],
        ["Compiler", m.compiler], ["Flags", m.flags], ["Version", data.version],
        ["Commit", data.commit], ["Date", data.date], ["Seed", data.seed],
        ["Runs per row", data.runs]
    ];
    $("machine").append(...pairs.flatMap(
        ([k, v]) =>
            [h("dt", {}, k), h("dd", {}, known(v) ? String(v) : "not known")]));
    $("repeat").textContent = "make && build/lawn bench --seed " +
        (known(data.seed) ? data.seed : 1) + " --report report.html";
}

/* Which numbers of timers the run is about. */
function extent() {
    const ns = duels.map((c) => c.n);
    const least = Math.min(...ns), most = Math.max(...ns);
    return least === most ? `With ${count(least)} timers, ` :
                            `With ${count(least)} to ${count(most)} timers, `;
}

/* The head of the page. */
function headline() {
    const rows = cells.reduce((n, c) => n + c.rows.size, 0);
    const wins = duels.filter((c) => c.ours.median <= c.other.median).length;
    const toOther = geomean(duels.map((c) => c.ours.median / c.other.median));
    const floors = cells.filter((c) => timed(c) && c.floor);
    const toFloor = geomean(floors.map((c) => c.ours.median / c.floor.median));
    const worst =
        duels.reduce((a, c) => Math.max(a, c.ours.median / c.other.median), 0);
    if (!lawn || !cells.some(timed))
        $("headline").textContent = "This run has no figures of lawn.";
    else if (!duels.length)
        $("headline").textContent = `lawn was measured in ${
            plural(
                cells.filter(timed).length,
                "cell")}, without another contender to compare it with.`;
    else
        $("headline").textContent =
            `${extent()}lawn is the fastest in ${count(wins)} of ${
                plural(
                    duels.length,
                    "cell")}. In the geometric mean it takes ${ratio(toOther)}${
                TIMES} the time of the best other contender in each cell` +
            (toFloor ? `, and ${ratio(toFloor)}${TIMES} that of the floor.` :
                       ".");
    const rivals =
        contenders.filter((c) => competes(c) && c.kind !== "ours")
            .map((c) => {
                const both = cells.filter(
                    (x) => timed(x) && x.rows.has(c.name) &&
                        x.rows.get(c.name).median !== null);
                return {
                    c,
                    cells: both.length,
                    r: geomean(both.map(
                        (x) => x.rows.get(c.name).median / x.ours.median))
                };
            })
            .filter((x) => x.r !== null && x.cells * 2 >= duels.length)
            .sort((a, b) => a.r - b.r);
    const tiles = [];
    if (duels.length) {
        tiles.push([
            `${count(wins)} / ${count(duels.length)}`,
            "cells in which lawn is the fastest", 2 * wins >= duels.length
        ]);
        tiles.push([
            ratio(toOther) + TIMES,
            "the best other contender\u2019s time in each cell, geometric mean",
            toOther <= 1
        ]);
        if (rivals.length)
            tiles.push([
                ratio(rivals[0].r) + TIMES,
                `lawn\u2019s time is what the closest single rival, ${
                    rivals[0].c.name}, takes over its ${
                    plural(rivals[0].cells, "cell")}`
            ]);
        if (toFloor)
            tiles.push([
                ratio(toFloor) + TIMES,
                `the floor\u2019s time, in the ${
                    plural(floors.length, "cell")} that have one`
            ]);
        tiles.push([
            ratio(worst) + TIMES,
            "the best other contender\u2019s time in lawn\u2019s worst cell"
        ]);
    }
    $("figures").append(...tiles.map(
        ([n, text, ours]) =>
            h("div", {class: ours ? "ours" : null}, h("b", {}, n),
              h("span", {}, text))));
    if (data.complete === false) {
        $("notice").hidden = false;
        $("notice").textContent =
            `This run was stopped before its end: ${
                plural(cells.length, "cell")} were measured.`
                .replace("1 cell were", "1 cell was");
    }
    const m = data.machine || {};
    const day = known(data.date) ? String(data.date).slice(0, 10) : null;
    $("meta").textContent = [
        day, known(data.version) ? "lawn " + data.version : null,
        known(data.commit) ? "commit " + data.commit : null, m.cpu, m.kernel,
        m.compiler, `${plural(rows, "row")} in ${plural(cells.length, "cell")}`,
        good(data.runs) ? plural(data.runs, "run") + " each" : null
    ].filter(known).join(" \u00b7 ");
    $("footer").textContent =
        "Written by lawn bench. This page is one file: it loads nothing, and the data are inside.";
}

/* The data, to be saved. */
function csv() {
    const quote = (x) =>
        (known(x) ? (/[",\n]/.test(String(x)) ?
                         '"' + String(x).replace(/"/g, '""') + '"' :
                         String(x)) :
                    "");
    const out = [[
        "workload", "n", "t", "contender", "median_ns", "min_ns", "max_ns",
        "runs", "ops", "checksum", "bytes", "p50_ns", "p99_ns", "p9999_ns",
        "max_op_ns", "why"
    ]];
    for (const c of cells)
        for (const r of c.rows.values()) {
            const t = r.tail || {};
            out.push([
                c.w, c.n, c.t, r.c.name, r.median, r.lo, r.hi, r.runs,
                r.raw.ops, r.raw.checksum, r.bytes, t.p50, t.p99, t.p9999,
                t.max, r.why
            ]);
        }
    return out.map((line) => line.map(quote).join(",") + "\n").join("");
}
function save(id, name, type, make) {
    $(id).addEventListener("click", () => {
        const a = h("a", {
            href: URL.createObjectURL(new Blob([make()], {type})),
            download: name
        });
        document.body.append(a);
        a.click();
        a.remove();
        setTimeout(() => URL.revokeObjectURL(a.href), 10000);
    });
}

/* Light or dark: the system's, until the button is used. */
function theme() {
    const root = document.documentElement,
          system = matchMedia("(prefers-color-scheme: dark)");
    let chosen = false;
    const set = (dark) => {
        root.dataset.theme = dark ? "dark" : "light";
        $("theme").textContent = dark ? "Light" : "Dark";
        $("theme").title = dark ? "Show the page in light colors" :
                                  "Show the page in dark colors";
    };
    set(system.matches);
    system.addEventListener("change", (e) => {
        if (!chosen)
            set(e.matches);
    });
    $("theme").addEventListener("click", () => {
        chosen = true;
        set(root.dataset.theme !== "dark");
    });
}

theme();
headline();
legend();
drawAll();
winners();
ratios();
losses();
costs();
explain();
givenUp();
machine();
save(
    "save-json", "lawn-bench.json", "application/json",
    () => raw.trim() + "\n");
save("save-csv", "lawn-bench.csv", "text/csv", csv);
let drawnAt = $("main").clientWidth;
new ResizeObserver(() => {
    if ($("main").clientWidth === drawnAt || printing)
        return;
    drawnAt = $("main").clientWidth;
    drawAll();
}).observe($("main"));
/* On paper, plots are drawn for its width, so that their text is as large as
 * the text around them. */
for (const [event, on] of [["beforeprint", true], ["afterprint", false]])
    addEventListener(event, () => {
        printing = on;
        drawAll();
    });
document.documentElement.dataset.ready = "true";
})();
