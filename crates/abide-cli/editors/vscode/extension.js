// Starts `abide lsp` and connects the editor to it.
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function create() {
  const settings = vscode.workspace.getConfiguration("abide");
  const against = settings.get("against");
  const args = against ? ["lsp", "--against", against] : ["lsp"];
  return new LanguageClient(
    "abide",
    "Abide",
    { command: settings.get("path") || "abide", args },
    { documentSelector: [{ language: "proto" }, { language: "proto3" }] },
  );
}

async function restart() {
  await client?.stop();
  client = create();
  await client.start();
}

exports.activate = async (context) => {
  const changed = (event) => (event.affectsConfiguration("abide") ? restart() : undefined);
  context.subscriptions.push(
    vscode.commands.registerCommand("abide.restart", restart),
    vscode.workspace.onDidChangeConfiguration(changed),
  );
  await restart();
};

exports.deactivate = () => client?.stop();
