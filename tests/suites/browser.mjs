// browser.mjs PATH_TO_CALLGATE: pages in a real Chromium against a gateway without keys whose model runs a command tool. Foreign pages
// must neither make the tool run nor read anything: by requests that need no leave, through names that are pointed at this
// machine, and over WebSockets. A page of this machine may; that shows that the others could.
// Ends with 77 where there is no Chromium.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const program = resolve(process.argv[2] ?? '');
const chromium = process.env.CHROMIUM ?? '/usr/bin/chromium';
if (!existsSync(chromium)) {
  console.log(`browser: skipped, there is no ${chromium}`);
  process.exit(77);
}
const folder = mkdtempSync(join(tmpdir(), 'callgate-browser.'));
const ran = join(folder, 'ran');
const kEvil = 'evil.example';

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
async function eventually(what, check) {
  for (let i = 0; i < 300; ++i) {
    const found = await check();
    if (found) return found;
    await sleep(100);
  }
  throw new Error(`never: ${what}`);
}
async function listen(server) {
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return server.address().port;
}
// The first match of `pattern` in what the program prints.
function first_match(stream, pattern) {
  return new Promise((done, failed) => {
    let text = '';
    stream.on('data', (piece) => {
      text += piece;
      const found = pattern.exec(text);
      if (found) done(found[1]);
    });
    stream.on('end', () => failed(new Error(`no ${pattern} in: ${text}`)));
  });
}

// A model that calls the tool, then speaks.
let asked = 0;
const model = createServer(async (request, response) => {
  let body = '';
  for await (const piece of request) body += piece;
  ++asked;
  const has_result = JSON.parse(body).messages.some((message) => message.role === 'tool');
  const call = { index: 0, id: 'c1', type: 'function', function: { name: 'touch', arguments: '{}' } };
  const delta = has_result ? { content: 'done' } : { tool_calls: [call] };
  const finish_reason = has_result ? 'stop' : 'tool_calls';
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\ndata: [DONE]\n\n`);
});
const pages = createServer((request, response) => {
  response.writeHead(200, { 'content-type': 'text/html' });
  response.end('<!doctype html><title>page</title>');
});

class Browser {
  static async start() {
    const child = spawn(chromium, [
      '--headless=new', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-dev-shm-usage',
      '--remote-debugging-port=0', `--user-data-dir=${join(folder, 'profile')}`,
      `--host-resolver-rules=MAP ${kEvil} 127.0.0.1, MAP *.${kEvil} 127.0.0.1`, 'about:blank',
    ], { stdio: ['ignore', 'ignore', 'pipe'] });
    const url = await first_match(child.stderr, /DevTools listening on (ws:\S+)/);
    const port = new URL(url).port;
    const targets = await eventually('a tab', async () => {
      const all = await (await fetch(`http://127.0.0.1:${port}/json/list`)).json();
      return all.find((target) => target.type === 'page');
    });
    const socket = new WebSocket(targets.webSocketDebuggerUrl);
    await new Promise((done) => socket.addEventListener('open', done));
    return new Browser(child, socket);
  }
  constructor(child, socket) {
    this.child = child;
    this.socket = socket;
    this.next = 1;
    this.waiting = new Map();
    socket.addEventListener('message', ({ data }) => {
      const message = JSON.parse(data);
      this.waiting.get(message.id)?.(message);
    });
  }
  call(method, params = {}) {
    const id = this.next++;
    this.socket.send(JSON.stringify({ id, method, params }));
    return new Promise((done) => this.waiting.set(id, done));
  }
  async evaluate(expression) {
    const { result } = await this.call('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    if (result.exceptionDetails) throw new Error(JSON.stringify(result.exceptionDetails));
    return result.result.value;
  }
  async open(url) {
    await this.call('Page.navigate', { url });
    await eventually(url, async () => {
      const state = await this.evaluate('[location.href, document.readyState].join(" ")').catch(() => '');
      return state.startsWith(url) && state.endsWith('complete');
    });
  }
  async stop() {
    this.socket.close();
    this.child.kill('SIGKILL');
    await sleep(200);
  }
}

const kChat = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] });
const quoted = JSON.stringify(kChat);
// Each gives the status, 'opaque', or 'failed'.
const kRequests = {
  'text/plain, no-cors': (url) => `fetch('${url}', {method:'POST', mode:'no-cors', body:${quoted}})`,
  'no content type': (url) => `fetch('${url}', {method:'POST', mode:'no-cors', body:new Blob([${quoted}])})`,
  'form': (url) => `fetch('${url}', {method:'POST', mode:'no-cors', body:new URLSearchParams({a:${quoted}})})`,
  'json, cors': (url) => `fetch('${url}', {method:'POST', headers:{'content-type':'application/json'}, body:${quoted}})`,
};
const status_of = (code) => `${code}.then((r) => r.type === 'opaque' ? 'opaque' : r.status).catch(() => 'failed')`;
const kSubmit = (url) => `new Promise((done) => {
  const frame = document.createElement('iframe'); frame.name = 'f'; document.body.append(frame);
  const form = document.createElement('form');
  form.method = 'post'; form.action = '${url}'; form.enctype = 'text/plain'; form.target = 'f';
  const input = document.createElement('input'); input.name = ${JSON.stringify(kChat.slice(0, -1) + ',"x":"')}; input.value = '"}';
  form.append(input); document.body.append(form);
  frame.addEventListener('load', () => done('sent')); form.submit(); setTimeout(() => done('sent'), 3000);
})`;
const kSocket = (url) => `new Promise((done) => {
  const socket = new WebSocket('${url}');
  socket.onopen = () => done('open'); socket.onerror = () => done('failed');
})`;

