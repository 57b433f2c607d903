// A turn or given bytes once more, in another dialect, cut anew or under other policies, beside what it was.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Area, Badge, Button, Choice, Empty, Input, Problem } from '../../components/basics';
import { event_label, join_events, read_round, type Round, type WireAnatomy } from '../../lib/anatomy';
import { post } from '../../lib/api';
import { bytes_of, bytes_text, download, text_of, to_base64, visible } from '../../lib/bytes';
import { compare } from '../../lib/diff';
import { plural } from '../../lib/format';
import { facts, link, replay_source } from '../../store';
import { Pinned } from '../turn/columns';

interface Answer {
  wire: string;
  protocol: string;
  dialect: string;
  anatomy: WireAnatomy;
}

interface Run {
  answer: Answer;
  round: Round;
}

// The events of a turn, a line each; their ids are of one run.
const event_lines = (round: Round) =>
  join_events(round.steps.flatMap((step) => step.events)).map((event) => `${event.type.padEnd(10)} ${visible(event_label(event))}`);

const client_lines = (round: Round) => text_of(round.client).split('\n').filter(Boolean).map(visible);

function Outcome({ run, title }: { run: Run; title: string }) {
  const { round, answer } = run;
  return (
    <div class="outcome">
      <h2>{title}</h2>
      <p>
        <Badge tone="info">{answer.dialect}</Badge> <Badge tone={round.error ? 'bad' : 'good'}>{String(round.summary.finish_reason ?? '')}</Badge> {plural(Number(round.summary.calls ?? 0), 'call')},{' '}
        {bytes_text(Number(round.summary.text_bytes ?? 0))} of text, {bytes_text(round.client.length)} for the client
      </p>
      {round.pins.map((pin, i) => (
        <Pinned key={i} pin={pin} />
      ))}
    </div>
  );
}

function Changes({ before, after, what }: { before: string[]; after: string[]; what: string }) {
  const lines = useMemo(() => compare(before, after), [before, after]);
  const changed = lines.filter((line) => line.kind !== 'same').length;
  return (
    <section class="changes" aria-label={what}>
      <h2>
        {what} {changed === 0 ? <Badge tone="good">the same</Badge> : <Badge tone="warn">{plural(changed, 'line')} differ</Badge>}
      </h2>
      <ol class="diff">
        {lines.slice(0, 2000).map((line, i) => (
          <li key={i} class={line.kind}>
            <span class="visually-hidden">{line.kind === 'gone' ? 'only before: ' : line.kind === 'new' ? 'only now: ' : ''}</span>
            <span aria-hidden="true">{line.kind === 'gone' ? '−' : line.kind === 'new' ? '+' : ' '}</span> {line.text}
          </li>
        ))}
      </ol>
    </section>
  );
}

const same = { value: '', title: 'as it was' };

export function Replay() {
  const given = replay_source.value;
  const [request, set_request] = useState(given?.request ?? '');
  const [text, set_text] = useState(given?.bytes ? text_of(given.bytes) : '');
  const [wire, set_wire] = useState('openai_chat');
  const [dialect, set_dialect] = useState('');
  const [protocol, set_protocol] = useState('');
  const [split, set_split] = useState('original');
  const [policy, set_policy] = useState<Record<string, string>>({});
  const [before, set_before] = useState<Run | null>(null);
  const [after, set_after] = useState<Run | null>(null);
  const [fault, set_fault] = useState('');

  const source = () => (request ? { request, round: given?.request === request ? (given.round ?? 0) : 0 } : { base64: to_base64(bytes_of(text)), wire });
  const changes = () => {
    const policies = Object.fromEntries(Object.entries(policy).filter(([, value]) => value));
    return { dialect, protocol, split, ...(Object.keys(policies).length > 0 ? { policy: policies } : {}) };
  };
  const run = async (what: object): Promise<Run> => {
    const answer = await post<Answer>('/v1/replay', what);
    return { answer, round: read_round(answer.anatomy, 0) };
  };
  const start = async () => {
    set_fault('');
    try {
      set_before(await run(source()));
      set_after(await run({ ...source(), ...changes() }));
    } catch (error) {
      set_after(null);
      set_fault((error as Error).message);
    }
  };
  const ready = request !== '' || text !== '';
  // What changes is seen at once.
  useEffect(() => {
    if (!ready) return;
    const timer = setTimeout(start, 200);
    return () => clearTimeout(timer);
  }, [request, text, wire, dialect, protocol, split, policy]);

  const golden = async () => {
    try {
      const made = await post<{ files: { suffix: string; text: string }[] }>('/v1/replay', { ...source(), ...changes(), golden: true });
      const name = (request || 'case').replace(/[^A-Za-z0-9]/g, '_');
      for (const file of made.files) download(name + file.suffix, file.text, 'text/plain');
    } catch (error) {
      set_fault((error as Error).message);
    }
  };
  const known = facts.value;
  return (
    <section class="view replay" aria-labelledby="replay-title">
      <div class="bar">
        <h1 id="replay-title">Replay</h1>
        <span class="space" />
        <Button onClick={golden} disabled={!ready}>
          Export golden case
        </Button>
        <Button kind="primary" onClick={start} disabled={!ready}>
          Run again
        </Button>
      </div>
      <div class="form">
        <Input label="Turn" value={request} set={set_request} placeholder="req_… , or paste bytes below" />
        {!request && <Choice label="Wire format" value={wire} set={set_wire} options={known?.wires ?? ['openai_chat']} />}
        <Choice label="Dialect" value={dialect} set={set_dialect} options={[same, ...(known?.dialects ?? [])]} />
        <Choice label="Protocol" value={protocol} set={set_protocol} options={[same, ...(known?.protocols ?? [])]} />
        <Choice
          label="Chunks"
          value={split}
          set={set_split}
          options={[
            { value: 'original', title: 'as they came' },
            { value: 'whole', title: 'all at once' },
            { value: 'byte', title: 'byte by byte' },
            { value: '7', title: '7 bytes each' },
            { value: '64', title: '64 bytes each' },
            { value: 'random:1', title: 'random' },
          ]}
        />
      </div>
      <details class="policies">
        <summary>
          Policies {Object.values(policy).filter(Boolean).length > 0 && <Badge tone="warn">{plural(Object.values(policy).filter(Boolean).length, 'change')}</Badge>}
        </summary>
        <div class="form">
          {Object.entries(known?.policy ?? {}).map(([name, value]) => (
            <Input key={name} label={name} value={policy[name] ?? ''} placeholder={value} set={(next) => set_policy({ ...policy, [name]: next })} />
          ))}
        </div>
      </details>
      {!request && <Area label="Bytes of an upstream, or a capture file" value={text} set={set_text} rows={7} placeholder={'data: {"choices":[{"index":0,"delta":{"content":"Hello"}}]}'} />}
      <Problem text={fault} />
      {before && after ? (
        <div class="replayed">
          <div class="two">
            <Outcome run={before} title="Before" />
            <Outcome run={after} title="Now" />
          </div>
          <Changes what="Events" before={event_lines(before.round)} after={event_lines(after.round)} />
          <Changes what="Client bytes" before={client_lines(before.round)} after={client_lines(after.round)} />
          {request && (
            <p>
              <a href={link('turn', request)}>Open the turn</a>
            </p>
          )}
        </div>
      ) : (
        !fault && <Empty title="Choose a turn, or paste bytes">The turn view has a Replay button. What you change here is compared with how it was.</Empty>
      )}
    </section>
  );
}
