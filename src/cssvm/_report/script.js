"use strict";
// The sliders: costs and the share of the positive class are three numbers, everything else is computed from them.
// The cuts are the vertices of the hull of the ROC curve, so the least cost over them is the least of all thresholds.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { base, cuts, curve, own } = data;
  const REACH = 20; // a slider goes from a twentieth of its base to twenty times it
  const TIE = 1e-12; // costs this close, relative to all that can be lost, are equal: the higher threshold is taken
  const NS = "http://www.w3.org/2000/svg";
  const $ = (id) => document.getElementById(id);

  // Weighted costs are proportional to weights where costs are those of the classes.
  const fill = (part, all) => {
    part.saved ??= part.hits.map((each) => (each / all.positives) * all.missed);
    part.spent ??= part.alarms.map((each) => (each / all.negatives) * all.alarmed);
  };
  fill(cuts, data);
  fill(own, data);
  fill(curve, { positives: 1, negatives: 1, missed: 1, alarmed: 1 });

  const odds = (share) => share / (1 - share);
  const sliders = {
    fn: { toSlider: (v) => v, fromSlider: (v) => v, shown: 1 },
    fp: { toSlider: (v) => v, fromSlider: (v) => v, shown: 1 },
    share: { toSlider: odds, fromSlider: (v) => v / (1 + v), shown: 100 },
  };
  const state = { ...base };

  // ---- numbers, by the rules of _runtime/format.py
  const decimals = (value, digits) => (value ? Math.max(0, digits - 1 - Math.floor(Math.log10(Math.abs(value)))) : 0);
  const minus = (text) => (text === "-0" ? "0" : text.replace("-", "\u2212"));
  const formats = {}; // making one takes longer than all else in a redraw
  const plain = (value, least, most) => {
    const options = { minimumFractionDigits: least, maximumFractionDigits: Math.min(most, 20) };
    return minus((formats[`${least} ${most}`] ??= new Intl.NumberFormat("en-US", options)).format(value));
  };
  const number = (value) =>
    value && Math.abs(value) < 1e-6 ? minus(value.toExponential(3)) : plain(value, 0, decimals(value, 4));
  const amount = (value) => number(value) + (data.currency ? "\u00a0" + data.currency : "");
  const count = (value) => {
    const whole = Math.abs(value - Math.round(value)) < 1e-9 * Math.max(1, Math.abs(value)) || Math.abs(value) >= 1000;
    return plain(value, whole ? 0 : 1, whole ? 0 : 1);
  };
  const percent = (share) => plain(100 * share, 0, decimals(100 * share, 3)) + "\u00a0%";
  const short = (value) => String(Number(value.toPrecision(8)));
  const put = (id, value, format) => {
    $(id).value = String(value);
    $(id).textContent = format(value);
  };

  // ---- the answer for the present state
  const outcome = (part, k, scale) => {
    const hits = (data.rows * state.share * part.hits[k]) / data.positives;
    const alarms = (data.rows * (1 - state.share) * part.alarms[k]) / data.negatives;
    const missCost = scale.miss * (data.missed - part.saved[k]);
    const alarmCost = scale.alarm * part.spent[k];
    return {
      hits, alarms, missCost, alarmCost,
      misses: data.rows * state.share - hits,
      quiet: data.rows * (1 - state.share) - alarms,
      risk: missCost + alarmCost,
      x: part.spent[k] / data.alarmed,
      y: part.saved[k] / data.missed,
    };
  };
  const solve = () => {
    const scale = {
      miss: ((state.fn / base.fn) * (state.share / base.share)) / data.rows,
      alarm: ((state.fp / base.fp) * ((1 - state.share) / (1 - base.share))) / data.rows,
    };
    const all = { miss: scale.miss * data.missed, alarm: scale.alarm * data.alarmed };
    const risks = cuts.hits.map((_, k) => scale.miss * (data.missed - cuts.saved[k]) + scale.alarm * cuts.spent[k]);
    const least = Math.min(...risks) + TIE * (all.miss + all.alarm);
    const k = risks.findIndex((risk) => risk <= least);
    return { scale, all, k, best: outcome(cuts, k, scale), now: outcome(own, 0, scale) };
  };

  // ---- charts
  const BOX = { left: 54, right: 348, top: 12, bottom: 256 };
  const make = (parent, tag, attributes, text) => {
    const node = document.createElementNS(NS, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    if (text !== undefined) node.textContent = text;
    parent.append(node);
    return node;
  };
  const ticks = (low, high) => {
    const rough = (high - low) / 4 || 1;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 2.5, 5, 10].find((each) => each * power >= rough * 0.999) * power;
    const found = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(k * step);
    return found;
  };
  const chart = (id, xLabel, yLabel) => {
    const svg = $(id);
    const clip = make(make(svg, "clipPath", { id: id + "-clip" }), "rect", {
      x: BOX.left, y: BOX.top, width: BOX.right - BOX.left, height: BOX.bottom - BOX.top,
    });
    const axes = make(svg, "g", { class: "axes" });
    make(svg, "text", { class: "label", x: (BOX.left + BOX.right) / 2, y: 292, "text-anchor": "middle" }, xLabel);
    make(svg, "text", {
      class: "label", x: 0, y: 0, "text-anchor": "middle", transform: `translate(11 ${(BOX.top + BOX.bottom) / 2}) rotate(-90)`,
    }, yLabel);
    const layer = make(svg, "g", { "clip-path": `url(#${clip.parentNode.id})` });
    const marks = make(svg, "g", {});
    const nodes = {};
    const at = {};
    const node = (parent, tag, name, attributes) => {
      nodes[name] ??= make(parent, tag, { class: name });
      for (const [key, value] of Object.entries(attributes)) nodes[name].setAttribute(key, value);
    };
    return {
      frame(x, y, xFormat, yFormat) {
        at.x = (v) => BOX.left + ((v - x[0]) / (x[1] - x[0])) * (BOX.right - BOX.left);
        at.y = (v) => BOX.bottom - ((v - y[0]) / (y[1] - y[0])) * (BOX.bottom - BOX.top);
        axes.replaceChildren();
        for (const tick of ticks(...x)) {
          make(axes, "path", { d: `M${at.x(tick)} ${BOX.top}V${BOX.bottom}` });
          make(axes, "text", { x: at.x(tick), y: BOX.bottom + 16, "text-anchor": "middle" }, xFormat(tick));
        }
        for (const tick of ticks(...y)) {
          make(axes, "path", { d: `M${BOX.left} ${at.y(tick)}H${BOX.right}`, class: tick === 0 ? "zero" : "grid" });
          make(axes, "text", { x: BOX.left - 5, y: at.y(tick) + 4, "text-anchor": "end" }, yFormat(tick));
        }
      },
      line(name, xs, ys) {
        const d = xs.map((x, k) => `${k ? "L" : "M"}${at.x(x).toFixed(1)} ${at.y(ys[k]).toFixed(1)}`).join("");
        node(layer, "path", name, { d });
      },
      dot: (x, y) => node(marks, "circle", "best", { cx: at.x(x), cy: at.y(y), r: 5.5 }),
      diamond(x, y) {
        const [a, b] = [at.x(x), at.y(y)];
        node(marks, "path", "now", { d: `M${a} ${b - 6}L${a + 6} ${b}L${a} ${b + 6}L${a - 6} ${b}Z` });
      },
      cross(x, y) {
        const [a, b] = [at.x(x), at.y(y)];
        node(layer, "path", "perfect", { d: `M${a - 5} ${b - 5}l10 10M${a - 5} ${b + 5}l10 -10` });
      },
    };
  };

  const byCost = data.factor.fn || data.factor.fp;
  const weighed = byCost ? ", by cost" : "";
  const axis = (v) => String(Number(v.toPrecision(3)));
  const money = (v) => (Math.abs(v) >= 1e5 ? v.toLocaleString("en-US", { notation: "compact" }) : number(v)).replace("-", "\u2212");
  const unit = data.currency ? data.currency + " per row" : "per row";
  const roc = chart("roc", "False positive rate" + weighed, "Recall" + weighed);
  const gains = chart("gains", "Share of rows acted on", unit.length > 24 ? "per row" : unit);
  const costs = chart("costs", "Weight of missed rows among errors", "Cost, 1 = always wrong");

  roc.frame([0, 1], [0, 1], axis, axis);
  roc.line("chance", [0, 1], [0, 1]);
  roc.line("curve", curve.spent, curve.saved);
  const drawRoc = ({ all, best, now }) => {
    const slope = all.alarm / all.miss;
    const ends = Number.isFinite(slope) ? [[0, 1], [best.y - slope * best.x, best.y + slope * (1 - best.x)]] : [[best.x, best.x], [0, 1]];
    roc.line("equal", ...ends);
    roc.diamond(now.x, now.y);
    roc.dot(best.x, best.y);
  };
  const drawGains = ({ all, best, now }) => {
    const share = (hits, alarms) => state.share * hits + (1 - state.share) * alarms;
    const gain = (saved, spent) => all.miss * saved - all.alarm * spent;
    const everybody = gain(1, 1);
    const top = all.miss || 1;
    gains.frame([0, 1], [Math.min(0, Math.max(everybody, -top)), 1.08 * top], axis, money);
    gains.line("chance", [0, 1], [0, everybody]);
    gains.line("curve", curve.hits.map((each, k) => share(each, curve.alarms[k])), curve.saved.map((each, k) => gain(each, curve.spent[k])));
    gains.cross(state.share, all.miss);
    gains.diamond((now.hits + now.alarms) / data.rows, gain(now.y, now.x));
    gains.dot((best.hits + best.alarms) / data.rows, gain(best.y, best.x));
  };
  const envelope = (() => {
    const xs = [0], ys = [0];
    const rate = (part, k) => [part.spent[k] / data.alarmed, part.saved[k] / data.missed];
    for (let k = 0; k + 1 < cuts.hits.length; k++) {
      const [a, b] = [rate(cuts, k), rate(cuts, k + 1)];
      const crossing = (b[0] - a[0]) / (b[0] - a[0] + b[1] - a[1]);
      xs.push(crossing);
      ys.push((1 - a[1]) * crossing + a[0] * (1 - crossing));
    }
    return [[...xs, 1], [...ys, 0]];
  })();
  costs.frame([0, 1], [0, 0.55], axis, axis);
  costs.line("chance", [0, 0.5, 1], [0, 0.5, 0]);
  costs.line("fixed", [0, 1], [own.spent[0] / data.alarmed, 1 - own.saved[0] / data.missed]);
  costs.line("curve", ...envelope);
  const drawCosts = ({ all, best, now }) => {
    const whole = all.miss + all.alarm || 1;
    const place = all.miss / whole;
    costs.line("equal", [place, place], [0, 1]);
    costs.diamond(place, Math.min(now.risk / whole, 0.55));
    costs.dot(place, best.risk / whole);
  };

  // ---- one function shows the state everywhere
  const show = () => {
    const found = solve();
    const { best, now, all, k } = found;
    for (const [name, policy] of [["best", best], ["own", now]]) {
      for (const key of ["hits", "misses", "alarms", "quiet"]) put(`${name}-${key}`, policy[key], count);
      put(`${name}-misses-cost`, policy.missCost * data.rows, number);
      put(`${name}-alarms-cost`, policy.alarmCost * data.rows, number);
      put(`${name}-actions`, policy.hits + policy.alarms, count);
      put(`${name}-share`, (policy.hits + policy.alarms) / data.rows, percent);
    }
    for (const [name, risk] of [["best", best.risk], ["own", now.risk], ["nobody", all.miss], ["everybody", all.alarm]]) {
      put(`${name}-risk`, risk, number);
      put(`${name}-total`, risk * data.rows, number);
    }
    put("rows", data.rows, count);
    const last = cuts.hits.length - 1;
    const cut = data.ratio ? `acting where not acting is expected to cost ${number(Math.exp(data.thresholds[k]))} times what acting does, both at the present costs,` : `the threshold ${number(data.thresholds[k])}`;
    const what = k === 0 ? "acting on nobody" : k === last ? "acting on everybody" : cut;
    const saved = Math.min(all.miss, all.alarm) - best.risk;
    $("answer").textContent = `At these costs ${what} is best: ${amount(best.risk)} per row` +
      (k === 0 || k === last ? "." : `, ${amount(saved)} less than the better baseline.`);
    $("answer").dataset.threshold = k === 0 ? "inf" : k === last ? "-inf" : String(data.thresholds[k]);
    drawRoc(found);
    drawGains(found);
    drawCosts(found);
  };
  const said = (name) => {
    if (name === "share") return percent(state.share);
    return data.factor[name] ? "\u00d7\u00a0" + number(state[name]) : amount(state[name]);
  };
  const showInput = (name, typing) => {
    const { toSlider, shown } = sliders[name];
    const [range, typed] = [$(name), $(name + "-number")];
    const reached = 100 + (100 * Math.log(toSlider(state[name]) / toSlider(base[name]))) / Math.log(REACH);
    range.value = String(Math.min(200, Math.max(0, Math.round(reached))));
    range.setAttribute("aria-valuetext", said(name));
    if (!typing) typed.value = short(state[name] * shown);
    typed.removeAttribute("aria-invalid");
  };
  for (const [name, { toSlider, fromSlider, shown }] of Object.entries(sliders)) {
    const [range, typed] = [$(name), $(name + "-number")];
    range.addEventListener("input", () => {
      const steps = Number(range.value) - 100;
      const moved = fromSlider(toSlider(base[name]) * REACH ** (steps / 100));
      state[name] = steps ? Number(moved.toPrecision(4)) : base[name];
      showInput(name);
      show();
    });
    typed.addEventListener("input", () => {
      const value = typed.valueAsNumber / shown;
      if (!(value >= 0) || !Number.isFinite(value) || (name === "share" && value > 1)) {
        typed.setAttribute("aria-invalid", "true");
        return;
      }
      state[name] = value;
      showInput(name, true);
      show();
    });
  }
  $("reset").addEventListener("click", () => {
    Object.assign(state, base);
    Object.keys(sliders).forEach((name) => showInput(name));
    show();
  });

  for (const name of ["fn", "fp"]) {
    if (!data.factor[name]) continue;
    const control = $(name).closest(".control");
    control.querySelector(".unit").textContent = "\u00d7 the costs";
  }
  $("factor-note").hidden = !byCost;
  $("still").hidden = true;
  $("moving").hidden = false;
  Object.keys(sliders).forEach((name) => showInput(name));
  show();
})();
