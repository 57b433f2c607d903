// Chromium, and pages of the inspector in it. Whatever is opened belongs to a scope and goes away with it.
import { chromium } from 'playwright-core';
import { defer, start_gateway } from './harness.mjs';

let browser;

export async function open_browser(scope) {
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
  defer(scope, () => browser.close());
  return browser;
}

// A page that fails its test when a script throws, or when anything is asked of another origin.
export async function open_page(scope, url, { width = 1440, height = 900, scheme = 'light', path = '/', expect_errors = false } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, permissions: ['clipboard-read', 'clipboard-write'] });
  defer(scope, () => context.close());
  const page = await context.newPage();
  page.faults = [];
  page.on('pageerror', (error) => page.faults.push(String(error)));
  page.on('console', (message) => {
    if (/Content Security Policy|Trusted/.test(message.text())) page.faults.push(message.text());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !/^(data|blob):/.test(request.url())) page.faults.push(`asked ${request.url()}`);
  });
  defer(scope, () => {
    if (!expect_errors && page.faults.length > 0) throw new Error(`the page failed: ${page.faults.join('\n')}`);
  });
  await page.goto(url + path);
  return page;
}

export const weather = {
  type: 'function',
  function: { name: 'get_weather', parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } },
};

// A gateway with a log, and the demo models of --demo where a test wants no mock.
export function start_logged(scope, config, options) {
  return start_gateway(scope, { store: { url: 'sqlite::memory:' }, ...config }, options);
}

export async function chat(gateway, body, headers = {}) {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }], ...body }),
  });
  return { id: response.headers.get('x-request-id'), text: () => response.text(), status: response.status };
}
