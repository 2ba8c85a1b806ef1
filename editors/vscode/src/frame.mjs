// The view's own page: nothing but a frame around the address, and nothing else may be loaded.

const escaped = (text) => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

export function frameOf(address, name) {
  const { origin } = new URL(address);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; frame-src ${escaped(origin)}; style-src 'unsafe-inline'">
<style>html, body, iframe { margin: 0; padding: 0; border: 0; width: 100%; height: 100%; background: white }</style>
<title>${escaped(name)}</title>
</head>
<body><iframe src="${escaped(address)}" title="The live page of ${escaped(name)}" sandbox="allow-scripts allow-same-origin allow-downloads allow-popups"></iframe></body>
</html>`;
}
