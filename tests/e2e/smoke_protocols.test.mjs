// `callgate smoke` in every protocol: the demo, a gateway before a model that writes calls as text, and a server that leaves such
// calls in the text.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Program, make_folder, one_upstream, start_gateway, start_mock } from './harness.mjs';

const kBases = { chat: '/v1', responses: '/v1', messages: '/v1', gemini: '/v1beta', ollama: '' };
const kText = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>';
const kKey = 'key-of-this-test-0123456789';

async function smoke(scope, server, protocol, model, args = []) {
  const url = server.url + kBases[protocol];
  const program = new Program(
    scope,
    ['smoke', '--protocol', protocol, '--url', url, '--model', model, '--json', ...args],
    { OPENAI_API_KEY: kKey },
  );
  const { code } = await program.exited();
  const said = JSON.parse(program.stdout);
  const failed = said.rules.filter(({ verdict }) => verdict === 'fail').map(({ rule }) => rule);
  assert.ok(!program.log.includes(kKey));
  return { code, failed, said, log: program.log };
}

const script = `text "Let me look. " ${JSON.stringify(`\n${kText}`)}\ncut 4\n`;

for (const protocol of Object.keys(kBases)) {
  describe(protocol, () => {
    test('the demo passes, whichever way the tool is chosen', async (t) => {
      const demo = await new Program(t, ['serve', '--demo', '--listen', '127.0.0.1:0'], {
        XDG_DATA_HOME: make_folder(t),
        HOME: make_folder(t),
      }).ready();
      const first = await smoke(t, demo, protocol, 'demo-tools', ['--disconnect-after-first-tool']);
      assert.deepEqual([first.code, first.failed], [0, []], first.log);
      const forced = await smoke(t, demo, protocol, 'demo-tools', ['--force-tool']);
      assert.deepEqual([forced.code, forced.failed], [0, []], forced.log);
      assert.equal(forced.said.sha256, first.said.sha256);
    });

    test('a model that writes calls as text passes behind the gateway', async (t) => {
      const mock = await start_mock(t, script);
      const gateway = await start_gateway(t, one_upstream(mock.v1, { model: { dialect: 'hermes' } }));
      const { code, failed, log } = await smoke(t, gateway, protocol, 'm');
      assert.deepEqual([code, failed], [0, []], log);
    });

    test('a server that leaves the call in the text is told what it is', async (t) => {
      const mock = await start_mock(t, script);
      const gateway = await start_gateway(t, one_upstream(mock.v1, { model: { dialect: 'native' } }));
      const { code, failed, said, log } = await smoke(t, gateway, protocol, 'm');
      assert.equal(code, 1, log);
      assert.deepEqual(failed, ['call_made', 'no_markup'], log);
      assert.match(said.advice, /^this is hermes/);
    });
  });
}
