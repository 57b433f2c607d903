// What every dialect makes of a text, while it is typed. A stream of an upstream goes to Replay; a model can be asked.
import { useEffect, useState } from 'preact/hooks';
import { Area, Badge, Button, Choice, Empty, Problem } from '../../components/basics';
import { JsonTree } from '../../components/json_tree';
import { ask, post } from '../../lib/api';
import { bytes_of, text_of, visible, visible_lines } from '../../lib/bytes';
import { plural } from '../../lib/format';
import { facts, go, link, playground_text, replay_source } from '../../store';

interface Reading {
  dialect: string;
  text: string;
  reasoning: string;
  calls: { name: string; arguments: string; outcome: string }[];
  stayed_text: { dialect: string; begin: number; end: number; reason: string }[];
}

interface Readings {
  ranked: string[];
  data: Reading[];
}

const sample_tools = JSON.stringify([{ name: 'get_weather', parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } }], null, 1);

const samples: { title: string; text: string }[] = [
  { title: 'Hermes', text: 'Let me look.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>' },
  { title: 'Single quotes', text: "<|tool_calls|>[{'name': 'get_weather', 'arguments': {'city': 'Paris'}}]" },
  { title: 'Qwen3 Coder', text: '<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n</function>\n</tool_call>' },
  { title: 'Llama', text: '{"name": "get_weather", "parameters": {"city": "Paris"}}' },
  { title: 'Kimi K2', text: '<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{"city": "Paris"}<|tool_call_end|><|tool_calls_section_end|>' },
];

// The text around the byte where a dialect gave up.
function Place({ text, begin, end }: { text: Uint8Array; begin: number; end: number }) {
  const from = Math.max(0, Math.min(begin, end - 30));
  const piece = (a: number, b: number) => visible(text_of(text.subarray(a, b)));
  return (
    <code class="place">
      {from > 0 && '…'}
      {piece(from, begin)}
      <span class="doubt">{piece(begin, end)}</span>
      <mark>{piece(end, end + 1) || '∎'}</mark>
      {piece(end + 1, end + 16)}
    </code>
  );
}

function ReadingView({ reading, bytes, best }: { reading: Reading; bytes: Uint8Array; best: boolean }) {
  return (
    <li class={`reading ${reading.calls.length > 0 ? 'found' : ''}`}>
      <div class="part-head">
        <strong class="mono">{reading.dialect}</strong>
        {best && <Badge tone="good">likeliest</Badge>}
        {reading.calls.length > 0 ? <Badge tone="call">{plural(reading.calls.length, 'call')}</Badge> : <Badge>no call</Badge>}
        {reading.reasoning && <Badge tone="think">reasoning</Badge>}
      </div>
      {reading.calls.map((call, i) => (
        <div key={i} class="found-call">
          <span class="mono">{visible(call.name)}</span> {call.outcome !== 'complete' && <Badge tone="warn">{call.outcome}</Badge>}
          <JsonTree text={call.arguments} open={2} />
        </div>
      ))}
      {reading.calls.length > 0 && reading.text.trim() && <pre class="text small">{visible_lines(reading.text)}</pre>}
      {reading.stayed_text.slice(0, 3).map((piece, i) => (
        <p key={i} class="why">
          <span>
            {piece.dialect !== reading.dialect && `${piece.dialect}: `}
            {visible(piece.reason)} <span class="at">at byte {piece.end}</span>
          </span>
          <Place text={bytes} begin={piece.begin} end={piece.end} />
        </p>
      ))}
    </li>
  );
}

