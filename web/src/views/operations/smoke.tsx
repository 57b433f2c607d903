// A smoke run: one streamed call is asked of a model through this gateway, and the answer is held to the rules of its protocol.
import { useState } from 'preact/hooks';
import { Badge, Button, Choice, Empty, Problem } from '../../components/basics';
import { get, key, post } from '../../lib/api';
import { to_base64, visible } from '../../lib/bytes';
import { duration, plural } from '../../lib/format';
import { facts, link } from '../../store';

interface Rule {
  rule: string;
  verdict: 'pass' | 'fail' | 'not_applicable';
  seen: string;
}

interface Run {
  passed: number;
  failed: number;
  rules: Rule[];
  request: string; // the id of the turn
  ms: number;
}

const protocols = ['chat', 'responses', 'messages', 'gemini', 'ollama'];
const words = { pass: 'pass', fail: 'FAIL', not_applicable: 'n/a' };
const tones = { pass: 'good', fail: 'bad', not_applicable: 'plain' } as const;
const order = { fail: 0, pass: 1, not_applicable: 2 };

async function smoke(model: string, protocol: string): Promise<Run> {
  const asked = await get<{ path: string; body: string }>(`/v1/smoke?model=${encodeURIComponent(model)}&protocol=${protocol}`);
  const begun = performance.now();
  const headers: Record<string, string> = { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' };
  if (key.value) headers.authorization = `Bearer ${key.value}`;
  // Whatever the answer is, an error as well, it is judged.
  const response = await fetch(asked.path, { method: 'POST', headers, body: asked.body });
  const bytes = new Uint8Array(await response.arrayBuffer());
  const ms = performance.now() - begun;
  const content_type = response.headers.get('content-type') ?? '';
  const judged = await post<Run>('/v1/smoke', { protocol, status: response.status, content_type, base64: to_base64(bytes) });
  return { ...judged, request: response.headers.get('x-request-id') ?? '', ms };
}

function Rules({ run }: { run: Run }) {
  const rules = [...run.rules].sort((a, b) => order[a.verdict] - order[b.verdict]);
  const other = run.rules.length - run.passed - run.failed;
  return (
    <>
      <p role="status">
        <Badge tone={run.failed > 0 ? 'bad' : 'good'}>{run.failed > 0 ? `${plural(run.failed, 'rule')} failed` : 'passed'}</Badge> {plural(run.passed, 'rule')} passed, {run.failed} failed, {other} did not apply,{' '}
        {duration(run.ms)}. {run.request && <a href={link('turn', run.request)}>Open the turn</a>}
      </p>
      <div class="scroll" tabIndex={0} role="region" aria-label="Rules">
        <table class="wide-last">
          <thead>
            <tr>
              <th scope="col">Verdict</th>
              <th scope="col">Rule</th>
              <th scope="col">Seen</th>
            </tr>
          </thead>
          <tbody>
            {rules.map((rule) => (
              <tr key={rule.rule} class={rule.verdict === 'not_applicable' ? 'faint' : ''}>
                <td>
                  <Badge tone={tones[rule.verdict]}>{words[rule.verdict]}</Badge>
                </td>
                <th scope="row" class="mono">
                  {rule.rule}
                </th>
                <td>{visible(rule.seen)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

export function SmokeView() {
  const models = facts.value?.models ?? [];
  const [model, set_model] = useState('');
  const [protocol, set_protocol] = useState('chat');
  const [run, set_run] = useState<Run | null>(null);
  const [busy, set_busy] = useState(false);
  const [fault, set_fault] = useState('');
  const chosen = model || models.find((name) => name === 'demo-hermes') || models[0] || '';
  const start = async () => {
    set_busy(true);
    set_fault('');
    set_run(await smoke(chosen, protocol).catch((error) => (set_fault(error.message), null)));
    set_busy(false);
  };
  return (
    <>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void start();
        }}
      >
        <Choice label="Model" value={chosen} set={set_model} options={models} />
        <Choice label="Protocol" value={protocol} set={set_protocol} options={protocols} />
        <Button type="submit" kind="primary" disabled={busy || !chosen}>
          {busy ? 'Asking …' : 'Run'}
        </Button>
      </form>
      <Problem text={fault} />
      {run ? <Rules run={run} /> : <Empty title="Is the stream right?">Asks the model for one streamed call through this gateway, and holds the answer to the rules of its protocol.</Empty>}
    </>
  );
}
