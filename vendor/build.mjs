// Bundles plot.js into the package, with the licences of all that is in the bundle; LICENSE has them for the wheel.
import { build } from "esbuild";
import { readFileSync, writeFileSync } from "node:fs";

const out = "../src/cocensor/views/html/templates/vendor/plot.min.js";
const unused = /(\/plot\/src\/.*(projection|legends|schemes|tip|pointer)\.js|\/d3-geo\/.*)$/;
const { outputFiles: [bundle], metafile } = await build({
  entryPoints: ["plot.js"], bundle: true, minify: true, format: "iife", globalName: "Plot", target: "es2022",
  write: false, metafile: true, legalComments: "none",
  plugins: [{ name: "unused", setup: (to) => to.onLoad({ filter: unused }, () => ({ contents: readFileSync("unused.js") })) }],
});

const inputs = Object.entries(Object.values(metafile.outputs)[0].inputs).filter(([path, { bytesInOutput }]) => bytesInOutput && !unused.test(`/${path}`));
// d3-array has internmap inlined.
const packages = new Set(["internmap", ...inputs.map(([path]) => path.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1]).filter(Boolean)]);
const byTerms = new Map();
[...packages].sort().forEach((name) => {
  const folder = `node_modules/${name}`, { version } = JSON.parse(readFileSync(`${folder}/package.json`));
  const [owner, ...terms] = readFileSync(`${folder}/LICENSE`, "utf8").trim().split("\n");
  const found = byTerms.get(terms.join("\n")) ?? [];
  byTerms.set(terms.join("\n"), [...found, `${name} ${version}: ${owner}`]);
});
const licences = [...byTerms].map(([terms, whose]) => `${whose.join("\n")}\n${terms}`).join("\n\n");
writeFileSync("LICENSE", `${licences}\n`);
writeFileSync(out, `/*! A part of Observable Plot and of what it uses, bundled by vendor/build.mjs.\n\n${licences}\n*/\n${bundle.text}`);
console.log(`${bundle.text.length} bytes of ${[...packages].length} packages`);
