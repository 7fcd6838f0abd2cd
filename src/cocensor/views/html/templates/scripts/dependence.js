const drawSurvival = () => {
  if (!numbers.survival) return;
  const { times, kaplan_meier: plain, taus, copula_graphic: graphic, at_risk: atRisk } = numbers.survival;
  const points = (values) => times.map((at, k) => [at, values[k]]);
  const lines = taus.map((tau, k) => ({
    points: points(graphic[state.survival][k]), style: `k${k} d${k + 1}`, end: `τ = ${tau}`, name: `Copula-Graphic, ${capital(state.survival)}, τ = ${tau}`,
  }));
  lines.unshift({ points: points(plain), style: "", end: "KM", name: "Kaplan–Meier" });
  chart(document.getElementById("plot-survival"), {
    ...alongTime(times[times.length - 1], atRisk), lines, y: [0, 1.02], yTicks: [0, 0.2, 0.4, 0.6, 0.8, 1], yLabel: "survival probability", steps: true,
  });
};

const drawLikelihood = () => {
  if (!numbers.profile) return;
  const { families, cut } = numbers.profile;
  const curves = Object.entries(families);
  // What is hopeless need not be drawn to scale; every family's best and independence are.
  const worth = curves.flatMap(([, each]) => [Math.max(...each.difference), each.difference[each.taus.indexOf(0)]]);
  const depth = Math.max(3 * cut, -1.5 * Math.min(...worth));
  const taus = curves.flatMap(([, each]) => each.taus.filter((tau, k) => tau === 0 || each.difference[k] >= -depth));
  const isCut = curves.some(([, each]) => Math.min(...each.difference) < -depth);
  const clipped = (value) => (value < -depth ? null : value);
  chart(document.getElementById("plot-likelihood"), {
    lines: curves.map(([name, each], k) => ({
      points: each.taus.map((tau, j) => [tau, clipped(each.difference[j])]), style: `k${k % 6} d${k % 6}`, end: capital(name), name: capital(name),
    })),
    x: [Math.min(...taus), Math.max(...taus)], y: [-depth, 0.05 * depth], dots: true,
    rules: [...independence(0), ...hinted(), { y: -cut, sign: "here", name: "95 % limit" }],
    xLabel: "Kendall’s τ of event and dropout",
    yLabel: `profile log-likelihood minus its maximum${isCut ? `, cut at ${(-depth).toPrecision(3)}` : ""}`,
  });
};
