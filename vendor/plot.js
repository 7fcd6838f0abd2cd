// The part of Observable Plot that the report draws with.
export { plot } from "./node_modules/@observablehq/plot/src/plot.js";
export { areaY } from "./node_modules/@observablehq/plot/src/marks/area.js";
export { axisX, axisY, gridX, gridY } from "./node_modules/@observablehq/plot/src/marks/axis.js";
export { dot } from "./node_modules/@observablehq/plot/src/marks/dot.js";
export { line } from "./node_modules/@observablehq/plot/src/marks/line.js";
export { rect } from "./node_modules/@observablehq/plot/src/marks/rect.js";
export { ruleX, ruleY } from "./node_modules/@observablehq/plot/src/marks/rule.js";
export { text } from "./node_modules/@observablehq/plot/src/marks/text.js";
