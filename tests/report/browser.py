#!/usr/bin/env python3
"""browser.py [FILE.html...] - checks reports in a real browser.

Opens pages made by build/asan/report from the runs in this folder and from the large
one of fixture.py, and the given pages. Computes from the JSON embedded in each page
what the page must show. Run from the top folder; prints results like the other test
programs.
"""
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import traceback

import fixture
from webdriver import Browser, Trouble

MAKER = "build/asan/report"
PHONE = 360
SLOW_MS = 3000
READY = "return document.documentElement.dataset.ready === 'true'"
WRONG = r"\b(NaN|undefined|Infinity|null|\[object)\b"


class Run:
    """What a page should show, from its JSON."""

    def __init__(self, data):
        self.data = data
        self.cells = data["cells"]
        self.kind = {c["name"]: c["kind"] for c in data["contenders"]}
        ours = [name for name, kind in self.kind.items() if kind == "ours"]
        self.ours = "lawn" if "lawn" in ours else ours[0] if ours else None

    @staticmethod
    def time(row):
        return row["median"] if row and row["median"] else None

    def rows(self):
        return [row for cell in self.cells for row in cell["rows"]]

    def of(self, cell, name):
        return next(
            (row for row in cell["rows"] if row["contender"] == name), None
        )

    def best(self, cell, kinds):
        timed = [
            row
            for row in cell["rows"]
            if self.time(row) and self.kind[row["contender"]] in kinds
        ]
        return min(timed, key=self.time, default=None)

    def duels(self):
        """(cell, lawn's time, the best other row) where there are both."""
        for cell in self.cells:
            mine, other = self.time(self.of(cell, self.ours)), self.best(
                cell, ("paper", "peer")
            )
            if mine and other:
                yield cell, mine, other

    def losses(self):
        """As (workload, n): beaten, or without a figure where another has one."""
        lost = [
            (c["workload"], c["n"])
            for c, mine, other in self.duels()
            if mine > self.time(other)
        ]
        for cell in self.cells:
            row = self.of(cell, self.ours)
            if (
                row
                and not self.time(row)
                and self.best(cell, ("paper", "peer"))
            ):
                lost.append((cell["workload"], cell["n"]))
        return sorted(lost)

    def chosen(self, where):
        def fits(cell):
            t, n = where.get("t"), where.get("n")
            return (
                cell["workload"] == where["w"]
                and (n is None or str(cell["n"]) == n)
                and (
                    t is None
                    or (
                        cell["t"] is None
                        if t == "own"
                        else cell["t"] == cell["n"]
                        if t == "N"
                        else str(cell["t"]) == t
                    )
                )
            )

        return [cell for cell in self.cells if fits(cell)]

    def marks(self, plot, where):
        """How many marks each contender has in a plot."""
        count = {}
        cells = self.chosen(where)
        if plot == "over-t":
            cells = [cell for cell in cells if cell["t"] is not None]
        single = (
            len({cell["n" if plot == "over-n" else "t"] for cell in cells})
            == 1
        )
        for row in (row for cell in cells for row in cell["rows"]):
            if plot == "tails":
                marks = sum(
                    1 for value in (row["tail"] or {}).values() if value
                )
            elif plot == "against-bytes":
                marks = bool(self.time(row) and row["bytes"])
            else:
                marks = bool(self.time(row) or not single)
            if marks:
                count[row["contender"]] = count.get(row["contender"], 0) + int(
                    marks
                )
        if plot.startswith("over") and not any(
            self.time(r) for c in cells for r in c["rows"]
        ):
            return {}
        return count


MARKS = """
const count = {};
for (const mark of document.querySelectorAll("#" + arguments[0] + " .mark"))
    count[mark.dataset.c] = (count[mark.dataset.c] || 0) + 1;
return count;"""
SELECTS = """
const chosen = {};
for (const s of document.querySelectorAll("#" + arguments[0] + " select")) chosen[s.dataset.key] = s.value;
return chosen;"""
CHOOSE = """
const s = document.querySelector(`#${arguments[0]} select[data-key=${arguments[1]}]`);
s.value = arguments[2];
s.dispatchEvent(new Event("change"));"""
OPTIONS = """
const s = document.querySelector(`#${arguments[0]} select[data-key=${arguments[1]}]`);
return s && !s.closest("[hidden]") ? [...s.options].map((o) => o.value) : [];"""
CELLS = """
return [...document.querySelectorAll("#" + arguments[0] + " tbody tr")].map(
    (tr) => [...tr.children].map((td) => td.textContent));"""
