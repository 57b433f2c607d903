// Secrets in every place that a configuration has for them, and everything that the gateway shows: none of them is in any of it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { make_folder, start_gateway, start_mock } from './harness.mjs';
import { fetch_text, post } from './http.mjs';

const kSecret = (place) => `hunter2-${place}-0123456789`;
const kAdmin = kSecret('admin');

test('no secret is shown anywhere', async (t) => {
  const mock = await start_mock(t, 'text "Hello."\n');
  const folder = make_folder(t);
  const key_file = join(folder, 'key');
  writeFileSync(key_file, kSecret('key-file'));
  const wrong = { url: `http://me:${kSecret('url')}@127.0.0.1:9/v1?token=${kSecret('query')}` };
  const gateway = await start_gateway(t, {
    log: { level: 'debug' },
    key: [{ name: 'root', secret: kAdmin, admin: true }],
    mcp: true,
    store: { url: `sqlite:${join(folder, 'log.db')}` },
    otlp: { endpoint: 'http://127.0.0.1:9', headers: { authorization: `Bearer ${kSecret('otlp')}` } },
    upstream: [
      { name: 'plain', url: mock.v1, key: kSecret('key'), headers: { 'x-gate': `Bearer ${kSecret('header')}` } },
      { name: 'asked', url: mock.v1, key_command: ['echo', '--token', kSecret('key-command')] },
      { name: 'filed', url: mock.v1, key_file },
      { name: 'child', wire: 'codex_proto', command: ['false', '-c', `key=${kSecret('command')}`], env: { TOKEN: kSecret('env') } },
    ],
    model: ['plain', 'asked', 'filed', 'child'].map((name) => ({ name, upstream: name, retries: 0 })),
    tool: [
      { name: 'web', kind: 'http', url: `https://tools.example/x?api_key=${kSecret('tool-url')}`, headers: { authorization: kSecret('tool-header') } },
      { name: 'run', kind: 'command', command: ['true', '--token', kSecret('tool-command')], environment: { KEY: kSecret('tool-env') } },
      { name: 'find', kind: 'web_search', url: 'https://search.example/', headers: { 'x-subscription-token': kSecret('search') } },
    ],
    hook: [{ name: 'guard', url: `http://127.0.0.1:9/?token=${kSecret('hook-url')}`, headers: { authorization: kSecret('hook-header') }, on_failure: 'allow' }],
  });
  const headers = { authorization: `Bearer ${kAdmin}` };
  const shown = [];
  for (const name of ['plain', 'asked', 'filed', 'child', 'none']) {
    const said = `Is it ${['key', 'header', 'env'].map(kSecret).join(' or ')}?`;
    const answer = await post(`${gateway.v1}/chat/completions`, { model: name, messages: [{ role: 'user', content: 'hi' }] }, { headers });
    shown.push([`answer of ${name}`, answer.text + JSON.stringify(answer.headers)]);
    await post(`${gateway.v1}/chat/completions`, { model: name, messages: [{ role: 'user', content: said }] }, { headers });
  }
  const { paths } = (await fetch_text(`${gateway.url}/openapi.json`)).json();
  for (const [path, methods] of Object.entries(paths)) {
    if (!methods.get || path === '/v1/live' || path.includes('room')) continue;
    const filled = path.replace('/v1/tools/{name}', '/v1/tools/run').replace(/\{[^}]+\}/g, 'plain');
    if (filled.startsWith('/mcp')) continue;
    shown.push([path, (await fetch_text(gateway.url + filled, { headers })).text]);
  }
  const callgate = (...words) => {
    try {
      return execFileSync(process.env.CALLGATE, words, { stdio: 'pipe', encoding: 'utf8', env: { ...process.env, CALLGATE_KEY: kAdmin, CALLGATE_URL: gateway.url } });
    } catch (error) {
      return `${error.stdout}${error.stderr}`;
    }
  };
  for (const words of [['config', 'check'], ['config', 'check', '--all']]) {
    shown.push([words.join(' '), callgate(...words, gateway.config_file)]);
  }
  shown.push(['config schema', callgate('config', 'schema')]);
  for (const [key, value] of Object.entries(wrong)) {
    shown.push([`a wrong ${key}`, callgate('config', 'check', gateway.config_file, '--set', `upstream.plain.${key}=${value}`)]);
  }
  for (const words of [['usage'], ['tools'], ['tools', 'show', 'run'], ['log', 'search', 'hi'], ['loops']]) {
    shown.push([words.join(' '), callgate(...words)]);
  }
  shown.push(['what it writes', gateway.stdout + gateway.stderr]);
  assert.ok(shown.length > 25);
  assert.match(Object.fromEntries(shown)['config check'], /key_command = \["echo", "--token", "\*\*\*"\][^]*\nok/);
  const leaks = shown.flatMap(([what, text]) => [...new Set(text.match(/hunter2-[a-z-]+-0123456789/g))].map((secret) => `${what}: ${secret}`));
  assert.deepEqual(leaks, []);
});
