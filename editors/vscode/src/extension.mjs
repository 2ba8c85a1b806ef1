// The extension: it starts `qps lsp`, and shows the live page beside the text.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join, isAbsolute } from "node:path";
import * as vscode from "vscode";
import { LanguageClient } from "vscode-languageclient/node";

import { frameOf } from "./frame.mjs";

const INSTALL = "pip install 'qps[lsp]'";
const STANDARD = "qps-std";

let client = null;
const panels = new Map();

// The program as the settings name it, that of the open folder's `.venv`, or that which is found.
function program() {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  const told = vscode.workspace.getConfiguration("qps").get("path", "").trim();
  if (told) return isAbsolute(told) || !told.includes("/") || !folder ? told : join(folder, told);
  const own = folder && (process.platform === "win32" ? join(folder, ".venv", "Scripts", "qps.exe") : join(folder, ".venv", "bin", "qps"));
  return own && existsSync(own) ? own : "qps";
}

// What is wrong with the program, null where it has a language server.
function wrongWith(command) {
  return new Promise((resolve) => {
    execFile(command, ["lsp", "--help"], { timeout: 30_000 }, (error, _, told) => {
      if (!error) resolve(null);
      else if (error.code === "ENOENT") resolve(`QPS: there is no program “${command}”. Install it (${INSTALL}), or say where it is.`);
      else if (error.killed) resolve(`QPS: “${command} lsp” does not answer.`);
      else resolve(`QPS: “${command}” has no language server (${(told || error.message).trim().split("\n").at(-1)}). ${INSTALL} adds it.`);
    });
  });
}

async function start() {
  const command = program();
  const wrong = await wrongWith(command);
  if (wrong) {
    const chosen = await vscode.window.showErrorMessage(wrong, "Say where it is", "Try again");
    if (chosen === "Say where it is") await vscode.commands.executeCommand("workbench.action.openSettings", "qps.path");
    if (chosen === "Try again") await start();
    return;
  }
  client = new LanguageClient(
    "qps",
    "QPS",
    { command, args: ["lsp"] },
    {
      documentSelector: [{ language: "qps" }],
      initializationOptions: { virtualDocuments: true, pageCommand: "qps.showPage" },
      synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/*.{qps,csv}") },
    },
  );
  try {
    await client.start();
  } catch (error) {
    client = null;
    vscode.window.showErrorMessage(`QPS: “${command} lsp” did not start: ${error.message ?? error}`);
  }
}

async function restart() {
  const before = client;
  client = null;
  if (before) await before.stop().catch(() => {}); // one that has ended by itself is as good
  await start();
}

// The page of a spec in a view beside its text; it follows what is written there.
async function showPage(given) {
  const uri = given ? vscode.Uri.parse(String(given)) : vscode.window.activeTextEditor?.document.uri;
  if (!uri) return;
  const shown = panels.get(uri.toString());
  if (shown) {
    shown.reveal(undefined, true);
    return;
  }
  if (!client) {
    vscode.window.showErrorMessage("QPS: the page comes from the language server, which is not running.");
    return;
  }
  const answer = await client.sendRequest("workspace/executeCommand", { command: "qps.page", arguments: [uri.toString()] });
  if (!answer?.address) {
    vscode.window.showErrorMessage("QPS: there is no page of this spec; the problems say why.");
    return;
  }
  const address = await vscode.env.asExternalUri(vscode.Uri.parse(answer.address));
  const name = uri.path.split("/").at(-1);
  const panel = vscode.window.createWebviewPanel(
    "qps.page",
    `Page of ${name}`,
    { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
    { enableScripts: true, retainContextWhenHidden: true },
  );
  panel.webview.html = frameOf(address.toString(true), name);
  panels.set(uri.toString(), panel);
  panel.onDidDispose(() => panels.delete(uri.toString()));
}

export async function activate(context) {
  const texts = {
    provideTextDocumentContent: async (uri) =>
      client ? (await client.sendRequest("workspace/textDocumentContent", { uri: uri.toString() })).text : "",
  };
  context.subscriptions.push(
    vscode.commands.registerCommand("qps.showPage", showPage),
    vscode.commands.registerCommand("qps.restart", restart),
    vscode.workspace.registerTextDocumentContentProvider(STANDARD, texts),
    vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration("qps.path") && restart()),
  );
  await start();
}

export async function deactivate() {
  await client?.stop();
}