TEXTS = """
const wrong = new RegExp(arguments[0]), found = [];
const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    if (node.nodeType === Node.TEXT_NODE) {
        if (!node.parentNode.closest("script") && wrong.test(node.data)) found.push(node.data);
    } else for (const a of node.attributes) if (wrong.test(a.value)) found.push(a.name + "=" + a.value);
}
return found;"""
PLOTS = ("over-n", "over-t", "against-bytes", "tails")
SAVED = """
window.saved = null;
URL.createObjectURL = (blob) => { blob.text().then((text) => { window.saved = text; }); return "data:,"; };
HTMLAnchorElement.prototype.click = () => {};
document.getElementById(arguments[0]).click();"""


def equal(found, expected, what=""):
    assert found == expected, "%s: expected %r, found %r" % (
        what,
        expected,
        found,
    )


def geomean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values))


class Checks:
    """Each method is a test of one page, named after what it checks."""

    def __init__(self, browser, path):
        self.browser = browser
        self.path = path
        self.source = path.read_text(encoding="utf-8")
        found = re.search(
            r'<script type="application/json" id="data">(.*?)</script>',
            self.source,
            re.S,
        )
        assert found, "no data"
        self.run = Run(json.loads(found.group(1)))

    def open(self, **how):
        self.browser.open(self.path, **how)
        assert self.browser.wait(READY), (
            "the script has not come to its end: %r" % self.browser.log()
        )

    def the_script_runs_without_an_error(self):
        self.browser.log()
        self.open()
        equal(
            [entry["message"] for entry in self.browser.log()], [], "console"
        )

    def it_is_drawn_fast(self):
        took = self.browser.run(
            "const t = performance.timing; return t.domContentLoadedEventEnd - t.responseEnd"
        )
        assert took < SLOW_MS, "%d ms" % took

    def nothing_is_loaded(self):
        equal(
            self.browser.run(
                "return performance.getEntriesByType('resource').map((e) => e.name)"
            ),
            [],
            "loaded",
        )
        equal(
            re.findall(
                r"""(?:src|href)\s*=\s*["']?\s*(?:https?:)?//[^"'\s>]*""",
                self.source,
            ),
            [],
            "links",
        )
        assert (
            "default-src 'none'" in self.source
        ), "no content security policy"

    def no_number_is_missing_in_any_text(self):
        equal(self.browser.run(TEXTS, WRONG), [], "texts")

    def the_headline_counts_the_wins(self):
        text = self.browser.run(
            "return document.getElementById('headline').textContent"
        )
        duels = list(self.run.duels())
        if duels:
            wins = sum(
                mine <= self.run.time(other) for _, mine, other in duels
            )
            assert re.search(
                r"\b%d of %d cells?\b" % (wins, len(duels)),
                text.replace(",", ""),
            ), text
            mean = geomean(
                mine / self.run.time(other) for _, mine, other in duels
            )
            assert "%.2f" % mean in text or mean >= 10, "%f: %s" % (mean, text)

    def an_incomplete_run_reports_it(self):
        equal(
            self.browser.run(
                "return document.getElementById('notice').hidden"
            ),
            self.run.data["complete"] is True,
        )

    def every_plot_is_drawn_when_the_page_opens(self):
        drawn = 0
        for plot in PLOTS:
            if self.browser.run(OPTIONS, plot, "w"):
                where = self.browser.run(SELECTS, plot)
                equal(
                    self.browser.run(MARKS, plot),
                    self.run.marks(plot, where),
                    "%s %s" % (plot, where),
                )
                drawn += 1
            else:
                equal(
                    self.browser.run(
                        "return document.querySelectorAll(`#${arguments[0]} .none`).length",
                        plot,
                    ),
                    1,
                )
        assert drawn, "no plot"

    def every_plot_has_a_mark_for_each_row_whatever_is_selected(self):
        drawn = 0
        for plot in PLOTS:
            for workload in self.browser.run(OPTIONS, plot, "w"):
                self.browser.run(CHOOSE, plot, "w", workload)
                for key in ("n", "t"):
                    for value in self.browser.run(OPTIONS, plot, key):
                        self.browser.run(CHOOSE, plot, key, value)
                        where = self.browser.run(SELECTS, plot)
                        equal(where[key], value, "selected")
                        equal(
                            self.browser.run(MARKS, plot),
                            self.run.marks(plot, where),
                            "%s %s" % (plot, where),
                        )
                        drawn += 1
        equal(self.browser.run(TEXTS, WRONG), [], "texts")
        timed = any(self.run.time(row) for row in self.run.rows())
        assert drawn or not timed, "no plot has a selector"

    def a_selector_changes_its_plot(self):
        workloads = self.browser.run(OPTIONS, "over-n", "w")
        pictures = set()
        for workload in workloads:
            self.browser.run(CHOOSE, "over-n", "w", workload)
            pictures.add(
                self.browser.run(
                    "return document.querySelector('#over-n figure').innerHTML"
                )
            )
        equal(len(pictures), len(workloads), "different plots")

    def the_legend_hides_and_shows_a_contender_by_mouse_and_keyboard(self):
        self.open()
        before = [self.browser.run(MARKS, plot) for plot in PLOTS]
        figures = "return [...document.querySelectorAll('figure')].map((f) => f.innerHTML).join()"
        picture = self.browser.run(figures)
        key = "document.querySelector(`.key[data-c='${arguments[0]}']`)"
        names = [c["name"] for c in self.run.data["contenders"]]
        for name in names[:3] + names[-1:]:
            for press in (
                lambda: self.browser.run("%s.click()" % key, name),
                lambda: self.press(key, name),
            ):
                for shown in (False, True):
                    press()
                    equal(
                        self.browser.run(
                            "return %s.getAttribute('aria-pressed')" % key,
                            name,
                        ),
                        str(shown).lower(),
                    )
                    after = [self.browser.run(MARKS, plot) for plot in PLOTS]
                    if shown:
                        equal(after, before, name)
                        equal(
                            self.browser.run(figures) == picture,
                            True,
                            "the same picture",
                        )
                    else:
                        equal(
                            [name in marks for marks in after],
                            [False] * 4,
                            name,
                        )

    def press(self, key, name):
        self.browser.run("%s.focus()" % key, name)
        self.browser.key(" ")

    def nothing_is_wrong_without_contenders(self):
        self.open()
        self.browser.run(
            "for (const key of document.querySelectorAll('.key')) key.click()"
        )
        equal(
            self.browser.run(
                "return document.querySelectorAll('.mark').length"
            ),
            0,
            "marks",
        )
        equal(self.browser.run(TEXTS, WRONG), [], "texts")

    def a_mark_shows_its_figures_to_mouse_and_keyboard(self):
        self.open()
        tip = "const t = document.getElementById('tip'); return t.hidden ? '' : t.textContent"
        x, y, labels = self.browser.run(
            """
            const at = (e) => { const r = e.getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]; };
            const marks = [...document.querySelectorAll("#over-n .mark")];
            marks[0].scrollIntoView({block: "center", behavior: "instant"});
            const [x, y] = at(marks[0]);
            const near = marks.filter((m) => Math.hypot(at(m)[0] - x, at(m)[1] - y) < 3);
            return [x, y, near.map((m) => m.dataset.tip)]"""
        )
        self.browser.wait(
            "return new Promise((done) => requestAnimationFrame(() => done(true)))"
        )
        self.browser.point(x, y)
        found = self.browser.wait(tip)
        assert found in labels, "%r is none of %r" % (found, labels)
        self.browser.point(1, 1)
        self.browser.wait("return document.getElementById('tip').hidden")
        self.browser.run(
            "document.querySelector('#over-n .mark[tabindex=\"0\"]').focus()"
        )
        first = self.browser.run("return document.activeElement.dataset.tip")
        stops = self.browser.run(
            "return document.querySelectorAll('#over-n .mark[tabindex=\"0\"]').length"
        )
        equal(stops, 1, "stops of the tab key")
        self.browser.key("\ue014")
        self.browser.key("\ue015")
        last = self.browser.run("return document.activeElement.dataset.tip")
        assert first != last, "the arrow keys do not move"
        assert re.search(r"\d", self.browser.wait(tip)), "no tooltip"
        self.browser.key("\ue00c")
        equal(self.browser.run(tip), "", "after the escape key")

    def the_grids_name_the_winner_of_every_cell(self):
        found = self.browser.run(
            """return [...document.querySelectorAll("#grids td[data-tip]")].map(
            (td) => td.dataset.winner || "")"""
        )
        expected = []
        winners = {
            id(cell): self.run.ours
            if mine <= self.run.time(other)
            else other["contender"]
            for cell, mine, other in self.run.duels()
        }
        for cell in self.run.cells:
            expected.append(winners.get(id(cell), ""))
        if winners:
            equal(sorted(found), sorted(expected), "winners")

    def the_ratio_table_has_the_geometric_means_and_sorts(self):
        rows = self.browser.run(CELLS, "ratio-table")
        with_rows = {row["contender"] for row in self.run.rows()}
        equal({row[0] for row in rows}, with_rows, "contenders")
        for row in rows:
            ratios = []
            for cell in self.run.cells:
                mine, best = self.run.of(cell, row[0]), self.run.best(
                    cell, ("ours", "paper", "peer")
                )
                if self.run.time(mine) and best:
                    ratios.append(self.run.time(mine) / self.run.time(best))
            equal(
                int(row[-2].replace(",", "")),
                len(ratios),
                "cells of " + row[0],
            )
            if ratios:
                shown = float(row[1].replace(",", ""))
                assert abs(shown - geomean(ratios)) <= 0.0051 * max(
                    1, shown
                ), "%s: %r" % (row[0], shown)
        for expected in ("ascending", "descending"):
            self.browser.run(
                "document.querySelector('#ratio-table thead tr:last-child th button').click()"
            )
            names = [row[0] for row in self.browser.run(CELLS, "ratio-table")]
            equal(
                names,
                sorted(names, reverse=expected == "descending"),
                expected,
            )
            equal(
                self.browser.run(
                    "return document.querySelector('#ratio-table [aria-sort]').ariaSort"
                ),
                expected,
            )

    def every_loss_is_listed(self):
        rows = self.browser.run(CELLS, "loss-table")
        found = sorted(
            (row[0].split()[0], int(row[1].replace(",", ""))) for row in rows
        )
        equal(found, self.run.losses(), "losses")

    def rows_without_figures_are_all_listed_with_reasons(self):
        rows = self.browser.run(CELLS, "given-up-table")
        lost = [row for row in self.run.rows() if not self.run.time(row)]
        equal(
            sum(int(row[-1].replace(",", "")) for row in rows),
            len(lost),
            "rows",
        )
        equal(
            {row[1] for row in rows},
            {row["why"] or "no figure" for row in lost},
            "reasons",
        )

    def contenders_workloads_and_the_missing_are_explained(self):
        count = "return document.querySelectorAll(arguments[0]).length"
        data = self.run.data
        equal(
            len(self.browser.run(CELLS, "cost-table")),
            len(data["contenders"]),
            "costs",
        )
        equal(
            self.browser.run(count, "#workloads dt"),
            len(data["workloads"]),
            "workloads",
        )
        equal(
            self.browser.run(count, "#contenders dt"),
            len(data["contenders"]) + len(data["missing"]),
            "contenders",
        )
        text = self.browser.run(
            "return document.getElementById('contenders').textContent"
        )
        for about in [c["about"] or "" for c in data["contenders"]] + [
            m["why"] for m in data["missing"]
        ]:
            assert about in text, about

    def text_from_the_data_is_no_markup(self):
        equal(
            self.browser.run("return document.title"), "lawn bench: the report"
        )
        equal(
            self.browser.run(
                "return document.querySelectorAll('#contenders b, #contenders script').length"
            ),
            0,
        )
        data = re.search(r'id="data">(.*?)</script>', self.source, re.S).group(
            1
        )
        assert "<" not in data, "a < in the data"

    def the_data_can_be_saved(self):
        self.open()
        self.browser.run(SAVED, "save-json")
        equal(
            json.loads(self.browser.wait("return window.saved")),
            self.run.data,
            "JSON",
        )
        self.browser.run(SAVED, "save-csv")
        lines = self.browser.wait("return window.saved").splitlines()
        equal(len(lines), 1 + len(self.run.rows()), "lines of CSV")
        equal({line.count(",") >= 15 for line in lines}, {True}, "columns")

    def it_is_dark_if_the_system_or_the_button_selects_it(self):
        color = "return getComputedStyle(document.body).backgroundColor"
        self.open()
        light = self.browser.run(color)
        self.browser.run("document.getElementById('theme').click()")
        dark = self.browser.run(color)
        assert light != dark, light
        self.open(dark=True)
        equal(self.browser.run(color), dark, "as the system")
        self.browser.run("document.getElementById('theme').click()")
        equal(self.browser.run(color), light, "after the button")

    def it_fits_a_phone(self):
        self.open(width=PHONE, height=740)
        width = self.browser.run("return document.documentElement.scrollWidth")
        assert width <= PHONE, "%d px wide" % width
        equal(
            self.browser.run(
                """return [...document.querySelectorAll("figure svg text")].filter((t) => {
            const box = t.getBoundingClientRect();
            return box.left < -1 || box.right > innerWidth + 1;
        }).map((t) => t.textContent)"""
            ),
            [],
            "texts that are cut off",
        )

    def it_prints_in_light_without_controls(self):
        self.open(dark=True)
        self.browser.media("print", dark=True)
        equal(
            self.browser.run(
                "return getComputedStyle(document.body).backgroundColor"
            ),
            "rgb(255, 255, 255)",
        )
        for hidden in (".controls", "#theme", ".contents", ".save"):
            equal(
                self.browser.run(
                    "return getComputedStyle(document.querySelector(arguments[0])).display",
                    hidden,
                ),
                "none",
                hidden,
            )
        self.browser.media()
        pdf = self.browser.pdf()
        pages = len(re.findall(rb"/Type\s*/Page\b", pdf))
        assert pdf.startswith(b"%PDF") and pages > 1, "%d pages" % pages


