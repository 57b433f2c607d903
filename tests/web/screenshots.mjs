// screenshots.mjs [FOLDER]: every view at two sizes in both themes, from a gateway with the demo models. run.sh starts it.
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { spawn } from 'node:child_process';

const folder = process.argv[2] ?? 'screenshots';
mkdirSync(folder, { recursive: true });
// The demo, and an agent that asks for approval.
const room = mkdtempSync(join(tmpdir(), 'screenshots-'));
writeFileSync(join(room, 'agent.script'), 'rule ask\n  when turn 0\n  text "The branch is merged, I will delete it."\n  call delete_branch {"name": "feature/repairs", "force": false}\nrule answer\n  text "It is gone."\n');
writeFileSync(
  join(room, 'callgate.toml'),
  `store.url = "sqlite::memory:"
[[upstream]]
name = "agent"
url = "script:agent.script"
[[upstream]]
name = "vllm"
url = "http://127.0.0.1:9/v1"
[[model]]
name = "agent"
upstream = "agent"
loop = true
loop_tools = ["delete_branch"]
[[model]]
name = "qwen3-coder"
upstream = "vllm"
[[tool]]
name = "delete_branch"
kind = "command"
command = ["/bin/cat"]
approval = true
description = "Deletes a branch of the repository."
parameters = { type = "object", properties = { name = { type = "string", description = "Its name." }, force = { type = "boolean" } }, required = ["name"] }
[[price]]
model = "*"
input = 0.4
output = 1.2
`,
);
const gateway = spawn(process.env.CALLGATE, ['serve', '--demo', '--config', 'callgate.toml', '--listen', '127.0.0.1:0'], { cwd: room, stdio: ['ignore', 'pipe', 'inherit'] });
const url = await new Promise((resolve) => {
  let said = '';
  gateway.stdout.on('data', (text) => {
    const found = /listening on (\S+)/.exec((said += text));
    if (found) resolve(found[1]);
  });
});
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
const tools = [{ type: 'function', function: { name: 'get_weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } } }];
const ask = (model, content, path = '/v1/chat/completions', id = '', conversation = '') =>
  fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(id ? { 'x-request-id': id } : {}), ...(conversation ? { 'x-callgate-conversation': conversation } : {}) },
    body: JSON.stringify({ model, stream: true, stream_options: { include_usage: true }, messages: [{ role: 'user', content }], tools, ...(path.endsWith('messages') ? { max_tokens: 100 } : {}) }),
  }).then((response) => response.text());

try {
  // Somebody watches, so that the turns keep their bytes.
  const watcher = await browser.newPage();
  await watcher.goto(url);
  await watcher.getByText('Live', { exact: true }).first().waitFor();
  await sleep(500);
  const models = ['demo-hermes', 'demo-qwen3_coder', 'demo-kimi_k2', 'demo-tools', 'demo-text', 'demo-llama3_json', 'demo-gemini', 'demo-loop', 'demo-nobody'];
  await Promise.all(models.map((model) => ask(model, 'I think I need the weather in Paris, and in Oslo, both.')));
  await ask('demo-loop', 'What time is it?', undefined, 'req_loop', 'support-4711');
  for (let i = 0; i < 4; i++) await ask('qwen3-coder', 'Nobody is there.');
  void ask('agent', 'Clean up.').catch(() => {});
  await Promise.all([ask('demo-json_array', 'Ask in single quotes.', undefined, 'req_single_quotes'), ask('demo-tools', 'Ask as a faulty server would.', undefined, 'req_faulty_server'), ask('demo-hermes', 'What about the weather in Paris?', undefined, 'req_hermes')]);
  const sizes = [
    { name: 'wide', width: 1440, height: 900 },
    { name: 'narrow', width: 390, height: 844 },
  ];
  for (const size of sizes) {
    for (const scheme of ['light', 'dark']) {
      const context = await browser.newContext({ viewport: size, colorScheme: scheme });
      const page = await context.newPage();
      const shot = (name) => page.screenshot({ path: join(folder, `${name}-${size.name}-${scheme}.png`) });
      const open = async (hash) => {
        await page.goto(`${url}/#/${hash}`);
        await page.locator('h1').first().waitFor();
        await sleep(700);
      };
      void ask('demo-tools', 'Ask as a faulty server would.');
      await open('live');
      await shot('live');
      await open('turn/req_faulty_server');
      await page.locator('.pin').first().click();
      await sleep(200);
      await shot('turn-faulty');
      await open('turn/req_single_quotes');
      await page.locator('.pin').first().click();
      await sleep(200);
      await shot('turn-quotes');
      await open('turn/req_hermes');
      await shot('turn-held');
      for (const tab of ['Assembled', 'Raw', 'Timeline']) {
        await page.getByRole('tab', { name: tab }).click();
        await sleep(250);
        await shot(`turn-${tab.toLowerCase()}`);
      }
      await open('turn/req_single_quotes');
      await page.getByRole('button', { name: 'Replay' }).click();
      await page.getByLabel('Dialect').selectOption('sarashina');
      await sleep(900);
      await shot('replay');
      await open('turn/req_loop');
      await page.getByRole('tab', { name: 'Timeline' }).click();
      await sleep(250);
      await shot('turn-loop');
      await open('playground');
      await sleep(500);
      await shot('playground');
      await open('loops');
      await page.locator('.tool-card summary').first().click();
      await page.getByLabel('Model', { exact: true }).fill('demo-text');
      await page.getByRole('button', { name: 'Join' }).click();
      await page.getByText('joined').waitFor();
      await page.getByLabel('Message', { exact: true }).fill('Hello, everybody.');
      await page.keyboard.press('Enter');
      await sleep(800);
      await page.locator('h1').scrollIntoViewIfNeeded();
      await shot('loops');
      await page.getByRole('heading', { name: /^Tools/ }).scrollIntoViewIfNeeded();
      await shot('loops-tools');
      await open('operations');
      await sleep(300);
      await shot('operations');
      await page.getByLabel('By').selectOption('model');
      await sleep(300);
      await shot('operations-by-model');
      for (const tab of ['Upstreams', 'Latency', 'Log', 'Sessions', 'Smoke', 'Configuration']) {
        await page.getByRole('tab', { name: tab }).click();
        if (tab === 'Smoke') await page.getByRole('button', { name: 'Run' }).click();
        await sleep(600);
        await shot(`operations-${tab.toLowerCase()}`);
      }
      await context.close();
    }
  }
} finally {
  await browser.close();
  gateway.kill('SIGKILL'); // a loop waits for approval
}
