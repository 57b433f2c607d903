// What must work in every build: live updates, the three columns, why a call stayed text and how it would be one, an approval,
// and text of strangers that stays text.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import OpenAI from 'openai';
import { chat, open_browser, open_page, start_logged, weather } from './browser.mjs';
import { eventually, file_scope, one_upstream, start_mock, within } from './harness.mjs';

const scope = file_scope();
before(() => open_browser(scope));

const script = `
rule quotes
  when user contains "quotes"
  cut words
  text "Let me look.\\n<|tool_calls|>[{'name': 'get_weather', 'arguments': {'city': 'Paris'}}]"
rule slow
  when user contains "slow"
  pace 60ms
  cut words
  fault no_id
  text "one two three four five six seven eight"
  call get_weather {"city": "Oslo"}
rule plain
  cut words
  text "Hello from the mock."
`;

const json_array = { model: { dialect: 'json_array' } };

test('a turn appears while it streams, and its three columns fill', async (t) => {
  const mock = await start_mock(t, script);
  const gateway = await start_logged(t, one_upstream(mock.v1));
  const page = await open_page(t, gateway.url);
  await page.getByRole('status').getByText('Live').waitFor();
  const turn = await chat(gateway, { messages: [{ role: 'user', content: 'slow' }], tools: [weather] });
  const row = page.locator('.turn-row.running');
  await row.waitFor();
  await row.click();
  await page.getByRole('heading', { name: turn.id }).waitFor();
  // It still streams: rows are added under our eyes.
  const steps = page.locator('.virtual-seen .step');
  await steps.first().waitFor();
  const early = await steps.count();
  await turn.text();
  await page.locator('.turn .bar .badge', { hasText: 'tool_calls' }).waitFor();
  await eventually('more steps', async () => (await steps.count()) > early);
  // The columns of one row belong together.
  const word = page.locator('.step', { hasText: 'three' }).first();
  assert.match(await word.locator('.cell.upstream').innerText(), /content.*three/);
  assert.match(await word.locator('.cell.events').innerText(), /text\s+.*three/);
  assert.match(await word.locator('.cell.client').innerText(), /content.*three/);
  // The repair is pinned where it happened, and readable.
  const pin = page.locator('.pin.repair', { hasText: 'id_missing' });
  await pin.click();
  const chosen = page.locator('.step[aria-selected="true"]');
  await chosen.getByText('id_missing').waitFor();
  assert.match(await chosen.locator('.cell.events').innerText(), /call\s+get_weather/);
  assert.ok(await chosen.isVisible());
});

test('says at the byte why a call stayed text, and replays it as a call', async (t) => {
  const mock = await start_mock(t, script);
  const gateway = await start_logged(t, one_upstream(mock.v1, json_array));
  const page = await open_page(t, gateway.url);
  await page.getByRole('status').getByText('Live').waitFor();
  const turn = await chat(gateway, { messages: [{ role: 'user', content: 'quotes' }], tools: [weather] });
  await turn.text();
  await page.goto(`${gateway.url}/#/turn/${turn.id}`);
  await page.locator('.pin.stayed_text').click();
  const chosen = page.locator('.step[aria-selected="true"]');
  assert.match(await chosen.innerText(), /json_array: expected '"', found "'"/);
  assert.equal(await chosen.locator('mark').innerText(), "'");
  await page.getByRole('button', { name: 'Replay' }).click();
  await page.locator('.outcome', { hasText: 'Before' }).getByText('0 calls').waitFor();
  await page.getByLabel('Dialect').selectOption('sarashina');
  await page.locator('.outcome', { hasText: 'Now' }).getByText('1 call,').waitFor();
  await page.locator('.diff li.new', { hasText: 'get_weather' }).first().waitFor();
  // Other cuts change nothing.
  await page.getByLabel('Dialect').selectOption('');
  await page.getByLabel('Chunks').selectOption('byte');
  const client = page.getByRole('region', { name: 'Client bytes' });
  await client.getByText('the same').waitFor();
});

