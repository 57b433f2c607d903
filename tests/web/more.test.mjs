// The rest: restarts, many rows, every view by keyboard, in both themes and on narrow screens, checked by axe.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { before, test } from 'node:test';
import { chat, open_browser, open_page, start_logged, weather } from './browser.mjs';
import { eventually, file_scope, one_upstream, Program, sleep, start_gateway, start_mock } from './harness.mjs';

const scope = file_scope();
before(() => open_browser(scope));
const axe = readFileSync(new URL('./node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');

const script = `
rule weather
  when tools
  cut words
  text "Let me look."
  call get_weather {"city": "Paris"}
rule plain
  cut words
  text "Hello from the mock."
`;

async function serious_findings(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  return violations
    .filter((each) => each.impact === 'serious' || each.impact === 'critical')
    .map((each) => `${each.id}: ${each.help}: ${each.nodes.map((node) => node.target.join(' ')).slice(0, 4).join(' | ')}`);
}

test('every view, in both themes and two sizes, has no serious finding of axe', async (t) => {
  const mock = await start_mock(t, script);
  const gateway = await start_logged(t, one_upstream(mock.v1, { tool: [{ name: 'echo', kind: 'command', description: 'Repeats.', command: ['/bin/cat'], parameters: weather.function.parameters }] }));
  const watcher = await open_page(t, gateway.url);
  await watcher.getByRole('status').getByText('Live').waitFor();
  const turn = await chat(gateway, { tools: [weather] });
  await turn.text();
  const findings = [];
  for (const scheme of ['light', 'dark']) {
    for (const [width, height] of [[1440, 900], [390, 844]]) {
      const page = await open_page(t, gateway.url, { scheme, width, height });
      for (const view of ['live', `turn/${turn.id}`, 'replay', 'playground', 'loops', 'operations']) {
        await page.goto(`${gateway.url}/#/${view}`);
        await page.locator('h1').first().waitFor();
        if (view.startsWith('turn')) await page.locator('.virtual-seen .step').first().click();
        if (view === 'loops') await page.locator('.tool-card summary').first().click();
        await sleep(300);
        for (const finding of await serious_findings(page)) findings.push(`${view} ${scheme} ${width}: ${finding}`);
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        if (overflow > 0) findings.push(`${view} ${width}: ${overflow} px wider than the screen`);
      }
      for (const tab of ['Assembled', 'Raw', 'Timeline']) {
        await page.goto(`${gateway.url}/#/turn/${turn.id}`);
        await page.getByRole('tab', { name: tab }).click();
        await sleep(200);
        for (const finding of await serious_findings(page)) findings.push(`${tab} ${scheme} ${width}: ${finding}`);
      }
      await page.goto(`${gateway.url}/#/operations`);
      for (const tab of ['Upstreams', 'Latency', 'Log', 'Sessions', 'Smoke', 'Configuration']) {
        await page.getByRole('tab', { name: tab }).click();
        await sleep(200);
        for (const finding of await serious_findings(page)) findings.push(`${tab} ${scheme} ${width}: ${finding}`);
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        if (overflow > 0) findings.push(`${tab} ${width}: ${overflow} px wider than the screen`);
      }
      const dark = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      assert.equal(dark === 'rgb(14, 19, 24)', scheme === 'dark', dark);
      await page.context().close();
    }
  }
  assert.deepEqual(findings, []);
});

test('goes on after a restart of the gateway, without a reload of the page', async (t) => {
  const mock = await start_mock(t, script);
  // The same port again.
  const port = await new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port: free } = server.address();
      server.close(() => resolve(free));
    });
  });
  const config = { listen: `127.0.0.1:${port}`, ...one_upstream(mock.v1) };
  const first = await start_gateway(t, config);
  const page = await open_page(t, first.url, { expect_errors: true });
  await page.getByRole('status').getByText('Live').waitFor();
  await (await chat(first, {}, { 'x-request-id': 'before-restart' })).text();
  await page.locator('.turn-row.completed').waitFor();
  await first.stop();
  await page.getByRole('status').getByText('Reconnecting').waitFor();
  const second = await start_gateway(t, config);
  await page.getByRole('status').getByText('Live').waitFor();
  await (await chat(second, {}, { 'x-request-id': 'after-restart' })).text();
  await eventually('both rows', async () => (await page.locator('.virtual-seen .turn-row').count()) === 2);
});

