// Loops, rooms and tools: a room is joined and talked in, tools are run as a test, and what strangers name is text in every view.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import OpenAI from 'openai';
import { chat, open_browser, open_page, start_logged } from './browser.mjs';
import { file_scope, one_upstream, sleep, start_mock, within } from './harness.mjs';

const scope = file_scope();
before(() => open_browser(scope));

const script = `
rule plain
  cut words
  text "Hello from the mock."
`;

const echo = {
  name: 'echo',
  kind: 'command',
  description: 'Repeats what it is given.',
  command: ['/bin/cat'],
  parameters: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
};

test('a tool is listed with its schema, and runs as a test', async (t) => {
  const mock = await start_mock(t, script);
  const gateway = await start_logged(t, one_upstream(mock.v1, { tool: [echo, { ...echo, name: 'gone', command: ['/bin/false'] }] }));
  const page = await open_page(t, gateway.url, { path: '/#/loops' });
  const tool = page.locator('.tool-card', { hasText: 'Repeats what it is given.' }).first();
  await tool.locator('summary').first().click();
  await tool.getByText('required').waitFor();
  await tool.getByLabel('Arguments for echo').fill('{"word": "<b>tea</b>"}');
  await tool.getByRole('button', { name: 'Run as a test' }).click();
  await tool.getByRole('status').getByText('<b>tea</b>').waitFor();
  // What the schema forbids is refused by name; what is not JSON as well.
  await tool.getByLabel('Arguments for echo').fill('{"word": 5}');
  await tool.getByRole('button', { name: 'Run as a test' }).click();
  await tool.getByRole('alert').getByText('word').waitFor();
  await tool.getByLabel('Arguments for echo').fill('{');
  await tool.getByRole('button', { name: 'Run as a test' }).click();
  await tool.getByRole('alert').getByText('JSON').waitFor();
  // A failure is a result, too.
  const gone = page.locator('.tool-card', { hasText: 'gone' });
  await gone.locator('summary').first().click();
  await gone.getByRole('button', { name: 'Run as a test' }).click();
  await gone.getByRole('status').getByText('error').waitFor();
});

test('two people join a room, talk, and see what its model says', async (t) => {
  const mock = await start_mock(t, script);
  const gateway = await start_logged(t, one_upstream(mock.v1));
  const pages = [];
  for (let i = 0; i < 2; i++) {
    const page = await open_page(t, gateway.url, { path: '/#/loops' });
    await page.getByRole('textbox', { name: 'Room', exact: true }).fill('lobby');
    await page.getByLabel('Model', { exact: true }).fill('m');
    await page.getByRole('button', { name: 'Join' }).click();
    await page.getByText('joined').waitFor();
    pages.push(page);
  }
  await pages[0].getByLabel('Message', { exact: true }).fill('<i>hi</i> \u202Eall');
  await pages[0].keyboard.press('Enter');
  for (const page of pages) {
    const talk = page.getByRole('list', { name: 'What was said' });
    await talk.getByText('<i>hi</i> ⟨202e⟩all').waitFor();
    await talk.getByText('Hello from the mock.').waitFor();
    assert.equal(await page.locator('#app i').count(), 0);
  }
});

const hostile = '<img src=x onerror="document.title=\'owned\'">\u202Egnp\u001b[31m';

test('names and arguments of strangers are text in every view', async (t) => {
  const mock = await start_mock(t, `rule ask\n  when turn 0\n  call danger {"path": ${JSON.stringify(hostile)}}\nrule answer\n  text ${JSON.stringify(hostile)}\n`);
  const gateway = await start_logged(
    t,
    one_upstream(mock.v1, {
      model: { loop: true, loop_tools: ['danger'] },
      models: ['m'],
      tool: [{ name: 'danger', kind: 'command', command: ['/bin/cat'], description: hostile, approval: true, parameters: { type: 'object', properties: { path: { type: 'string', description: hostile } } } }],
    }),
  );
  const client = new OpenAI({ baseURL: gateway.v1, apiKey: 'none', maxRetries: 0 });
  const page = await open_page(t, gateway.url, { path: '/#/loops' });
  const answer = client.chat.completions.create(
    { model: 'm', messages: [{ role: 'user', content: hostile }] },
    { headers: { 'x-callgate-conversation': '<img src=x>', 'user-agent': '<img src=x>' } },
  );
  const approval = page.getByRole('group', { name: 'danger waits for approval' });
  await approval.waitFor();
  assert.ok((await approval.innerText()).includes('⟨202e⟩gnp␛[31m'));
  await page.locator('.tool-card summary').first().click();
  // Denied with a reason, by keyboard alone.
  await approval.getByLabel('Reason for denial').focus();
  await page.keyboard.type('Not this one.');
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Deny');
  await page.keyboard.press('Enter');
  await within(15_000, 'the answer', answer);
  await (await chat(gateway, { model: '<img src=x onerror=alert(1)>' })).text();
  const { data } = await (await fetch(`${gateway.url}/v1/requests`)).json();
  const id = data.find((row) => row.model === 'm').id;
  const tabs = { [`turn/${encodeURIComponent(id)}`]: ['Bytes', 'Assembled', 'Raw', 'Timeline'], operations: ['Usage', 'Upstreams', 'Latency', 'Log', 'Sessions', 'Smoke', 'Configuration'] };
  for (const view of ['live', `turn/${encodeURIComponent(id)}`, 'loops', 'operations']) {
    await page.goto(`${gateway.url}/#/${view}`);
    await page.locator('h1').first().waitFor();
    for (const tab of tabs[view] ?? ['']) {
      if (tab) await page.getByRole('tab', { name: tab }).click();
      if (tab === 'Sessions') {
        await page.getByRole('button', { name: 'Show' }).click();
        await page.getByRole('region', { name: /^Conversation/ }).getByText('onerror').first().waitFor();
      }
      await sleep(150);
      assert.equal(await page.locator('#app img, #app script, #app svg[onload]').count(), 0, `${view} ${tab}`);
      assert.ok(!/[\u202E\u001b]/.test(await page.locator('main').innerText()), `${view} ${tab} shows marks as symbols`);
    }
  }
  assert.ok(!(await page.title()).includes('owned'));
});
