// Asks the search of a built site, in its own worker: node search_of_site.js SITE QUERY...
// Prints a JSON list of locations for each query, the best first.
const fs = require("fs"), vm = require("vm");
const [site, ...queries] = process.argv.slice(2);
const workers = `${site}/assets/javascripts/workers/`;
const worker = fs.readdirSync(workers).find((name) => /^search\..*\.js$/.test(name));
const index = JSON.parse(fs.readFileSync(`${site}/search/search_index.json`));
const listeners = [];
let answered = () => {};
const context = {
  console, URL, setTimeout, clearTimeout, location: { href: "https://site.example/" },
  addEventListener: (kind, listener) => kind === "message" && listeners.push(listener),
  postMessage: (message) => answered(message),
  importScripts: () => {},
};
context.self = context.globalThis = context;
vm.createContext(context);
vm.runInContext(fs.readFileSync(workers + worker, "utf8"), context);
const send = (data) => new Promise((done) => {
  answered = done;
  listeners.forEach((listener) => listener({ data }));
});
(async () => {
  await send({ type: 0, data: { config: index.config, docs: index.docs, options: { suggest: true } } });
  for (const query of queries) {
    const found = await send({ type: 2, data: query });
    console.log(JSON.stringify(found.data.items.map((group) => group[0].location)));
  }
  process.exit(0);
})();