// A gateway that is only as much as Live needs, so that thousands of turns cost no time.
async function start_flood(t) {
  const row = (i) => ({
    id: `req_${i}`, object: 'request', received_at: new Date(1_790_000_000_000 + i).toISOString(), state: i % 3 ? 'completed' : 'running', model: `model-${i % 40}`, upstream: 'main', dialect: 'hermes',
    key: 'alice', protocol: 'openai_chat', stream: true, status: 200, finish_reason: 'stop', tool_calls: i % 4, usage: { prompt_tokens: i, completion_tokens: i }, repairs: i % 7 ? 0 : 1,
    repair_names: 'id_missing', first_token_ms: 12, total_ms: 340, progress: { phase: 'streaming', bytes: i, calls: 0, elapsed_ms: 1 },
  });
  const { default: http } = await import('node:http');
  let send;
  const program = await new Program(t, ['serve', '--demo', '--listen', '127.0.0.1:0', '--set', 'store.url=none']).ready();
  const server = http.createServer(async (request, response) => {
    if (request.url === '/v1/live') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('event: hello\ndata: {"epoch":"x","resumed":true}\n\n');
      send = (from, to) => {
        let text = '';
        for (let i = from; i < to; i++) text += `id: x-${i}\nevent: turn\ndata: ${JSON.stringify(row(i))}\n\n`;
        response.write(text);
      };
      return;
    }
    const answer = await fetch(program.url + request.url, { headers: { accept: request.headers.accept ?? '*/*' } });
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') });
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => (server.closeAllConnections(), server.close()));
  return { url: `http://127.0.0.1:${server.address().port}`, flood: async (from, to) => {
    for (let i = from; i < to; i += 250) {
      send(i, i + 250);
      await sleep(100);
    }
  } };
}

// The tasks of the page's main thread, by the processor time that they took: other programs share the machine.
async function longest_task(page, work) {
  const browser = page.context().browser();
  await browser.startTracing(page, { categories: ['toplevel', 'disabled-by-default-devtools.timeline', '__metadata'] });
  await work();
  const { traceEvents } = JSON.parse(String(await browser.stopTracing()));
  const mains = new Set(traceEvents.filter((each) => each.name === 'thread_name' && each.args.name === 'CrRendererMain').map((each) => `${each.pid} ${each.tid}`));
  const times = traceEvents.filter((each) => mains.has(`${each.pid} ${each.tid}`) && each.tdur !== undefined && /RunTask/.test(each.name)).map((each) => each.tdur / 1000);
  assert.ok(times.length > 10, 'the trace has tasks');
  return Math.max(...times);
}

test('5,000 rows stay smooth', async (t) => {
  const { url, flood } = await start_flood(t);
  const page = await open_page(t, url);
  await page.getByRole('status').getByText('Live').waitFor();
  await flood(0, 500);
  const longest = {
    flood: await longest_task(page, async () => {
      await flood(500, 5000);
      await page.locator('.count', { hasText: '5000 turns' }).waitFor();
    }),
    filter: await longest_task(page, async () => {
      await page.getByLabel('Filter').fill('model-7');
      await page.locator('.count', { hasText: '125 of 5000' }).waitFor();
      await page.getByLabel('Filter').fill('');
      await page.locator('.count', { hasText: '5000 turns' }).waitFor();
    }),
    scroll: await longest_task(page, () =>
      page.locator('.virtual').evaluate(async (box) => {
        for (let top = 0; top < box.scrollHeight; top += 3000) {
          box.scrollTop = top;
          await new Promise((resolve) => requestAnimationFrame(resolve));
        }
      }),
    ),
  };
  assert.ok((await page.locator('.virtual-seen .turn-row').count()) < 120, 'only rows in sight are in the page');
  t.diagnostic(`longest task in ms: ${JSON.stringify(longest)}`);
  for (const [what, ms] of Object.entries(longest)) assert.ok(ms <= 50, `${what}: a task took ${ms} ms`);
});