const looks_like_stream = (text: string) => /^\s*(data:|event:|\{"(id|choices|model|type)")/.test(text);

function read_tools(text: string): { tools: unknown[]; fault: string } {
  if (!text.trim()) return { tools: [], fault: '' };
  try {
    const tools = JSON.parse(text);
    return Array.isArray(tools) ? { tools, fault: '' } : { tools: [], fault: 'Tools: expected a list' };
  } catch (error) {
    return { tools: [], fault: `Tools: ${(error as Error).message}` };
  }
}

function AskModel({ tools }: { tools: unknown[] }) {
  const models = facts.value?.models ?? [];
  const [model, set_model] = useState('');
  const [prompt, set_prompt] = useState('What is the weather in Paris?');
  const [busy, set_busy] = useState(false);
  const [fault, set_fault] = useState('');
  const chosen = model || models.find((name) => name === 'demo-tools') || models[0] || '';
  const send = async () => {
    set_busy(true);
    set_fault('');
    try {
      const functions = tools.map((tool: any) => (tool.type ? tool : { type: 'function', function: tool }));
      const body = { model: chosen, stream: true, messages: [{ role: 'user', content: prompt }], ...(functions.length > 0 ? { tools: functions } : {}) };
      const response = await ask('/v1/chat/completions', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
      go('turn', response.headers.get('x-request-id') ?? '');
      await response.text();
    } catch (error) {
      set_fault((error as Error).message);
    }
    set_busy(false);
  };
  return (
    <details class="ask">
      <summary>Ask a model with these tools</summary>
      <div class="form">
        <Choice label="Model" value={chosen} set={set_model} options={models} />
      </div>
      <Area label="Message" value={prompt} set={set_prompt} rows={2} />
      <Problem text={fault} />
      <Button kind="primary" onClick={send} disabled={busy || !chosen}>
        Ask, and open the turn
      </Button>
    </details>
  );
}

export function Playground() {
  const [text, set_text] = useState(playground_text.value || samples[1].text);
  const [tools_text, set_tools_text] = useState(sample_tools);
  const [split, set_split] = useState('whole');
  const [readings, set_readings] = useState<Readings | null>(null);
  const [fault, set_fault] = useState('');
  const [all, set_all] = useState(false);
  const { tools, fault: tools_fault } = read_tools(tools_text);
  useEffect(() => {
    playground_text.value = text;
    if (!text || tools_fault) return set_readings(null);
    const control = new AbortController();
    const timer = setTimeout(() => {
      post<Readings>('/v1/parse', { text, tools, split }, control.signal)
        .then((answer) => (set_readings(answer), set_fault('')))
        .catch((error) => control.signal.aborted || set_fault(error.message));
    }, 120);
    return () => (clearTimeout(timer), control.abort());
  }, [text, tools_text, split]);
  const bytes = bytes_of(text);
  const by_name = new Map(readings?.data.map((reading) => [reading.dialect, reading]));
  const found = readings?.ranked.map((name) => by_name.get(name)!) ?? [];
  const others = readings?.data.filter((reading) => reading.calls.length === 0) ?? [];
  const reach = (reading: Reading) => Math.max(-1, ...reading.stayed_text.map((piece) => piece.end - piece.begin));
  const close = others.filter((reading) => reading.stayed_text.length > 0).sort((a, b) => reach(b) - reach(a));
  const silent = others.filter((reading) => reading.stayed_text.length === 0);
  const auto = by_name.get('auto');
  return (
    <section class="view playground" aria-labelledby="playground-title">
      <div class="bar">
        <h1 id="playground-title">Playground</h1>
        <span class="space" />
        <div class="group" role="group" aria-label="Samples">
          {samples.map((sample) => (
            <Button key={sample.title} onClick={() => set_text(sample.text)} pressed={text === sample.text}>
              {sample.title}
            </Button>
          ))}
        </div>
      </div>
      <div class="two">
        <div class="inputs">
          <Area label="Model output" value={text} set={set_text} rows={10} placeholder="What a model wrote, as text" />
          {looks_like_stream(text) && (
            <p class="hint">
              This looks like a stream of an upstream.{' '}
              <a
                href={link('replay')}
                onClick={() => {
                  replay_source.value = { bytes };
                }}
              >
                Replay it instead
              </a>
            </p>
          )}
          <div class="form">
            <Choice label="Arrives" value={split} set={set_split} options={[{ value: 'whole', title: 'all at once' }, { value: 'byte', title: 'byte by byte' }, { value: '7', title: '7 bytes each' }, { value: 'random:1', title: 'in random pieces' }]} />
          </div>
          <Area label="Tools that the request declares" value={tools_text} set={set_tools_text} rows={8} />
          <Problem text={tools_fault || fault} />
          <AskModel tools={tools} />
        </div>
        <div class="readings" aria-live="polite">
          {!readings && <Empty title="Type, or choose a sample" />}
          {readings && (
            <>
              <h2>
                {found.length > 0 ? `${plural(found.length, 'dialect')} ${found.length === 1 ? 'finds' : 'find'} a call` : 'No dialect finds a call'}
                {auto && <Badge tone={auto.calls.length > 0 ? 'call' : 'plain'}>auto: {auto.calls.length > 0 ? plural(auto.calls.length, 'call') : 'text'}</Badge>}
              </h2>
              <ul>
                {found.map((reading, i) => (
                  <ReadingView key={reading.dialect} reading={reading} bytes={bytes} best={i === 0} />
                ))}
              </ul>
              {close.length > 0 && <h2>Came close</h2>}
              <ul>
                {close.slice(0, all ? undefined : 8).map((reading) => (
                  <ReadingView key={reading.dialect} reading={reading} bytes={bytes} best={false} />
                ))}
              </ul>
              {close.length > 8 && !all && <Button onClick={() => set_all(true)}>{close.length - 8} more</Button>}
              {silent.length > 0 && (
                <p class="silent">
                  Nothing opens a call for {silent.map((reading) => reading.dialect).join(', ')}.
                </p>
              )}
            </>
          )}
        </div>
      </div>
    </section>
  );
}
