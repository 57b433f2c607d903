// Operations: upstreams that are left out, latency, sessions. The demo that a first visitor starts, and the page of a build without npm.
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { promisify } from 'node:util';
import { chat, open_browser, open_page, start_logged } from './browser.mjs';
import { file_scope, make_folder, one_upstream, Program, sleep, start_mock } from './harness.mjs';

const scope = file_scope();
before(() => open_browser(scope));

const script = `
rule plain
  cut words
  text "Hello from the mock."
`;

test('an upstream that failed is shown as left out, with the reason and the next try', async (t) => {
  const mock = await start_mock(t, script);
  const gateway = await start_logged(t, {
    upstream: [
      { name: 'gone', url: 'http://127.0.0.1:1/v1' },
      { name: 'well', url: mock.v1 },
    ],
    model: [{ name: 'm', upstream: ['gone', 'well'] }],
  });
  for (let i = 0; i < 6; ++i) await (await chat(gateway, {})).text();
  const page = await open_page(t, gateway.url, { path: '/#/operations' });
  await page.getByRole('tab', { name: 'Upstreams' }).click();
  const table = page.getByRole('region', { name: 'Upstreams' });
  const gone = table.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'gone' }) });
  await gone.getByText('ejected').waitFor();
  assert.match(await gone.innerText(), /Tried again (in|with)/);
  const well = table.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'well' }) });
  assert.match(await well.innerText(), /well\s+well/);
});

test('the latency of turns is a chart that can be read aloud, and a gateway without sessions says so', async (t) => {
  const mock = await start_mock(t, script);
  const gateway = await start_logged(t, one_upstream(mock.v1));
  for (let i = 0; i < 3; ++i) await (await chat(gateway, {})).text();
  const page = await open_page(t, gateway.url, { path: '/#/operations' });
  await page.getByRole('tab', { name: 'Latency' }).click();
  await page.getByText('3 turns, of the latest 500').waitFor();
  const chart = page.getByRole('img', { name: /^Time to first token, median and 95th percentile: .*; \d\d:\d\d/ });
  assert.ok(await chart.isVisible());
  await page.getByRole('tab', { name: 'Sessions' }).click();
  await page.getByText('No sessions').waitFor();
  await page.getByText('No conversations').waitFor();
});

test('usage is charted by time, and ranked by model, upstream and key', async (t) => {
  const mock = await start_mock(t, script);
  const gateway = await start_logged(t, one_upstream(mock.v1, { models: ['m', 'other'] }));
  for (let i = 0; i < 3; ++i) await (await chat(gateway, {})).text();
  await (await chat(gateway, { model: 'other' })).text();
  const page = await open_page(t, gateway.url, { path: '/#/operations' });
  const chart = page.getByRole('img', { name: /^Requests: 4;/ });
  await chart.waitFor();
  assert.deepEqual(await chart.locator('.axis-y span').allInnerTexts(), ['4', '2', '0']);
  await page.getByLabel('By').selectOption('model');
  await page.getByRole('img', { name: /^Requests: 4; m 3; other 1/ }).waitFor();
  for (const group of ['upstream', 'key', 'tool', 'day']) {
    await page.getByLabel('By').selectOption(group);
    await sleep(200);
    assert.equal(await page.getByRole('alert').count(), 0, group);
  }
});

test('a smoke run from the page shows the verdict of every rule', async (t) => {
  const mock = await start_mock(t, 'rule x\n  when user contains "Paris"\n  call get_weather {"city": "Paris"}\n');
  const broken = await start_mock(t, "rule x\n  text \"<tool_call>{'name': 'get_weather'}</tool_call>\"\n");
  const gateway = await start_logged(t, {
    upstream: [
      { name: 'well', url: mock.v1 },
      { name: 'ill', url: broken.v1 },
    ],
    model: [
      { name: 'good', upstream: 'well' },
      { name: 'bad', upstream: 'ill' },
    ],
  });
  const page = await open_page(t, gateway.url, { path: '/#/operations' });
  await page.getByRole('tab', { name: 'Smoke' }).click();
  const rules = page.getByRole('region', { name: 'Rules' });
  const verdict = (name) => rules.getByRole('row').filter({ has: page.getByRole('rowheader', { name, exact: true }) }).innerText();
  for (const protocol of ['chat', 'responses', 'messages', 'gemini', 'ollama']) {
    await page.getByLabel('Model').selectOption('good');
    await page.getByLabel('Protocol').selectOption(protocol);
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByRole('status').getByText(/rules passed, 0 failed/).waitFor();
    assert.match(await verdict('call_made'), /pass/, protocol);
  }
  await page.getByLabel('Model').selectOption('bad');
  await page.getByLabel('Protocol').selectOption('chat');
  await page.getByRole('button', { name: 'Run' }).click();
  await page.getByText(/rules? failed/).waitFor();
  assert.match(await verdict('call_made'), /FAIL/);
  assert.match(await verdict('no_markup'), /FAIL/);
  // The turn that was asked can be opened.
  await page.getByRole('link', { name: 'Open the turn' }).click();
  await page.waitForURL(/#\/turn\//);
});

test('the demo button runs turns and opens one of them', async (t) => {
  const gateway = await new Program(t, ['serve', '--demo', '--listen', '127.0.0.1:0', '--set', 'store.url=sqlite::memory:']).ready();
  const page = await open_page(t, gateway.url);
  await page.getByRole('button', { name: 'Run demo turns' }).click();
  await page.waitForURL(/#\/turn\//);
  await page.locator('.virtual-seen .step').first().waitFor();
});

// The page as a machine without npm builds it, with packages of that registry.
async function build_page(t, registry) {
  const folder = make_folder(t);
  const find = (command) => execFileSync('bash', ['-c', command]).toString().trim();
  for (const name of ['bash', 'env', 'dirname', 'realpath', 'mkdir', 'flock', 'cat', 'sha256sum', 'cut', 'rm', 'cp']) symlinkSync(find(`command -v ${name}`), join(folder, name));
  symlinkSync(find("python3 -c 'import sys; print(sys.executable)'"), join(folder, 'python3')); // not a wrapper around it
  const out = join(folder, 'page.inc');
  await promisify(execFile)(join(process.env.WEB_SOURCE, 'tools/build_web.sh'), [out], { env: { PATH: folder, CALLGATE_WEB_ROOM: join(folder, 'room'), npm_config_registry: registry } });
  return Buffer.from([...readFileSync(out, 'utf8').matchAll(/'\\x([0-9a-f]{2})'/g)].map(([, hex]) => parseInt(hex, 16))).toString('utf8');
}

test('a build that cannot fetch its packages, or gets others, has a plain page that says so', async (t) => {
  const plain = readFileSync(join(process.env.WEB_SOURCE, 'web/plain.html'), 'utf8');
  assert.equal(await build_page(t, 'http://127.0.0.1:1'), plain);
  const asked = [];
  const registry = createServer((request, response) => {
    asked.push(request.url);
    response.end('not the package that the lock file names');
  });
  await new Promise((resolve) => registry.listen(0, '127.0.0.1', resolve));
  t.after(() => registry.close());
  assert.equal(await build_page(t, `http://127.0.0.1:${registry.address().port}`), plain);
  assert.ok(asked.some((path) => /^\/preact\/-\/preact-[0-9.]+\.tgz$/.test(path)), asked.join(' '));
  const page = await open_page(t, `file://${process.env.WEB_SOURCE}`, { path: '/web/plain.html' });
  assert.ok(await page.getByText('could not be fetched').isVisible());
  assert.equal(await page.locator('script').count(), 0);
});