class Picture:
    """Tests of the SVG pictures, in the browser as an <img> would show them."""

    def __init__(self, browser, folder):
        self.browser = browser
        self.folder = folder

    def open(self, what, **how):
        path = self.folder / (what + ".svg")
        path.write_bytes(
            subprocess.run(
                [MAKER, what], check=True, stdout=subprocess.PIPE
            ).stdout
        )
        self.browser.open(path, **how)
        text = self.browser.run("return document.documentElement.outerHTML")
        assert not re.search(
            WRONG + r"|\b-?(nan|inf)\b", text
        ), "a number is missing"
        assert (
            "<script" not in text and "href" not in text
        ), "not self-contained"
        return self.browser.run(
            "return [...document.querySelectorAll('text')].map((t) => t.textContent)"
        )

    def a_picture_names_every_contender_in_four_plots(self):
        texts = self.open("picture")
        for name in ("lawn", "libuv", "paper", "fifo"):
            equal(texts.count(name), 4, name)
        equal(texts.count("list"), 0, "given up everywhere: list")
        equal(
            self.browser.run(
                "return document.querySelectorAll('path.ours').length"
            ),
            4,
            "lines of lawn",
        )

    def no_two_names_of_a_picture_touch(self):
        self.open("picture")
        equal(
            self.browser.run(
                """
            const names = [...document.querySelectorAll("text.name")].map((t) => t.getBoundingClientRect());
            let touching = 0;
            names.forEach((a, i) => names.slice(i + 1).forEach((b) => {
                if (a.left < b.right && b.left < a.right && Math.abs((a.top + a.bottom - b.top - b.bottom) / 2) < 11)
                    touching++;
            }));
            return touching"""
            ),
            0,
        )

    def cells_that_are_missing_leave_plots_empty(self):
        texts = self.open("one")
        equal((texts.count("not measured"), texts.count("lawn")), (3, 1))
        equal(self.open("nothing").count("not measured"), 4)

    def bars_name_every_contender_and_their_source(self):
        texts = self.open("bars")
        equal(texts.count("lawn"), 1, "lawn")
        equal(texts.count("fifo"), 0, "the floor has no bar")
        equal(texts.count("not measured"), 1, "given up: list")
        equal(texts[-2:], ["Machine: a <machine>", "Command: a & b"])
        equal(
            self.browser.run(
                "return document.querySelectorAll('rect').length"
            ),
            1 + 14,
            "the background and bars",
        )

    def a_picture_is_dark_where_the_page_is(self):
        color = "return getComputedStyle(document.querySelector('.bg')).fill"
        self.open("picture")
        light = self.browser.run(color)
        self.open("picture", dark=True)
        assert self.browser.run(color) != light, light


