// Answers each line of JSON, a folder, with the options that TypeScript reads from its tsconfig.json.
// The variable TYPESCRIPT names the folder of the package.
const readline = require("readline");
const ts = require(process.env.TYPESCRIPT);

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const folder = JSON.parse(line);
  const faults = [];
  const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: (fault) => faults.push(fault) };
  const found = ts.getParsedCommandLineOfConfigFile(folder + "/tsconfig.json", {}, host);
  const text = (fault) => ts.flattenDiagnosticMessageText(fault.messageText, "\n");
  const errors = [...faults, ...(found ? found.errors : [])].map(text);
  const raw = found ? found.raw : {};
  console.log(JSON.stringify({ options: found ? found.options : {}, include: raw.include, exclude: raw.exclude, errors }));
});
