// Talks to `abide lsp` with the library that Visual Studio Code talks to servers with.
const { spawn } = require("node:child_process");
const { readFileSync } = require("node:fs");
const { pathToFileURL } = require("node:url");
const protocol = require("vscode-languageserver-protocol/node");

const [abide, folder] = process.argv.slice(2);
const name = (path) => pathToFileURL(`${folder}/${path}`).toString();
const failed = [];
const check = (what, is, seen) => is || failed.push(`${what}: ${JSON.stringify(seen)}`);

(async () => {
  const server = spawn(abide, ["lsp"], { cwd: folder, stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((done) => server.on("exit", done));
  const connection = protocol.createProtocolConnection(
    new protocol.StreamMessageReader(server.stdout),
    new protocol.StreamMessageWriter(server.stdin),
  );
  const shown = new Map();
  let wake = () => {};
  connection.onNotification(protocol.PublishDiagnosticsNotification.type, (it) => {
    shown.set(`${it.uri} ${it.version}`, it.diagnostics);
    wake();
  });
  connection.onRequest(protocol.RegistrationRequest.type, () => undefined);
  connection.onRequest(protocol.WorkDoneProgressCreateRequest.type, () => undefined);
  connection.listen();
  const diagnostics = async (uri, version) => {
    while (!shown.has(`${uri} ${version}`)) await new Promise((done) => (wake = done));
    return shown.get(`${uri} ${version}`);
  };

  const { capabilities } = await connection.sendRequest(protocol.InitializeRequest.type, {
    processId: process.pid,
    rootUri: pathToFileURL(folder).toString(),
    workspaceFolders: [{ uri: pathToFileURL(folder).toString(), name: "tree" }],
    capabilities: {
      general: { positionEncodings: ["utf-16"] },
      window: { workDoneProgress: true },
      workspace: { didChangeWatchedFiles: { dynamicRegistration: true } },
      textDocument: { publishDiagnostics: { versionSupport: true, relatedInformation: true } },
    },
  });
  check("columns are UTF-16", capabilities.positionEncoding === "utf-16", capabilities);
  await connection.sendNotification(protocol.InitializedNotification.type, {});

  const uri = name("acme/shop/v1/shop.proto");
  const text = readFileSync(new URL(uri), "utf8");
  const broken = text.replace("string id = 1;", "/* 😀 */ Missing id = 1;");
  await connection.sendNotification(protocol.DidOpenTextDocumentNotification.type, {
    textDocument: { uri, languageId: "proto", version: 1, text: broken },
  });
  const found = await diagnostics(uri, 1);
  const missing = found.find((it) => it.code === "name-not-found");
  const line = broken.split("\n").findIndex((it) => it.includes("Missing"));
  const character = broken.split("\n")[line].indexOf("Missing");
  check("the error is at its place", missing?.range.start.line === line && missing?.range.start.character === character, found);

  await connection.sendNotification(protocol.DidChangeTextDocumentNotification.type, {
    textDocument: { uri, version: 2 },
    contentChanges: [{ text }],
  });
  check("the mended text has no error", (await diagnostics(uri, 2)).every((it) => it.severity !== 1), shown.get(`${uri} 2`));
  const at = (word, after = 0) => {
    const before = text.slice(0, text.indexOf(word) + after).split("\n");
    return { textDocument: { uri }, position: { line: before.length - 1, character: before.at(-1).length } };
  };
  const definition = await connection.sendRequest(protocol.DefinitionRequest.type, at("Money price"));
  check("a type leads to its declaration", definition?.uri === name("acme/type/v1/money.proto"), definition);
  const hover = await connection.sendRequest(protocol.HoverRequest.type, at("Money price"));
  check("a hover names the type", hover?.contents.value.includes("acme.type.v1.Money"), hover);
  const symbols = await connection.sendRequest(protocol.DocumentSymbolRequest.type, at("Money"));
  check("there are symbols", symbols?.some((it) => it.name === "Order"), symbols);
  const items = await connection.sendRequest(protocol.CompletionRequest.type, at("Money price", 2));
  check("types are completed", items?.items.some((it) => it.label === "acme.type.v1.Money"), items);
  const source = new protocol.CancellationTokenSource();
  const references = connection.sendRequest(protocol.ReferencesRequest.type, { ...at("Money price"), context: { includeDeclaration: true } }, source.token);
  source.cancel();
  await references.then(
    (it) => check("uses are found", it.length > 1, it),
    (error) => check("a cancelled request is one", error.code === protocol.LSPErrorCodes.RequestCancelled, error),
  );
  await connection.sendRequest(protocol.ShutdownRequest.type);
  await connection.sendNotification(protocol.ExitNotification.type);
  check("the server ends", (await ended) === 0, server.exitCode);
  failed.forEach((it) => console.log(it));
  process.exit(failed.length ? 1 : 0);
})();