class Tally:
    passed = failed = 0

    def check(self, name, test):
        try:
            test()
        except (AssertionError, Trouble) as wrong:
            self.failed += 1
            print("  %s\nFAILED %s" % (str(wrong)[:2000], name))
        except Exception:  # the page is not as the test expects it at all
            self.failed += 1
            print("%s\nFAILED %s" % (traceback.format_exc(), name))
        else:
            self.passed += 1
            print("ok " + name)

    def check_all(self, checks, prefix):
        for name, test in vars(type(checks)).items():
            if not name.startswith("_") and name not in ("open", "press"):
                self.check(prefix + name, getattr(checks, name))


def made(folder, name, text):
    path = folder / (name + ".html")
    page = subprocess.run(
        [MAKER, "page"],
        input=text.encode(),
        check=True,
        stdout=subprocess.PIPE,
    ).stdout
    path.write_bytes(page)
    return path


def damaged_is_reported(browser, folder, text):
    for name, data in (
        ("damaged", text.replace('"cells": [', '"cells": [,')),
        ("no-object", "[]"),
    ):
        browser.log()
        browser.open(made(folder, name, data))
        assert browser.wait(READY), browser.log()
        equal([entry["message"] for entry in browser.log()], [], "console")
        seen = browser.run("return document.body.innerText")
        assert "The data in this page are damaged." in seen, seen
        assert "lawn bench --from FILE --report PAGE" in seen, seen
        equal(re.findall(WRONG, seen), [], name)


