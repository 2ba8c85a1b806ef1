// The extension: it starts `qps lsp`, and shows the live page beside the text.

import * as vscode from "vscode";
import { LanguageClient } from "vscode-languageclient/node";

import { follow } from "./following.mjs";
import { frameOf } from "./frame.mjs";
import { program, wrongWith } from "./program.mjs";

const STANDARD = "qps-std";

let client = null;
let changing = Promise.resolve();
const panels = new Map();

const chosen = () =>
  program({
    configured: vscode.workspace.getConfiguration("qps").get("path", ""),
    folders: (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath),
    isTrusted: vscode.workspace.isTrusted,
  });

// Tells what is wrong, without waiting for who reads it.
async function report(wrong) {
  const answer = await vscode.window.showErrorMessage(wrong, "Set path", "Retry");
  if (answer === "Set path") await vscode.commands.executeCommand("workbench.action.openSettings", "qps.path");
  if (answer === "Retry") await restart();
}

async function start() {
  const command = chosen();
  const wrong = await wrongWith(command);
  if (wrong) {
    void report(vscode.workspace.isTrusted ? wrong : `${wrong} The .venv of a folder is used only if the folder is trusted.`);
    return;
  }
  client = new LanguageClient(
    "qps",
    "QPS",
    { command, args: ["lsp"] },
    {
      documentSelector: [{ language: "qps" }],
      initializationOptions: { virtualDocuments: true, pageCommand: "qps.showPage" },
    },
  );
  try {
    await client.start();
  } catch (error) {
    client = null;
    vscode.window.showErrorMessage(`QPS: “${command} lsp” failed to start: ${error.message ?? error}`);
  }
}

async function stop() {
  const before = client;
  client = null;
  await before?.stop().catch(() => {}); // one that has ended by itself is as good
}

// One after the other, however many ask.
function restart() {
  changing = changing.then(stop).then(start);
  return changing;
}

// Where the page of a spec is served; null where it is not open, or there is no server.
async function addressOf(uri) {
  const answer = await client?.sendRequest("workspace/executeCommand", { command: "qps.page", arguments: [uri] });
  return answer?.address ?? null;
}

// The page of a spec in a view beside its text; it follows what is written there.
async function showPage(given) {
  const uri = given ? vscode.Uri.parse(String(given)) : vscode.window.activeTextEditor?.document.uri;
  if (!uri) return;
  const key = uri.toString();
  const shown = panels.get(key);
  if (shown) {
    shown.reveal(undefined, true);
    return;
  }
  await changing;
  if (!client) {
    vscode.window.showErrorMessage("QPS: the live report needs the language server, which is not running.");
    return;
  }
  const name = uri.path.split("/").at(-1);
  const panel = vscode.window.createWebviewPanel(
    "qps.page",
    `Report: ${name}`,
    { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
    { enableScripts: true, retainContextWhenHidden: true, localResourceRoots: [] },
  );
  panels.set(key, panel);
  panel.onDidDispose(() => panels.delete(key));
  const ready = new Promise((resolve) => panel.webview.onDidReceiveMessage(resolve));
  panel.webview.html = frameOf(name);
  await ready;
  await follow({
    find: () => addressOf(key),
    report: (what) => panel.webview.postMessage(what),
    goesOn: () => panels.get(key) === panel,
    isSeen: () => panel.visible,
  });
}

export function activate(context) {
  const texts = {
    provideTextDocumentContent: async (uri) => {
      await changing;
      return client ? (await client.sendRequest("workspace/textDocumentContent", { uri: uri.toString() })).text : "";
    },
  };
  context.subscriptions.push(
    vscode.commands.registerCommand("qps.showPage", (given) => void showPage(given)),
    vscode.commands.registerCommand("qps.restart", restart),
    vscode.workspace.registerTextDocumentContentProvider(STANDARD, texts),
    vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration("qps.path") && restart()),
    vscode.workspace.onDidGrantWorkspaceTrust(restart),
    vscode.workspace.onDidChangeWorkspaceFolders(() => !client && restart()),
  );
  void restart();
}

export const deactivate = stop;