test('an approval given in the page unblocks a client that waits', async (t) => {
  const mock = await start_mock(
    t,
    `
rule ask
  when turn 0
  call danger {"path": "/tmp/x"}
rule answer
  text "It is done."
`,
  );
  const gateway = await start_logged(
    t,
    one_upstream(mock.v1, {
      model: { loop: true, loop_tools: ['danger'] },
      tool: [{ name: 'danger', kind: 'command', command: ['/bin/echo', 'removed'], approval: true, parameters: { type: 'object' } }],
    }),
  );
  const page = await open_page(t, gateway.url, { path: '/#/loops' });
  const client = new OpenAI({ baseURL: gateway.v1, apiKey: 'none', maxRetries: 0 });
  const answer = client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'clean up' }] });
  await page.getByText('waits for you').waitFor();
  assert.match(await page.locator('.approval').innerText(), /\/tmp\/x/);
  await page.getByRole('button', { name: 'Approve' }).click();
  const done = await within(15_000, 'the answer', answer);
  assert.equal(done.choices[0].message.content, 'It is done.');
  await page.getByText('No tool loop runs').waitFor();
});

test('text of strangers is shown as text', async (t) => {
  const hostile = [
    '<script>document.title = "owned"</script>',
    '<img src=x onerror="document.title=\'owned\'">',
    '\u202Egnp.exe\u202C',
    '\u001b[31mred\u001b[0m',
    '"><svg onload=alert(1)>',
    'javascript:alert(1)',
  ];
  const mock = await start_mock(t, `rule x\n  text ${JSON.stringify(hostile.join('\n'))}\n  call get_weather {"city": "<b>bold</b><script>1</script>"}\n`);
  const gateway = await start_logged(t, one_upstream(mock.v1));
  const page = await open_page(t, gateway.url);
  await page.getByRole('status').getByText('Live').waitFor();
  const turn = await chat(gateway, { messages: [{ role: 'user', content: hostile.join('\n') }], tools: [weather] });
  await turn.text();
  for (const tab of ['Bytes, events, frames', 'Assembled', 'Raw', 'Timeline']) {
    await page.goto(`${gateway.url}/#/turn/${turn.id}`);
    await page.getByRole('tab', { name: tab }).click();
    await page.locator('.panel').waitFor();
  }
  await page.getByRole('tab', { name: 'Assembled' }).click();
  await page.locator('.part.call').waitFor();
  await page.locator('.part.said').waitFor();
  const shown = await page.locator('.assembled').innerText();
  assert.ok(shown.includes('<script>document.title = "owned"</script>'));
  assert.ok(shown.includes('⟨202e⟩'), 'marks that turn the writing are visible');
  assert.ok(shown.includes('␛[31m'), 'escapes are visible');
  assert.equal(await page.locator('#app script, #app img, #app svg[onload], #app b').count(), 0);
  assert.ok(!(await page.title()).includes('owned'));
  await page.goto(`${gateway.url}/#/playground`);
  await page.getByLabel('Model output').fill(`<tool_call>{"name": "get_weather", "arguments": {"city": "<img src=x onerror=alert(1)>"}}</tool_call>`);
  await page.locator('.reading.found').first().waitFor();
  assert.equal(await page.locator('#app img').count(), 0);
});

test('asks for an admin key where the gateway has keys, and keeps it in memory', async (t) => {
  const mock = await start_mock(t, script);
  const keys = [
    { name: 'root', secret: 'sk-admin-key-123456', admin: true },
    { name: 'user', secret: 'sk-user-key-1234567' },
  ];
  const gateway = await start_logged(t, { ...one_upstream(mock.v1), key: keys });
  const page = await open_page(t, gateway.url);
  const field = page.getByLabel('Admin key');
  await field.fill('sk-user-key-1234567');
  await page.getByRole('button', { name: 'Open' }).click();
  await page.getByRole('alert').getByText('admin').waitFor();
  await field.fill('sk-admin-key-123456');
  await page.keyboard.press('Enter');
  await page.getByRole('status').getByText('Live').waitFor();
  const kept = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage, document.cookie]));
  assert.ok(!kept.includes('sk-admin'));
});