let failures = 0;
async function check(name, work) {
  try {
    await work();
    console.log(`ok   ${name}`);
  } catch (error) {
    ++failures;
    console.log(`FAIL ${name}: ${error.message}`);
  }
}
function assert_nothing_ran(before) {
  assert.equal(asked, before, 'the model was asked');
  assert.ok(!existsSync(ran), 'the tool ran');
}

let gateway;
let browser;
try {
  const model_port = await listen(model);
  const page_port = await listen(pages);
  const config = join(folder, 'callgate.toml');
  writeFileSync(config, `
listen = "127.0.0.1:0"
store.url = "sqlite:${folder}/log.db"
store.journal = ""
[[upstream]]
name = "u"
url = "http://127.0.0.1:${model_port}"
[[model]]
name = "m"
upstream = "u"
loop = true
[[tool]]
name = "touch"
kind = "command"
command = ["touch", "${ran}"]
`);
  gateway = spawn(program, ['serve', '--config', config], { stdio: ['ignore', 'pipe', 'inherit'], cwd: folder });
  const port = await first_match(gateway.stdout, /listening on http:\/\/127\.0\.0\.1:(\d+)/);
  const here = `http://127.0.0.1:${port}`;
  const chat = `${here}/v1/chat/completions`;
  browser = await Browser.start();

  await browser.open(`http://${kEvil}:${page_port}/`);
  for (const [name, code] of Object.entries(kRequests)) {
    await check(`a foreign page sends ${name}`, async () => {
      const before = asked;
      const status = await browser.evaluate(status_of(code(chat)));
      assert.ok(['opaque', 'failed'].includes(status), `it reads ${status}`);
      await sleep(300);
      assert_nothing_ran(before);
    });
  }
  await check('a foreign page submits a form', async () => {
    const before = asked;
    await browser.evaluate(kSubmit(chat));
    await sleep(300);
    assert_nothing_ran(before);
  });
  await check('a foreign page sends a beacon', async () => {
    const before = asked;
    await browser.evaluate(`navigator.sendBeacon('${chat}', ${quoted})`);
    await sleep(500);
    assert_nothing_ran(before);
  });
  await check('a foreign page opens a WebSocket', async () => {
    assert.equal(await browser.evaluate(kSocket(`ws://127.0.0.1:${port}/v1/rooms/r?model=m`)), 'failed');
  });
  await check('a foreign page approves a call', async () => {
    const code = kRequests['text/plain, no-cors'](`${here}/v1/loops/loop_x/approve`);
    assert.ok(['opaque', 'failed'].includes(await browser.evaluate(status_of(code))));
  });

  // To the browser the page and the gateway are one server now.
  await browser.open(`http://${kEvil}:${port}/livez`);
  for (const path of ['/v1/requests', '/v1/models', '/v1/sessions', '/v1/loops', '/metrics']) {
    await check(`a page whose name was pointed here reads ${path}`, async () => {
      assert.equal(await browser.evaluate(status_of(`fetch('${path}')`)), 403);
    });
  }
  await check('a page whose name was pointed here asks the model', async () => {
    const before = asked;
    assert.equal(await browser.evaluate(status_of(kRequests['json, cors']('/v1/chat/completions'))), 403);
    assert_nothing_ran(before);
  });
  await check('a page whose name was pointed here opens a WebSocket', async () => {
    assert.equal(await browser.evaluate(kSocket(`ws://${kEvil}:${port}/v1/rooms/r?model=m`)), 'failed');
  });

  await browser.open(`http://localhost:${page_port}/`);
  await check('a page of this machine may ask, read and join', async () => {
    assert.equal(await browser.evaluate(status_of(kRequests['json, cors'](chat))), 200);
    await eventually('the tool ran', () => existsSync(ran));
    assert.equal(await browser.evaluate(status_of(`fetch('${here}/v1/requests')`)), 200);
    assert.equal(await browser.evaluate(kSocket(`ws://127.0.0.1:${port}/v1/rooms/r?model=m`)), 'open');
  });
  await check('...but not with JSON as a form', async () => {
    const before = asked;
    await browser.evaluate(status_of(kRequests['text/plain, no-cors'](chat)));
    await sleep(300);
    assert.equal(asked, before);
  });
} finally {
  await browser?.stop();
  gateway?.kill('SIGTERM');
  model.closeAllConnections();
  pages.closeAllConnections();
  model.close();
  pages.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}
console.log(failures === 0 ? 'browser: all held' : `browser: ${failures} failed`);
process.exit(failures === 0 ? 0 : 1);
