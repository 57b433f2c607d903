// The documentation in Chromium, from file:// as from a server: search by keyboard, themes, narrow screens, axe.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';

const axe = readFileSync(join(import.meta.dirname, 'node_modules/axe-core/axe.min.js'), 'utf8');
let folder;
let browser;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'callgate-site-'));
  execFileSync('python3', [join(process.env.WEB_SOURCE, 'tools/site/build.py'), folder]);
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

// A page that fails its test when a script throws, a policy is violated, or anything is asked of another origin.
async function open_page(t, path, { width = 1440, height = 900, scheme = 'light', scripts = true } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, javaScriptEnabled: scripts, bypassCSP: false });
  const page = await context.newPage();
  const faults = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  page.on('request', (request) => request.url().startsWith('file://') || faults.push(`asked ${request.url()}`));
  t.after(async () => {
    await context.close();
    assert.deepEqual(faults, []);
  });
  await page.goto(`file://${folder}/${path}`);
  return page;
}

test('search opens with a key, finds a key of the configuration, and goes to its row', async (t) => {
  const page = await open_page(t, 'adr/index.html');
  await page.keyboard.press('/');
  await page.keyboard.type('first_byte_timeout');
  const first = page.locator('#found [role=option]').first();
  await first.filter({ hasText: 'first_byte_timeout' }).waitFor();
  assert.equal(await first.getAttribute('aria-selected'), 'true');
  await page.keyboard.press('Enter');
  await page.waitForURL(/config\.html#.*first_byte_timeout$/);
  assert.ok(await page.locator('tr:target').isVisible());
});

test('search moves with the arrow keys, says when nothing is found, and closes with Escape', async (t) => {
  const page = await open_page(t, 'index.html');
  await page.keyboard.press('Control+k');
  await page.keyboard.type('timeout');
  await page.locator('#found li').nth(1).waitFor();
  await page.keyboard.press('ArrowDown');
  assert.equal(await page.locator('#found li').nth(1).getAttribute('aria-selected'), 'true');
  await page.getByRole('combobox').fill('timeout xyzzyx');
  await page.getByText('Nothing has all of these words').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('dialog.search').waitFor({ state: 'hidden' });
});

test('the theme follows the system until one is chosen, and the choice is kept', async (t) => {
  const page = await open_page(t, 'index.html', { scheme: 'dark' });
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.equal(await background(), 'rgb(14, 19, 24)');
  await page.getByRole('button', { name: /^Theme/ }).click();
  assert.equal(await background(), 'rgb(255, 255, 255)');
  await page.goto(`file://${folder}/config.html`);
  assert.equal(await background(), 'rgb(255, 255, 255)');
});

test('on a narrow screen the menu opens and closes, and no page is wider than the screen', async (t) => {
  const page = await open_page(t, 'index.html', { width: 390, height: 844 });
  const sidebar = page.locator('#sidebar');
  assert.ok(!(await sidebar.isVisible()));
  await page.getByRole('button', { name: 'Menu' }).click();
  assert.ok(await sidebar.isVisible());
  await page.keyboard.press('Escape');
  assert.ok(!(await sidebar.isVisible()));
  for (const path of ['index', 'config', 'dialects', 'upstreams', 'performance', 'api/pipeline', 'adr/index']) {
    await page.goto(`file://${folder}/${path}.html`);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= 390, `${path} is ${width} wide`);
  }
});

test('everything can be read without scripts', async (t) => {
  const page = await open_page(t, 'config.html', { width: 390, height: 844, scripts: false });
  assert.ok(await page.getByRole('heading', { name: 'Configuration' }).isVisible());
  await page.locator('.menu').click();
  await page.locator('#sidebar').getByRole('link', { name: 'Metrics' }).click();
  await page.waitForURL(/metrics\.html$/);
});

test('axe finds nothing, in both themes', async (t) => {
  for (const scheme of ['light', 'dark']) {
    for (const path of ['index.html', 'config.html', 'api/callgate.html']) {
      const page = await open_page(t, path, { scheme });
      await page.evaluate(axe);
      const found = await page.evaluate(() => axe.run({ preload: false }));
      assert.deepEqual(found.violations.map((one) => `${path} ${scheme} ${one.id}: ${one.nodes[0].html} ${one.nodes[0].failureSummary}`), []);
    }
  }
});