def main():
    here = pathlib.Path(__file__).parent
    tally = Tally()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        full, quick = (
            (here / name).read_text(encoding="utf-8")
            for name in ("full.json", "quick.json")
        )
        tally.check(
            "full_json_is_what_fixture_py_makes",
            lambda: equal(json.loads(full) == fixture.made(large=False), True),
        )
        nothing = dict(
            json.loads(quick),
            cells=[],
            contenders=[],
            workloads=[],
            machine={},
        )
        pages = [
            made(folder, "full", full),
            made(folder, "quick", quick),
            made(folder, "large", json.dumps(fixture.made(large=True))),
        ]
        pages += map(pathlib.Path, sys.argv[1:])
        try:
            with Browser() as browser:
                for path in pages:
                    readable = []
                    tally.check(
                        path.stem + ": it_holds_its_json",
                        lambda p=path: readable.append(Checks(browser, p)),
                    )
                    for checks in readable:
                        tally.check_all(checks, path.stem + ": ")
                empty = Checks(
                    browser, made(folder, "nothing", json.dumps(nothing))
                )
                tally.check(
                    "a run of nothing: no error",
                    empty.the_script_runs_without_an_error,
                )
                tally.check(
                    "a run of nothing: no wrong text",
                    empty.no_number_is_missing_in_any_text,
                )
                tally.check(
                    "a_damaged_page_is_reported",
                    lambda: damaged_is_reported(browser, folder, quick),
                )
                tally.check_all(Picture(browser, folder), "")
        except Trouble as trouble:
            tally.failed += 1
            print("  %s\nFAILED the_browser_runs" % trouble)
    print("%d passed, %d failed" % (tally.passed, tally.failed))
    return tally.failed != 0


if __name__ == "__main__":
    sys.exit(main())