test('everything can be reached by keyboard', async (t) => {
  const mock = await start_mock(t, script);
  const gateway = await start_logged(t, one_upstream(mock.v1));
  const page = await open_page(t, gateway.url);
  await page.getByRole('status').getByText('Live').waitFor();
  for (let i = 0; i < 3; i++) await (await chat(gateway, { tools: [weather] })).text();
  await page.locator('.turn-row.completed').nth(2).waitFor();
  const grid = page.getByRole('grid', { name: 'Turns' });
  for (let i = 0; i < 40 && !(await grid.evaluate((box) => box === document.activeElement)); i++) await page.keyboard.press('Tab');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.locator('.turn-row[aria-selected="true"]').waitFor();
  await page.keyboard.press('Enter');
  const steps = page.getByRole('grid', { name: /Frames of the upstream/ });
  await steps.waitFor();
  await page.getByRole('tab', { name: 'Bytes' }).focus();
  await page.keyboard.press('ArrowRight');
  await page.getByRole('tab', { name: 'Assembled', selected: true }).waitFor();
  await page.keyboard.press('ArrowLeft');
  await steps.focus();
  await page.keyboard.press('ArrowDown');
  await page.locator('.step[aria-selected="true"]').waitFor();
});

test('a long line, invalid UTF-8 and a turn that failed are shown', async (t) => {
  const long = 'x'.repeat(1_000_000);
  const upstream = createServer((request, response) => {
    let body = '';
    request.on('data', (text) => (body += text));
    request.on('end', () => {
      if (body.includes('refuse')) {
        response.writeHead(500, { 'content-type': 'application/json' });
        return response.end('{"error":{"message":"<b>no</b> tokens left"}}');
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      if (body.includes('broken')) response.write(Buffer.concat([Buffer.from('data: {"choices":[{"index":0,"delta":{"content":"caf'), Buffer.from([0xe9, 0xff]), Buffer.from('"}}]}\n\n')]));
      else response.write(`data: {"choices":[{"index":0,"delta":{"content":"${long}"}}]}\n\n`);
      response.end('data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n');
    });
  });
  await new Promise((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  t.after(() => (upstream.closeAllConnections(), upstream.close()));
  const gateway = await start_logged(t, { ...one_upstream(`http://127.0.0.1:${upstream.address().port}/v1`), capture: { max_bytes: '4MiB' } });
  const page = await open_page(t, gateway.url);
  await page.getByRole('status').getByText('Live').waitFor();
  const show = async (content) => {
    const turn = await chat(gateway, { messages: [{ role: 'user', content }] });
    await turn.text();
    await page.goto(`${gateway.url}/#/turn/${turn.id}`);
    await page.locator('.virtual-seen .step').first().waitFor();
  };
  await show('long');
  await page.getByRole('tab', { name: 'Raw' }).click();
  await page.locator('.raw-line').nth(3).waitFor();
  await show('broken');
  await page.locator('.pin.repair', { hasText: 'utf8_invalid' }).waitFor();
  await show('refuse');
  await page.locator('.pin.error').getByText('<b>no</b> tokens left').waitFor();
});

test('pause keeps the list, and resume shows what came', async (t) => {
  const mock = await start_mock(t, script);
  const gateway = await start_logged(t, one_upstream(mock.v1));
  const page = await open_page(t, gateway.url);
  await page.getByRole('status').getByText('Live').waitFor();
  await page.getByRole('button', { name: 'Pause' }).click();
  await (await chat(gateway)).text();
  await page.getByRole('button', { name: 'Resume (1 new)' }).click();
  await page.locator('.turn-row.completed').waitFor();
});
